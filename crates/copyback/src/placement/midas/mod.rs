//! MiDAS: a chain of groups, whose number and sizes a model chooses from how long pages live (Oh et al., FAST 2024).
//! What the host writes is in the first group, hot pages apart; what a collection moves goes on to the next. Groups are
//! FIFO queues, and in the last the victim policy chooses. At the end of each window of the [`histogram`] the [`model`]
//! says which groups would write least. Where it is wrong, groups merge.
//!
//! The reading is that of the authors' simulator, but that its model runs in a thread of its own, and this one between
//! two writes. Where a drive has several planes, groups are of one size on each, and a block of each is a segment.

mod amplification;
mod chain;
mod histogram;
mod hot;
mod model;
mod search;
mod streak;
mod trust;

use serde::{Deserialize, Serialize};

use copyback_memory::table;

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

use super::{
    Class, Classes, Drive, Event, FullBlocks, Grouping, Life, Needs, Old, Origin, Placement,
    Regrouping, Wanted,
};
use chain::Chain;
use histogram::Histogram;
use hot::{HotPages, HotTraffic};
use model::Model;
use search::{BestGroups, Search, margin};
use trust::{Doubt, Trust};

/// Assumption about hot pages before there are any.
const UNKNOWN: HotTraffic = HotTraffic { share: 0.01, valid: 0.05, blocks: 0.0 };

/// Groups, and what they follow from.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Midas {
    histogram: Histogram,
    hot: HotPages,
    chain: Chain,
    trust: Trust,
    /// Full blocks of the drive, by class.
    full: Vec<u32>,
    /// Pages that hold data, as flags.
    holds: Vec<bool>,
    /// Pages of a segment, and planes.
    segment: u64,
    planes: u32,
    /// Blocks of a plane that are full or open.
    blocks: u32,
}

impl Midas {
    /// With up to so many `classes`, of which `sample` tells. `blocks` of a plane are never free.
    pub(super) fn new(classes: u32, sample: u32, (all, blocks): (u32, u32), drive: Drive) -> Self {
        let Drive { pages, pages_per_block, planes, .. } = drive;
        let segment = planes as u64 * u64::from(pages_per_block);
        let unit = (segment / 4).max(1);
        let window = (u64::from(all) * segment * 4 / unit).max(1);
        Self {
            histogram: Histogram::new(pages, sample, unit, window, 2 * pages as u64),
            hot: HotPages::new(pages, pages_per_block, pages as u64),
            chain: Chain::new(classes as usize, planes as u32),
            trust: Trust::new(classes as usize, u64::from(all) * segment, pages_per_block),
            full: vec![0; classes as usize],
            holds: table(pages, false),
            segment,
            planes: planes as u32,
            blocks,
        }
    }

    fn of_plane(&self, class: usize) -> f64 {
        f64::from(self.full[class]) / f64::from(self.planes)
    }

    /// A window of the histogram has ended.
    fn decide(&mut self) {
        let traffic = self.hot.take_recent().unwrap_or(UNKNOWN);
        let traffic = HotTraffic { blocks: (traffic.blocks + 1.0).round(), ..traffic };
        let most_valid = if traffic.blocks > 1.0 { 0.18 } else { 0.3 };
        let mut window = self.histogram.window();
        if traffic.valid > most_valid || self.full[self.chain.top()] == 0 {
            self.histogram.begin(window * 2);
            return;
        }
        let found = self.search(traffic).filter(|found| found.groups.len() > 1);
        if let Some(found) =
            found.filter(|found| self.trust.is_better(found.prediction.amplification))
        {
            if self.trust.forgive() {
                window *= 2;
            }
            self.apply(&found);
        } else {
            self.trust.remember_errors();
        }
        self.histogram.begin(window);
    }

    fn search(&self, traffic: HotTraffic) -> Option<BestGroups> {
        let held = self.holds.iter().filter(|holds| **holds).count();
        let data = held as f64 / self.segment as f64;
        let pages_per_block = (self.segment / u64::from(self.planes)) as u32;
        let margin = f64::from(margin(self.blocks));
        let model = Model::new(&self.histogram.corrected(), data, pages_per_block, margin);
        Search::new(&model, self.blocks, self.full.len() - 1, traffic).run()
    }

    fn apply(&mut self, found: &BestGroups) {
        let (_, sized) = found.groups.split_last().expect("there is a last group");
        // Of each group a block is open, and of the first of the chain another.
        let of_chain = sized.iter().enumerate();
        let full =
            of_chain.map(|(place, blocks)| blocks.saturating_sub(if place == 0 { 2 } else { 1 }));
        let sizes = std::iter::once(found.hot.saturating_sub(1)).chain(full).collect();
        self.chain.set(sizes);
        self.trust.begin(&found.prediction.valid);
    }

    fn doubt(&mut self, doubt: Doubt) {
        match doubt {
            Doubt::Group(group) => self.merge_to(group),
            Doubt::Stuck { next } => {
                let first = if self.trust.is_checking() { next } else { self.chain.last() - 1 };
                self.merge_to(first.min(self.chain.last()).saturating_sub(1));
            }
        }
    }

    /// Merges groups until the last is at `place`, and spreads it.
    fn merge_to(&mut self, place: usize) {
        if !self.chain.is_spread() {
            self.chain.spread();
        }
        while self.chain.last() > place.max(1) {
            self.chain.merge();
        }
        if self.chain.last() == 1 {
            self.trust.stop();
        }
    }

    fn rewrote(&mut self, lpn: Lpn, Old { class, full }: Old, now: u64) {
        if let Some(class) = class {
            self.hot.rewrote(lpn, (class.index(), full), now, self.of_plane(0));
        }
    }

    fn host_wrote(&mut self, lpn: Lpn) {
        self.holds[lpn.index()] = true;
        self.hot.wrote(self.hot.is_hot(lpn));
        let window = self.histogram.window() * (self.segment / 4).max(1);
        let chain = (self.chain.last(), self.chain.is_spread());
        if let Some(doubt) = self.trust.host_wrote(window, chain) {
            self.doubt(doubt);
        }
        if self.histogram.wrote(lpn) {
            self.decide();
        }
    }

    fn moved(&mut self, lpn: Lpn, class: Option<Class>) {
        self.trust.amplification.moved();
        if let Some(class) = class {
            self.hot.moved(lpn, class.index());
        }
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.holds[lpn.index()] = false;
        self.histogram.trimmed(lpn);
    }

    fn sealed(&mut self, block: Life) {
        self.full[block.class.index()] += 1;
        self.chain.sealed(block.class.index());
    }

    fn chosen(&mut self, block: Life, now: u64) {
        let class = block.class.index();
        self.full[class] -= 1;
        if class == 0 {
            self.hot.chosen(block, now);
        }
        let group = self.chain.group_of(class);
        self.trust.chosen(group, block.valid, self.chain.last());
        let is_stuck = self.trust.streak.is_stuck(now, self.planes.into());
        if is_stuck && !self.chain.is_alone() && self.chain.last() > 1 {
            let next = self.chain.next(class);
            self.trust.failed_at(next);
            self.doubt(Doubt::Stuck { next });
        }
    }
}

impl Placement for Midas {
    /// Classes of the groups; moves of hot pages go to the first one, as the host's writes do.
    fn classes(&self) -> Classes {
        Classes::apart(0..2, 1..self.full.len())
    }

    #[inline(always)]
    fn class_of(&self, lpn: Lpn, origin: Origin, _: u64) -> Class {
        Class::new(match origin {
            Origin::Host { .. } => usize::from(!self.hot.is_hot(lpn)),
            Origin::Moved { class: None } => self.chain.top(),
            Origin::Moved { class: Some(class) } => self.chain.next(class.index()),
        })
    }

    fn needs(&self) -> Needs {
        Needs { rewrites: true, ..Needs::default() }
    }

    #[inline(always)]
    fn learn(&mut self, event: Event, now: u64) {
        match event {
            Event::Wrote { lpn, origin: Origin::Host { .. } } => self.host_wrote(lpn),
            Event::Wrote { lpn, origin: Origin::Moved { class } } => self.moved(lpn, class),
            Event::Rewrote { lpn, old } => self.rewrote(lpn, old, now),
            Event::Trimmed(lpn) => self.trimmed(lpn),
            Event::Sealed(block) => self.sealed(block),
            Event::Chosen(block) => self.chosen(block, now),
            _ => {}
        }
    }

    fn grouping(&mut self) -> Option<&mut dyn Grouping> {
        Some(self)
    }

    fn bytes(&self) -> usize {
        self.histogram.bytes() + self.hot.bytes() + size_of_val(self.holds.as_slice())
    }

    fn memory(&self) -> Vec<u8> {
        super::to_bytes(self)
    }

    fn remember(&mut self, memory: &[u8], now: u64) -> bool {
        super::recall(self, memory, |saved, new| {
            (saved.segment, saved.planes, saved.blocks) == (new.segment, new.planes, new.blocks)
                && saved.full.len() == new.full.len()
                && saved.holds.len() == new.holds.len()
                && saved.histogram.is_sound(&new.histogram)
                && saved.hot.is_sound(&new.hot)
                && saved.chain.is_sound(&new.chain)
                && saved.trust.is_sound(&new.trust, now)
        })
    }
}

impl Grouping for Midas {
    fn groups(&self) -> Vec<usize> {
        self.chain.groups()
    }

    fn wanted(&self, full: &[FullBlocks]) -> Wanted {
        self.chain.wanted(full)
    }

    fn take_regrouping(&mut self) -> Option<Regrouping> {
        self.chain.take_regrouping()
    }

    fn regrouped(&mut self, full: &[u32]) {
        self.full.copy_from_slice(full);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collections_that_free_nothing_merge_the_last_groups() {
        let drive = Drive { pages: 256, pages_per_block: 4, planes: 1, blocks: 64 };
        let mut midas = Midas::new(8, 1, (64, 60), drive);
        midas.chain.set(vec![2, 3, 4, 5]);
        assert_eq!((midas.chain.last(), midas.trust.is_checking()), (4, false));
        midas.doubt(Doubt::Stuck { next: 4 });
        assert_eq!(midas.chain.last(), 2, "the last two and the one before");
        assert!(midas.chain.is_spread());
    }
}
