//! `[workload]` of type `synthetic`: the distributions that requests are drawn from.

mod address;
mod arrival;
mod size;

pub use address::AddressDistribution;
pub use arrival::{Bursts, TimeDistribution};
pub use size::RequestSize;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::config::quantity::{RequestCount, Share, Size};

/// Generate requests from distributions. The defaults are Table III of Lee et al. (ISPASS 2011). One
/// of `inter_arrival` (open loop) and `iodepth` (closed loop) is needed; asking for one takes away
/// the other of a preset or default.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SyntheticWorkload {
    /// Number of requests; `"unlimited"` needs a `stop` that ends the run.
    pub requests: RequestCount,
    /// Size of a request.
    pub request_size: RequestSize,
    /// Sizes and addresses are multiples of this. Default: a fixed request size itself, as fio's
    /// blockalign; else the device's page size.
    pub alignment: Option<Size>,
    /// Share of requests that read; those that do not read, trim or flush write.
    pub read_share: Share,
    /// Share of requests that trim.
    pub trim_share: Share,
    /// Share of requests that flush.
    pub flush_share: Share,
    /// Probability that a request starts where the previous one of its kind ended.
    pub sequential_share: Share,
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
            _ => page_size,
        })
    }
}

impl Default for SyntheticWorkload {
    fn default() -> Self {
        Self {
            requests: RequestCount::Limit(100_000),
            request_size: RequestSize::Exponential { mean: Size(32 << 10) },
            alignment: None,
            read_share: Share(0.4),
            trim_share: Share(0.0),
            flush_share: Share(0.0),
            sequential_share: Share(0.4),
            inter_arrival: None,
            bursts: Bursts::None,
            time_scale: 1.0,
            iodepth: None,
            address: AddressDistribution::Uniform,
            offset: Share(0.0),
            footprint: Share(1.0),
        }
    }
}
