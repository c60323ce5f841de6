//! `[workload]` and `[precondition]`: the requests, and what was written before them.

use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    CsvFormat,
    choice::{choice, quantity_or_exponential, write_exponential},
    quantity::{Share, Size, Time},
};

choice! {
    /// The requests of a run.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Workload {
        /// Replay a block trace.
        Trace(TraceWorkload),
        /// Generate requests from distributions.
        Synthetic(SyntheticWorkload),
        /// Several workloads at once, each with its own submission queue.
        Flows(FlowsWorkload),
    }
}

impl Default for Workload {
    /// Table III of Lee et al. (ISPASS 2011): open loop, Poisson arrivals.
    fn default() -> Self {
        let inter_arrival = Some(InterArrival::Exponential { mean: Time::from_us(3000) });
        Self::Synthetic(SyntheticWorkload { inter_arrival, ..SyntheticWorkload::default() })
    }
}

/// Several workloads at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowsWorkload {
    /// The flows; flow i uses submission queue i modulo `host.queues`.
    pub flows: Vec<Flow>,
}

choice! {
    /// One flow of several.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Flow {
        /// Replay a block trace.
        Trace(TraceWorkload),
        /// Generate requests from distributions.
        Synthetic(SyntheticWorkload),
    }
}

/// Replay a block trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceWorkload {
    /// The trace file, plain or compressed (.gz, .bz2, .zst, .xz).
    pub path: PathBuf,
    /// The format; detected from the content if absent.
    #[serde(default)]
    pub format: Option<TraceFormat>,
    /// Inter-arrival times are multiplied by this: 0.5 replays twice as fast.
    #[serde(default = "one")]
    pub time_scale: f64,
    /// Replay only this many requests.
    #[serde(default)]
    pub limit: Option<u64>,
    /// What to do with addresses beyond the device.
    #[serde(default)]
    pub beyond_device: BeyondDevice,
    /// Replay as a closed loop at this many outstanding requests, ignoring the trace's times.
    #[serde(default)]
    pub iodepth: Option<u32>,
}

fn one() -> f64 {
    1.0
}

/// What to do with trace addresses beyond the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BeyondDevice {
    /// Stop with an error that names the line.
    #[default]
    Refuse,
    /// Address modulo the device's capacity.
    Wrap,
}

choice! {
    /// Trace formats.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub enum TraceFormat {
        /// MSR Cambridge: `filetime,host,disk,Read|Write,offset,size,response`.
        Msr,
        /// SPC: `ASU,LBA,bytes,op,seconds`.
        Spc,
        /// DiskSim ASCII: `ms device sector size flags`, bit 0 of flags = read.
        Disksim {
            /// What sizes count: `"512B"`, or for example the `"4KiB"` of SPC traces in this form.
            #[serde(default = "sector")]
            size_unit: Size,
        },
        /// blkreplay: `seconds ; sector ; sectors ; R|W ; ...` after a text header.
        Blkreplay,
        /// What blkparse prints by default: `8,0 3 11 0.009507758 697 Q W 223490 + 8 [kjournald]`.
        Blkparse {
            /// The events that count as requests; the others are passed over.
            #[serde(default)]
            action: BlkparseAction,
        },
        /// fio's I/O log, version 2 (`file op offset bytes`, times from its `wait` lines) or 3
        /// (`us file op offset bytes`).
        FioIolog,
        /// FIU: `ns pid process sector sectors R|W major minor md5`.
        Fiu,
        /// Alibaba cloud block storage: `device,R|W,offset,bytes,us`.
        Alibaba,
        /// Tencent cloud block storage: `seconds,sector,sectors,0|1,volume`, 1 = write.
        Tencent,
        /// Systor '17: `seconds,response,R|W,LUN,offset,bytes`.
        Systor17,
        /// The CSV form of HP's 77 disks: `seconds,device,R|W,offset,bytes,queue,service,volume`.
        HpCsv,
        /// The Pixel 6a phone: `process,device,R|W,sector,sectors,seconds`.
        Pixel6a,
        /// The Nexus 5 phone: `sector sectors bytes type queued dequeued issued completed`.
        Nexus5,
        /// SSDsim: `ns device sector sectors 0|1`, 1 = read.
        Ssdsim,
        /// MQSim: `ns device sector sectors 0|1`, 1 = read.
        Mqsim,
        /// DTRS, a developer tools release server: `us device sector sectors 0|1`, 1 = read.
        Dtrs,
        /// Comma-separated values with columns of any order, names and units.
        Csv(CsvFormat),
        /// HP's SRT, binary, version 1.3 or 1.7.
        HpSrt,
        /// VMware's vscsi, binary, version 1 or 2.
        Vscsi,
        /// What blktrace writes, binary: one file, such as `blkparse -d` merges from several.
        Blktrace {
            /// The events that count as requests; the others are passed over.
            #[serde(default)]
            action: BlkparseAction,
        },
    }
}

fn sector() -> Size {
    Size(512)
}

/// Events of a block trace that may count as its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub enum BlkparseAction {
    /// Handed to the block layer, before requests are merged.
    #[default]
    #[serde(rename = "Q")]
    Queued,
    /// Given a request structure.
    #[serde(rename = "G")]
    Got,
    /// Handed to the I/O scheduler.
    #[serde(rename = "I")]
    Inserted,
    /// Sent to the drive, after merging.
    #[serde(rename = "D")]
    Issued,
    /// Completed by the drive.
    #[serde(rename = "C")]
    Completed,
}

impl BlkparseAction {
    /// The letter that blkparse prints.
    pub const fn letter(self) -> u8 {
        match self {
            Self::Queued => b'Q',
            Self::Got => b'G',
            Self::Inserted => b'I',
            Self::Issued => b'D',
            Self::Completed => b'C',
        }
    }
}

/// Generate requests from distributions. The defaults are Table III of Lee et al. (ISPASS 2011). One
/// of `inter_arrival` (open loop) and `iodepth` (closed loop) is needed; asking for one takes away
/// the other of a preset or default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SyntheticWorkload {
    /// Number of requests.
    pub requests: u64,
    /// Size of a request.
    pub request_size: RequestSize,
    /// Sizes and addresses are multiples of this. Default: a fixed request size itself, as fio's
    /// blockalign; else the device's page size.
    pub alignment: Option<Size>,
    /// Share of requests that read.
    pub read_share: Share,
    /// Probability that a request starts where the previous one of its kind ended.
    pub sequential_share: Share,
    /// Time between arrivals; absent for a closed loop.
    pub inter_arrival: Option<InterArrival>,
    /// Outstanding requests of a closed loop; absent for an open one.
    pub iodepth: Option<u32>,
    /// Where random requests go.
    pub address: AddressDistribution,
    /// Start of the addresses used, as a share of the logical capacity.
    pub offset: Share,
    /// Extent of the addresses used, as a share of the logical capacity.
    pub footprint: Share,
}

impl SyntheticWorkload {
    /// What sizes and addresses are multiples of, on a device with pages of `page_size`.
    pub fn alignment_on(&self, page_size: Size) -> Size {
        self.alignment.unwrap_or(match self.request_size {
            RequestSize::Fixed(size) => size,
            RequestSize::Exponential { .. } => page_size,
        })
    }
}

impl Default for SyntheticWorkload {
    fn default() -> Self {
        Self {
            requests: 100_000,
            request_size: RequestSize::Exponential { mean: Size(32 << 10) },
            alignment: None,
            read_share: Share(0.4),
            sequential_share: Share(0.4),
            inter_arrival: None,
            iodepth: None,
            address: AddressDistribution::Uniform,
            offset: Share(0.0),
            footprint: Share(1.0),
        }
    }
}

/// Distribution of request sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RequestSize {
    /// Every request has this size.
    Fixed(Size),
    /// Exponential, rounded up to the alignment.
    Exponential {
        /// Mean before rounding.
        mean: Size,
    },
}

/// Distribution of the time between arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InterArrival {
    /// Always the same.
    Fixed(Time),
    /// Exponential: Poisson arrivals.
    Exponential {
        /// Mean.
        mean: Time,
    },
}

/// Reading, writing and schema of a quantity that may be drawn from a distribution.
macro_rules! quantity_or_distribution {
    ($name:ident of $quantity:ident, $expecting:literal, $description:literal) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    Self::Fixed(quantity) => quantity.serialize(serializer),
                    Self::Exponential { mean } => write_exponential(mean, serializer),
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
                let exponential = |mean| Self::Exponential { mean };
                quantity_or_exponential(reader, $expecting, Self::Fixed, exponential)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let quantity = generator.subschema_for::<$quantity>();
                json_schema!({
                    "description": $description,
                    "anyOf": [quantity, {
                        "type": "object",
                        "description": "Exponentially distributed.",
                        "properties": { "type": { "const": "exponential" }, "mean": quantity },
                        "required": ["type", "mean"],
                        "additionalProperties": false
                    }]
                })
            }
        }
    };
}

quantity_or_distribution!(
    RequestSize of Size,
    "a size such as \"4KiB\", or { type = \"exponential\", mean = \"32KiB\" }",
    "A size, the same for every request, or a distribution."
);
quantity_or_distribution!(
    InterArrival of Time,
    "a time such as \"3ms\", or { type = \"exponential\", mean = \"3ms\" }",
    "A time, always the same, or a distribution."
);

choice! {
    /// Where random requests go.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum AddressDistribution {
        /// Every page alike.
        Uniform,
        /// A share of the requests goes to a share of the pages: 0.8 to 0.2 is Rosenblum's 80/20.
        HotCold {
            /// Share of requests that go to hot pages.
            requests: Share,
            /// Share of pages that are hot.
            pages: Share,
        },
    }
}

/// How the drive is prepared before the measured run. Untimed, through the same mapping and
/// collection code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Precondition {
    /// Share of the logical capacity that is written once, in order.
    pub fill: Share,
    /// Random single-page overwrites, in multiples of the filled capacity.
    pub overwrites: f64,
}

impl Default for Precondition {
    fn default() -> Self {
        Self { fill: Share(1.0), overwrites: 1.0 }
    }
}
