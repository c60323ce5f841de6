//! Excess waiting time: what response times have beyond a bound (Jung, Prabhakar, Kandemir, Middleware
//! 2012, section 6.3, whose bound is 30 ms).

use serde_json::{Map, Value, json};

use crate::units::Duration;
use crate::workload::Operation;

use super::summary::latency;
use super::{LatencyStats, Responses};

/// Of the requests that take longer than the bound, what they take longer.
#[derive(Debug)]
pub struct ExcessWait {
    bound: Duration,
    /// The excess of each such request.
    pub excess: Responses,
}

impl ExcessWait {
    /// Nothing recorded yet.
    pub fn new(bound: Duration) -> Self {
        Self { bound, excess: Responses::default() }
    }

    /// A request has been completed.
    pub fn completed(&mut self, operation: Operation, response: Duration) {
        if response > self.bound {
            self.excess.add(operation, |stats| stats.record_whole(response - self.bound));
        }
    }

    /// Its keys in `summary.json`, beside `responses` to all requests.
    pub fn summary(&self, responses: &Responses) -> Value {
        let mut summary = Map::new();
        summary.insert("bound_us".into(), json!(self.bound.as_us_f64()));
        let all = responses.classes().into_iter().map(|(_, stats)| stats.count());
        for ((class, stats), requests) in self.excess.classes().into_iter().zip(all) {
            summary.insert(class.into(), of_class(&stats, requests));
        }
        Value::Object(summary)
    }
}

fn of_class(stats: &LatencyStats, requests: u64) -> Value {
    let mut summary = latency(stats);
    let share = (requests > 0).then(|| stats.count() as f64 / requests as f64);
    summary["share"] = json!(share);
    summary["total"] = json!(stats.total() as f64 / 1e3);
    summary
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
        assert_eq!(summary["bound_us"], 30.0);
        assert_eq!(summary["all"]["count"], 2);
        assert_eq!(summary["all"]["share"], 0.5);
        assert_eq!(summary["all"]["total"], 61.0);
        assert_eq!(summary["read"]["max"], 1.0);
        assert_eq!(summary["write"]["mean"], 60.0);
    }
}
