//! Requests that have arrived and have not ended, over time, and whether they become more and more.

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::units::{Duration, Instant};

use super::trend::{Parts, drift};

/// Bins of time. Widths are powers of two, so that a time is sorted in with a shift.
const BINS: usize = 512;
/// Width of the first bins: some 4 us.
const FIRST_SHIFT: u32 = 12;

/// Share of the requests by which a backlog has to grow to be an overload, whatever the test says: a drive that
/// is a thousandth behind is not overloaded for practical purposes.
const LEAST_GROWTH: f64 = 0.005;
/// Share of the requests that wait at the end of a run which is too short to be judged, and make it suspicious.
const SUSPICIOUS_REST: f64 = 0.02;

/// Arrivals and ends in bins of time. Bins start fine and are merged two by two as the run gets longer.
#[derive(Debug, Checkpointed)]
pub struct Backlog {
    shift: u32,
    arrived: Vec<u32>,
    ended: Vec<u32>,
    first_arrival: Instant,
    last_arrival: Instant,
    last_end: Instant,
}

impl Default for Backlog {
    /// No request yet.
    fn default() -> Self {
        Self {
            shift: FIRST_SHIFT,
            arrived: vec![0; BINS],
            ended: vec![0; BINS],
            first_arrival: Instant::from_ns(u64::MAX),
            last_arrival: Instant::START,
            last_end: Instant::START,
        }
    }
}

/// Whether a drive does what it is asked to as fast as it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "LoadState")]
pub enum State {
    /// Backlog that comes and goes.
    Sustained,
    /// Next to nothing waits at the end; the run is too short to promise that of a longer one.
    CaughtUp,
    /// Backlog that grows as long as the run lasts.
    Overload,
    /// The run is too short to tell.
    Undecided,
}

impl State {
    /// Whether the drive did all that it was asked to.
    pub const fn keeps_up(self) -> bool {
        matches!(self, Self::Sustained | Self::CaughtUp)
    }
}

/// Load of an open loop and throughput of the drive, until the last arrival.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LoadSummary {
    /// Whether the drive did what it was asked to as fast as it was asked.
    pub state: State,
    /// Requests that arrived, a second.
    pub offered_iops: f64,
    /// Requests that ended, a second.
    pub served_iops: f64,
    /// Requests that ended in the second half of the time, a second.
    pub served_lately_iops: f64,
    /// From the first arrival to the last, in seconds.
    pub arrivals_s: f64,
    /// From the last arrival to the last end, in seconds.
    pub drained_s: f64,
    /// Requests that had arrived and not ended.
    pub backlog: BacklogSummary,
}

/// Requests that had arrived and not ended, over time.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BacklogSummary {
    /// When the last one arrived.
    pub at_last_arrival: i64,
    /// The least of each part of the time.
    pub least_by_part: Vec<i64>,
    /// Drift of the least backlog; null if the run is too short to tell.
    pub drift: Option<DriftSummary>,
}

/// Drift of the least backlog from part to part.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct DriftSummary {
    /// Student's t of the mean step from one part to the next.
    pub t: f64,
    /// Critical value: `t` exceeds it by chance in one run of a hundred.
    pub critical: f64,
}

/// Load of an open loop and throughput of the drive, until the last arrival.
#[derive(Debug, Clone)]
pub struct Load {
    /// Whether it got all.
    pub state: State,
    /// Requests that arrived, a second.
    offered: f64,
    /// Requests that ended, a second.
    served: f64,
    /// Requests that ended in the second half of the time, a second.
    served_lately: f64,
    /// From the first arrival to the last.
    arrivals: Duration,
    /// From the last arrival to the last end.
    drained: Duration,
    /// The least backlog of each part.
    least: Vec<i64>,
    /// Requests that waited or were served when the last one arrived.
    at_last_arrival: i64,
    /// Drift of the least backlog, if the run is long enough to tell.
    drift: Option<(Parts, f64)>,
}

impl Backlog {
    /// A request that had arrived at `arrival` ends at `now`.
    #[inline]
    pub fn completed(&mut self, arrival: Instant, now: Instant) {
        while now.as_ns() >> self.shift >= BINS as u64 {
            self.halve();
        }
        let (arrived, ended) = (self.bin(arrival), self.bin(now));
        self.arrived[arrived] += 1;
        self.ended[ended] += 1;
        self.first_arrival = self.first_arrival.min(arrival);
        self.last_arrival = self.last_arrival.max(arrival);
        self.last_end = now;
    }

    const fn bin(&self, at: Instant) -> usize {
        (at.as_ns() >> self.shift) as usize
    }

    #[cold]
    fn halve(&mut self) {
        self.shift += 1;
        for bins in [&mut self.arrived, &mut self.ended] {
            for bin in 0..BINS / 2 {
                bins[bin] = bins[2 * bin] + bins[2 * bin + 1];
            }
            bins[BINS / 2..].fill(0);
        }
    }

    /// Load and throughput. Events in two parts of the run are independent if the parts are longer than
    /// `memory`: than a request takes, and than a die collects at a stretch. What happens in two parts of the
    /// run has nothing in common if they are longer than `memory`: than a request takes, and than a die
    /// collects at a stretch.
    ///
    /// `None` if requests arrived all together, or in too short a time to be told apart.
    pub fn load(&self, memory: Duration) -> Option<Load> {
        let (first, last) = (self.bin(self.first_arrival), self.bin(self.last_arrival));
        let fewest = Parts::Ten.count();
        // The bin of the last arrival is not whole.
        let bins = last.checked_sub(first).filter(|bins| *bins >= fewest)?;
        let levels = self.levels(first..last);
        let seconds = |bins: usize| Duration::from_ns((bins as u64) << self.shift).as_secs_f64();
        let rate = |counts: &[u32], bins: usize| {
            counts.iter().map(|count| f64::from(*count)).sum::<f64>() / seconds(bins)
        };
        let middle = first + bins / 2;
        let parts = Parts::ALL.into_iter().find(|parts| {
            let length = bins / parts.count();
            length > 0 && seconds(length) > memory.as_secs_f64()
        });
        let least = least_of_parts(&levels, parts.unwrap_or(Parts::Ten));
        let drift = parts.map(|parts| {
            let levels: Vec<f64> = least.iter().map(|level| *level as f64).collect();
            (parts, drift(&levels))
        });
        let arrivals = self.arrived.iter().map(|count| f64::from(*count)).sum();
        Some(Load {
            state: state_of(&least, drift, arrivals),
            offered: rate(&self.arrived[first..last], bins),
            served: rate(&self.ended[first..last], bins),
            served_lately: rate(&self.ended[middle..last], last - middle),
            arrivals: self.last_arrival - self.first_arrival,
            drained: self.last_end.saturating_since(self.last_arrival),
            at_last_arrival: *levels.last()?,
            least,
            drift,
        })
    }

    /// Requests that have arrived and not ended, at the end of each bin.
    fn levels(&self, bins: std::ops::Range<usize>) -> Vec<i64> {
        let changes = self.arrived[bins.clone()].iter().zip(&self.ended[bins]);
        let levels = changes.scan(0, |level, (arrived, ended)| {
            *level += i64::from(*arrived) - i64::from(*ended);
            Some(*level)
        });
        levels.collect()
    }
}

/// The least level of each part; what cannot be divided evenly is left out at the beginning.
fn least_of_parts(levels: &[i64], parts: Parts) -> Vec<i64> {
    let length = levels.len() / parts.count();
    let from = levels.len() - length * parts.count();
    levels[from..].chunks(length).filter_map(|part| part.iter().min().copied()).collect()
}

fn state_of(least: &[i64], drift: Option<(Parts, f64)>, arrivals: f64) -> State {
    let (first, last) = (least[0] as f64, least[least.len() - 1] as f64);
    let growth = (last - first) / arrivals;
    match drift {
        Some((parts, t)) if t > parts.critical() && growth >= LEAST_GROWTH => State::Overload,
        Some((parts, t)) if t > parts.suspicious() && growth >= SUSPICIOUS_REST => State::Undecided,
        None if last / arrivals >= SUSPICIOUS_REST => State::Undecided,
        None => State::CaughtUp,
        Some(_) => State::Sustained,
    }
}

impl Load {
    /// Summary of the load for `summary.json`.
    pub fn summary(&self) -> LoadSummary {
        let drift = self.drift.map(|(parts, t)| {
            // JSON has no infinity: a backlog that grows by the same number in each part.
            DriftSummary { t: t.min(f64::MAX), critical: parts.critical() }
        });
        LoadSummary {
            state: self.state,
            offered_iops: self.offered,
            served_iops: self.served,
            served_lately_iops: self.served_lately,
            arrivals_s: self.arrivals.as_secs_f64(),
            drained_s: self.drained.as_secs_f64(),
            backlog: BacklogSummary {
                at_last_arrival: self.at_last_arrival,
                least_by_part: self.least.clone(),
                drift,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// A server that takes requests in order, one at a time: request `i` arrives after `gap` nanoseconds more and
    /// takes what `service` says.
    fn served(requests: u64, gap: u64, service: impl Fn(u64) -> u64) -> Backlog {
        let (mut backlog, mut free) = (Backlog::default(), 0);
        for request in 0..requests {
            let arrival = request * gap;
            free = arrival.max(free) + service(request);
            backlog.completed(Instant::from_ns(arrival), Instant::from_ns(free));
        }
        backlog
    }

    fn state(backlog: &Backlog, memory: u64) -> State {
        backlog.load(Duration::from_ns(memory)).expect("requests arrived over time").state
    }

    #[test]
    fn just_above_capacity_is_overload_and_just_below_is_not() {
        // Services of 0.5 and 1.5 ms in turn: a thousand a second.
        let service = |request: u64| MS / 2 + MS * (request % 2);
        assert_eq!(state(&served(10_000, MS * 49 / 50, service), 2 * MS), State::Overload);
        assert_eq!(state(&served(10_000, MS * 51 / 50, service), 2 * MS), State::Sustained);
    }

    #[test]
    fn stalls_that_are_caught_up_with_are_no_overload() {
        // Every 4,000th request holds up the others for 2,000 arrivals; then the backlog is worked off.
        let stalls =
            |request: u64| if request.is_multiple_of(4_000) { 2_000 * MS } else { MS / 10 };
        let backlog = served(100_000, MS, stalls);
        let load = backlog.load(Duration::from_ns(2_000 * MS)).expect("requests arrived over time");
        assert_eq!(load.state, State::Sustained);
        assert!((load.served / load.offered - 1.0).abs() < 0.01, "{load:?}");
        // The same stalls leave too little time in between.
        let stalls =
            |request: u64| if request.is_multiple_of(4_000) { 3_800 * MS } else { MS / 10 };
        assert_eq!(state(&served(100_000, MS, stalls), 3_800 * MS), State::Overload);
    }

    #[test]
    fn a_run_that_ends_in_its_first_stall_is_too_short_to_tell() {
        let stall = |request: u64| if request == 5_000 { 4_000 * MS } else { MS / 10 };
        let backlog = served(7_000, MS, stall);
        assert_eq!(state(&backlog, 4_000 * MS), State::Undecided);
        assert!(
            backlog.load(Duration::from_ns(4_000 * MS)).is_some_and(|load| load.drift.is_none())
        );
        // It has come back to nothing later.
        assert_eq!(state(&served(12_000, MS, stall), 4_000 * MS), State::CaughtUp);
    }

    #[test]
    fn requests_that_overlap_from_the_first_are_no_overload() {
        // Each takes 100 ms, and they do not wait for one another: the run is over before the first has ended.
        let mut backlog = Backlog::default();
        for request in 0..50 {
            let arrival = request * MS;
            backlog.completed(Instant::from_ns(arrival), Instant::from_ns(arrival + 100 * MS));
        }
        assert_eq!(state(&backlog, 100 * MS), State::Undecided);
    }

    #[test]
    fn requests_that_arrive_together_say_nothing_of_a_rate() {
        let mut backlog = Backlog::default();
        for request in 1..100 {
            backlog.completed(Instant::START, Instant::from_ns(request * MS));
        }
        assert!(backlog.load(Duration::ZERO).is_none());
        assert!(Backlog::default().load(Duration::ZERO).is_none());
    }

    #[test]
    fn what_waits_is_counted_exactly_whatever_is_merged() {
        let backlog = served(3_000, MS, |_| 2 * MS);
        let load = backlog.load(Duration::from_ns(2 * MS)).expect("requests arrived over time");
        // After 3 s a thousand and a half have not ended.
        assert!((load.at_last_arrival - 1_500).abs() < 20, "{load:?}");
        assert!((load.offered - 1_000.0).abs() < 2.0 && (load.served - 500.0).abs() < 2.0);
        assert_eq!(load.drained, Duration::from_ns(3_000 * 2 * MS - 2_999 * MS));
    }
}
