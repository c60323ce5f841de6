//! What a run measures. Observes and never decides.

mod bandwidth;
mod devices;
mod dies;
mod endurance;
mod excess;
mod faults;
mod idle_time;
mod latency;
mod latency_log;
mod overlap;
mod power_loss;
mod requests;
mod series;
mod slowest;
mod spans;
mod summary;
mod timeline;
mod watch;
mod worst;

pub use bandwidth::Bandwidth;
pub use devices::{CollectionColumns, CommandColumns, Devices};
pub use dies::{DieColumns, Dies};
pub use endurance::{Endurance, Rating};
pub use excess::ExcessWait;
pub use latency::LatencyStats;
pub use latency_log::LatencyLog;
pub use overlap::Overlap;
pub use power_loss::summary as power_loss_summary;
pub use requests::RequestColumns;
pub use series::{SAMPLE_COLUMNS, Sample, Series, SeriesColumns};
pub use slowest::Slowest;
pub use spans::Spans;
pub use summary::{DeviceSummary, Totals, WearStats, summary};
pub use timeline::Timeline;
pub use watch::Watch;
pub use worst::WorstResponses;

use std::borrow::Cow;

use crate::config::Config;
use crate::host::Completion;
use crate::units::{Duration, Instant};
use crate::workload::Operation;

/// Response times of the requests that move data.
#[derive(Debug, Default)]
pub struct Responses {
    /// What the first of them was.
    first: Option<Operation>,
    /// Reads.
    pub reads: LatencyStats,
    /// Writes.
    pub writes: LatencyStats,
}

impl Responses {
    /// Adds a response time to the classes of `operation`.
    fn add(&mut self, operation: Operation, record: impl FnOnce(&mut LatencyStats)) {
        let class = match operation {
            Operation::Read => &mut self.reads,
            Operation::Write => &mut self.writes,
            Operation::Trim | Operation::Flush => return,
        };
        self.first.get_or_insert(operation);
        record(class);
    }

    /// How many there are.
    pub const fn count(&self) -> u64 {
        self.reads.count() + self.writes.count()
    }

    /// Reads and writes together.
    pub fn all(&self) -> LatencyStats {
        match self.first {
            Some(Operation::Read) => self.reads.merged(&self.writes),
            _ => self.writes.merged(&self.reads),
        }
    }

    /// Each class under its name in `summary.json`.
    pub fn classes(&self) -> [(&'static str, Cow<'_, LatencyStats>); 3] {
        [
            ("all", Cow::Owned(self.all())),
            ("read", Cow::Borrowed(&self.reads)),
            ("write", Cow::Borrowed(&self.writes)),
        ]
    }
}

/// Everything that is recorded about requests.
pub struct Recorder {
    /// Simulated response times.
    pub responses: Responses,
    /// Those that the trace holds, measured when it was taken, if it holds any.
    pub measured: Option<Box<Responses>>,
    /// What response times have beyond a bound, if there is one.
    pub excess: Option<Box<ExcessWait>>,
    /// The worst response times of windows.
    pub worst: WorstResponses,
    /// Rows over time.
    pub series: Series,
    /// What each die did over time.
    pub dies: Dies,
    /// Bytes a second.
    pub bandwidth: Bandwidth,
    /// The drives of an array, one by one.
    pub devices: Option<Devices>,
    /// Histograms over time, if they are kept.
    pub latency_log: Option<Box<LatencyLog>>,
    /// Counts by kind.
    pub totals: Totals,
    /// When each flow was measured, if that may be less than the whole run.
    pub spans: Option<Spans>,
    /// Those who look at every operation of the flash, if any do.
    pub watch: Option<Box<Watch>>,
    requests: Option<RequestColumns>,
}

impl Recorder {
    /// Nothing recorded yet.
    pub fn new(config: &Config) -> Self {
        let devices = (config.array.devices > 1).then(|| Devices::new(config));
        let watch = config.metrics.needs_journal().then(|| Box::new(Watch::new(config)));
        let spans = Spans::of(config);
        let config = &config.metrics;
        Self {
            responses: Responses::default(),
            measured: None,
            excess: config.excess_bound.map(|bound| Box::new(ExcessWait::new(bound.0))),
            worst: WorstResponses::new(config.worst_window.0),
            series: Series::new(config.interval.map(|interval| interval.0)),
            dies: Dies::default(),
            bandwidth: Bandwidth::new(config.bandwidth_window.0),
            devices,
            latency_log: config
                .histogram_interval
                .map(|interval| Box::new(LatencyLog::new(interval.0))),
            totals: Totals::default(),
            spans,
            watch,
            requests: config.requests.then(RequestColumns::default),
        }
    }

    /// A request has been completed at `now`.
    pub fn completed(&mut self, completion: &Completion, now: Instant) {
        let length = completion.request.length;
        let operation = completion.request.operation;
        if completion.rejected {
            self.totals.rejected.count(operation);
            return;
        }
        self.series.completed(completion);
        if let Some(watch) = &mut self.watch {
            watch.completed(completion, now);
        }
        if completion.is_of_ramp() {
            self.totals.of_ramp += 1;
            return;
        }
        if let Some(spans) = &mut self.spans {
            spans.completed(completion, now);
        }
        match operation {
            Operation::Read => self.totals.read_bytes += length,
            Operation::Write => self.totals.write_bytes += length,
            Operation::Trim => self.totals.trims += 1,
            Operation::Flush => self.totals.flushes += 1,
        }
        self.responses.add(operation, |stats| stats.record(completion.response, &completion.parts));
        if let Some(measured) = completion.request.measured {
            let responses = self.measured.get_or_insert_default();
            responses.add(operation, |stats| stats.record_whole(measured));
        }
        if let Some(excess) = &mut self.excess {
            excess.completed(operation, completion.response);
        }
        if let Some(log) = &mut self.latency_log {
            log.completed(operation, completion.response, now);
        }
        self.worst.completed(operation, completion.response, now);
        self.totals.end = now;
        self.bandwidth.completed(operation, length, now);
        if let Some(devices) = &mut self.devices {
            devices.request_ended(completion.device);
        }
        if let Some(requests) = &mut self.requests {
            requests.push(completion);
        }
    }

    /// From `now` on, requests are measured; what was told of drives and windows before does not count.
    pub fn begin(&mut self, now: Instant) {
        self.bandwidth.begin(now);
        if let Some(devices) = &mut self.devices {
            devices.begin();
        }
    }

    /// Simulated time in which requests were measured, until the last was completed.
    pub fn measured_time(&self) -> Duration {
        let whole = self.totals.end - Instant::START;
        self.spans.as_ref().map_or(whole, Spans::together)
    }

    /// Whether somebody looks at the drives at the end of every instant.
    pub const fn looks_at_drives(&self) -> bool {
        self.devices.is_some() || self.watch.is_some()
    }

    /// Takes the rows of the requests recorded since the last call.
    pub fn take_requests(&mut self) -> RequestColumns {
        self.requests.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
