//! The trace's clock: time zero is its first request, and time never goes back.

use crate::units::Duration;

/// How far a request's time may lie before an earlier line's. Tracers that buffer for each
/// processor leave such small inversions; more means that files were joined or columns confused.
pub const TOLERATED: Duration = Duration::from_us(1_000_000);

/// The longest pause that a lenient replay believes: a year, in nanoseconds.
const YEAR_NS: u64 = 365 * 86_400 * 1_000_000_000;

/// The clock of one reading of a trace.
#[derive(Debug)]
pub struct Clock {
    first_ns: Option<u64>,
    latest_ns: u64,
    /// Requests after the first.
    later: u64,
    longest_pause_ns: u64,
    inversions: Inversions,
}

/// Requests whose times lay before an earlier line's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Inversions {
    /// How many.
    pub count: u64,
    /// Line of the first.
    pub first_line: u64,
    /// How far back the worst lay.
    pub worst: Duration,
}

/// Why a time can't be used.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ClockError {
    /// Goes back by more than [`TOLERATED`].
    Back(Duration),
    /// More than a year after the request before, where such rows are to be skipped.
    Ahead(Duration),
}

impl Clock {
    /// A clock that takes any pause for one, or if `lenient` one of up to a year.
    pub fn new(lenient: bool) -> Self {
        Self {
            first_ns: None,
            latest_ns: 0,
            later: 0,
            longest_pause_ns: if lenient { YEAR_NS } else { u64::MAX },
            inversions: Inversions::default(),
        }
    }

    /// How long after the first request one with the trace's time `time_ns` comes. One that is
    /// earlier than its predecessor comes together with it.
    #[inline]
    pub fn since_first(&mut self, time_ns: u64, line: u64) -> Result<Duration, ClockError> {
        let Some(first_ns) = self.first_ns else {
            self.first_ns = Some(time_ns);
            self.latest_ns = time_ns;
            return Ok(Duration::ZERO);
        };
        match time_ns.checked_sub(self.latest_ns) {
            Some(pause) if pause <= self.longest_pause_ns => self.latest_ns = time_ns,
            Some(pause) => return Err(ClockError::Ahead(Duration::from_ns(pause))),
            None => self.went_back(Duration::from_ns(self.latest_ns - time_ns), line)?,
        }
        self.later += 1;
        Ok(Duration::from_ns(self.latest_ns - first_ns))
    }

    /// From the first request to the latest, and on to when the next would come: the mean time
    /// between two.
    pub fn length(&self) -> Duration {
        let span = self.latest_ns - self.first_ns.unwrap_or(self.latest_ns);
        Duration::from_ns(span.saturating_add(span / self.later.max(1)))
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

    #[cold]
    fn went_back(&mut self, back: Duration, line: u64) -> Result<(), ClockError> {
        if back > TOLERATED {
            return Err(ClockError::Back(back));
        }
        if self.inversions.count == 0 {
            self.inversions.first_line = line;
        }
        self.inversions.count += 1;
        self.inversions.worst = self.inversions.worst.max(back);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(clock: &mut Clock, time_ns: u64) -> u64 {
        clock.since_first(time_ns, 1).unwrap().as_ns()
    }

    #[test]
    fn counts_from_the_first_request() {
        let mut clock = Clock::new(false);
        assert_eq!([500, 500, 750].map(|time| ns(&mut clock, time)), [0, 0, 250]);
        assert_eq!(clock.length(), Duration::from_ns(250 + 125));
        assert_eq!(Clock::new(false).length(), Duration::ZERO);
    }

    #[test]
    fn holds_small_inversions_and_refuses_large_ones() {
        let mut clock = Clock::new(false);
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
        assert_eq!(ns(&mut Clock::new(false), ahead), 0);
        let mut strict = Clock::new(false);
        assert_eq!([5, 5 + ahead].map(|t| ns(&mut strict, t)), [0, ahead]);
        let mut lenient = Clock::new(true);
        assert_eq!(ns(&mut lenient, 5), 0);
        let error = ClockError::Ahead(Duration::from_ns(ahead));
        assert_eq!(lenient.since_first(5 + ahead, 2), Err(error));
        assert_eq!(ns(&mut lenient, 6), 1, "as if it had not been there");
        assert_eq!(ns(&mut lenient, 6 + YEAR_NS), 1 + YEAR_NS);
    }
}
