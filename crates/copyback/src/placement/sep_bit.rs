//! SepBIT: pages are sorted by when they are likely to be overwritten (Wang et al., FAST 2022, section 3; classes
//! 1 to 6 of the paper are 0 to 5 here). The life of the last version tells; of pages that have survived a
//! collection, their age.
//!
//! A page of the host is short-lived if the version that it replaces was younger than `l`, the mean life of the blocks
//! of class 0 that were collected last (algorithm 1). Only the pages in a queue of recent writes are known to be young;
//! its length follows `l` by taking up to two off for each that comes, so that it shrinks as fast as it grows. It is
//! never longer than there are pages with data.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

use super::write_times::WriteTimes;
use super::{Class, Classes, Drive, Event, Life, Origin, Placement};

const SHORT_LIVED: Class = Class::new(0);
const LONG_LIVED: Class = Class::new(1);
const SHORT_LIVED_MOVED: Class = Class::new(2);

/// Blocks of class 0 that a mean is taken over.
const COLLECTED: u64 = 16;
/// Ages, in multiples of `l`, at which the last two classes begin.
const AGES: [u64; 2] = [4, 16];

/// Lives and ages, in pages that the host has written to the drive.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct SepBit {
    times: WriteTimes,
    /// `l`, once enough blocks have been collected.
    mean_life: Option<u64>,
    /// Length of the queue of recent writes. Who is in it follows from when it was written.
    queue: u64,
    /// Pages that hold data.
    pages: u64,
    /// Lives of blocks that were collected since `l` was computed.
    lives: u64,
    collected: u64,
}

impl SepBit {
    pub(super) fn new(drive: Drive) -> Self {
        let times = WriteTimes::new(drive.pages);
        Self { times, mean_life: None, queue: 0, pages: 0, lives: 0, collected: 0 }
    }

    #[inline(always)]
    fn is_younger_than_mean(&self, age: u64) -> bool {
        age < self.queue && self.mean_life.is_none_or(|mean| age < mean)
    }

    fn class_of_age(&self, age: Option<u64>) -> Class {
        let begins = |multiple: &&u64| match (age, self.mean_life) {
            (_, None) => false,
            (None, Some(_)) => true,
            (Some(age), Some(mean)) => age >= mean.saturating_mul(**multiple),
        };
        Class::new(3 + AGES.iter().filter(begins).count())
    }

    #[inline(always)]
    fn wrote(&mut self, lpn: Lpn, now: u64) {
        self.pages += u64::from(self.times.wrote(lpn, now).is_none());
        self.queue += 1;
        let most = self.mean_life.unwrap_or(u64::MAX);
        self.queue -= u64::from(self.queue > most.min(self.pages));
        self.queue -= u64::from(self.queue > most);
    }

    fn chosen(&mut self, block: Life, now: u64) {
        if block.class != SHORT_LIVED {
            return;
        }
        self.lives += now - block.opened;
        self.collected += 1;
        if self.collected == COLLECTED {
            self.mean_life = Some(self.lives / COLLECTED);
            (self.lives, self.collected) = (0, 0);
        }
    }
}

impl Placement for SepBit {
    fn classes(&self) -> Classes {
        Classes::apart(0..2, 2..6)
    }

    #[inline(always)]
    fn class_of(&self, lpn: Lpn, origin: Origin, now: u64) -> Class {
        let age = self.times.age(lpn, now);
        match origin {
            Origin::Host { .. } if age.is_some_and(|age| self.is_younger_than_mean(age)) => {
                SHORT_LIVED
            }
            Origin::Host { .. } => LONG_LIVED,
            Origin::Moved { class: Some(SHORT_LIVED) } => SHORT_LIVED_MOVED,
            Origin::Moved { .. } => self.class_of_age(age),
        }
    }

    #[inline(always)]
    fn learn(&mut self, event: Event, now: u64) {
        match event {
            Event::Wrote { lpn, origin: Origin::Host { .. } } => self.wrote(lpn, now),
            Event::Trimmed(lpn) => self.pages -= u64::from(self.times.forget(lpn).is_some()),
            Event::Chosen(block) => self.chosen(block, now),
            _ => {}
        }
    }

    fn fetch(&self, lpn: Lpn) {
        self.times.fetch(lpn);
    }

    fn bytes(&self) -> usize {
        self.times.bytes()
    }

    fn memory(&self) -> Vec<u8> {
        super::to_bytes(self)
    }

    fn remember(&mut self, memory: &[u8], now: u64) -> bool {
        super::recall(self, memory, |saved, new| {
            saved.times.is_sound(new.times.pages(), now)
                && saved.collected < COLLECTED
                && saved.queue <= now
                && saved.pages == saved.times.written()
                && saved.mean_life.is_none_or(|mean| mean <= now)
                && saved.lives <= now.saturating_mul(COLLECTED)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::BlockId;

    const HOST: Origin = Origin::Host { hint: None };
    const MOVED: Origin = Origin::Moved { class: Some(LONG_LIVED) };
    const DRIVE: Drive = Drive { pages: 4, pages_per_block: 2, planes: 1, blocks: 8 };

    /// All four pages have been written in order, at 0 to 3.
    fn filled() -> SepBit {
        let mut placement = SepBit::new(DRIVE);
        for page in 0..4 {
            assert_eq!(class_of(&placement, page, HOST, page.into()), 1, "it replaces nothing");
            placement.learn(Event::Wrote { lpn: Lpn(page), origin: HOST }, page.into());
        }
        placement
    }

    fn class_of(placement: &SepBit, page: u32, origin: Origin, now: u64) -> usize {
        placement.class_of(Lpn(page), origin, now).index()
    }

    /// Collects this number of blocks of a class, each of which has lived for `life`.
    fn collect(placement: &mut SepBit, blocks: u64, class: Class, life: u64) {
        for _ in 0..blocks {
            let block =
                Life { block: BlockId(0), class, opened: 100 - life, sealed: 100, valid: 1 };
            placement.learn(Event::Chosen(block), 100);
        }
    }

    #[test]
    fn what_replaces_a_young_page_is_short_lived() {
        let mut placement = filled();
        let classes =
            |placement: &SepBit, now| [0, 1, 2, 3].map(|page| class_of(placement, page, HOST, now));
        assert_eq!(classes(&placement, 4), [1, 0, 0, 0], "the first has left the queue of four");
        collect(&mut placement, COLLECTED, SHORT_LIVED, 3);
        assert_eq!(classes(&placement, 4), [1, 1, 0, 0], "ages are 4, 3, 2 and 1, the mean is 3");
        placement.learn(Event::Trimmed(Lpn(3)), 0);
        assert_eq!(class_of(&placement, 3, HOST, 4), 1);
    }

    #[test]
    fn the_mean_life_is_that_of_the_last_sixteen_blocks_of_the_first_class() {
        let mut placement = filled();
        collect(&mut placement, COLLECTED - 1, SHORT_LIVED, 8);
        collect(&mut placement, 40, LONG_LIVED, 90);
        assert_eq!(placement.mean_life, None);
        collect(&mut placement, 1, SHORT_LIVED, 24);
        assert_eq!(placement.mean_life, Some(9));
        collect(&mut placement, COLLECTED, SHORT_LIVED, 2);
        assert_eq!(placement.mean_life, Some(2));
    }

    #[test]
    fn what_is_moved_goes_by_the_class_it_leaves_or_by_its_age() {
        let mut placement = filled();
        let short = Origin::Moved { class: Some(SHORT_LIVED) };
        assert_eq!([short, MOVED].map(|from| class_of(&placement, 0, from, 90)), [2, 3]);
        collect(&mut placement, COLLECTED, SHORT_LIVED, 5);
        let classes = [19, 20, 79, 80].map(|now| class_of(&placement, 0, MOVED, now));
        assert_eq!(classes, [3, 4, 4, 5], "four and sixteen times the mean");
        assert_eq!(class_of(&placement, 0, short, 80), 2);
    }

    #[test]
    fn the_queue_shrinks_by_one_with_each_write_until_it_is_as_long_as_the_mean() {
        let mut placement = filled();
        collect(&mut placement, COLLECTED, SHORT_LIVED, 2);
        let lengths = [4, 5, 6, 7].map(|now| {
            placement.learn(Event::Wrote { lpn: Lpn(0), origin: HOST }, now);
            placement.queue
        });
        assert_eq!(lengths, [3, 2, 2, 2]);
        placement.learn(Event::Wrote { lpn: Lpn(1), origin: MOVED }, 8);
        assert_eq!(placement.queue, 2, "collections write nothing new");
    }

    #[test]
    fn what_is_remembered_is_what_was_known_and_of_a_placement_like_this() {
        let mut placement = filled();
        collect(&mut placement, COLLECTED + 3, SHORT_LIVED, 2);
        let memory = placement.memory();
        let mut again = SepBit::new(DRIVE);
        assert!(again.remember(&memory, 100));
        assert_eq!(again.memory(), memory);
        assert!(!SepBit::new(Drive { pages: 5, ..DRIVE }).remember(&memory, 100));
        assert!(!SepBit::new(DRIVE).remember(&memory, 2), "written after now");
        assert!(!SepBit::new(DRIVE).remember(&memory[1..], 100));
    }
}
