//! Writes that go at a pace while the drive collects for space, and at once while it does not.

use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::config::quantity::{Rate, Size};
use crate::ids::CommandId;
use crate::nand::transfer_time;
use crate::units::{Duration, Instant};

use super::recent::Recent;

/// Longest time after which the drive looks again whether it still collects.
const LOOK: Duration = Duration::from_us(100);

/// A queue of writes.
#[derive(Debug, Checkpointed)]
pub(in crate::drive) struct Collecting {
    pace: Pace,
    waiting: VecDeque<Held>,
    /// When the next write may go, if the drive collects.
    next_at: Instant,
}

/// A write that waits.
#[derive(Debug, Clone, Copy, Checkpointed)]
struct Held {
    id: CommandId,
    pages: u64,
}

/// Turn of a write that comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::drive) enum Turn {
    /// Goes now.
    Now,
    /// Is the first, and is asked again after this time.
    In(Duration),
    /// Others wait before it.
    Behind,
}

/// First of those that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::drive) enum First {
    /// Goes now, and has left the queue.
    Goes(CommandId),
    /// Is asked again after this time.
    Waits(CommandId, Duration),
}

/// Pace of writes while the drive collects.
#[derive(Debug, Checkpointed)]
enum Pace {
    /// A page in this time.
    Set { every: Duration },
    /// A share of the rate of late.
    Recent(Recent),
}

impl Collecting {
    /// Writes go at a set rate, in pages of this size.
    pub fn at_rate(rate: Rate, page: Size) -> Self {
        Self::new(Pace::Set { every: transfer_time(page.0, rate) })
    }

    /// Writes go at a share of the rate that they have had of late.
    pub(super) const fn at_recent_rate(recent: Recent) -> Self {
        Self::new(Pace::Recent(recent))
    }

    const fn new(pace: Pace) -> Self {
        Self { pace, waiting: VecDeque::new(), next_at: Instant::START }
    }

    /// A write of so many pages comes.
    pub fn arrives(&mut self, id: CommandId, pages: u64, collects: bool, now: Instant) -> Turn {
        let turn = if !self.waiting.is_empty() {
            Turn::Behind
        } else if let Some(length) = self.wait(collects, now) {
            Turn::In(length)
        } else {
            self.goes(pages, collects, now);
            return Turn::Now;
        };
        self.waiting.push_back(Held { id, pages });
        turn
    }

    /// The first of those that wait; `None` if nobody does.
    pub fn first(&mut self, collects: bool, now: Instant) -> Option<First> {
        let Held { id, pages } = *self.waiting.front()?;
        if let Some(length) = self.wait(collects, now) {
            return Some(First::Waits(id, length));
        }
        self.waiting.pop_front();
        self.goes(pages, collects, now);
        Some(First::Goes(id))
    }

    /// Forgets who waits.
    pub fn forget(&mut self) {
        self.waiting.clear();
    }

    /// Time after which the first write is asked again; `None` if it goes now.
    fn wait(&self, collects: bool, now: Instant) -> Option<Duration> {
        (collects && self.next_at > now).then(|| (self.next_at - now).min(LOOK))
    }

    fn goes(&mut self, pages: u64, collects: bool, now: Instant) {
        let every = match &mut self.pace {
            Pace::Set { every } => *every,
            Pace::Recent(recent) => recent.every(pages, collects, now),
        };
        self.next_at = now + every * pages;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages of 4 KiB, 25 us each.
    fn at_40_000_a_second() -> Collecting {
        Collecting::at_rate(Rate::BytesPerSecond(4096 * 40_000), Size(4096))
    }

    fn at(us: u64) -> Instant {
        Instant::START + Duration::from_us(us)
    }

    fn us(us: u64) -> Duration {
        Duration::from_us(us)
    }

    fn id(number: usize) -> CommandId {
        CommandId::from_index(number)
    }

    #[test]
    fn writes_go_at_once_while_the_drive_does_not_collect() {
        let mut queue = at_40_000_a_second();
        for number in 0..5 {
            assert_eq!(queue.arrives(id(number), 3, false, at(0)), Turn::Now);
        }
        assert_eq!(queue.first(false, at(0)), None);
    }

    #[test]
    fn writes_go_in_order_at_the_rate_while_it_collects_and_all_of_them_when_it_ends() {
        let mut queue = at_40_000_a_second();
        assert_eq!(queue.arrives(id(0), 2, true, at(0)), Turn::Now);
        assert_eq!(queue.arrives(id(1), 1, true, at(10)), Turn::In(us(40)));
        assert_eq!(queue.arrives(id(2), 1, true, at(11)), Turn::Behind);
        assert_eq!(queue.arrives(id(3), 1, true, at(12)), Turn::Behind);
        assert_eq!(queue.first(true, at(50)), Some(First::Goes(id(1))));
        assert_eq!(queue.first(true, at(50)), Some(First::Waits(id(2), us(25))));
        for number in [2, 3] {
            assert_eq!(queue.first(false, at(60)), Some(First::Goes(id(number))));
        }
        assert_eq!(queue.first(false, at(60)), None);
    }

    #[test]
    fn the_first_looks_again_whether_the_drive_still_collects() {
        let mut queue = at_40_000_a_second();
        assert_eq!(queue.arrives(id(0), 64, true, at(0)), Turn::Now);
        assert_eq!(queue.arrives(id(1), 1, true, at(0)), Turn::In(us(100)));
        assert_eq!(queue.first(true, at(100)), Some(First::Waits(id(1), us(100))));
    }

    #[test]
    fn who_waits_is_forgotten_as_the_power_fails() {
        let mut queue = at_40_000_a_second();
        assert_eq!(queue.arrives(id(0), 1, true, at(0)), Turn::Now);
        assert_eq!(queue.arrives(id(1), 1, true, at(0)), Turn::In(us(25)));
        queue.forget();
        assert_eq!(queue.first(true, at(25)), None);
    }
}
