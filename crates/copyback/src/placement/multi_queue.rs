//! AutoStream by multiple queues: a chunk of pages is in a queue by the logarithm of its count of writes, and its queue
//! is the class of its pages, 0 the coldest. A chunk expires that has not been written for as long as the hottest one
//! took to come back: the first of each queue then goes to the queue below. What collections move is apart, in the last
//! class (Yang et al., SYSTOR 2017).
//!
//! The clock of queues counts writes of chunks: a run of pages is one of each chunk that it touches. A chunk that
//! expires loses writes with its queue. The simulator of SepBIT's authors moves it and leaves its writes, so that it is
//! in its old queue again when it is written next: nothing expires then for those who look at classes.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::config::{Counted, Expiry, Logarithm};
use crate::ids::Lpn;

use super::chunks::{Chunks, Levels};
use super::queues::Queues;
use super::{Class, Classes, Drive, Event, Origin, Placement};

/// Chunks and their queues.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct MultiQueue {
    classes: usize,
    levels: Levels,
    chunks: Chunks,
    queues: Queues,
}

impl MultiQueue {
    pub(super) fn new(
        classes: u32,
        (chunk, counted): (u32, Counted),
        logarithm: Logarithm,
        expiry: Expiry,
        drive: Drive,
    ) -> Self {
        let (classes, chunks) = (classes as usize, Chunks::new(chunk, counted));
        let levels = Levels::new(classes - 1, logarithm);
        let count = if expiry == Expiry::None { 0 } else { levels.count() };
        let queues = Queues::new(chunks.count(drive.pages), count);
        Self { classes, levels, chunks, queues }
    }

    fn moved(&self) -> Class {
        Class::new(self.classes - 1)
    }

    fn wrote(&mut self, lpn: Lpn) {
        if self.chunks.counts(lpn) {
            self.queues.promote(self.chunks.of(lpn), &self.levels);
            self.queues.demote(&self.levels);
        }
        self.chunks.wrote(lpn);
    }
}

impl Placement for MultiQueue {
    fn classes(&self) -> Classes {
        Classes::apart(0..self.classes - 1, self.classes - 1..self.classes)
    }

    fn class_of(&self, lpn: Lpn, origin: Origin, _: u64) -> Class {
        let writes = self.queues.writes(self.chunks.of(lpn));
        match origin {
            Origin::Moved { .. } => self.moved(),
            Origin::Host { .. } => {
                self.levels.of(writes.saturating_add(self.chunks.counts(lpn).into()).max(1))
            }
        }
    }

    #[inline(always)]
    fn learn(&mut self, event: Event, _: u64) {
        if let Event::Wrote { lpn, origin: Origin::Host { .. } } = event {
            self.wrote(lpn);
        }
    }

    fn bytes(&self) -> usize {
        self.queues.bytes()
    }

    fn memory(&self) -> Vec<u8> {
        super::to_bytes(self)
    }

    fn remember(&mut self, memory: &[u8], now: u64) -> bool {
        super::recall(self, memory, |saved, new| {
            saved.classes == new.classes
                && saved.levels == new.levels
                && saved.queues.is_sound(&new.queues, &new.levels, now)
                && saved.chunks.is_like(&new.chunks)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: Origin = Origin::Host { hint: None };

    fn queues(classes: u32, expiry: Expiry) -> MultiQueue {
        let drive = Drive { pages: 64, pages_per_block: 2, planes: 1, blocks: 8 };
        MultiQueue::new(classes, (8, Counted::Runs), Logarithm::Binary, expiry, drive)
    }

    /// The class of each of these pages, which are written one after the other.
    fn write(queues: &mut MultiQueue, pages: &[u32]) -> Vec<usize> {
        let mut one = |&page| {
            let class = queues.class_of(Lpn(page), HOST, 0);
            assert_eq!(queues.class_of(Lpn(page), HOST, 0), class, "to ask changes nothing");
            queues.learn(Event::Wrote { lpn: Lpn(page), origin: HOST }, 0);
            class.index()
        };
        pages.iter().map(&mut one).collect()
    }

    #[test]
    fn a_chunk_is_promoted_by_the_logarithm_of_its_writes() {
        for expiry in [Expiry::Demotes, Expiry::None] {
            let mut queues = queues(4, expiry);
            let classes = write(&mut queues, &[0, 7, 3, 5, 0, 2, 0, 4]);
            assert_eq!(classes, [0, 1, 1, 2, 2, 2, 2, 2], "{expiry:?}");
            assert_eq!(write(&mut queues, &[9, 10, 15, 16, 18]), [0, 0, 1, 0, 1], "{expiry:?}");
        }
    }

    #[test]
    fn a_chunk_that_is_not_written_for_a_lifetime_is_demoted() {
        // Chunk 0 becomes the hottest with each of its four writes, the last two of which are 2 apart: it expires after
        // more than 2 others.
        let (before, others) = ([0, 2, 8, 4, 16, 6], [24, 32, 40, 48]);
        for (expiry, after) in [(Expiry::Demotes, 1), (Expiry::None, 2)] {
            let mut queues = queues(5, expiry);
            assert_eq!(write(&mut queues, &before), [0, 1, 0, 1, 0, 2]);
            write(&mut queues, &others);
            assert_eq!(write(&mut queues, &[1]), [after], "{expiry:?}");
        }
    }

    #[test]
    fn what_is_moved_is_in_the_last_class_and_counts_for_nothing() {
        let mut queues = queues(4, Expiry::Demotes);
        let moved = Origin::Moved { class: Some(Class::new(1)) };
        assert_eq!(queues.class_of(Lpn(0), moved, 0).index(), 3);
        queues.learn(Event::Wrote { lpn: Lpn(0), origin: moved }, 0);
        assert_eq!(write(&mut queues, &[1]), [0]);
    }

    #[test]
    fn what_is_remembered_is_what_was_known_and_of_a_placement_like_this() {
        for expiry in [Expiry::Demotes, Expiry::None] {
            let mut kept = queues(4, expiry);
            write(&mut kept, &[0, 2, 4, 6]);
            let memory = kept.memory();
            let mut again = queues(4, expiry);
            assert!(again.remember(&memory, 4));
            assert_eq!(write(&mut again, &[7, 8, 0]), [2, 0, 2], "the first goes on with a run");
            assert!(!queues(5, expiry).remember(&memory, 4), "of other classes");
            assert!(!queues(4, expiry).remember(&memory, 3), "of more writes");
        }
        let memory = queues(4, Expiry::None).memory();
        assert!(!queues(4, Expiry::Demotes).remember(&memory, 0), "of chunks that never expire");
    }
}
