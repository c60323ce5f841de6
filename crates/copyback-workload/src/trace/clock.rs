//! The trace's clock: time zero is its first request, and time never goes back.

use super::pauses::{Gaps, Pauses};
use copyback_config::ClockJumps;
use copyback_config::units::Duration;

/// Limit on how far a request's time may lie before an earlier line's. Tracers that buffer for each processor
/// leave such small inversions; more means that files were joined or columns confused.
pub const TOLERATED: Duration = Duration::from_us(1_000_000);

/// The longest pause that a lenient replay believes: a year, in nanoseconds.
const YEAR_NS: u64 = 365 * 86_400 * 1_000_000_000;

/// Number of rows in sequence that agree with one another, and not with the rows before them, from which on
/// they are not damaged: the clock was set.
const CONVINCING: u32 = 100;

/// Rules of a clock: what it believes, and what it does about the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    longest_pause_ns: u64,
    otherwise: Otherwise,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Otherwise {
    /// The row is refused.
    Refuse,
    /// The row is refused as damaged, unless so many follow that the clock must have been set.
    Doubt,
    /// No time has passed.
    Close,
}

impl Rules {
    /// The rules for a trace whose damaged rows are skipped, if `lenient`.
    pub fn new(jumps: ClockJumps, lenient: bool) -> Self {
        match jumps {
            ClockJumps::Close { longest } => {
                Self { longest_pause_ns: longest.0.as_ns(), otherwise: Otherwise::Close }
            }
            ClockJumps::Keep if lenient => {
                Self { longest_pause_ns: YEAR_NS, otherwise: Otherwise::Doubt }
            }
            ClockJumps::Keep => Self { longest_pause_ns: u64::MAX, otherwise: Otherwise::Refuse },
        }
    }
}

/// The clock of one reading of a trace.
#[derive(Debug)]
pub struct Clock {
    rules: Rules,
    first_ns: Option<u64>,
    /// The trace's time of the latest request.
    latest_ns: u64,
    /// From the first request to the latest, jumps left out.
    elapsed_ns: u64,
    /// Requests after the first.
    later: u64,
    doubt: Option<Doubt>,
    inversions: Inversions,
    jumps: Jumps,
    pauses: Pauses,
}

/// Rows in sequence that disagree with those before them.
#[derive(Debug, Clone, Copy)]
struct Doubt {
    latest_ns: u64,
    rows: u32,
}

/// Requests whose times lay before an earlier line's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inversions {
    /// Number of inversions.
    pub count: u64,
    /// Line of the first.
    pub first_line: u64,
    /// Distance of the worst inversion.
    pub worst: Duration,
}

/// Times at which the clock was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Jumps {
    /// Number of jumps.
    pub count: u64,
    /// Line behind the first.
    pub first_line: u64,
    /// Sum of all jumps ahead.
    pub ahead: Duration,
    /// Sum of all jumps back.
    pub back: Duration,
}

/// Reason why a time can't be used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClockError {
    /// Goes back by more than [`TOLERATED`].
    Back(Duration),
    /// More than a year after the request before, where such rows are to be skipped.
    Ahead(Duration),
}

impl Clock {
    /// A clock that keeps to `rules`.
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            first_ns: None,
            latest_ns: 0,
            elapsed_ns: 0,
            later: 0,
            doubt: None,
            inversions: Inversions::default(),
            jumps: Jumps::default(),
            pauses: Pauses::default(),
        }
    }

    /// Converts the trace's time `time_ns` to the time since the first request. One that is earlier than its
    /// predecessor comes together with it.
    #[inline]
    pub fn since_first(&mut self, time_ns: u64, line: u64) -> Result<Duration, ClockError> {
        if self.first_ns.is_none() {
            self.first_ns = Some(time_ns);
            self.latest_ns = time_ns;
            return Ok(Duration::ZERO);
        }
        match time_ns.checked_sub(self.latest_ns) {
            Some(pause_ns) if pause_ns <= self.rules.longest_pause_ns => {
                self.latest_ns = time_ns;
                self.elapsed_ns = self.elapsed_ns.saturating_add(pause_ns);
                self.pauses.note(pause_ns, line);
            }
            Some(pause_ns) => {
                let error = ClockError::Ahead(Duration::from_ns(pause_ns));
                self.jumped(time_ns, error, line)?;
            }
            None => self.went_back(time_ns, line)?,
        }
        self.doubt = None;
        self.later += 1;
        Ok(Duration::from_ns(self.elapsed_ns))
    }

    /// From the first request to the latest, and on to when the next would come: the mean time
    /// between two.
    pub fn length(&self) -> Duration {
        let mean_ns = self.elapsed_ns / self.later.max(1);
        Duration::from_ns(self.elapsed_ns.saturating_add(mean_ns))
    }

    /// Requests that were given a time.
    pub fn count(&self) -> u64 {
        self.first_ns.map_or(0, |_| self.later + 1)
    }

    /// The trace's time of the first request; zero before it.
    pub fn origin_ns(&self) -> u64 {
        self.first_ns.unwrap_or(0)
    }

    /// The inversions met so far.
    pub fn inversions(&self) -> Inversions {
        self.inversions
    }

    /// The times at which the clock was set so far.
    pub fn jumps(&self) -> Jumps {
        self.jumps
    }

    /// The few pauses that most of the time so far lies in, if there are such.
    pub fn gaps(&self) -> Option<Gaps> {
        self.pauses.gaps(self.elapsed_ns, self.later)
    }

    #[cold]
    fn went_back(&mut self, time_ns: u64, line: u64) -> Result<(), ClockError> {
        let back = Duration::from_ns(self.latest_ns - time_ns);
        if back > TOLERATED {
            return self.jumped(time_ns, ClockError::Back(back), line);
        }
        if self.inversions.count == 0 {
            self.inversions.first_line = line;
        }
        self.inversions.count += 1;
        self.inversions.worst = self.inversions.worst.max(back);
        Ok(())
    }

    /// A time that is not believed.
    #[cold]
    fn jumped(&mut self, time_ns: u64, error: ClockError, line: u64) -> Result<(), ClockError> {
        let was_set = match self.rules.otherwise {
            Otherwise::Refuse => false,
            Otherwise::Doubt => self.is_convinced(time_ns),
            Otherwise::Close => true,
        };
        if !was_set {
            return Err(error);
        }
        if self.jumps.count == 0 {
            self.jumps.first_line = line;
        }
        self.jumps.count += 1;
        match error {
            ClockError::Ahead(pause) => self.jumps.ahead = sum(self.jumps.ahead, pause),
            ClockError::Back(back) => self.jumps.back = sum(self.jumps.back, back),
        }
        self.latest_ns = time_ns;
        Ok(())
    }

    /// Whether this row is the last of so many that agree with one another.
    fn is_convinced(&mut self, time_ns: u64) -> bool {
        let agrees = |doubt: &Doubt| {
            let back_ns = doubt.latest_ns.saturating_sub(time_ns);
            let pause_ns = time_ns.saturating_sub(doubt.latest_ns);
            back_ns <= TOLERATED.as_ns() && pause_ns <= self.rules.longest_pause_ns
        };
        let rows = self.doubt.filter(agrees).map_or(0, |doubt| doubt.rows) + 1;
        self.doubt = Some(Doubt { latest_ns: time_ns, rows });
        rows > CONVINCING
    }
}

fn sum(one: Duration, other: Duration) -> Duration {
    Duration::from_ns(one.as_ns().saturating_add(other.as_ns()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use copyback_config::quantity::Time;

    fn ns(clock: &mut Clock, time_ns: u64) -> u64 {
        clock.since_first(time_ns, 1).unwrap().as_ns()
    }

    fn keeping() -> Clock {
        Clock::new(Rules::new(ClockJumps::Keep, false))
    }

    fn lenient() -> Clock {
        Clock::new(Rules::new(ClockJumps::Keep, true))
    }

    fn closing(longest_ns: u64) -> Clock {
        let longest = Time::from_ns(longest_ns);
        Clock::new(Rules::new(ClockJumps::Close { longest }, false))
    }

    #[test]
    fn counts_from_the_first_request() {
        let mut clock = keeping();
        assert_eq!([500, 500, 750].map(|time| ns(&mut clock, time)), [0, 0, 250]);
        assert_eq!(clock.length(), Duration::from_ns(250 + 125));
        assert_eq!(keeping().length(), Duration::ZERO);
    }

    #[test]
    fn holds_small_inversions_and_refuses_large_ones() {
        let mut clock = keeping();
        assert_eq!(
            [900, 1000, 400, 1000, 1001].map(|t| ns(&mut clock, t)),
            [0, 100, 100, 100, 101]
        );
        let worst = Duration::from_ns(600);
        assert_eq!(clock.inversions(), Inversions { count: 1, first_line: 1, worst });
        let late = 5 * TOLERATED.as_ns();
        ns(&mut clock, late);
        assert_eq!(ns(&mut clock, late - TOLERATED.as_ns()), late - 900);
        let back = Duration::from_ns(TOLERATED.as_ns() + 1);
        assert_eq!(clock.since_first(late - back.as_ns(), 9), Err(ClockError::Back(back)));
    }

    #[test]
    fn a_lenient_clock_believes_no_pause_of_more_than_a_year() {
        let ahead = YEAR_NS + 1;
        assert_eq!(ns(&mut keeping(), ahead), 0);
        let mut strict = keeping();
        assert_eq!([5, 5 + ahead].map(|t| ns(&mut strict, t)), [0, ahead]);
        let mut lenient = lenient();
        assert_eq!(ns(&mut lenient, 5), 0);
        let error = ClockError::Ahead(Duration::from_ns(ahead));
        assert_eq!(lenient.since_first(5 + ahead, 2), Err(error));
        assert_eq!(ns(&mut lenient, 6), 1, "as if it had not been there");
        assert_eq!(ns(&mut lenient, 6 + YEAR_NS), 1 + YEAR_NS);
    }

    #[test]
    fn jumps_are_closed_on_request() {
        let second = TOLERATED.as_ns();
        let mut clock = closing(1000);
        let times = [5, 1005, 9_000_000, 9_000_001, 9_000_000 + 2 * second, 10, 11, 5];
        let expected = [0, 1000, 1000, 1001, 1001, 1001, 1002, 1002];
        assert_eq!(times.map(|time| ns(&mut clock, time)), expected);
        let jumps = clock.jumps();
        assert_eq!((jumps.count, clock.inversions().count), (3, 1));
        assert_eq!(jumps.ahead.as_ns(), 9_000_000 - 1005 + 2 * second - 1);
        assert_eq!(jumps.back.as_ns(), 9_000_000 + 2 * second - 10);
        assert_eq!(clock.length().as_ns(), 1002 + 1002 / 7);
    }

    #[test]
    fn many_rows_in_sequence_convince_a_lenient_clock() {
        let far = 40 * YEAR_NS;
        let mut clock = lenient();
        assert_eq!(ns(&mut clock, 0), 0);
        let believed = |clock: &mut Clock, from: u64, rows: u64| {
            (0..rows).filter(|i| clock.since_first(from + i, 9).is_ok()).count()
        };
        assert_eq!(believed(&mut clock, far, 100), 0, "perhaps damaged");
        assert_eq!(believed(&mut clock, far + 100, 50), 50);
        assert_eq!(believed(&mut clock, 1, 100), 0, "and back again");
        assert_eq!(believed(&mut clock, 101, 1), 1);
        assert_eq!(clock.jumps().count, 2);
        assert_eq!(ns(&mut clock, 102), 50);
        for i in 0..1000 {
            assert!(clock.since_first((1 + i % 2) * far, 9).is_err(), "these agree with nothing");
        }
    }
}
