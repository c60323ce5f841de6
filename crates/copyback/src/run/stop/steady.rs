//! Rounds until the last ones are steady (`stop`).

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::config::{RoundLength, SteadyMetric, SteadyStop};
use crate::host::Completion;
use crate::less::Less;
use crate::metrics::Written;
use crate::ssd::Counters;
use crate::steady::{Detector, SteadyRule};
use crate::units::{Duration, Instant};
use crate::workload::Operation;

/// Reason why rounds have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema, Checkpointed)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The last of them are steady.
    #[serde(rename = "steady_state")]
    Steady,
    /// Largest number of rounds was reached.
    MostRounds,
    /// A drive takes no writes any more.
    ReadOnly,
    /// The requests have ended before.
    Workload,
}

/// The rounds of a run that ends when they are steady.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SteadyStateSummary {
    /// Whether the last rounds were steady.
    pub reached: bool,
    /// Reason why the run ended.
    pub ended_by: End,
    /// Metric that was measured in each round.
    pub metric: SteadyMetric,
    /// Rounds that have ended.
    pub rounds: usize,
    /// The metric of each round; null where nothing was done.
    pub values: Vec<Option<f64>>,
    /// The last rounds, steady or not; null if there were too few.
    pub window: Option<SteadyWindow>,
}

/// Statistics of the last rounds of a run. The spread is null if one of them told nothing.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SteadyWindow {
    /// Number of the first of them, from 1.
    pub first_round: usize,
    /// Number of the last.
    pub last_round: usize,
    /// When the first began, in seconds of simulated time.
    pub start_s: f64,
    /// When the last ended, in seconds of simulated time.
    pub end_s: f64,
    /// Mean of the metric.
    pub mean: Option<f64>,
    /// From the least value to the greatest, as a share of the mean.
    pub excursion: Option<f64>,
    /// Rise of the best-fit line over the window, as a share of the mean.
    pub slope: Option<f64>,
    /// From the mean to the value that lies farthest from it, as a share of the mean.
    pub deviation: Option<f64>,
    /// Reads and writes that were completed.
    pub requests: u64,
    /// Reads and writes a second.
    pub iops: Option<f64>,
    /// Mebibytes read and written a second.
    pub mib_per_s: Option<f64>,
    /// Mean response time, in microseconds.
    pub mean_response_us: Option<f64>,
    /// The longest response time, in microseconds.
    pub max_response_us: Option<f64>,
    /// Bytes programmed into flash for each that the host wrote; null if it wrote none.
    pub write_amplification: Option<f64>,
    /// Rates of each of these rounds.
    pub by_round: SteadyRates,
}

/// Rates of rounds, one after the other; null where no time passed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SteadyRates {
    /// Reads and writes a second.
    pub iops: Vec<Option<f64>>,
    /// Mebibytes read and written a second.
    pub mib_per_s: Vec<Option<f64>>,
}

/// The rounds of a run.
#[derive(Debug, Checkpointed)]
pub struct SteadyRounds {
    metric: SteadyMetric,
    page_bytes: u64,
    length: RoundLength,
    window: usize,
    most: usize,
    detector: Detector,
    /// When the round under way ends, or the ramp before the first, if that is known beforehand.
    due: Option<Instant>,
    in_ramp: bool,
    current: Round,
    rounds: Vec<Round>,
    end: Option<End>,
}

impl SteadyRounds {
    /// The rounds of a rule, on drives of which a page has so many bytes.
    pub fn new(stop: &SteadyStop, page_bytes: u64) -> Self {
        let rule = SteadyRule {
            window: stop.window as usize,
            excursion: stop.excursion.most(),
            slope: stop.slope.most(),
            deviation: stop.deviation.most(),
        };
        let mut rounds = Self {
            metric: stop.metric,
            page_bytes,
            length: stop.round,
            window: rule.window,
            most: stop.most_rounds as usize,
            detector: Detector::new(rule),
            due: Some(Instant::START + stop.ramp.0),
            in_ramp: true,
            current: Round::default(),
            rounds: Vec::new(),
            end: None,
        };
        rounds.end_due(Instant::START, &Counters::default());
        rounds
    }

    /// When the round under way ends, if that is known beforehand.
    pub const fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Ends every round that ends at or before `now`. Nothing has changed since the last event, so the
    /// same counters serve them all.
    pub fn end_due(&mut self, now: Instant, counters: &Counters) {
        while let Some(due) = self.due.filter(|due| *due <= now) {
            if self.in_ramp {
                self.in_ramp = false;
                self.begin(due, counters);
            } else {
                self.end_round(due, counters);
            }
        }
    }

    fn begin(&mut self, start: Instant, counters: &Counters) {
        self.current = Round { start, ..Round::default() };
        self.current.count(counters, self.page_bytes);
        self.due = match self.length {
            RoundLength::Time(length) => Some(start + length.0),
            RoundLength::Requests(_) => None,
        };
    }

    /// A request has been completed. Returns whether that ends a round.
    pub fn completed(&mut self, completion: &Completion) -> bool {
        let operation = completion.request.operation;
        let counts = matches!(operation, Operation::Read | Operation::Write);
        if !counts || self.in_ramp || self.has_ended() {
            return false;
        }
        self.current.requests += 1;
        self.current.bytes += completion.request.length;
        if operation == Operation::Write {
            self.current.written.host += completion.request.length;
        }
        self.current.response_ns += u128::from(completion.response.as_ns());
        self.current.longest = self.current.longest.max(completion.response);
        self.length == RoundLength::Requests(self.current.requests)
    }

    /// Ends the round under way.
    pub fn end_round(&mut self, now: Instant, counters: &Counters) {
        self.current.end = now;
        self.current.count(counters, self.page_bytes);
        self.rounds.push(self.current);
        let is_steady = self.detector.push(self.current.value(self.metric));
        if is_steady || self.rounds.len() >= self.most {
            self.end = Some(if is_steady { End::Steady } else { End::MostRounds });
            self.due = None;
        } else {
            self.begin(now, counters);
        }
    }

    /// A drive takes no writes any more, so that no further round tells anything.
    pub fn end_at_read_only(&mut self) {
        self.end.get_or_insert(End::ReadOnly);
        self.due = None;
    }

    /// Whether the run is to end.
    pub const fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// End of the last round, if that ended the run.
    pub fn ended_at(&self) -> Option<Instant> {
        self.end.and(self.rounds.last()).map(|round| round.end)
    }

    /// Share of the rounds that there may be.
    pub fn fraction(&self) -> f64 {
        self.rounds.len() as f64 / self.most as f64
    }

    /// Summary of the rounds for `summary.json`.
    pub fn summary(&self) -> SteadyStateSummary {
        SteadyStateSummary {
            reached: self.end == Some(End::Steady),
            ended_by: self.end.unwrap_or(End::Workload),
            metric: self.metric,
            rounds: self.rounds.len(),
            values: self.rounds.iter().map(|round| round.value(self.metric)).collect(),
            window: self.last_rounds(),
        }
    }

    fn last_rounds(&self) -> Option<SteadyWindow> {
        let first = self.rounds.len().checked_sub(self.window)?;
        let last = &self.rounds[first..];
        let whole = last.iter().skip(1).fold(last[0], |whole, round| whole.followed_by(round));
        let spread = self.detector.spread();
        let each = |value: fn(&Round) -> Option<f64>| last.iter().map(value).collect();
        Some(SteadyWindow {
            first_round: first + 1,
            last_round: self.rounds.len(),
            start_s: whole.start.as_secs_f64(),
            end_s: whole.end.as_secs_f64(),
            mean: spread.map(|spread| spread.mean),
            excursion: spread.map(|spread| spread.excursion),
            slope: spread.map(|spread| spread.slope),
            deviation: spread.map(|spread| spread.deviation),
            requests: whole.requests,
            iops: whole.iops(),
            mib_per_s: whole.mib_per_s(),
            mean_response_us: whole.mean_response_us(),
            max_response_us: (whole.requests > 0).then(|| whole.longest.as_us_f64()),
            write_amplification: whole.written.amplification(),
            by_round: SteadyRates { iops: each(Round::iops), mib_per_s: each(Round::mib_per_s) },
        })
    }
}

/// Counts of a round.
#[derive(Debug, Clone, Copy, Default, Checkpointed)]
struct Round {
    start: Instant,
    end: Instant,
    requests: u64,
    bytes: u64,
    response_ns: u128,
    longest: Duration,
    written: Written,
}

impl Round {
    /// Takes the counters at the end of the round; called at its start, too, it keeps what was added.
    fn count(&mut self, counters: &Counters, page_bytes: u64) {
        self.written.media = (counters.pages_programmed() * page_bytes).less(self.written.media);
    }

    fn followed_by(self, next: &Self) -> Self {
        Self {
            start: self.start,
            end: next.end,
            requests: self.requests + next.requests,
            bytes: self.bytes + next.bytes,
            response_ns: self.response_ns + next.response_ns,
            longest: self.longest.max(next.longest),
            written: self.written + next.written,
        }
    }

    fn value(&self, metric: SteadyMetric) -> Option<f64> {
        match metric {
            SteadyMetric::Iops => self.iops(),
            SteadyMetric::Bandwidth => self.mib_per_s(),
            SteadyMetric::MeanResponse => self.mean_response_us(),
            SteadyMetric::WriteAmplification => self.written.amplification(),
        }
    }

    fn iops(&self) -> Option<f64> {
        self.a_second(self.requests as f64)
    }

    fn mib_per_s(&self) -> Option<f64> {
        self.a_second(self.bytes as f64 / f64::from(1 << 20))
    }

    fn a_second(&self, amount: f64) -> Option<f64> {
        let seconds = (self.end - self.start).as_secs_f64();
        (seconds > 0.0).then(|| amount / seconds)
    }

    fn mean_response_us(&self) -> Option<f64> {
        (self.requests > 0).then(|| self.response_ns as f64 / self.requests as f64 / 1e3)
    }
}
