//! What a run measures. Observes and never decides.

mod latency;
mod requests;
mod series;
mod summary;

pub use latency::LatencyStats;
pub use requests::RequestColumns;
pub use series::{SAMPLE_COLUMNS, Sample, Series, SeriesColumns};
pub use summary::{Totals, WearStats, summary};

use crate::config;
use crate::host::Completion;
use crate::units::Instant;
use crate::workload::Operation;

/// Everything that is recorded about requests.
#[derive(Debug)]
pub struct Recorder {
    /// Reads and writes together.
    pub all: LatencyStats,
    /// Reads.
    pub reads: LatencyStats,
    /// Writes.
    pub writes: LatencyStats,
    /// Rows over time.
    pub series: Series,
    /// Counts by kind.
    pub totals: Totals,
    requests: Option<RequestColumns>,
}

impl Recorder {
    /// Nothing recorded yet.
    pub fn new(config: &config::Metrics) -> Self {
        Self {
            all: LatencyStats::default(),
            reads: LatencyStats::default(),
            writes: LatencyStats::default(),
            series: Series::new(config.interval.map(|interval| interval.0)),
            totals: Totals::default(),
            requests: config.requests.then(RequestColumns::default),
        }
    }

    /// A request has been completed at `now`.
    pub fn completed(&mut self, completion: &Completion, now: Instant) {
        let length = completion.request.length;
        match completion.request.operation {
            Operation::Read => {
                self.reads.record(completion.response, &completion.parts);
                self.all.record(completion.response, &completion.parts);
                self.totals.read_bytes += length;
            }
            Operation::Write => {
                self.writes.record(completion.response, &completion.parts);
                self.all.record(completion.response, &completion.parts);
                self.totals.write_bytes += length;
            }
            Operation::Trim => self.totals.trims += 1,
            Operation::Flush => self.totals.flushes += 1,
        }
        self.totals.end = now;
        self.series.completed(completion);
        if let Some(requests) = &mut self.requests {
            requests.push(completion);
        }
    }

    /// Takes the rows of the requests recorded since the last call.
    pub fn take_requests(&mut self) -> RequestColumns {
        self.requests.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
