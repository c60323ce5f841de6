//! Measurements of a run. Observes and never decides.
//!
//! A number of the summary is declared once, as a field of a `...Summary` struct: its comment says what it is, and
//! `#[schemars(extend("page" = "Pages moved"))]` where it is shown. `make generated` takes both to the classes in Python, which the
//! page, the terminal and the comparisons read. Rows and parts of lines stand in the order of the fields.
//!
//! | key | shows the number in |
//! | --- | --- |
//! | `page` | a row of the report: a label, and behind `: ` a text if the number alone does not do |
//! | `line` | a part of a line of the terminal; of a struct, how that line begins, and how a number without a part reads |
//! | `column`, `meaning` | a column of a table: its head, and what it means |
//! | `compared` | every comparison, with its `column`; the better is `less` or `more` |
//!
//! `if` says when: a key whose number is not null, or with ` > 0` behind it. In a text `{}` is the number and `{other}` another of
//! its struct; a format may follow (`{:rate}`, `FORMATS` in `words/declared.py`) where the end of the key does not say the unit.

mod bandwidth;
mod blame;
mod class_rows;
mod devices;
mod dies;
mod drive_work;
mod endurance;
mod excess;
mod faults;
mod flows;
mod gc;
mod idle_time;
mod latency;
mod latency_log;
mod ledger;
mod lines;
mod lost_die;
mod mapping;
mod overlap;
mod placement;
mod power_loss;
mod requests;
mod responses;
mod series;
mod slc_cache;
mod slowest;
mod spans;
mod tail;
mod timeline;
mod verdict;
mod watch;
mod worst;
mod written;

pub use bandwidth::Bandwidth;
pub use devices::{CollectionColumns, CommandColumns, Devices, DevicesSummary};
pub use dies::{DieColumns, Dies, Spell};
pub use drive_work::{DriveSummary, DriveWork, Totals, WearStats};
pub use endurance::{Endurance, Rating};
pub use excess::ExcessWait;
pub use flows::FlowSummary;
pub use latency::LatencyStats;
pub use latency_log::LatencyLog;
pub use ledger::{Ledger, LedgerSummary, RequestsSummary};
pub use lines::ParityState;
pub use lost_die::{LostDieReads, LostDieSummary};
pub use overlap::Overlap;
pub use power_loss::PowerLossSummary;
pub use requests::RequestColumns;
pub use responses::Responses;
pub use series::{FlowColumns, SAMPLE_COLUMNS, Sample, Series, SeriesColumns};
pub use slowest::Slowest;
pub use spans::Spans;
pub use tail::TailSummary;
pub use timeline::Timeline;
pub use verdict::{Amplification, Finding, VerdictSummary};
pub use watch::Watch;
pub use worst::WorstResponses;
pub use written::Written;

use flows::flows;

use crate::checkpoint::Checkpointed;
use crate::config::{Resolved, Workload};
use crate::host::Completion;
use crate::outcome::Outcome;
use crate::units::{Instant, TotalTime};

/// Everything that is recorded about requests.
#[derive(Checkpointed)]
pub struct Recorder {
    /// All requests.
    pub whole: Ledger,
    /// Ledgers of the flows, where there are several.
    pub flows: Vec<Ledger>,
    /// Names of the flows, if they have any.
    names: Vec<String>,
    /// Whether each flow is an open loop.
    is_open: Vec<bool>,
    /// Rows over time.
    pub series: Series,
    /// Rows of a width that adapts, where those have one that is configured: what the run is judged by.
    judged: Option<Box<Series>>,
    /// Activity of each die over time.
    pub dies: Dies,
    /// The drives of an array, one by one.
    pub devices: Option<Devices>,
    /// Histograms over time, if they are kept.
    pub latency_log: Option<Box<LatencyLog>>,
    /// Listeners to every operation of the flash, if there are any.
    pub watch: Option<Box<Watch>>,
    requests: Option<RequestColumns>,
    /// Reads before, while and after a lost die is rebuilt, if one is lost.
    pub lost_die: Option<Box<LostDieReads>>,
}

impl Recorder {
    /// Creates an empty record.
    pub fn new(config: &Resolved) -> Self {
        let is_open = config.workload.flows().iter().map(|flow| flow.iodepth().is_none()).collect();
        let devices = (config.array.devices > 1).then(|| Devices::new(config));
        let watch = config.metrics.needs_journal().then(|| Box::new(Watch::new(config)));
        let whole = Ledger::new(config);
        let (flows, names) = match &config.workload {
            Workload::Flows(several) => {
                let flows = several.flows.iter().map(|_| Ledger::new(config)).collect();
                (flows, several.names.clone())
            }
            Workload::Trace(_) | Workload::Synthetic(_) => (Vec::new(), Vec::new()),
        };
        let lost_die = config.ssd.faults.lost_die.map(|_| Box::default());
        let config = &config.metrics;
        let series = Series::new(config.interval.map(|interval| interval.0), flows.len());
        let judged = config.interval.map(|_| Box::new(Series::new(None, 0)));
        Self {
            whole,
            flows,
            names,
            is_open,
            series,
            judged,
            dies: Dies::default(),
            devices,
            latency_log: config
                .histogram_interval
                .map(|interval| Box::new(LatencyLog::new(interval.0))),
            watch,
            requests: config.requests.then(RequestColumns::default),
            lost_die,
        }
    }

    /// A request has been completed at `now`.
    #[inline(always)]
    pub fn completed(&mut self, completion: &Completion, now: Instant) {
        let flow = completion.flow.index();
        let is_open = self.is_open[flow];
        self.whole.completed(completion, is_open, now);
        if let Some(flow) = self.flows.get_mut(flow) {
            flow.completed(completion, is_open, now);
        }
        if completion.outcome == Outcome::Rejected {
            return;
        }
        self.series.completed(completion);
        if let Some(judged) = &mut self.judged {
            judged.completed(completion);
        }
        if let Some(watch) = &mut self.watch {
            watch.completed(completion, now);
        }
        if completion.is_of_ramp() {
            return;
        }
        let operation = completion.request.operation;
        if let Some(log) = &mut self.latency_log {
            log.completed(operation, completion.response, now);
        }
        if let Some(devices) = &mut self.devices {
            devices.request_ended(completion.device);
        }
        if let Some(requests) = &mut self.requests {
            requests.push(completion);
        }
    }

    /// When the next row over time ends: [`close_rows`](Self::close_rows) is due then.
    #[inline]
    pub fn rows_due(&self) -> Instant {
        match &self.judged {
            None => self.series.due(),
            Some(judged) => judged.due().min(self.series.due()),
        }
    }

    /// Ends every row over time that ends at or before `now`, as [`Series::close_rows`].
    pub fn close_rows(
        &mut self,
        now: Instant,
        (sample, held): (&Sample, &[u64]),
        collecting: impl Fn(Instant) -> TotalTime,
    ) {
        self.each_series().for_each(|series| series.close_rows(now, (sample, held), &collecting));
    }

    /// Ends the last row over time at the end of the run.
    pub fn finish_rows(
        &mut self,
        now: Instant,
        (sample, held): (&Sample, &[u64]),
        collecting: impl Fn(Instant) -> TotalTime,
    ) {
        self.each_series().for_each(|series| series.finish(now, (sample, held), &collecting));
    }

    #[inline]
    fn each_series(&mut self) -> impl Iterator<Item = &mut Series> {
        std::iter::once(&mut self.series).chain(self.judged.as_deref_mut())
    }

    /// From `now` on, requests are measured; what was told of drives and windows before does not count.
    pub fn begin(&mut self, now: Instant) {
        self.whole.begin(now);
        self.flows.iter_mut().for_each(|flow| flow.begin(now));
        if let Some(devices) = &mut self.devices {
            devices.begin();
        }
    }

    /// Verdict on what the numbers of the run, in which the drives did this `work`, can be taken for, and the
    /// results of each flow, if there are several.
    pub fn judge(
        &self,
        work: &DriveWork,
        dies_per_drive: usize,
    ) -> (VerdictSummary, Option<Vec<FlowSummary>>) {
        let spell = self.dies.longest_spell(dies_per_drive);
        let series = self.judged.as_deref().unwrap_or(&self.series);
        let amplification = Amplification::of(&series.written_since(self.whole.measured_from()));
        let starve_a_flow = self.flows.iter().any(Ledger::is_empty);
        let drives = verdict::Drives { counters: &work.counters, amplification, starve_a_flow };
        let run = verdict::Run { spell: spell.as_ref(), was_off: work.was_off };
        let flows = (!self.flows.is_empty())
            .then(|| flows(&self.flows, &self.names, work.written.media, run));
        (verdict::of_run(&self.whole, run, &drives), flows)
    }

    /// Whether there are more windows with a worst response than can be kept.
    pub fn overflows(&self) -> bool {
        self.whole.overflows()
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
