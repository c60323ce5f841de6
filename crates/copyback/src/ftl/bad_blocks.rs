//! The translation layer where blocks become bad. Each plane keeps spare blocks aside, so that nothing
//! else ever notices:
//!
//! ```text
//!   a program fails   the pages of the block so far are copied to a spare one, to the same offsets, and the
//!                     page is programmed there; everything that named the block names the spare one
//!   an erase fails    a spare block is free in place of the block
//! ```
//!
//! When free blocks are left again, they become spare. A drive is read-only for good once a plane has no
//! spare block, or too few good ones to hold its data beside those it must keep free.

use crate::checkpoint::Checkpointed;
use crate::config::Config;
use crate::ids::{BlockId, PlaneId, Ppn};
use crate::nand::{Faults, Geometry, Sensed, Strain};
use crate::victim::Victims;

use super::blocks::SavedBlock;
use super::mapping::Mapping;
use super::space::{Frontier, Plane, Space};
use super::tables::Tables;

/// What goes wrong in the flash of a drive, if anything can.
#[derive(Debug, Default, Checkpointed)]
pub struct BadBlocks(Option<Box<Account>>);

/// What the flash does to its blocks, and what has come of it.
#[derive(Debug, Checkpointed)]
struct Account {
    flash: Faults,
    /// Good blocks and bad ones.
    blocks: usize,
    /// Spare blocks that each plane should have.
    spare_blocks: usize,
    /// Good blocks that each plane needs ...
    needed: usize,
    /// ... and has.
    good: Vec<usize>,
    /// Blocks that were bad when the drive was new.
    factory_bad: u64,
    tally: FaultTally,
    /// Blocks that have been replaced since they were last taken.
    replaced: Vec<Replaced>,
    read_only: bool,
}

/// Blocks that became bad, since the drive began to count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
pub struct FaultTally {
    /// Page programs that failed.
    pub program_failures: u64,
    /// Block erases that failed, those of blocks that were worn out included.
    pub erase_failures: u64,
}

/// A block that was replaced because a program failed.
#[derive(Debug, Checkpointed)]
pub struct Replaced {
    /// The page of the spare block that takes what failed.
    pub again: Ppn,
    /// Pages of the spare block that were copied to it.
    pub copied: Vec<Ppn>,
}

impl BadBlocks {
    /// Whether the drive can take writes, and `spare` blocks of `plane` are none too many.
    pub(super) fn can_have_spare(&self, plane: PlaneId, spare: usize) -> bool {
        let Some(account) = &self.0 else { return spare == 0 };
        let most = account.spare_blocks;
        spare <= most && (most == 0 || spare > 0) && account.good[plane.index()] >= account.needed
    }

    /// Of a checked configuration; `name` is the drive's place in the names of random streams.
    pub fn new(config: &Config, name: &str) -> Self {
        let geometry = Geometry::new(&config.ssd);
        let account = |flash| Account {
            flash,
            blocks: geometry.blocks(),
            good: vec![geometry.blocks_per_plane as usize; geometry.planes()],
            factory_bad: 0,
            spare_blocks: config.ssd.spare_blocks() as usize,
            needed: config.ssd.blocks_needed_per_plane() as usize,
            tally: FaultTally::default(),
            replaced: Vec::new(),
            read_only: false,
        };
        Self(Faults::new(config, name).map(|flash| Box::new(account(flash))))
    }

    /// Whether anything can go wrong in the flash.
    pub const fn are_possible(&self) -> bool {
        self.0.is_some()
    }

    /// Whether `block` is bad when the drive is new.
    pub fn is_bad_when_new(&self, block: BlockId) -> bool {
        self.0.as_ref().is_some_and(|account| account.flash.is_bad_when_new(block))
    }

    /// Whether the drive can take no writes any more, for want of good blocks.
    pub fn is_read_only(&self) -> bool {
        self.0.as_ref().is_some_and(|account| account.read_only)
    }

    /// Blocks that are bad, and how many of them were so when the drive was new.
    pub fn count(&self) -> (u64, u64) {
        let Some(account) = &self.0 else { return (0, 0) };
        let good: usize = account.good.iter().sum();
        ((account.blocks - good) as u64, account.factory_bad)
    }

    /// What has failed since the drive began to count.
    pub fn tally(&self) -> FaultTally {
        self.0.as_ref().map_or_else(FaultTally::default, |account| account.tally)
    }

    /// Counts from now on what fails.
    pub fn reset_tally(&mut self) {
        if let Some(account) = &mut self.0 {
            account.tally = FaultTally::default();
            account.replaced.clear();
        }
    }

    /// Takes the blocks that have been replaced since the last call.
    pub fn take_replaced(&mut self) -> Vec<Replaced> {
        self.0.as_mut().map(|account| std::mem::take(&mut account.replaced)).unwrap_or_default()
    }

    /// Notes whether `plane` has too few good blocks for the drive to take writes.
    fn look_for_end(&mut self, plane: PlaneId, space: &Space) {
        let Some(account) = &mut self.0 else { return };
        let has_no_spare = account.spare_blocks > 0 && space[plane].spare == 0;
        account.read_only |= has_no_spare || account.good[plane.index()] < account.needed;
    }
}

fn all_blocks(geometry: &Geometry) -> impl Iterator<Item = BlockId> + use<> {
    (0..geometry.blocks()).map(BlockId::from_index)
}

/// Retires the blocks that have become bad since the drive was new. False if others are bad than its flash
/// may have.
pub(super) fn restore_bad_blocks(tables: &mut Tables, saved: &[SavedBlock]) -> bool {
    let may_fail = tables.bad_blocks.0.as_ref().is_some_and(|account| account.spare_blocks > 0);
    let mut blocks = all_blocks(&tables.geometry).zip(saved);
    blocks.all(|(block, saved)| {
        let was_bad_when_new = tables.blocks.is_bad(block);
        let has_failed = saved.is_bad() && !was_bad_when_new;
        if has_failed {
            tables.retire(block);
        }
        saved.is_bad() >= was_bad_when_new && may_fail >= has_failed
    })
}

/// Marks the blocks that are bad when the drive is new.
pub(super) fn mark_factory_bad_blocks(tables: &mut Tables) {
    let Some(account) = &mut tables.bad_blocks.0 else { return };
    let is_bad = |block: &BlockId| account.flash.is_bad_when_new(*block);
    let bad: Vec<_> = all_blocks(&tables.geometry).filter(is_bad).collect();
    account.factory_bad = bad.len() as u64;
    bad.into_iter().for_each(|block| tables.retire(block));
    tables.space.planes().for_each(|plane| tables.bad_blocks.look_for_end(plane, &tables.space));
}

impl Tables {
    /// `block`, which holds nothing valid, is never used again.
    fn retire(&mut self, block: BlockId) {
        self.blocks.set_bad(block);
        self.forget_lost_pages(block);
        if let Some(account) = &mut self.bad_blocks.0 {
            account.good[self.geometry.plane_of_block(block).index()] -= 1;
        }
        if let Some(audit) = &mut self.audit {
            audit.retired(block);
        }
    }

    /// Outcomes of reading `page`, after what its block's data have been through: one for each plane that is striped; none
    /// if the flash is perfect.
    pub fn sense(&self, page: Ppn, strain: Strain) -> impl Iterator<Item = Sensed> {
        let block = self.geometry.block_of(page);
        let (erases, offset) = (self.blocks.erase_count(block), self.geometry.page_offset(page));
        let account = self.bad_blocks.0.iter();
        account.flat_map(move |account| account.flash.sense(block, erases, offset, strain))
    }

    /// The block that takes the page which is about to be programmed at `place`: the one there, or if the
    /// program fails a spare one that has replaced it.
    pub(super) fn block_that_takes(
        &mut self,
        mapping: &mut impl Mapping,
        place: Frontier,
    ) -> BlockId {
        let Some(account) = &mut self.bad_blocks.0 else { return place.block };
        let plane = self.geometry.plane_of_block(place.block);
        let erases = self.blocks.erase_count(place.block);
        // With no spare block left the drive is about to be read-only: the last programs succeed.
        if self.space[plane].spare == 0
            || !account.flash.program_fails(place.block, erases, place.next_page)
        {
            return place.block;
        }
        account.tally.program_failures += 1;
        self.replace(mapping, plane, place)
    }

    fn replace(&mut self, mapping: &mut impl Mapping, plane: PlaneId, place: Frontier) -> BlockId {
        let spare = self.space.take_spare(plane);
        self.blocks.open_in_place_of(place.block, spare);
        let mut copied = Vec::new();
        while let Some(offset) = self.blocks.next_valid(place.block, 0) {
            let to = self.geometry.page(spare, offset);
            self.copy_to_spare(mapping, self.geometry.page(place.block, offset), to);
            copied.push(to);
        }
        self.space[plane].replace(place.block, spare);
        mapping.replaced(self, plane, place.block, spare);
        if let Some(audit) = &mut self.audit {
            audit.replaced(place.block, spare, place.next_page);
        }
        let is_cached =
            self.slc.as_mut().is_some_and(|cache| cache.replace(plane, place.block, spare));
        self.retire(place.block);
        if !is_cached {
            self.victims.retired(plane, place.block);
            self.victims.opened(plane, spare);
        }
        let again = self.geometry.page(spare, place.next_page);
        if let Some(account) = &mut self.bad_blocks.0 {
            account.replaced.push(Replaced { again, copied });
        }
        self.refill_spare_blocks(plane);
        spare
    }

    fn copy_to_spare(&mut self, mapping: &mut impl Mapping, from: Ppn, to: Ppn) {
        let lpn = self.map.logical(from);
        self.blocks.invalidate(self.geometry.block_of(from), self.geometry.page_offset(from));
        self.blocks.program(self.geometry.block_of(to), self.geometry.page_offset(to));
        self.map.set(lpn, to);
        self.carry_loss(from, to);
        if let Some(audit) = &mut self.audit {
            audit.copied(from, to);
        }
        self.streams.lies_in(lpn, self.geometry.block_of(to));
        mapping.moved(self, lpn, self.geometry.plane_of(to));
    }

    /// Frees `block` of `plane`, which has just been erased, or a spare one in its place if that failed.
    pub(super) fn free_erased(&mut self, plane: PlaneId, block: BlockId) {
        if !self.erase_has_failed(plane, block) {
            let erases = self.blocks.erase_count(block);
            self.space[plane].free.push(block, erases);
        }
    }

    /// Whether the erase of `block` of `plane`, which has just ended, has failed. A spare one is then free in its place.
    #[inline]
    pub(super) fn erase_has_failed(&mut self, plane: PlaneId, block: BlockId) -> bool {
        let Some(account) = &mut self.bad_blocks.0 else { return false };
        let erases = self.blocks.erase_count(block);
        let Plane { spare, .. } = &mut self.space[plane];
        let has_failed = *spare > 0 && account.flash.erase_fails(block, erases);
        if has_failed {
            account.tally.erase_failures += 1;
            *spare -= 1;
            self.retire(block);
        }
        has_failed
    }

    /// Makes up for spare blocks of `plane` that were taken. Its free blocks have changed.
    pub(super) fn refill_spare_blocks(&mut self, plane: PlaneId) {
        self.space.refill_spare(plane);
        self.bad_blocks.look_for_end(plane, &self.space);
        self.free_blocks_changed(plane);
    }
}
