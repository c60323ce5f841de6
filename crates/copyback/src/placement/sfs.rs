//! SFS: pages that are about as hot lie together (Min, Kim, Cho, Lee, Eom, FAST 2012). A page is as hot as the times
//! that it has been written over the time since it was last. When blocks are collected, the full ones are clustered by
//! the hotness of their valid pages (k-means, a few rounds from the last centres); a page goes to the nearest centre.
//! Class 0 is the hottest.
//!
//! The paper takes a page that is written for the first time to be as hot as its file. A drive has no files: it goes to
//! the hottest. The clock is pages that the host has written to the drive, or time.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, Lpn};

use super::heat::Heat;
use super::{Class, Classes, Drive, Event, Life, Origin, Placement};

/// Number of rounds at most, as in the paper.
const ROUNDS: usize = 3;

/// The hotness of pages and blocks, and its clusters.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Sfs {
    heat: Heat,
    /// The hotness that each class stands for, the hottest first.
    centres: Vec<f64>,
    /// Of each block, whether it is full, and not being collected.
    is_full: Vec<bool>,
    /// Collections since blocks were clustered, and how many there are until they are again.
    collections: u32,
    period: u32,
}

impl Sfs {
    pub(super) fn new(classes: u32, period: u32, drive: Drive) -> Self {
        Self {
            heat: Heat::new(drive),
            centres: vec![0.0; classes as usize],
            is_full: vec![false; drive.blocks],
            collections: 0,
            period,
        }
    }

    /// Moves the centres to where the full blocks are.
    fn cluster(&mut self, now: u64) {
        let full = (0..self.is_full.len()).filter(|block| self.is_full[*block]);
        let known = full.filter_map(|block| self.heat.of_block(BlockId::from_index(block), now));
        let blocks: Vec<f64> = known.collect();
        if blocks.len() > self.centres.len() {
            (0..ROUNDS).for_each(|_| self.round(&blocks));
        } else {
            let again = blocks.iter().cycle();
            self.centres.iter_mut().zip(again).for_each(|(centre, block)| *centre = *block);
        }
        self.centres.sort_by(|one, other| other.total_cmp(one));
    }

    /// Makes each centre the mean of the blocks that are nearest to it; one that is nearest to none is 0.
    fn round(&mut self, blocks: &[f64]) {
        let mut sums = vec![(0.0, 0.0); self.centres.len()];
        for hotness in blocks {
            let (sum, count) = &mut sums[nearest(&self.centres, 0..self.centres.len(), *hotness)];
            *sum += hotness;
            *count += 1.0;
        }
        for (centre, (sum, count)) in self.centres.iter_mut().zip(sums) {
            *centre = if count > 0.0 { sum / count } else { 0.0 };
        }
    }

    fn chosen(&mut self, block: Life, now: u64) {
        self.collections += 1;
        if self.collections == self.period {
            self.cluster(now);
            self.collections = 0;
        }
        self.is_full[block.block.index()] = false;
    }
}

/// The centre that is nearest to this hotness, the first of those that are equally near in this order.
fn nearest(centres: &[f64], order: impl Iterator<Item = usize>, hotness: f64) -> usize {
    let distance = |centre: usize| (centres[centre] - hotness).abs();
    let nearer = |best, next| if distance(next) < distance(best) { next } else { best };
    order.reduce(nearer).expect("there are centres")
}

impl Placement for Sfs {
    fn classes(&self) -> Classes {
        Classes::shared(self.centres.len())
    }

    #[inline(always)]
    fn class_of(&self, lpn: Lpn, origin: Origin, now: u64) -> Class {
        let last = self.centres.len() - 1;
        Class::new(match (self.heat.of_page(lpn, now), origin) {
            (Some(hotness), _) => nearest(&self.centres, (0..=last).rev(), hotness),
            (None, Origin::Host { .. }) => 0,
            // A loss of power has taken what was known of it, and it has not been written since.
            (None, Origin::Moved { .. }) => last,
        })
    }

    #[inline(always)]
    fn learn(&mut self, event: Event, now: u64) {
        match event {
            Event::Wrote { lpn, origin: Origin::Host { .. } } => self.heat.wrote(lpn, now),
            Event::LiesIn { lpn, block } => self.heat.lies_in(lpn, block),
            Event::Trimmed(lpn) => self.heat.forget(lpn),
            Event::Sealed(block) => self.is_full[block.block.index()] = true,
            Event::Chosen(block) => self.chosen(block, now),
            _ => {}
        }
    }

    fn hotness(&self, block: BlockId, now: u64) -> Option<f64> {
        self.heat.of_block(block, now)
    }

    fn fetch(&self, lpn: Lpn) {
        self.heat.fetch(lpn);
    }

    fn bytes(&self) -> usize {
        self.heat.bytes()
    }

    fn memory(&self) -> Vec<u8> {
        super::to_bytes(self)
    }

    fn remember(&mut self, memory: &[u8], now: u64) -> bool {
        let blocks = self.is_full.len();
        let is_sound = super::recall(self, memory, |saved, new| {
            saved.heat.is_sound(&new.heat, now)
                && saved.centres.len() == new.centres.len()
                && saved.centres.iter().all(|centre| centre.is_finite())
                && saved.is_full.len() == new.is_full.len()
                && saved.period == new.period
                && saved.collections < new.period
        });
        if is_sound {
            self.heat.add_up(blocks);
        }
        is_sound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: Origin = Origin::Host { hint: None };
    const MOVED: Origin = Origin::Moved { class: None };
    const DRIVE: Drive = Drive { pages: 16, pages_per_block: 2, planes: 1, blocks: 8 };

    fn life(block: u32) -> Life {
        Life { block: BlockId(block), class: Class::new(0), opened: 0, sealed: 0, valid: 1 }
    }

    /// Writes pages of the host, one after the other from `now` on, to a block. Their classes.
    fn write(sfs: &mut Sfs, now: u64, block: u32, pages: &[u32]) -> Vec<usize> {
        let mut write = |(lpn, now)| {
            let class = sfs.class_of(Lpn(lpn), HOST, now);
            assert_eq!(sfs.class_of(Lpn(lpn), HOST, now), class, "to ask changes nothing");
            sfs.learn(Event::Wrote { lpn: Lpn(lpn), origin: HOST }, now);
            sfs.learn(Event::LiesIn { lpn: Lpn(lpn), block: BlockId(block) }, 0);
            class.index()
        };
        pages.iter().copied().zip(now..).map(&mut write).collect()
    }

    /// Two full blocks: pages 0 and 1, written twice each, and 2 and 3, once. At 10, these are 4 writes over ages of
    /// 15 in all, and 2 over 11.
    fn two_blocks(classes: u32) -> Sfs {
        let mut sfs = Sfs::new(classes, 1, DRIVE);
        assert_eq!(write(&mut sfs, 0, 0, &[0, 1]), [0, 0], "new pages are hot");
        let last = classes as usize - 1;
        assert_eq!(write(&mut sfs, 2, 1, &[0, 1]), [last, last], "all centres are 0 yet");
        assert_eq!(write(&mut sfs, 4, 2, &[2, 3]), [0, 0]);
        sfs.learn(Event::Sealed(life(1)), 0);
        sfs.learn(Event::Sealed(life(2)), 0);
        sfs
    }

    #[test]
    fn few_blocks_are_centres_themselves_and_pages_go_to_the_nearest() {
        let mut sfs = two_blocks(2);
        sfs.learn(Event::Chosen(life(2)), 10);
        assert_eq!(sfs.centres, [4.0 / 15.0, 2.0 / 11.0]);
        let class = |lpn, origin, now| sfs.class_of(Lpn(lpn), origin, now).index();
        assert_eq!(class(0, MOVED, 10), 0, "2 / 8");
        assert_eq!(class(0, MOVED, 12), 1, "2 / 10");
        assert_eq!(class(2, MOVED, 10), 1, "1 / 6");
        assert_eq!(class(2, HOST, 8), 0, "1 / 4");
        assert_eq!(class(9, MOVED, 10), 1, "it is not known: the coldest");
        assert_eq!(class(9, HOST, 10), 0);
    }

    #[test]
    fn many_blocks_are_clustered_in_three_rounds_from_the_last_centres() {
        let mut sfs = two_blocks(2);
        sfs.centres = vec![8.0, 0.0];
        sfs.round(&[9.0, 5.0, 3.0, 1.0]);
        assert_eq!(sfs.centres, [7.0, 2.0]);
        sfs.round(&[9.0, 6.0, 4.5, 1.0]);
        assert_eq!(sfs.centres, [6.5, 1.0], "4.5 is equally near to both: the hotter");
        sfs.centres = vec![1.0, 0.0];
        sfs.round(&[3.0, 2.0]);
        assert_eq!(sfs.centres, [2.5, 0.0], "nothing is nearest to the other");
        write(&mut sfs, 6, 3, &[4, 5]);
        sfs.learn(Event::Sealed(life(3)), 0);
        sfs.learn(Event::Chosen(life(1)), 10);
        // All are nearer to 0 than to 2.5, and then to their mean.
        let mean = (4.0 / 15.0 + 2.0 / 11.0 + 2.0 / 7.0) / 3.0;
        assert_eq!(sfs.centres, [mean, 0.0]);
    }

    #[test]
    fn each_so_many_collections_what_is_full_is_clustered_but_what_is_collected() {
        let mut sfs = Sfs { period: 2, ..two_blocks(2) };
        sfs.learn(Event::Chosen(life(1)), 10);
        assert_eq!(sfs.centres, [0.0, 0.0]);
        sfs.learn(Event::Sealed(life(3)), 0);
        sfs.learn(Event::Chosen(life(3)), 10);
        assert_eq!(
            sfs.centres,
            [2.0 / 11.0; 2],
            "block 1 is not full any more; of 3 nothing is known"
        );
        assert_eq!(sfs.hotness(BlockId(1), 10), Some(4.0 / 15.0));
        assert_eq!(sfs.hotness(BlockId(3), 10), None);
    }

    #[test]
    fn what_is_remembered_is_what_was_known_and_of_a_placement_like_this() {
        let mut kept = two_blocks(3);
        kept.learn(Event::Chosen(life(2)), 10);
        let memory = kept.memory();
        let mut again = Sfs::new(3, 1, DRIVE);
        assert!(again.remember(&memory, 10));
        again.learn(Event::Trimmed(Lpn(1)), 0);
        assert_eq!(again.hotness(BlockId(1), 12), Some(0.2), "of page 0 alone");
        assert_eq!(again.class_of(Lpn(2), MOVED, 10), kept.class_of(Lpn(2), MOVED, 10));
        assert!(!Sfs::new(2, 1, DRIVE).remember(&memory, 10), "of other classes");
        assert!(!Sfs::new(3, 2, DRIVE).remember(&memory, 10), "of another period");
        assert!(!Sfs::new(3, 1, Drive { blocks: 7, ..DRIVE }).remember(&memory, 10));
        assert!(!Sfs::new(3, 1, DRIVE).remember(&memory[1..], 10), "cut");
    }
}
