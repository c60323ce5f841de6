//! What is measured of a set of requests: of all of them, or of those of one flow.

use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::host::Completion;
use crate::units::Instant;
use crate::workload::Operation;

use super::summary::{breakdown, responses};
use super::verdict::{Backlog, Holds};
use super::{Bandwidth, ExcessWait, Responses, Totals, WorstResponses};

/// Sums and distributions over completed requests.
#[derive(Debug)]
pub struct Ledger {
    /// Simulated response times.
    pub responses: Responses,
    /// Those that the trace holds, measured when it was taken, if it holds any.
    pub measured: Option<Box<Responses>>,
    /// What response times have beyond a bound, if there is one.
    pub excess: Option<Box<ExcessWait>>,
    /// Counts by kind.
    pub totals: Totals,
    /// The requests that have times of their own: how many had arrived, and had not ended, over time.
    pub backlog: Option<Box<Backlog>>,
    /// How long requests waited for dies that collected.
    pub holds: Holds,
    worst: WorstResponses,
    bandwidth: Bandwidth,
    page_size: u64,
}

impl Ledger {
    /// Nothing recorded yet.
    pub fn new(config: &Config) -> Self {
        let page_size = config.ssd.geometry.page_size.0;
        let config = &config.metrics;
        Self {
            responses: Responses::default(),
            measured: None,
            excess: config.excess_bound.map(|bound| Box::new(ExcessWait::new(bound.0))),
            totals: Totals::default(),
            backlog: None,
            holds: Holds::default(),
            worst: WorstResponses::new(config.worst_window.0),
            bandwidth: Bandwidth::new(config.bandwidth_window.0),
            page_size,
        }
    }

    /// A request has been completed at `now`, of an open loop if it `is_open`.
    pub fn completed(&mut self, completion: &Completion, is_open: bool, now: Instant) {
        let request = &completion.request;
        let operation = request.operation;
        if completion.rejected {
            self.totals.rejected.count(operation);
            return;
        }
        self.totals.count(request, self.page_size);
        self.totals.end = now;
        self.responses.add(operation, |stats| stats.record(completion.response, &completion.parts));
        if let Some(measured) = request.measured {
            let responses = self.measured.get_or_insert_default();
            responses.add(operation, |stats| stats.record_whole(measured));
        }
        if let Some(excess) = &mut self.excess {
            excess.completed(operation, completion.response);
        }
        if matches!(operation, Operation::Read | Operation::Write) {
            self.holds.completed(&completion.parts);
            if is_open {
                self.backlog.get_or_insert_default().completed(request.arrival, now);
            }
        }
        self.worst.completed(operation, completion.response, now);
        self.bandwidth.completed(operation, request.length, now);
    }

    /// The keys in `summary.json` that requests decide alone, up to the bandwidth.
    pub fn put_into(&self, summary: &mut Map<String, Value>) {
        let mut put = |key: &str, value: Value| summary.insert(key.into(), value);
        put("requests", self.requests());
        put("response_us", responses(&self.responses));
        if let Some(measured) = &self.measured {
            put("measured_response_us", responses(measured));
        }
        if let Some(excess) = &self.excess {
            put("excess_wait_us", excess.summary(&self.responses));
        }
        put("worst_response_us", self.worst.summary());
        put("throughput", self.throughput());
        put("bandwidth", self.bandwidth.summary());
    }

    /// The keys in `summary.json` that tell where response times went.
    pub fn put_breakdown_into(&self, summary: &mut Map<String, Value>) {
        let (reads, writes) = (&self.responses.reads, &self.responses.writes);
        let by_class = json!({ "read": breakdown(reads), "write": breakdown(writes) });
        summary.insert("breakdown_us".into(), breakdown(&self.responses.all()));
        summary.insert("breakdown_by_class_us".into(), by_class);
    }

    fn requests(&self) -> Value {
        let totals = &self.totals;
        json!({
            "count": self.responses.count(),
            "reads": self.responses.reads.count(),
            "writes": self.responses.writes.count(),
            "trims": totals.trims,
            "flushes": totals.flushes,
            "read_bytes": totals.read_bytes,
            "write_bytes": totals.write_bytes,
            "write_pages": totals.write_pages,
        })
    }

    fn throughput(&self) -> Value {
        let seconds = self.totals.end.as_secs_f64();
        let per_second = |amount: f64| (seconds > 0.0).then(|| amount / seconds);
        let bytes = self.totals.read_bytes + self.totals.write_bytes;
        json!({
            "iops": per_second(self.responses.count() as f64),
            "mib_per_s": per_second(bytes as f64 / f64::from(1 << 20)),
            "simulated_s": seconds,
        })
    }
}
