//! What is measured of a set of requests: of all of them, or of those of one flow.

use serde_json::{Map, Value, json};

use crate::config::Config;
use crate::host::Completion;
use crate::units::{Duration, Instant};
use crate::workload::Operation;

use super::summary::{breakdown, responses};
use super::verdict::{Backlog, Holds};
use super::{Bandwidth, ExcessWait, Responses, Spans, Totals, WorstResponses};

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
    /// When each flow was measured, if that may be less than the whole run.
    spans: Option<Spans>,
    worst: WorstResponses,
    bandwidth: Bandwidth,
    page_size: u64,
}

impl Ledger {
    /// Nothing recorded yet.
    pub fn new(config: &Config) -> Self {
        let page_size = config.ssd.geometry.page_size.0;
        let spans = Spans::of(config);
        let config = &config.metrics;
        Self {
            responses: Responses::default(),
            measured: None,
            excess: config.excess_bound.map(|bound| Box::new(ExcessWait::new(bound.0))),
            totals: Totals::default(),
            backlog: None,
            holds: Holds::default(),
            spans,
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
        if completion.is_of_ramp() {
            self.totals.of_ramp += 1;
            return;
        }
        if let Some(spans) = &mut self.spans {
            spans.completed(completion, now);
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

    /// Whether there are more windows with a worst response than can be kept.
    pub fn overflows(&self) -> bool {
        self.worst.overflows()
    }

    /// From `now` on, requests are measured.
    pub fn begin(&mut self, now: Instant) {
        self.bandwidth.begin(now);
    }

    /// Requests that have been completed, those of ramps included.
    pub const fn count(&self) -> u64 {
        self.responses.count() + self.totals.of_ramp
    }

    /// Simulated time in which requests were measured, until the last was completed.
    pub fn measured_time(&self) -> Duration {
        let whole = self.totals.end - Instant::START;
        self.spans.as_ref().map_or(whole, Spans::together)
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
        let mut requests = json!({
            "count": self.responses.count(),
            "reads": self.responses.reads.count(),
            "writes": self.responses.writes.count(),
            "trims": totals.trims,
            "flushes": totals.flushes,
            "read_bytes": totals.read_bytes,
            "write_bytes": totals.write_bytes,
            "write_pages": totals.write_pages,
        });
        if totals.of_ramp > 0 {
            requests["of_ramp"] = json!(totals.of_ramp);
        }
        requests
    }

    fn throughput(&self) -> Value {
        let seconds = self.measured_time().as_secs_f64();
        let per_second = |amount: f64| (seconds > 0.0).then(|| amount / seconds);
        let bytes = self.totals.read_bytes + self.totals.write_bytes;
        let mut throughput = json!({
            "iops": per_second(self.responses.count() as f64),
            "mib_per_s": per_second(bytes as f64 / f64::from(1 << 20)),
            "simulated_s": self.totals.end.as_secs_f64(),
        });
        if let Some(spans) = &self.spans {
            throughput["measured_s"] = json!(seconds);
            throughput["measured_from_s"] = json!(spans.first().map(Instant::as_secs_f64));
        }
        throughput
    }
}
