//! `[workload]` of type `synthetic`: the distributions that requests are drawn from.

mod address;
mod arrival;
mod limits;
mod requests;
mod size;
mod thinktime;

pub use address::{AddressDistribution, LogStream, Replaced};
pub use arrival::{Bursts, TimeDistribution};
pub use limits::{RateLimit, Skip};
pub use requests::{RequestCount, Requests};
pub use size::RequestSize;
pub use thinktime::{CountedBlocks, ThinkTime};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::quantity::{MOST_REQUESTS, Share, Size, Time};
use crate::{Handles, resolved::ROUNDING};

/// Generate requests from distributions. The defaults are Table III of Lee et al. (ISPASS 2011). One
/// of `inter_arrival` (open loop) and `iodepth` (closed loop) is needed; asking for one takes away
/// the other of a preset or default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SyntheticWorkload {
    /// Number of requests; `"unlimited"` needs a `duration`, an `io_size`, or a `stop` that ends the run. Rounds
    /// until the run has settled: see `until_settled`.
    pub requests: RequestCount,
    /// Bytes that are asked for in all, as fio's `io_size`: the request that reaches them is the last. Trims before writes do not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_size: Option<Size>,
    /// Duration of the flow, from its start and with its ramp: later requests are not issued.
    pub duration: Option<Time>,
    /// The flow starts at this simulated time or, if it has to wait for others, then at the earliest.
    pub starts_at: Time,
    /// The flow starts when these have ended: numbers of flows that come before it, from 0.
    #[schemars(length(max = 4096), inner(range(max = 4095)))]
    pub starts_after: Vec<u16>,
    /// Requests that arrive so soon after the flow's start are simulated and not measured.
    pub ramp: Time,
    /// Size of a request.
    pub request_size: RequestSize,
    /// Sizes, rounded up, and addresses are multiples of this. Default: a fixed request size itself, as fio's
    /// blockalign; else the device's page size.
    pub alignment: Option<Size>,
    /// Sizes are multiples of this, if they may be smaller than `alignment`, of which it is a part.
    /// Default: `alignment`.
    pub size_alignment: Option<Size>,
    /// Share of requests that read; those that do not read, trim or flush write.
    pub read_share: Share,
    /// Share of requests that trim.
    pub trim_share: Share,
    /// Share of requests that flush.
    pub flush_share: Share,
    /// Whether a trim of the same bytes comes before each write, beside the `requests`.
    pub trim_before_write: bool,
    /// A flush follows so many writes, beside the `requests`; absent: none does.
    #[schemars(range(min = 1, max = MOST_REQUESTS))]
    pub flush_every: Option<u64>,
    /// Probability that a request starts where the previous one of its kind ended.
    pub sequential_share: Share,
    /// Of so many requests the first starts anywhere and the others follow it; takes the place of
    /// `sequential_share`.
    #[schemars(range(min = 1, max = MOST_REQUESTS))]
    pub sequential_run: Option<u64>,
    /// Distance between a sequential request and the one that it follows.
    pub sequential_skip: Skip,
    /// Time between arrivals, within a burst if there are any; absent for a closed loop.
    pub inter_arrival: Option<TimeDistribution>,
    /// Bursts of arrivals, and quiet between them.
    pub bursts: Bursts,
    /// All times between arrivals are multiplied by this: 0.5 is twice as fast.
    #[schemars(extend("exclusiveMinimum" = 0), range(max = 1e9))]
    pub time_scale: f64,
    /// Outstanding requests of a closed loop; absent for an open one.
    #[schemars(range(min = 1, max = 65_536))]
    pub iodepth: Option<u32>,
    /// Most that a closed loop asks for.
    pub rate: RateLimit,
    /// Pauses of a closed loop.
    #[serde(skip_serializing_if = "ThinkTime::is_none")]
    pub thinktime: ThinkTime,
    /// Distribution of the addresses of random requests.
    pub address: AddressDistribution,
    /// Start of the addresses used, as a share of the logical capacity.
    pub offset: Share,
    /// Extent of the addresses used, as a share of the logical capacity.
    pub footprint: Share,
    /// The placement handle of its writes.
    #[serde(skip_serializing_if = "Handles::are_of_flows")]
    pub handles: Handles,
}

impl SyntheticWorkload {
    /// Whether any request of it writes.
    pub fn writes(&self) -> bool {
        self.read_share.0 + self.trim_share.0 + self.flush_share.0 < 1.0 - ROUNDING
    }

    /// Copy whose requests have no end and begin with the run.
    pub fn without_end(&self) -> Self {
        Self {
            requests: RequestCount::Unlimited,
            io_size: None,
            duration: None,
            starts_at: Time::default(),
            starts_after: Vec::new(),
            ramp: Time::default(),
            ..self.clone()
        }
    }

    /// Alignment of sizes and addresses, on a device with pages of `page_size`.
    pub fn alignment_on(&self, page_size: Size) -> Size {
        self.alignment.unwrap_or(match self.request_size {
            RequestSize::Fixed(size) => size,
            _ => page_size,
        })
    }

    /// The key that says what sizes and addresses are multiples of, below that of the workload.
    pub fn alignment_key(&self) -> &'static str {
        match (self.alignment, &self.request_size) {
            (None, RequestSize::Fixed(_)) => "request_size",
            _ => "alignment",
        }
    }

    /// Whether each request is of one block of `alignment` bytes, or of a part of one.
    pub fn is_of_blocks(&self, alignment: u64) -> bool {
        let kinds = match self.request_size {
            RequestSize::ByOperation { .. } => 2,
            _ => 1,
        };
        self.fixed_sizes().filter(|(_, size)| size.0 <= alignment).count() == kinds
    }

    /// The sizes that all requests have, or all of a kind, and their keys below that of the workload.
    pub fn fixed_sizes(&self) -> impl Iterator<Item = (&'static str, Size)> {
        let sizes = match &self.request_size {
            RequestSize::ByOperation { read, write } => {
                [Some(("request_size.read", &**read)), Some(("request_size.write", &**write))]
            }
            alike => [Some(("request_size", alike)), None],
        };
        sizes.into_iter().flatten().filter_map(|(key, size)| match size {
            RequestSize::Fixed(size) => Some((key, *size)),
            _ => None,
        })
    }
}

impl Default for SyntheticWorkload {
    fn default() -> Self {
        Self {
            requests: RequestCount::Fixed(Requests(100_000)),
            io_size: None,
            duration: None,
            starts_at: Time::default(),
            starts_after: Vec::new(),
            ramp: Time::default(),
            request_size: RequestSize::Exponential { mean: Size(32 << 10) },
            alignment: None,
            size_alignment: None,
            read_share: Share(0.4),
            trim_share: Share(0.0),
            flush_share: Share(0.0),
            trim_before_write: false,
            flush_every: None,
            sequential_share: Share(0.4),
            sequential_run: None,
            sequential_skip: Skip::None,
            inter_arrival: None,
            bursts: Bursts::None,
            time_scale: 1.0,
            iodepth: None,
            rate: RateLimit::None,
            thinktime: ThinkTime::None,
            address: AddressDistribution::Uniform,
            offset: Share(0.0),
            footprint: Share(1.0),
            handles: Handles::Flow,
        }
    }
}
