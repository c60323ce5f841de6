//! Idle detection: when has nothing been to do for so long that it is taken to go on?
//!
//! The status is looked at periodically, and a period without requests that has lasted longer than a
//! threshold is taken to last: the on-line heuristic that Harmonia uses (Kim et al., IEEE TC, section
//! 4.3.2, after its reference 4); a timer-based detector in the terms of Golding et al. (Idleness is
//! not sloth, USENIX 1995).

use crate::checkpoint::Checkpointed;
use crate::units::{Duration, Instant};

/// Looks, at whole multiples of a span, whether idle time is worth using.
#[derive(Debug, Clone, Checkpointed)]
pub struct IdleDetector {
    check: Duration,
    threshold: Duration,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
enum State {
    Busy,
    /// No work since then.
    Quiet(Instant),
    /// No work for long, which has been reported.
    Idle,
}

impl IdleDetector {
    /// A detector that looks every `check`, which is not zero, for idle times longer than `threshold`.
    /// Nothing is to be done at the start.
    pub const fn new(check: Duration, threshold: Duration) -> Self {
        Self { check, threshold, state: State::Quiet(Instant::START) }
    }

    /// Records that there is work.
    pub const fn became_busy(&mut self) {
        self.state = State::Busy;
    }

    /// Records that there is no work any more.
    pub const fn became_quiet(&mut self, now: Instant) {
        self.state = State::Quiet(now);
    }

    /// The next look that could find something, if nothing comes before it. Others need not be taken.
    pub fn next_check(&self) -> Option<Instant> {
        let State::Quiet(since) = self.state else { return None };
        let passed = since.as_ns().saturating_add(self.threshold.as_ns());
        Some(Instant::from_ns(passed).next_multiple(self.check))
    }

    /// Takes a look. Whether it has been quiet for longer than the threshold; says so once a quiet
    /// period.
    pub fn check(&mut self, now: Instant) -> bool {
        let State::Quiet(since) = self.state else { return false };
        let is_idle = now.saturating_since(since) > self.threshold;
        if is_idle {
            self.state = State::Idle;
        }
        is_idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Instant {
        Instant::from_ns(us * 1000)
    }

    fn detector() -> IdleDetector {
        IdleDetector::new(Duration::from_us(10), Duration::from_us(25))
    }

    #[test]
    fn looks_fall_on_a_grid_and_idle_time_is_longer_than_the_threshold() {
        let mut detector = detector();
        assert_eq!(detector.next_check(), Some(at(30)));
        detector.became_busy();
        assert_eq!(detector.next_check(), None);
        detector.became_quiet(at(45));
        // 25 us are not longer than 25 us.
        assert_eq!(detector.next_check(), Some(at(80)));
        assert!(!detector.check(at(70)));
        assert!(detector.check(at(80)));
    }

    #[test]
    fn an_idle_period_is_told_once() {
        let mut detector = detector();
        assert!(detector.check(at(30)));
        assert_eq!(detector.next_check(), None);
        assert!(!detector.check(at(40)));
        detector.became_busy();
        detector.became_quiet(at(41));
        assert_eq!(detector.next_check(), Some(at(70)));
        assert!(detector.check(at(70)));
    }

    #[test]
    fn a_look_that_comes_after_new_work_finds_nothing() {
        let mut detector = detector();
        detector.became_busy();
        assert!(!detector.check(at(30)));
        detector.became_quiet(at(29));
        assert!(!detector.check(at(30)));
        assert_eq!(detector.next_check(), Some(at(60)));
    }

    #[test]
    fn a_threshold_that_never_passes_is_no_harm() {
        let never = IdleDetector::new(Duration::from_ns(3), Duration::from_ns(u64::MAX));
        assert!(never.next_check() > Some(at(1_000_000_000)));
    }

    #[test]
    fn every_idle_period_of_a_long_run_costs_one_look() {
        let mut detector = detector();
        let mut looks = 0;
        for period in 0..1_000 {
            let quiet = at(period * 100);
            detector.became_quiet(quiet);
            while let Some(look) = detector.next_check() {
                looks += 1;
                detector.check(look);
            }
            detector.became_busy();
        }
        assert_eq!(looks, 1_000);
    }
}
