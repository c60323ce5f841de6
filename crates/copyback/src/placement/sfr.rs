//! AutoStream by sequentiality, frequency and recency, SFR: a chunk of pages has a count of writes, which halves with
//! each period that none comes; its logarithm is the class of a page, 0 the coldest. A page that goes on with a run stays
//! in the class of the page before. What collections move is apart, in the last class (Yang et al., SYSTOR 2017).

use serde::{Deserialize, Serialize};

use copyback_memory::table;

use crate::checkpoint::Checkpointed;
use crate::config::{Counted, Logarithm};
use crate::ids::Lpn;

use super::chunks::{Chunks, Levels};
use super::{Class, Classes, Drive, Event, Origin, Placement};

/// Counts of chunks.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Sfr {
    classes: usize,
    levels: Levels,
    chunks: Chunks,
    counts: Vec<Count>,
    /// Pages that the host writes to the drive while the count of a chunk that it does not write halves.
    period: u64,
    /// The class of the run under way.
    class: Class,
}

/// Writes of a chunk.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, Checkpointed)]
struct Count {
    writes: u32,
    /// When the last one came, in pages that the host has written to the drive.
    last: u64,
}

impl Count {
    /// The count after a write at `now`.
    fn next(self, now: u64, period: u64) -> u32 {
        let periods = (now - self.last) / period;
        let faded = self.writes.checked_shr(periods.min(32) as u32).unwrap_or(0);
        faded.saturating_add(1)
    }
}

impl Sfr {
    pub(super) fn new(
        classes: u32,
        (chunk, counted): (u32, Counted),
        period: u64,
        logarithm: Logarithm,
        drive: Drive,
    ) -> Self {
        let (classes, chunks) = (classes as usize, Chunks::new(chunk, counted));
        let counts = table(chunks.count(drive.pages), Count { writes: 0, last: 0 });
        let levels = Levels::new(classes - 1, logarithm);
        Self { classes, levels, chunks, counts, period, class: Class::new(0) }
    }

    fn moved(&self) -> Class {
        Class::new(self.classes - 1)
    }

    fn wrote(&mut self, lpn: Lpn, origin: Origin, now: u64) {
        self.class = self.class_of(lpn, origin, now);
        if self.chunks.counts(lpn) {
            let count = &mut self.counts[self.chunks.of(lpn)];
            *count = Count { writes: count.next(now, self.period), last: now };
        }
        self.chunks.wrote(lpn);
    }
}

impl Placement for Sfr {
    fn classes(&self) -> Classes {
        Classes::apart(0..self.classes - 1, self.classes - 1..self.classes)
    }

    fn class_of(&self, lpn: Lpn, origin: Origin, now: u64) -> Class {
        match origin {
            Origin::Moved { .. } => self.moved(),
            Origin::Host { .. } if self.chunks.follows(lpn) => self.class,
            Origin::Host { .. } => {
                self.levels.of(self.counts[self.chunks.of(lpn)].next(now, self.period))
            }
        }
    }

    #[inline(always)]
    fn learn(&mut self, event: Event, now: u64) {
        if let Event::Wrote { lpn, origin: origin @ Origin::Host { .. } } = event {
            self.wrote(lpn, origin, now);
        }
    }

    fn bytes(&self) -> usize {
        size_of_val(self.counts.as_slice())
    }

    fn memory(&self) -> Vec<u8> {
        super::to_bytes(self)
    }

    fn remember(&mut self, memory: &[u8], now: u64) -> bool {
        super::recall(self, memory, |saved, new| {
            (saved.classes, saved.period) == (new.classes, new.period)
                && saved.levels == new.levels
                && saved.chunks.is_like(&new.chunks)
                && saved.counts.len() == new.counts.len()
                && saved.counts.iter().all(|count| count.last <= now)
                && saved.class.index() < saved.levels.count()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: Origin = Origin::Host { hint: None };

    fn sfr(classes: u32, period: u64) -> Sfr {
        let drive = Drive { pages: 64, pages_per_block: 2, planes: 1, blocks: 8 };
        Sfr::new(classes, (8, Counted::Runs), period, Logarithm::Binary, drive)
    }

    /// The class of each of these pages, which are written one after the other.
    fn write(sfr: &mut Sfr, begin: u64, pages: &[u32]) -> Vec<usize> {
        let mut one = |(page, now)| {
            let class = sfr.class_of(Lpn(page), HOST, now);
            assert_eq!(sfr.class_of(Lpn(page), HOST, now), class, "to ask changes nothing");
            sfr.learn(Event::Wrote { lpn: Lpn(page), origin: HOST }, now);
            class.index()
        };
        pages.iter().copied().zip(begin..).map(&mut one).collect()
    }

    #[test]
    fn frequency_is_the_logarithm_of_a_chunks_writes() {
        let mut sfr = sfr(4, 1_000);
        assert_eq!(write(&mut sfr, 0, &[0, 7, 3, 5, 0, 2, 0, 4]), [0, 1, 1, 2, 2, 2, 2, 2]);
        assert_eq!(write(&mut sfr, 8, &[9, 1, 15]), [0, 2, 1]);
    }

    #[test]
    fn recency_halves_the_count_with_each_period() {
        let mut sfr = sfr(6, 10);
        assert_eq!(write(&mut sfr, 0, &[0, 2, 4, 6, 1, 3, 5]), [0, 1, 1, 2, 2, 2, 2]);
        // Nine pages after the seventh write all of it still counts; ten after the eighth, half.
        assert_eq!(write(&mut sfr, 15, &[2]), [3]);
        assert_eq!(write(&mut sfr, 25, &[0]), [2]);
        assert_eq!(write(&mut sfr, 2_000, &[0]), [0]);
    }

    #[test]
    fn a_sequential_write_keeps_the_class_and_counts_for_each_chunk_once() {
        let mut sfr = sfr(4, 1_000);
        assert_eq!(write(&mut sfr, 0, &[4, 6, 7, 8, 9, 10]), [0, 1, 1, 1, 1, 1]);
        assert_eq!(write(&mut sfr, 6, &[9, 2]), [1, 1]);
        assert_eq!([0, 1].map(|chunk| sfr.counts[chunk].writes), [3, 2]);
    }

    #[test]
    fn what_is_moved_is_in_the_last_class_and_counts_for_nothing() {
        let mut sfr = sfr(4, 1_000);
        let moved = Origin::Moved { class: Some(Class::new(1)) };
        assert_eq!(sfr.class_of(Lpn(0), moved, 0).index(), 3);
        sfr.learn(Event::Wrote { lpn: Lpn(0), origin: moved }, 0);
        assert_eq!(write(&mut sfr, 0, &[1]), [0]);
    }

    #[test]
    fn what_is_remembered_is_what_was_known_and_of_a_placement_like_this() {
        let mut kept = sfr(4, 10);
        write(&mut kept, 0, &[0, 2, 4]);
        let memory = kept.memory();
        let mut again = sfr(4, 10);
        assert!(again.remember(&memory, 3));
        assert_eq!(write(&mut again, 3, &[5, 6]), [1, 1], "goes on with the run");
        assert!(!sfr(5, 10).remember(&memory, 3), "of other classes");
        assert!(!sfr(4, 11).remember(&memory, 3), "of another period");
        assert!(!sfr(4, 10).remember(&memory, 1), "of later writes");
    }
}
