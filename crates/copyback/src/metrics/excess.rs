//! Excess waiting time: what response times have beyond a bound (Jung, Prabhakar, Kandemir, Middleware
//! 2012, section 6.3, whose bound is 30 ms).

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::units::Duration;
use crate::workload::Operation;

use super::Responses;
use super::latency::{LatencyStats, ResponseSummary};

/// Time that requests take beyond a bound.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExcessWaitSummary {
    /// The bound, in microseconds.
    pub bound_us: f64,
    /// Reads and writes.
    pub all: ExcessSummary,
    /// Reads.
    pub read: ExcessSummary,
    /// Writes.
    pub write: ExcessSummary,
}

/// Excess of the requests of one class that take longer than a bound, in microseconds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ExcessSummary {
    /// The excess of each such request; its keys are keys of this.
    #[serde(flatten)]
    pub times: ResponseSummary,
    /// Share of these requests among all of the class; null if there are none.
    pub share: Option<f64>,
    /// Sum of the excess.
    pub total: f64,
}

/// Of the requests that take longer than the bound, what they take longer.
#[derive(Debug, Checkpointed)]
pub struct ExcessWait {
    bound: Duration,
    /// The excess of each such request.
    pub excess: Responses,
}

impl ExcessWait {
    /// Creates an empty record.
    pub fn new(bound: Duration) -> Self {
        Self { bound, excess: Responses::default() }
    }

    /// A request has been completed.
    pub fn completed(&mut self, operation: Operation, response: Duration) {
        if response > self.bound {
            self.excess.add(operation, |stats| stats.record_whole(response - self.bound));
        }
    }

    /// Summary of the excess for `summary.json`, beside `responses` to all requests.
    pub fn summary(&self, responses: &Responses) -> ExcessWaitSummary {
        let Responses { reads, writes, .. } = &self.excess;
        ExcessWaitSummary {
            bound_us: self.bound.as_us_f64(),
            all: of_class(&self.excess.all(), responses.count()),
            read: of_class(reads, responses.reads.count()),
            write: of_class(writes, responses.writes.count()),
        }
    }
}

fn of_class(stats: &LatencyStats, requests: u64) -> ExcessSummary {
    ExcessSummary {
        times: stats.summary(),
        share: (requests > 0).then(|| stats.count() as f64 / requests as f64),
        total: stats.total() as f64 / 1e3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_exceeds_the_bound_counts_and_by_how_much() {
        let us = Duration::from_us;
        let (mut excess, mut all) = (ExcessWait::new(us(30)), Responses::default());
        for (operation, response) in [
            (Operation::Read, 30),
            (Operation::Read, 31),
            (Operation::Write, 10),
            (Operation::Write, 90),
            (Operation::Flush, 500),
        ] {
            all.add(operation, |stats| stats.record_whole(us(response)));
            excess.completed(operation, us(response));
        }
        let summary = excess.summary(&all);
        assert_eq!(summary.bound_us, 30.0);
        assert_eq!(summary.all.times.count, 2);
        assert_eq!(summary.all.share, Some(0.5));
        assert_eq!(summary.all.total, 61.0);
        assert_eq!(summary.read.times.max, Some(1.0));
        assert_eq!(summary.write.times.mean, Some(60.0));
    }
}
