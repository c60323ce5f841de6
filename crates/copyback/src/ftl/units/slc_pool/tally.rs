//! Use of the cache.

use std::ops::AddAssign;

use crate::checkpoint::Checkpointed;
use crate::ftl::block_manager::BlockManager;

use super::SlcPool;

/// Pages and blocks of the cache, since the run began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
pub struct SlcTally {
    /// Pages of the host that were written to the cache.
    pub written: u64,
    /// Pages of the host that were written past it.
    pub past: u64,
    /// Pages that were moved from it to native blocks.
    pub folded: u64,
    /// Blocks of it that were erased.
    pub erases: u64,
    /// Pages in it that were valid when the counts began.
    pub valid_before: u64,
}

impl AddAssign for SlcTally {
    fn add_assign(&mut self, other: Self) {
        self.written += other.written;
        self.past += other.past;
        self.folded += other.folded;
        self.erases += other.erases;
        self.valid_before += other.valid_before;
    }
}

/// State of the cache, and its use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SlcState {
    /// Since the run began.
    pub tally: SlcTally,
    /// Pages in it that are valid.
    pub valid: u64,
    /// Pages that could be written to it without folding anything.
    pub free: u64,
    /// Pages of all of its blocks, those that could be lent included.
    pub capacity: u64,
    /// Native blocks that are lent to it.
    pub lent: u64,
}

impl SlcState {
    /// Pages that the host overwrote or trimmed before they were folded.
    pub const fn died(&self) -> u64 {
        let SlcTally { written, folded, valid_before, .. } = self.tally;
        // A page may be folded twice if a loss of power tears its copy.
        (valid_before + written).saturating_sub(folded + self.valid)
    }
}

impl AddAssign for SlcState {
    fn add_assign(&mut self, other: Self) {
        self.tally += other.tally;
        self.valid += other.valid;
        self.free += other.free;
        self.capacity += other.capacity;
        self.lent += other.lent;
    }
}

impl SlcPool {
    /// Pages of the host that were written to the cache since the run began.
    pub const fn programs(&self) -> u64 {
        self.tally.written
    }

    /// State of the pool, and its use.
    pub fn state(&self, manager: &BlockManager) -> SlcState {
        let [free, capacity] = self.levels();
        let lent = self.planes.iter().map(|plane| plane.lent as u64).sum();
        let valid = valid_pages(manager);
        SlcState { tally: self.tally, valid, free, capacity, lent }
    }

    /// Pages that the pool could take without folding anything, and that it could hold, blocks that could be lent included.
    pub fn levels(&self) -> [u64; 2] {
        let pages = u64::from(self.pages);
        let [mut free, mut capacity] = [0, 0];
        for plane in &self.planes {
            let open = plane.open.map_or(0, |open| self.pages - open.next_page);
            let openable = (plane.free.len() + plane.lendable) as u64;
            free += openable * pages + u64::from(open);
            let in_use = plane.full.len()
                + usize::from(plane.open.is_some())
                + usize::from(plane.folding.is_some());
            capacity += (openable + in_use as u64) * pages;
        }
        [free, capacity]
    }

    /// Counts from now on what the pool is used for.
    pub(in crate::ftl) fn reset_tally(&mut self, manager: &BlockManager) {
        self.tally = SlcTally { valid_before: valid_pages(manager), ..SlcTally::default() };
    }

    /// Goes on counting after a loss of power, from what was counted `before`.
    pub(in crate::ftl) const fn count_on(&mut self, before: &Self) {
        self.tally = before.tally;
    }
}

fn valid_pages(manager: &BlockManager) -> u64 {
    let in_mode = manager.geometry.all_blocks().filter(|block| manager.blocks.is_slc(*block));
    in_mode.map(|block| u64::from(manager.blocks.valid_pages(block))).sum()
}
