//! WARCIP: pages of the host are clustered by the time since they were written before, so that pages of a block are
//! rewritten after about as long (Yang, Pei, Yang, SYSTOR 2019). A page that a collection has to move is colder than it
//! looked: its age then is added to its next interval. What is moved is apart, in class 0.
//!
//! The clock is pages that the host has written to the drive, or time. With several planes, a cluster fills a block on each.

use serde::{Deserialize, Serialize};

use copyback_memory::{prefetch, table};

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

use super::clusters::Clusters;
use super::write_times::WriteTimes;
use super::{Class, Classes, Drive, Event, Life, Origin, Placement};

const MOVED: Class = Class::new(0);

/// Times between writes, and their clusters.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Warcip {
    classes: usize,
    times: WriteTimes,
    /// Of each page, its age when it was last moved, if it has been since it was written.
    penalties: Vec<u64>,
    clusters: Clusters,
    /// Blocks of the host filled since clusters were split or merged.
    filled: u64,
    /// Number of filled blocks before they are split or merged again.
    period: u64,
    /// The class of the block that the page under way has filled.
    sealed: Option<Class>,
    pages_per_block: u32,
}

impl Warcip {
    pub(super) fn new(classes: u32, period: u32, drive: Drive) -> Self {
        let classes = classes as usize;
        Self {
            classes,
            times: WriteTimes::new(drive.pages),
            penalties: table(drive.pages, 0),
            clusters: Clusters::new(classes),
            filled: 0,
            period: period.into(),
            sealed: None,
            pages_per_block: drive.pages_per_block,
        }
    }

    fn interval(&self, lpn: Lpn, now: u64) -> u64 {
        self.times.age(lpn, now).map_or(0, |age| age + self.penalties[lpn.index()])
    }

    fn filled(&mut self, class: Class) {
        self.clusters.sealed(class);
        self.filled += 1;
        if self.filled == self.period {
            self.clusters.split_or_merge(self.pages_per_block.into());
            self.filled = 0;
        }
    }

    fn wrote(&mut self, lpn: Lpn, origin: Origin, now: u64) {
        match origin {
            Origin::Host { .. } => {
                self.clusters.wrote(self.interval(lpn, now));
                self.times.wrote(lpn, now);
                self.penalties[lpn.index()] = 0;
            }
            Origin::Moved { .. } => {
                self.penalties[lpn.index()] = self.times.age(lpn, now).unwrap_or(0);
            }
        }
        if let Some(class) = self.sealed.take() {
            self.filled(class);
        }
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.times.forget(lpn);
        self.penalties[lpn.index()] = 0;
    }

    /// Comes before the page that has filled the block is noted, which belongs to its cluster as it was.
    fn sealed(&mut self, block: Life) {
        if block.class != MOVED
            && let Some(before) = self.sealed.replace(block.class)
        {
            self.filled(before);
        }
    }
}

impl Placement for Warcip {
    fn classes(&self) -> Classes {
        Classes::apart(1..self.classes, 0..1)
    }

    #[inline(always)]
    fn class_of(&self, lpn: Lpn, origin: Origin, now: u64) -> Class {
        match origin {
            Origin::Host { .. } => self.clusters.class_of(self.interval(lpn, now)),
            Origin::Moved { .. } => MOVED,
        }
    }

    #[inline(always)]
    fn learn(&mut self, event: Event, now: u64) {
        match event {
            Event::Wrote { lpn, origin } => self.wrote(lpn, origin, now),
            Event::Trimmed(lpn) => self.trimmed(lpn),
            Event::Sealed(block) => self.sealed(block),
            _ => {}
        }
    }

    fn fetch(&self, lpn: Lpn) {
        self.times.fetch(lpn);
        prefetch(&self.penalties, lpn.index());
    }

    fn bytes(&self) -> usize {
        self.times.bytes() + size_of_val(self.penalties.as_slice())
    }

    fn memory(&self) -> Vec<u8> {
        super::to_bytes(self)
    }

    fn remember(&mut self, memory: &[u8], now: u64) -> bool {
        super::recall(self, memory, |saved, new| {
            let same = (saved.classes, saved.period, saved.pages_per_block);
            same == (new.classes, new.period, new.pages_per_block)
                && saved.times.is_sound(new.times.pages(), now)
                && saved.penalties.len() == new.penalties.len()
                && saved.penalties.iter().all(|penalty| *penalty <= now)
                && saved.clusters.is_sound(&new.clusters)
                && saved.filled < saved.period
                && saved.sealed.is_none_or(|class| class.index() < new.classes)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::BlockId;

    const HOST: Origin = Origin::Host { hint: None };
    const FROM: Origin = Origin::Moved { class: None };

    fn warcip(classes: u32, period: u32) -> Warcip {
        Warcip::new(classes, period, Drive { pages: 64, pages_per_block: 2, planes: 1, blocks: 8 })
    }

    fn write(warcip: &mut Warcip, page: u32, origin: Origin, now: u64) -> usize {
        let class = warcip.class_of(Lpn(page), origin, now);
        assert_eq!(warcip.class_of(Lpn(page), origin, now), class, "to ask changes nothing");
        warcip.learn(Event::Wrote { lpn: Lpn(page), origin }, now);
        class.index()
    }

    fn sealed(class: usize) -> Life {
        Life { block: BlockId(0), class: Class::new(class), opened: 0, sealed: 0, valid: 2 }
    }

    #[test]
    fn pages_go_with_those_that_are_rewritten_after_about_as_long() {
        let mut warcip = warcip(4, 100);
        let first = [0, 1, 2].map(|page| write(&mut warcip, page, HOST, page.into()));
        assert_eq!(first, [3; 3], "nothing is known");
        // 30 after its last write: none is nearer than the two that have seen nothing.
        assert_eq!(write(&mut warcip, 0, HOST, 30), 3);
        assert_eq!(write(&mut warcip, 0, HOST, 31), 2);
        assert_eq!(
            write(&mut warcip, 0, HOST, 40),
            3,
            "9: the mean of 0, 0, 0, 30 is 7.5, of 1 it is 1"
        );
    }

    #[test]
    fn the_age_at_a_move_is_added_to_the_next_interval_alone() {
        let mut warcip = warcip(3, 100);
        write(&mut warcip, 0, HOST, 0);
        assert_eq!(write(&mut warcip, 0, FROM, 8), 0);
        assert_eq!(write(&mut warcip, 0, FROM, 10), 0);
        assert_eq!(warcip.interval(Lpn(0), 12), 22);
        write(&mut warcip, 0, HOST, 12);
        assert_eq!(warcip.interval(Lpn(0), 15), 3);
        warcip.learn(Event::Trimmed(Lpn(0)), 0);
        assert_eq!(warcip.interval(Lpn(0), 16), 0);
    }

    #[test]
    fn a_page_that_fills_a_block_belongs_to_the_cluster_as_it_was() {
        let mut warcip = warcip(2, 100);
        write(&mut warcip, 0, HOST, 0);
        warcip.learn(Event::Sealed(sealed(1)), 0);
        assert_eq!(write(&mut warcip, 0, HOST, 6), 1);
        let state = |warcip: &Warcip| (warcip.filled, warcip.sealed);
        assert_eq!(state(&warcip), (1, None));
        warcip.learn(Event::Sealed(sealed(0)), 0);
        assert_eq!(state(&warcip), (1, None), "what is moved is not counted");
    }

    #[test]
    fn what_is_remembered_is_what_was_known_and_of_a_placement_like_this() {
        let mut kept = warcip(3, 100);
        (0..4).for_each(|now| _ = write(&mut kept, 1, HOST, now));
        write(&mut kept, 1, FROM, 4);
        let memory = kept.memory();
        let mut again = warcip(3, 100);
        assert!(again.remember(&memory, 4));
        assert_eq!(again.interval(Lpn(1), 4), 2);
        assert!(!warcip(4, 100).remember(&memory, 4), "of other classes");
        assert!(!warcip(3, 99).remember(&memory, 4), "of another period");
        assert!(!warcip(3, 100).remember(&memory, 2), "of later writes");
    }
}
