//! The clock of the simulated drive, which follows the host's: it begins with the first request, and runs slower.

use std::num::NonZeroU32;
use std::time::{Duration, Instant, SystemTime};

/// Slowdown of the drive's clock against the host's, in thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slower(NonZeroU32);

impl Slower {
    /// Slowdown by a factor; `None` if it is below 0.001 or above a million.
    pub fn new(times: f64) -> Option<Self> {
        let thousandths = (times * 1000.0).round();
        (1.0..=1e9).contains(&thousandths).then_some(())?;
        NonZeroU32::new(thousandths as u32).map(Self)
    }

    /// Factor of the slowdown.
    pub fn times(self) -> f64 {
        f64::from(self.0.get()) / 1000.0
    }

    fn to_drive(self, host: Duration) -> u64 {
        (host.as_nanos() * 1000 / u128::from(self.0.get())) as u64
    }

    fn to_host(self, drive_ns: u64) -> Duration {
        let ns = (u128::from(drive_ns) * u128::from(self.0.get())).div_ceil(1000);
        Duration::from_nanos(ns as u64)
    }
}

/// The clock.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    slower: Slower,
    /// When it began, if it has.
    begun: Option<Begun>,
}

/// When a clock began.
#[derive(Debug, Clone, Copy)]
struct Begun {
    at: Instant,
    /// By the calendar, which other programs log their times in.
    calendar: SystemTime,
}

impl Clock {
    /// One that has not begun.
    pub const fn new(slower: Slower) -> Self {
        Self { slower, begun: None }
    }

    /// Simulated time at `at`, in nanoseconds, if the clock has begun.
    pub fn read(&self, at: Instant) -> Option<u64> {
        self.begun.map(|begun| self.slower.to_drive(at.saturating_duration_since(begun.at)))
    }

    /// Simulated time at `at`, in nanoseconds; starts the clock if it has not begun.
    pub fn begin(&mut self, at: Instant) -> u64 {
        self.begun.get_or_insert_with(|| Begun { at, calendar: SystemTime::now() - at.elapsed() });
        self.read(at).unwrap_or_default()
    }

    /// When it shows `drive_ns`.
    pub fn when(&self, drive_ns: u64) -> Option<Instant> {
        self.begun?.at.checked_add(self.slower.to_host(drive_ns))
    }

    /// When it began, in nanoseconds since 1970 by the host's calendar, if it has.
    pub fn begun_unix_ns(&self) -> Option<u64> {
        let since = self.begun?.calendar.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        u64::try_from(since.as_nanos()).ok()
    }

    /// A time of the host in that of the drive, in nanoseconds.
    pub fn in_drive_ns(&self, host: Duration) -> u64 {
        self.slower.to_drive(host)
    }

    /// Factor by which the clock is slower than the host's.
    pub fn slower(&self) -> f64 {
        self.slower.times()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_once_and_runs_slower() {
        let start = Instant::now();
        let mut clock = Clock::new(Slower::new(10.0).unwrap());
        assert_eq!(clock.read(start), None);
        assert_eq!(clock.begin(start), 0);
        let later = start + Duration::from_micros(100);
        assert_eq!(clock.begin(later), 10_000);
        assert_eq!(clock.when(10_000), Some(later));
        assert_eq!(clock.read(start - Duration::from_secs(1)), Some(0));
    }

    #[test]
    fn the_calendar_says_when_it_began() {
        let mut clock = Clock::new(Slower::new(10.0).unwrap());
        assert_eq!(clock.begun_unix_ns(), None);
        let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_nanos();
        let before = now();
        let start = Instant::now();
        let between = now();
        std::thread::sleep(Duration::from_millis(300));
        clock.begin(start);
        let told = u128::from(clock.begun_unix_ns().unwrap());
        let slack = 150_000_000;
        assert!(before - slack <= told && told <= between + slack, "{before} {told} {between}");
    }

    #[test]
    fn when_it_shows_a_time_is_never_before_it_does() {
        let start = Instant::now();
        let mut clock = Clock::new(Slower::new(1.7).unwrap());
        clock.begin(start);
        for time in [1, 2, 3, 999, 1_000_003] {
            let when = clock.when(time).unwrap();
            assert!(clock.read(when).unwrap() >= time, "{time}");
        }
    }

    #[test]
    fn what_is_no_factor_is_none() {
        for times in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e7] {
            assert_eq!(Slower::new(times), None, "{times}");
        }
    }
}
