//! Look-ahead in short idle gaps (Jung, Prabhakar, Kandemir: Taking garbage collection overheads off
//! the critical path in SSDs, Middleware 2012, sections 4.1 and 5.1, AGC).
//!
//! The drive knows of a few commands before they start. If the writes of one call for a collection, and
//! the collection fits into the gap before the next command, it is done there:
//!
//! ```text
//!   T_short-idle = t_start(i+1) - (t_start(i) + t_exe(i) x l(i))                               (1)
//!   T_gc         = (t_load + t_write) x n_valid + (t_erase + t'_write) x k                     (2)
//!
//!   command i ├──────────┤        collection       ├─ command i + 1
//!                        │◄────── T_short-idle ───►│
//! ```
//!
//! A drive of ours starts what arrives at once, so that no command waits while the drive is idle: the
//! end of command i is the instant itself, and command i + 1 has been announced by the host.

use crate::checkpoint::Checkpointed;
use crate::units::{Duration, Instant};

/// A command as equation 1 sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// When it starts.
    pub start: Instant,
    /// Time for one of its pages.
    pub page_time: Duration,
    /// Number of its pages.
    pub pages: u64,
}

/// Equation 1: the gap between a command and the start of the one behind it in the queue.
pub fn short_idle(current: &Entry, next_start: Instant) -> Duration {
    next_start.saturating_since(current.start + current.page_time * current.pages)
}

/// Durations of the steps of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct StepTimes {
    /// Reading a page that is moved.
    pub load: Duration,
    /// Writing it.
    pub write: Duration,
    /// Erasing a block.
    pub erase: Duration,
    /// Writing what tells of a block that was emptied.
    pub metadata: Duration,
}

impl StepTimes {
    /// Equation 2: the time to move `valid_pages` and to clean `blocks`.
    pub fn collection(&self, valid_pages: u64, blocks: u64) -> Duration {
        (self.load + self.write) * valid_pages + (self.erase + self.metadata) * blocks
    }
}

/// Look-ahead: announced commands, and the collections that fit before them.
#[derive(Debug, Checkpointed)]
pub struct LookAhead {
    times: StepTimes,
    /// Gaps that are no longer are not used.
    short_idle: Duration,
    /// Of commands that arrive later than this nothing is known yet.
    horizon: Duration,
    /// When the next command arrives, if that has been announced.
    next_start: Option<Instant>,
}

impl LookAhead {
    /// Creates a look-ahead without announced commands.
    pub const fn new(times: StepTimes, short_idle: Duration, horizon: Duration) -> Self {
        Self { times, short_idle, horizon, next_start: None }
    }

    /// The host has announced when the next command arrives, in place of what it announced before.
    pub const fn announced(&mut self, next: Option<Instant>) {
        self.next_start = next;
    }

    /// Duration of the gap of a drive that has no command at `now`, if the next is known and the gap is worth
    /// using.
    pub fn gap(&self, now: Instant) -> Option<Duration> {
        let ended = Entry { start: now, page_time: Duration::ZERO, pages: 0 };
        let gap = short_idle(&ended, self.next_start?);
        (gap > self.short_idle && gap <= self.horizon).then_some(gap)
    }

    /// Whether a collection that moves so many pages and erases so many blocks ends before the next
    /// command.
    pub fn fits(&self, pages: u64, blocks: u64, now: Instant) -> bool {
        self.gap(now).is_some_and(|gap| self.times.collection(pages, blocks) <= gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(us: u64) -> Duration {
        Duration::from_us(us)
    }

    fn at(us: u64) -> Instant {
        Instant::from_ns(us * 1000)
    }

    /// The paper's device: 183.2 us, 860.36 us, 2 ms; metadata fit in a page.
    const PAPER: StepTimes = StepTimes {
        load: Duration::from_ns(183_200),
        write: Duration::from_ns(860_360),
        erase: us(2000),
        metadata: Duration::from_ns(860_360),
    };

    #[test]
    fn equation_1_on_scripted_queues() {
        // Start, time of a page, pages; start of the next; the gap.
        let queue = [
            ((0, 200, 4), 1000, 200),
            ((0, 200, 5), 1000, 0),
            ((0, 200, 6), 1000, 0),
            ((500, 20, 1), 521, 1),
            ((500, 20, 0), 520, 20),
        ];
        for ((start, page_time, pages), next, gap) in queue {
            let current = Entry { start: at(start), page_time: us(page_time), pages };
            assert_eq!(short_idle(&current, at(next)), us(gap), "{current:?}, then {next}");
        }
    }

    #[test]
    fn equation_2_of_the_paper_s_device() {
        assert_eq!(PAPER.collection(0, 1).as_ns(), 2_860_360);
        assert_eq!(PAPER.collection(128, 1).as_ns(), 128 * 1_043_560 + 2_860_360);
        assert_eq!(PAPER.collection(10, 10).as_ns(), 10 * 1_043_560 + 10 * 2_860_360);
    }

    #[test]
    fn a_collection_fits_to_the_nanosecond() {
        let time = PAPER.collection(3, 1);
        let mut look_ahead = LookAhead::new(PAPER, Duration::ZERO, us(1_000_000));
        assert!(!look_ahead.fits(3, 1, at(0)), "nothing is known");
        let mut next = |next: Instant, now: Instant| {
            look_ahead.announced(Some(next));
            look_ahead.fits(3, 1, now)
        };
        assert!(next(at(50) + time, at(50)));
        assert!(!next(at(50) + time, at(50) + Duration::from_ns(1)));
        assert!(!next(at(0), at(50)), "it has come already");
        assert!(next(at(1_000_000), at(0)));
        assert!(!next(at(1_000_001), at(0)), "nobody knows of it yet");
    }

    #[test]
    fn gaps_that_are_too_short_are_not_used() {
        let mut look_ahead = LookAhead::new(PAPER, us(5000), us(1_000_000));
        look_ahead.announced(Some(at(5000)));
        assert_eq!(look_ahead.gap(at(0)), None);
        look_ahead.announced(Some(at(5001)));
        assert_eq!(look_ahead.gap(at(0)), Some(us(5001)));
    }
}
