//! When a request arrives: the window of the trace that is replayed, its scale, and its rounds.
//!
//! ```text
//! trace:  first request ... from [ what is replayed ] until ...
//! run:    0 [ round 1 ] [ round 2 ] [ round 3 ... duration
//! ```

use copyback_config::TraceWorkload;
use copyback_config::units::{Duration, Instant};

/// The schedule of a replay.
#[derive(Debug)]
pub struct Schedule {
    scale: f64,
    from_ns: u64,
    until_ns: u64,
    /// Arrivals at this time or later are not issued.
    end: Option<Instant>,
    /// Whether arrivals are the host's affair, which ends the run too.
    is_closed: bool,
    /// When the round begins, in simulated time.
    start_ns: u64,
}

/// Treatment of a request with a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Request before the window.
    Before,
    /// Request that arrives at the instant.
    At(Instant),
    /// Request behind the window, as is the rest of the trace.
    Behind,
    /// The replay is over.
    Over,
}

/// A time beyond the end of the clock, more than 292 years into the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLate;

impl Schedule {
    /// The schedule that `config` asks for.
    pub fn new(config: &TraceWorkload) -> Self {
        // In a closed loop the trace's times say nothing of the run's: the host ends it.
        let end = config.duration.filter(|_| config.iodepth.is_none());
        Self {
            scale: config.time_scale,
            from_ns: config.from.map_or(0, |from| from.0.as_ns()),
            until_ns: config.until.map_or(u64::MAX, |until| until.0.as_ns()),
            end: end.map(|end| Instant::START + end.0),
            is_closed: config.iodepth.is_some(),
            start_ns: 0,
        }
    }

    /// Schedules a request that comes this long after the trace's first.
    ///
    /// # Errors
    /// If it arrives more than 292 years into the run.
    #[inline]
    pub fn when(&self, since_first: Duration) -> Result<When, TooLate> {
        let since_ns = since_first.as_ns();
        if since_ns < self.from_ns {
            return Ok(When::Before);
        }
        if since_ns >= self.until_ns {
            return Ok(When::Behind);
        }
        let ns = self.start_ns.saturating_add(self.scaled(since_ns - self.from_ns));
        let arrival = Instant::from_ns(ns);
        if arrival > Instant::END {
            return Err(TooLate);
        }
        Ok(if self.end.is_some_and(|end| arrival >= end) { When::Over } else { When::At(arrival) })
    }

    /// Begins the next round. The trace of this one took `length`, or until the window's end if
    /// that was reached. Returns how long that is in the run.
    pub fn next_round(&mut self, length: Duration, reached_end: bool) -> Duration {
        let end_ns = if reached_end { self.until_ns } else { length.as_ns() };
        let taken = self.scaled(end_ns.saturating_sub(self.from_ns));
        self.start_ns = self.start_ns.saturating_add(taken);
        Duration::from_ns(taken)
    }

    /// Number of times that the trace will be started in all if each round takes as long as this one, which is
    /// not zero; unknown where the host ends the replay.
    pub fn rounds_of(&self, round: Duration) -> Option<u64> {
        let whole = self.end? - Instant::START;
        Some(whole.as_ns().div_ceil(round.as_ns()))
    }

    /// Start of the window, in nanoseconds after the trace's first request.
    pub const fn window_start_ns(&self) -> u64 {
        self.from_ns
    }

    /// Whether arrivals are the host's affair.
    pub const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Share of the run that is behind `now`; 0 if nothing says how long it is.
    pub fn fraction(&self, now: Instant) -> f64 {
        let end = self.end.map(Instant::as_secs_f64);
        end.map_or(0.0, |end| (now.as_secs_f64() / end).min(1.0))
    }

    fn scaled(&self, ns: u64) -> u64 {
        // Exact below 2^53 ns (104 days); the cast saturates.
        if self.scale == 1.0 { ns } else { (ns as f64 * self.scale).round() as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use copyback_config::quantity::Time;

    fn schedule(config: &TraceWorkload) -> impl Fn(u64) -> Result<When, TooLate> + use<> {
        let schedule = Schedule::new(config);
        move |ns| schedule.when(Duration::from_ns(ns))
    }

    fn at(ns: u64) -> Result<When, TooLate> {
        Ok(When::At(Instant::from_ns(ns)))
    }

    #[test]
    fn times_are_scaled_and_rounded() {
        let when = schedule(&TraceWorkload { time_scale: 0.5, ..TraceWorkload::new("x") });
        assert_eq!([0, 101, 300].map(when), [at(0), at(51), at(150)]);
        let when = schedule(&TraceWorkload { time_scale: 1e300, ..TraceWorkload::new("x") });
        assert_eq!([0, 1].map(when), [at(0), Err(TooLate)]);
    }

    #[test]
    fn a_window_starts_the_clock_anew() {
        let (from, until) = (Some(Time::from_ns(100)), Some(Time::from_ns(200)));
        let config = TraceWorkload { from, until, time_scale: 2.0, ..TraceWorkload::new("x") };
        let when = schedule(&config);
        let expected = [Ok(When::Before), at(0), at(198), Ok(When::Behind)];
        assert_eq!([99, 100, 199, 200].map(when), expected);
    }

    #[test]
    fn rounds_follow_each_other_until_the_end() {
        let (from, until) = (Some(Time::from_ns(10)), Some(Time::from_ns(30)));
        let duration = Some(Time::from_ns(100));
        let config =
            TraceWorkload { from, until, duration, time_scale: 2.0, ..TraceWorkload::new("x") };
        let mut schedule = Schedule::new(&config);
        let when = |schedule: &Schedule, ns| schedule.when(Duration::from_ns(ns));
        let ns = Duration::from_ns;
        assert_eq!(schedule.next_round(ns(500), true), ns(40));
        assert_eq!(schedule.rounds_of(ns(40)), Some(3));
        assert_eq!(when(&schedule, 12), at(44), "after 20 ns, twice as slow");
        assert_eq!(schedule.next_round(ns(20), false), ns(20));
        assert_eq!(when(&schedule, 10), at(60), "after 10 ns more");
        assert_eq!(when(&schedule, 29), at(98));
        assert_eq!(schedule.next_round(ns(10), false), ns(0));
        assert_eq!(schedule.next_round(ns(30), false), ns(40));
        assert_eq!(when(&schedule, 10), Ok(When::Over));
        assert_eq!(schedule.fraction(Instant::from_ns(25)), 0.25);
    }
}
