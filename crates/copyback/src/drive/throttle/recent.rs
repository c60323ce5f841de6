//! The rate that writes had of late, and the share of it that a drive lets in while it collects.

use crate::checkpoint::Checkpointed;
use crate::config::quantity::{Rate, Share, Size};
use crate::nand::transfer_time;
use crate::units::{Duration, Instant};

/// Longest time of a page if no least rate is set: a page a second.
const SLOWEST: Duration = Duration::from_us(1_000_000);

/// A count of the pages that go, in windows of time.
#[derive(Debug, Checkpointed)]
pub(super) struct Recent {
    share: f64,
    /// Longest time of a page.
    slowest: Duration,
    window: Duration,
    /// Begin of this window.
    since: Instant,
    /// Pages that have gone in it.
    pages: u64,
    /// Whether one of them has gone while the drive did not collect.
    has_rested: bool,
    /// Time of a page by the last window that counts; `None` before there is one.
    every: Option<Duration>,
}

impl Recent {
    /// Creates a count of nothing. `least` is a rate of pages of a size.
    pub fn new(share: Share, (least, page): (Rate, Size), window: Duration) -> Self {
        let slowest = match least {
            Rate::None => SLOWEST,
            Rate::BytesPerSecond(_) => transfer_time(page.0, least),
        };
        let (since, pages, has_rested) = (Instant::START, 0, false);
        Self { share: share.0, slowest, window, since, pages, has_rested, every: None }
    }

    /// Time of a page, as so many go.
    ///
    /// A window in which the drive collected all the time does not count: what it let in there was such a share already, and the
    /// rate of a drive at its limit would fall from window to window.
    pub fn every(&mut self, going: u64, collects: bool, now: Instant) -> Duration {
        let length = now - self.since;
        if length >= self.window {
            if self.has_rested {
                let ns = length.as_ns() as f64 / (self.pages as f64 * self.share);
                self.every = Some(Duration::from_ns(ns.round() as u64).min(self.slowest));
            }
            (self.since, self.pages, self.has_rested) = (now, 0, false);
        }
        self.pages += going;
        self.has_rested |= !collects;
        self.every.unwrap_or(Duration::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of what goes in a millisecond.
    fn half(least: Rate) -> Recent {
        Recent::new(Share(0.5), (least, Size(4096)), Duration::from_us(1000))
    }

    /// A page goes each 100 us in the window that begins at `from`; the time of a page after it.
    fn after_a_window(recent: &mut Recent, from_us: u64, collects: bool) -> Duration {
        let at = |us| Instant::START + Duration::from_us(from_us + us);
        for step in 0..10 {
            recent.every(1, collects, at(100 * step));
        }
        recent.every(1, true, at(1000))
    }

    #[test]
    fn the_rate_of_the_last_window_decides_and_before_there_is_one_nobody_waits() {
        let mut recent = half(Rate::None);
        assert_eq!(recent.every(1, false, Instant::START), Duration::ZERO);
        let mut recent = half(Rate::None);
        // A page in 100 us; a half of that rate takes 200 us.
        assert_eq!(after_a_window(&mut recent, 0, false), Duration::from_us(200));
    }

    #[test]
    fn a_window_of_nothing_but_collections_does_not_count() {
        let mut recent = half(Rate::None);
        assert_eq!(after_a_window(&mut recent, 0, true), Duration::ZERO);
        let mut recent = half(Rate::None);
        after_a_window(&mut recent, 0, false);
        assert_eq!(after_a_window(&mut recent, 1100, true), Duration::from_us(200));
    }

    #[test]
    fn no_less_is_let_in_than_what_is_set() {
        // A page in 125 us.
        let mut recent = half(Rate::BytesPerSecond(8 * 4_096_000));
        assert_eq!(
            after_a_window(&mut recent, 0, false),
            Duration::from_us(125).min(Duration::from_us(200))
        );
        let mut idle = half(Rate::None);
        idle.every(1, false, Instant::START);
        let later = Instant::START + Duration::from_us(60_000_000);
        assert_eq!(idle.every(1, true, later), Duration::from_us(1_000_000));
    }
}
