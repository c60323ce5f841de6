//! From the trace's clock to the run's: time zero is the first request, and time never goes back.

use crate::units::{Duration, Instant};

/// How far a request's time may lie before an earlier line's. Tracers that buffer for each
/// processor leave such small inversions; more means that files were joined or columns confused.
pub const TOLERATED: Duration = Duration::from_us(1_000_000);

/// Longest trace after scaling, about 292 years: leaves room for what is added to an arrival.
pub const END_OF_TIME: Duration = Duration::from_ns(u64::MAX / 2);

/// The clock of one replay.
#[derive(Debug)]
pub struct Clock {
    scale: f64,
    first_ns: Option<u64>,
    latest_ns: u64,
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
    /// Too long after the first request.
    TooLate,
}

impl Clock {
    /// A clock that stretches the time between requests by `scale`.
    pub fn new(scale: f64) -> Self {
        Self { scale, first_ns: None, latest_ns: 0, inversions: Inversions::default() }
    }

    /// When a request with the trace's time `time_ns` arrives. One that is earlier than its
    /// predecessor arrives together with it.
    pub fn arrival(&mut self, time_ns: u64, line: u64) -> Result<Instant, ClockError> {
        let first_ns = *self.first_ns.get_or_insert_with(|| {
            self.latest_ns = time_ns;
            time_ns
        });
        if time_ns < self.latest_ns {
            self.went_back(Duration::from_ns(self.latest_ns - time_ns), line)?;
        } else {
            self.latest_ns = time_ns;
        }
        self.scaled(self.latest_ns - first_ns)
    }

    /// The inversions met so far.
    pub fn inversions(&self) -> Inversions {
        self.inversions
    }

    fn scaled(&self, since_first_ns: u64) -> Result<Instant, ClockError> {
        let ns = if self.scale == 1.0 {
            since_first_ns
        } else {
            // Exact below 2^53 ns (104 days); the cast saturates.
            (since_first_ns as f64 * self.scale).round() as u64
        };
        if ns > END_OF_TIME.as_ns() { Err(ClockError::TooLate) } else { Ok(Instant::from_ns(ns)) }
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
        clock.arrival(time_ns, 1).unwrap().as_ns()
    }

    #[test]
    fn counts_from_the_first_request() {
        let mut clock = Clock::new(1.0);
        let arrivals = [500, 500, 750].map(|time| ns(&mut clock, time));
        assert_eq!(arrivals, [0, 0, 250]);
    }

    #[test]
    fn scales_the_time_between() {
        let mut clock = Clock::new(0.5);
        assert_eq!([100, 201, 400].map(|time| ns(&mut clock, time)), [0, 51, 150]);
        assert_eq!(Clock::new(1e300).arrival(7, 1), Ok(Instant::START));
        let mut clock = Clock::new(1e300);
        ns(&mut clock, 7);
        assert_eq!(clock.arrival(8, 2), Err(ClockError::TooLate));
    }

    #[test]
    fn holds_small_inversions_and_refuses_large_ones() {
        let mut clock = Clock::new(1.0);
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
        assert_eq!(clock.arrival(late - back.as_ns(), 9), Err(ClockError::Back(back)));
    }
}
