//! Measurements of a set of requests: of all of them, or of those of one flow.

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::host::Completion;
use crate::outcome::Outcome;
use crate::units::{Duration, Instant};
use crate::workload::Operation;

use super::bandwidth::{Bandwidth, BandwidthSummary};
use super::blame::BlameSummary;
use super::excess::{ExcessWait, ExcessWaitSummary};
use super::latency::{BreakdownSummary, LatencyStats};
use super::responses::{Responses, ResponsesSummary};
use super::tail::TailSummary;
use super::verdict::{Backlog, Holds};
use super::worst::{WorstResponseSummary, WorstResponses};
use super::{Spans, Totals};

/// Measurements of requests, but for their counts.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LedgerSummary {
    /// Simulated response times, in microseconds.
    pub response_us: ResponsesSummary,
    /// Response times that the trace holds, in microseconds, if it holds any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured_response_us: Option<ResponsesSummary>,
    /// Excess of response times over a bound, if there is one (`metrics.excess_bound`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excess_wait_us: Option<ExcessWaitSummary>,
    /// The longest response time of each window (`metrics.worst_window`).
    pub worst_response_us: WorstResponseSummary,
    /// Requests and bytes a second.
    pub throughput: ThroughputSummary,
    /// Bandwidth over windows (`metrics.bandwidth_window`).
    pub bandwidth: BandwidthSummary,
    /// Parts of the mean response time, in microseconds.
    pub breakdown_us: BreakdownSummary,
    /// Parts of the mean response time of each operation, in microseconds.
    pub breakdown_by_class_us: BreakdownByClass,
    /// Parts of response times from one percentile to the next: what the tail waits for. Results of earlier versions have
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blame: Option<BlameSummary>,
    /// Tail of the response times of reads and writes; absent if there are too few, and in results of earlier versions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tail: Option<TailSummary>,
}

/// Number of requests, by kind.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RequestsSummary {
    /// Reads and writes that were completed.
    #[schemars(extend("page" = "Requests"))]
    pub count: u64,
    /// Reads.
    #[schemars(extend("page" = "Reads: {}, {read_bytes}"))]
    pub reads: u64,
    /// Writes.
    #[schemars(extend("page" = "Writes: {}, {write_bytes}"))]
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Bytes that the trims named, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim_bytes: Option<u64>,
    /// Logical pages that the writes touched, each counted for every request.
    pub write_pages: u64,
    /// Requests that were simulated before their flows were measured, if there were any; in no other count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_ramp: Option<u64>,
}

/// Requests and bytes a second, over the time in which requests were measured.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(extend("line" = "Throughput"))]
pub struct ThroughputSummary {
    /// Reads and writes a second; null if no time passed.
    #[schemars(extend("line" = "{:rate} IOPS", "column" = "IOPS: {:decimal}", "compared" = "more"))]
    pub iops: Option<f64>,
    /// Mebibytes read and written a second; null if no time passed.
    #[schemars(extend(
        "line" = "{:decimal} MiB/s",
        "column" = "MiB/s: {:decimal}",
        "compared" = "more",
    ))]
    pub mib_per_s: Option<f64>,
    /// Simulated time until the last request was completed, in seconds.
    #[schemars(extend("page" = "Simulated time"))]
    pub simulated_s: f64,
    /// When requests were measured, if that may be less than the whole run; its keys are keys of this.
    #[serde(flatten)]
    pub measured: Option<MeasuredTime>,
}

/// When requests were measured, if that may be less than the whole run.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct MeasuredTime {
    /// Time in which requests were measured, in seconds.
    pub measured_s: f64,
    /// When the first request was measured, in seconds of simulated time; null if none was.
    pub measured_from_s: Option<f64>,
}

/// Parts of mean response times, in microseconds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BreakdownByClass {
    /// Of reads.
    pub read: BreakdownSummary,
    /// Of writes.
    pub write: BreakdownSummary,
    /// Of flushes, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush: Option<BreakdownSummary>,
    /// Of trims, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<BreakdownSummary>,
}

/// Sums and distributions over completed requests.
#[derive(Debug, Checkpointed)]
pub struct Ledger {
    /// Simulated response times.
    pub responses: Responses,
    /// Response times that the trace holds, measured when it was taken, if it holds any.
    pub measured: Option<Box<Responses>>,
    /// Excess of response times over a bound, if there is one.
    pub excess: Option<Box<ExcessWait>>,
    /// Counts by kind.
    pub totals: Totals,
    /// The requests that have times of their own: how many had arrived, and had not ended, over time.
    pub backlog: Option<Box<Backlog>>,
    /// Waits of requests for dies that collected.
    pub holds: Holds,
    /// When each flow was measured, if that may be less than the whole run.
    spans: Option<Spans>,
    worst: WorstResponses,
    bandwidth: Bandwidth,
    page_size: u64,
}

impl Ledger {
    /// Creates an empty record.
    pub fn new(config: &Resolved) -> Self {
        let page_size = config.drive.pages.counted_size.0;
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
    #[inline(always)]
    pub fn completed(&mut self, completion: &Completion, is_open: bool, now: Instant) {
        let request = &completion.request;
        let operation = request.operation;
        if completion.outcome == Outcome::Rejected {
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

    /// When the first request was measured: with the run, if there is no ramp.
    pub fn measured_from(&self) -> Instant {
        self.spans.as_ref().and_then(Spans::first).unwrap_or(Instant::START)
    }

    /// Requests that have been completed, those of ramps included.
    pub const fn count(&self) -> u64 {
        self.responses.count() + self.totals.of_ramp
    }

    /// Whether no request has been answered.
    pub const fn is_empty(&self) -> bool {
        let totals = &self.totals;
        self.count() == 0 && totals.trims == 0 && totals.flushes == 0 && totals.rejected.is_none()
    }

    /// Simulated time in which requests were measured, until the last was completed.
    pub fn measured_time(&self) -> Duration {
        let whole = self.totals.end - Instant::START;
        self.spans.as_ref().map_or(whole, Spans::together)
    }

    /// Summary of the ledger for `summary.json`, but for the counts.
    pub fn summary(&self) -> LedgerSummary {
        let (reads, writes) = (&self.responses.reads, &self.responses.writes);
        let blame = BlameSummary::of(&self.responses);
        LedgerSummary {
            response_us: self.responses.summary(),
            measured_response_us: self.measured.as_ref().map(|measured| measured.summary()),
            excess_wait_us: self.excess.as_ref().map(|excess| excess.summary(&self.responses)),
            worst_response_us: self.worst.summary(),
            throughput: self.throughput(),
            bandwidth: self.bandwidth.summary(),
            breakdown_us: self.responses.all().breakdown(),
            breakdown_by_class_us: BreakdownByClass {
                read: reads.breakdown(),
                write: writes.breakdown(),
                flush: self.responses.flushes().map(LatencyStats::breakdown),
                trim: self.responses.trims().map(LatencyStats::breakdown),
            },
            tail: TailSummary::of(&blame.all),
            blame: Some(blame),
        }
    }

    /// Number of requests, by kind.
    pub fn requests(&self) -> RequestsSummary {
        let totals = &self.totals;
        RequestsSummary {
            count: self.responses.count(),
            reads: self.responses.reads.count(),
            writes: self.responses.writes.count(),
            trims: totals.trims,
            flushes: totals.flushes,
            read_bytes: totals.read_bytes,
            write_bytes: totals.write_bytes,
            trim_bytes: (totals.trims > 0).then_some(totals.trim_bytes),
            write_pages: totals.write_pages,
            of_ramp: (totals.of_ramp > 0).then_some(totals.of_ramp),
        }
    }

    fn throughput(&self) -> ThroughputSummary {
        let seconds = self.measured_time().as_secs_f64();
        let per_second = |amount: f64| (seconds > 0.0).then(|| amount / seconds);
        let bytes = self.totals.read_bytes + self.totals.write_bytes;
        ThroughputSummary {
            iops: per_second(self.responses.count() as f64),
            mib_per_s: per_second(bytes as f64 / f64::from(1 << 20)),
            simulated_s: self.totals.end.as_secs_f64(),
            measured: self.spans.as_ref().map(|spans| MeasuredTime {
                measured_s: seconds,
                measured_from_s: spans.first().map(Instant::as_secs_f64),
            }),
        }
    }
}
