//! `[workload]`: the requests of a run.

mod handles;
mod synthetic;
mod trace;

pub use handles::*;
pub use synthetic::*;
pub use trace::*;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{choice::choice, quantity::Time};

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
        let inter_arrival = Some(TimeDistribution::Exponential { mean: Time::from_us(3000) });
        Self::Synthetic(SyntheticWorkload { inter_arrival, ..SyntheticWorkload::default() })
    }
}

impl Workload {
    /// Key of the flow at `index` in the configuration.
    pub fn flow_key(&self, index: usize) -> String {
        match self {
            Self::Trace(_) | Self::Synthetic(_) => "workload".to_owned(),
            Self::Flows(_) => format!("workload.flows.{index}"),
        }
    }

    /// The flows that it consists of: one, but for several at once.
    pub fn flows(&self) -> Vec<Flow> {
        match self {
            Self::Trace(trace) => vec![Flow::Trace(trace.clone())],
            Self::Synthetic(synthetic) => vec![Flow::Synthetic(synthetic.clone())],
            Self::Flows(flows) => flows.flows.clone(),
        }
    }
}

/// Several workloads at once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowsWorkload {
    /// The flows; flow i uses submission queue i modulo `host.queues`.
    #[schemars(length(min = 1, max = 4096))]
    pub flows: Vec<Flow>,
    /// Names of the flows in results, one for each in their order; absent: their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
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

impl Flow {
    /// Requests outstanding, if it is a closed loop.
    pub fn iodepth(&self) -> Option<u32> {
        match self {
            Self::Trace(trace) => trace.iodepth,
            Self::Synthetic(synthetic) => synthetic.iodepth,
        }
    }

    /// Duration of the flow from its start, if there is one.
    pub const fn duration(&self) -> Option<Time> {
        match self {
            Self::Trace(trace) => trace.duration,
            Self::Synthetic(synthetic) => synthetic.duration,
        }
    }

    /// When it starts at the earliest.
    pub const fn starts_at(&self) -> Time {
        match self {
            Self::Trace(trace) => trace.starts_at,
            Self::Synthetic(synthetic) => synthetic.starts_at,
        }
    }

    /// The flows that must have ended before it starts.
    pub fn starts_after(&self) -> &[u16] {
        match self {
            Self::Trace(trace) => &trace.starts_after,
            Self::Synthetic(synthetic) => &synthetic.starts_after,
        }
    }

    /// Time for which it runs before it is measured.
    pub const fn ramp(&self) -> Time {
        match self {
            Self::Trace(trace) => trace.ramp,
            Self::Synthetic(synthetic) => synthetic.ramp,
        }
    }

    /// Placement handles of its writes.
    pub const fn handles(&self) -> &Handles {
        match self {
            Self::Trace(trace) => &trace.handles,
            Self::Synthetic(synthetic) => &synthetic.handles,
        }
    }

    /// Pauses of a closed loop.
    pub const fn thinktime(&self) -> ThinkTime {
        match self {
            Self::Trace(_) => ThinkTime::None,
            Self::Synthetic(synthetic) => synthetic.thinktime,
        }
    }

    /// Requests of a round and most rounds, if it has rounds until the run has settled.
    pub const fn rounds(&self) -> Option<(u64, u32)> {
        match self {
            Self::Trace(_) => None,
            Self::Synthetic(synthetic) => synthetic.requests.rounds(),
        }
    }

    /// Whether it replays a trace.
    pub const fn is_trace(&self) -> bool {
        matches!(self, Self::Trace(_))
    }

    /// Whether it may write: only a trace itself tells whether it does.
    pub fn may_write(&self) -> bool {
        match self {
            Self::Trace(_) => true,
            Self::Synthetic(synthetic) => synthetic.writes(),
        }
    }

    /// Whether it is a generator that makes the same requests in each pass over its addresses.
    pub const fn repeats_its_map(&self) -> bool {
        let Self::Synthetic(synthetic) = self else { return false };
        matches!(synthetic.address, AddressDistribution::RandomMap { repeats: true })
    }

    /// Copy without an end of its own: a trace once and from its start, a generator without end.
    pub fn without_end(&self) -> Self {
        match self {
            Self::Trace(trace) => Self::Trace(trace.once()),
            Self::Synthetic(synthetic) => Self::Synthetic(synthetic.without_end()),
        }
    }

    /// Whether it never ends by itself.
    pub fn is_endless(&self) -> bool {
        match self {
            Self::Trace(_) => false,
            Self::Synthetic(synthetic) => {
                synthetic.requests == RequestCount::Unlimited
                    && synthetic.io_size.is_none()
                    && synthetic.duration.is_none()
            }
        }
    }
}
