//! `[workload]` of type `trace`: which file is replayed, and how.

use std::{borrow::Cow, fmt, ops::RangeInclusive, path::PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{
    CsvFormat, Handles,
    choice::choice,
    quantity::{MOST_REQUESTS, Size, Time},
};

/// Replay a block trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceWorkload {
    /// The trace file, plain or compressed (.gz, .bz2, .zst, .xz).
    pub path: PathBuf,
    /// The format; detected from the content if absent.
    #[serde(default)]
    pub format: Option<TraceFormat>,
    /// Replay only these disks, volumes or storage units, by number or name as in the trace
    /// (`"hm_0"` of MSR, `"8,0"` of blkparse); all if empty.
    #[serde(default)]
    pub devices: Vec<DeviceName>,
    /// Layout of the trace's devices on the simulated one.
    #[serde(default)]
    pub device_layout: DeviceLayout,
    /// Leave out what comes before this time of the trace, which starts with its first request;
    /// the run starts here.
    #[serde(default)]
    pub from: Option<Time>,
    /// Leave out what comes at this time of the trace or later.
    #[serde(default)]
    pub until: Option<Time>,
    /// Replay only this many requests, the first of those that the keys above let through.
    #[serde(default)]
    #[schemars(range(min = 1, max = MOST_REQUESTS))]
    pub limit: Option<u64>,
    /// Treatment of a jump in the trace, where its clock was set on the way.
    #[serde(default)]
    pub clock_jumps: ClockJumps,
    /// Inter-arrival times are multiplied by this: 0.5 replays twice as fast.
    #[serde(default = "one")]
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1e9))]
    pub time_scale: f64,
    /// Replay what the keys above let through again and again, until this much simulated time has
    /// passed; later requests are not issued. Needs a file that can be read again.
    #[serde(default)]
    pub duration: Option<Time>,
    /// The flow starts at this simulated time or, if it has to wait for others, then at the earliest.
    #[serde(default)]
    pub starts_at: Time,
    /// The flow starts when these have ended: numbers of flows that come before it, from 0.
    #[serde(default)]
    #[schemars(length(max = 4096), inner(range(max = 4095)))]
    pub starts_after: Vec<u16>,
    /// Requests that arrive so soon after the flow's start are simulated and not measured.
    #[serde(default)]
    pub ramp: Time,
    /// Treatment of addresses beyond the device.
    #[serde(default)]
    pub beyond_device: BeyondDevice,
    /// Skip damaged rows, and say how many and which first. A damaged compression, a row that is
    /// cut off and an address beyond the device still end the run.
    #[serde(default)]
    pub lenient: bool,
    /// Replay as a closed loop at this many outstanding requests, ignoring the trace's times.
    #[serde(default)]
    #[schemars(range(min = 1, max = 65_536))]
    pub iodepth: Option<u32>,
    /// The placement handle of writes that name none in the trace.
    #[serde(default, skip_serializing_if = "Handles::are_of_flows")]
    pub handles: Handles,
}

impl TraceWorkload {
    /// Replay all of the trace at `path` as it is.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            format: None,
            devices: Vec::new(),
            device_layout: DeviceLayout::default(),
            from: None,
            until: None,
            limit: None,
            clock_jumps: ClockJumps::default(),
            time_scale: one(),
            duration: None,
            starts_at: Time::default(),
            starts_after: Vec::new(),
            ramp: Time::default(),
            beyond_device: BeyondDevice::default(),
            lenient: false,
            iodepth: None,
            handles: Handles::Flow,
        }
    }
}

impl TraceWorkload {
    /// This workload from the start, once.
    pub fn once(&self) -> Self {
        Self {
            duration: None,
            starts_at: Time::default(),
            starts_after: Vec::new(),
            ramp: Time::default(),
            ..self.clone()
        }
    }

    /// This workload on drives of `drive` bytes each that lie one after the other, if they do: the
    /// devices of the trace get one each, unless a size is set.
    pub fn on_drives(&self, drive: Option<u64>) -> Cow<'_, Self> {
        let size = drive.map(Size);
        match self.device_layout {
            DeviceLayout::Concatenate { size: None } if size.is_some() => {
                let device_layout = DeviceLayout::Concatenate { size };
                Cow::Owned(Self { device_layout, ..self.clone() })
            }
            _ => Cow::Borrowed(self),
        }
    }
}

fn one() -> f64 {
    1.0
}

choice! {
    /// Layout of a trace's devices on the simulated one.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum DeviceLayout {
        /// Over one another: an address is the same byte whichever device it is of.
        Shared,
        /// One after the other, in the order of `devices`, or of their first requests if that is
        /// empty.
        Concatenate {
            /// Bytes of each; if absent, a drive of the array for each under `array.layout =
            /// "jbod"`, else an equal share of the capacity, in whole MiB, for each of `devices`.
            /// Means nothing to `beyond_device = "compact"`.
            #[serde(default)]
            size: Option<Size>,
        },
    }
}

// `choice!` would hand a `#[default]` on to its twin, which has no default.
#[expect(clippy::derivable_impls)]
impl Default for DeviceLayout {
    fn default() -> Self {
        Self::Shared
    }
}

choice! {
    /// Treatment of a jump where the clock of a trace was set on the way, as that of a phone is.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ClockJumps {
        /// A pause is a pause, however long; a time more than 1 s before an earlier one ends the run.
        Keep,
        /// Go on as if no time had passed, and say how often.
        Close {
            /// The longest pause that is believed.
            #[serde(default = "hour")]
            longest: Time,
        },
    }
}

fn hour() -> Time {
    Time::from_us(3_600_000_000)
}

// `choice!` would hand a `#[default]` on to its twin, which has no default.
#[expect(clippy::derivable_impls)]
impl Default for ClockJumps {
    fn default() -> Self {
        Self::Keep
    }
}

choice! {
    /// Treatment of trace addresses beyond the device, or beyond a device's part of it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum BeyondDevice {
        /// Make the trace fit, and say so: if any address lies beyond the device, all of them move
        /// as under `compact`, in the largest extents (1 MiB, 128 KiB, 16 KiB) of which those touched
        /// have room; an error says if none have. Where every address lies on the device, none moves.
        /// Reads the trace once before the run; a pipe, which can't be, is treated as by `refuse`.
        Fit,
        /// Stop with an error that names the line.
        Refuse,
        /// Address modulo the capacity. A request that would go beyond the end of the device is moved back to end there.
        Wrap,
        /// Every address moves: the extents that the trace touches lie one after the other, in
        /// order of address. A request stays one request. Reads the trace once before the run.
        Compact {
            /// Bytes that keep together: a power of two from 4 KiB to 1 GiB.
            #[serde(default = "extent")]
            extent: Size,
        },
    }
}

fn extent() -> Size {
    Size(1 << 20)
}

// `choice!` would hand a `#[default]` on to its twin, which has no default.
#[expect(clippy::derivable_impls)]
impl Default for BeyondDevice {
    fn default() -> Self {
        Self::Fit
    }
}

impl BeyondDevice {
    /// Extents of `extent` bytes keep together.
    pub const EXTENTS: RangeInclusive<u64> = 4 << 10..=1 << 30;
}

/// A disk, volume or storage unit, by its number or name in the trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DeviceName(pub String);

impl<'de> Deserialize<'de> for DeviceName {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(NameOrNumber)
    }
}

struct NameOrNumber;

impl de::Visitor<'_> for NameOrNumber {
    type Value = DeviceName;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a device's number or name in the trace")
    }

    fn visit_str<E>(self, name: &str) -> Result<DeviceName, E> {
        Ok(DeviceName(name.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<DeviceName, E> {
        Ok(DeviceName(number.to_string()))
    }
}

impl JsonSchema for DeviceName {
    fn schema_name() -> Cow<'static, str> {
        "DeviceName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A disk, volume or storage unit, by its number or name in the trace.",
            "type": ["string", "integer"],
            "minimum": 0,
        })
    }
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
            /// Unit of sizes: `"512B"`, or for example the `"4KiB"` of SPC traces in this form.
            #[serde(default = "sector")]
            size_unit: Size,
            /// Unit of times: `"ms"` as DiskSim's, unless the format is detected and another fits better.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            time_unit: Option<TimeUnit>,
        },
        /// blkreplay: `seconds ; sector ; sectors ; R|W ; ...` after a text header.
        Blkreplay,
        /// Output of blkparse: `8,0 3 11 0.009507758 697 Q W 223490 + 8 [kjournald]`, or what its `-f` asked
        /// for.
        Blkparse {
            /// The events that count as requests; the others are passed over.
            #[serde(default)]
            action: BlkparseAction,
            /// The format that blkparse was given with `-f`, for example `"%D %T.%t %a %d %S %n"`; if
            /// absent, its default. Needs `%T`, `%d`, `%S` and `%n` or `%N`; without `%a`, every line
            /// counts.
            #[serde(default)]
            fields: Option<String>,
        },
        /// Block events as ftrace and `perf script` print them: `... 11879.392288: block:block_rq_issue:
        /// 254,0 W 12288 () 113019136 + 24 [fio]`.
        BlockEvents {
            /// The events that count as requests; the others are passed over.
            #[serde(default = "issued")]
            action: BlkparseAction,
        },
        /// fio's I/O log, version 2 (`file op offset bytes`, times from its `wait` lines) or 3
        /// (`us file op offset bytes`).
        FioIolog,
        /// fio's log of completion latencies (`write_lat_log`), with offsets (`log_offset`):
        /// `ms, ns, direction, bytes, offset, priority` and perhaps the time of issue.
        FioLatency,
        /// biosnoop of bcc and libbpf-tools: `TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)`.
        Biosnoop,
        /// Disk events of Windows (ETW) as `xperf -a dumper` and SNIA's collection have them, after a
        /// header: `DiskRead, us, process (pid), thread, irp, offset, size, elapsed us, disk, ...`.
        Etw,
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
        /// The replayer of IODA: `ms device offset bytes 0|1`, 1 = read.
        Replayer {
            /// Unit of times: `"ms"` as the replayer's, unless the format is detected and another fits better.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            time_unit: Option<TimeUnit>,
        },
        /// Output of FlashNet's replayer: `ms,us,0|1,bytes,offset,submitted ms,bytes moved`, 1 = read.
        Flashnet,
        /// Comma-separated values with columns of any order, names and units.
        Csv(CsvFormat),
        /// Output of libCacheSim for a trace: `seconds,object,bytes`, with or without the next access. Only for
        /// traces whose objects are addresses.
        LibcachesimCsv {
            /// Operation of every request: the file doesn't say.
            #[serde(default)]
            operation: Option<ReadOrWrite>,
            /// Bytes from one object number to the next: `"512B"` if objects are sectors.
            #[serde(default)]
            object_unit: Option<Size>,
        },
        /// HP's SRT, binary, version 1.3 or 1.7.
        HpSrt,
        /// VMware's vscsi, binary, version 1 or 2.
        Vscsi,
        /// Binary output of blktrace. Of its files for each processor (`sda.blktrace.0` and so on), `path`
        /// names any one, or `sda`: all are merged by time. A file that `blkparse -d` merged will do as well.
        Blktrace {
            /// The events that count as requests; the others are passed over.
            #[serde(default)]
            action: BlkparseAction,
        },
        /// libCacheSim's oracleGeneral, or its lcs with a header; binary. Only for traces whose objects
        /// are addresses.
        Libcachesim {
            /// Operation of every request that the file says nothing of, as oracleGeneral never does.
            #[serde(default)]
            operation: Option<ReadOrWrite>,
            /// Bytes from one object number to the next: `"512B"` if objects are sectors.
            #[serde(default)]
            object_unit: Option<Size>,
        },
        /// Copyback's own compact form: what `copyback trace convert` writes.
        Parquet,
    }
}

fn sector() -> Size {
    Size(512)
}

fn issued() -> BlkparseAction {
    BlkparseAction::Issued
}

/// Unit of a trace's times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeUnit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

impl TimeUnit {
    /// Digits behind the point down to a nanosecond.
    pub const fn places(self) -> u32 {
        match self {
            Self::S => 9,
            Self::Ms => 6,
            Self::Us => 3,
            Self::Ns => 0,
        }
    }

    /// The unit in the configuration.
    pub const fn key(self) -> &'static str {
        match self {
            Self::S => "s",
            Self::Ms => "ms",
            Self::Us => "us",
            Self::Ns => "ns",
        }
    }

    /// The unit in words, with "number" in front as in messages about a time.
    pub const fn number(self) -> &'static str {
        match self {
            Self::S => "a number of seconds",
            Self::Ms => "a number of milliseconds",
            Self::Us => "a number of microseconds",
            Self::Ns => "a number of nanoseconds",
        }
    }

    /// The unit in words.
    pub fn name(self) -> &'static str {
        self.number().trim_start_matches("a number of ")
    }
}

/// Operation of all requests of a trace, or of all of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReadOrWrite {
    /// Reads.
    Read,
    /// Writes.
    Write,
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
