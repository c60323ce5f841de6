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

use crate::config::Config;
use crate::ids::{BlockId, PlaneId, Ppn};
use crate::nand::{Faults, Geometry, Sensed};

use super::mapping::Mapping;
use super::plane::{Frontier, Plane};
use super::tables::Tables;

/// Free blocks of a plane that do not become spare: a collection needs one.
const LEFT_FREE: usize = 1;

/// What the flash of a drive does to its blocks, and what has come of it.
#[derive(Debug)]
pub struct BadBlocks {
    flash: Faults,
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FaultTally {
    /// Page programs that failed.
    pub program_failures: u64,
    /// Block erases that failed, those of blocks that were worn out included.
    pub erase_failures: u64,
}

/// A block that was replaced because a program failed.
#[derive(Debug)]
pub struct Replaced {
    /// The page whose program failed.
    pub failed: Ppn,
    /// Pages of its block that were copied.
    pub copied: Vec<Ppn>,
}

impl BadBlocks {
    /// Of a checked configuration, if anything can go wrong; `name` is the drive's place in the names of
    /// random streams.
    pub fn new(config: &Config, name: &str) -> Option<Self> {
        let geometry = Geometry::new(&config.ssd);
        Some(Self {
            flash: Faults::new(config, name)?,
            good: vec![geometry.blocks_per_plane as usize; geometry.planes()],
            factory_bad: 0,
            spare_blocks: config.ssd.spare_blocks() as usize,
            needed: config.ssd.blocks_needed_per_plane() as usize,
            tally: FaultTally::default(),
            replaced: Vec::new(),
            read_only: false,
        })
    }

    /// Whether `block` is bad when the drive is new.
    pub fn is_bad_when_new(&self, block: BlockId) -> bool {
        self.flash.is_bad_when_new(block)
    }

    /// Counts from now on what fails.
    pub fn reset_tally(&mut self) {
        self.tally = FaultTally::default();
        self.replaced.clear();
    }

    /// Takes the blocks that have been replaced since the last call.
    pub fn take_replaced(&mut self) -> Vec<Replaced> {
        std::mem::take(&mut self.replaced)
    }
}

fn all_blocks(geometry: &Geometry) -> impl Iterator<Item = BlockId> + use<> {
    (0..geometry.blocks()).map(BlockId::from_index)
}

impl Tables {
    /// Marks the blocks that are bad when the drive is new.
    pub(super) fn mark_factory_bad_blocks(&mut self) {
        let Some(faults) = &mut self.faults else { return };
        let is_bad = |block: &BlockId| faults.is_bad_when_new(*block);
        let bad: Vec<_> = all_blocks(&self.geometry).filter(is_bad).collect();
        faults.factory_bad = bad.len() as u64;
        bad.into_iter().for_each(|block| self.retire(block));
        (0..self.planes.len()).for_each(|plane| self.look_for_end(PlaneId::from_index(plane)));
    }

    /// `block`, which holds nothing valid, is never used again.
    fn retire(&mut self, block: BlockId) {
        self.blocks.set_bad(block);
        if let Some(faults) = &mut self.faults {
            faults.good[self.geometry.plane_of_block(block).index()] -= 1;
        }
        if let Some(audit) = &mut self.audit {
            audit.retired(block);
        }
    }

    /// Makes again what is not saved. False if other blocks are bad than the flash of this drive may have,
    /// or the drive could take no writes.
    pub(super) fn restore_bad_blocks(&mut self, config: &Config, name: &str) -> bool {
        self.faults = BadBlocks::new(config, name).map(Box::new);
        let Some(faults) = &mut self.faults else {
            let no_block_is_bad =
                all_blocks(&self.geometry).all(|block| !self.blocks.is_bad(block));
            return no_block_is_bad && self.planes.iter().all(|plane| plane.spare == 0);
        };
        for block in all_blocks(&self.geometry) {
            let is_bad = self.blocks.is_bad(block);
            let is_factory_bad = faults.is_bad_when_new(block);
            if is_factory_bad && !is_bad || is_bad && !is_factory_bad && faults.spare_blocks == 0 {
                return false;
            }
            faults.good[self.geometry.plane_of_block(block).index()] -= usize::from(is_bad);
            faults.factory_bad += u64::from(is_factory_bad);
        }
        let most = faults.spare_blocks;
        let can_go_on = |(plane, good): (&Plane, &usize)| {
            plane.spare <= most && (most == 0 || plane.spare > 0) && *good >= faults.needed
        };
        self.planes.iter().zip(&faults.good).all(can_go_on)
    }

    /// Whether anything can go wrong in the flash.
    pub const fn has_faults(&self) -> bool {
        self.faults.is_some()
    }

    /// Whether the drive can take no writes any more, for want of good blocks.
    pub fn is_read_only(&self) -> bool {
        self.faults.as_ref().is_some_and(|faults| faults.read_only)
    }

    /// Blocks that are bad, and how many of them were so when the drive was new.
    pub fn bad_blocks(&self) -> (u64, u64) {
        let Some(faults) = &self.faults else { return (0, 0) };
        let good: usize = faults.good.iter().sum();
        ((self.geometry.blocks() - good) as u64, faults.factory_bad)
    }

    /// What has failed since the drive began to count.
    pub fn fault_tally(&self) -> FaultTally {
        self.faults.as_ref().map_or_else(FaultTally::default, |faults| faults.tally)
    }

    /// How `page` is read at last.
    pub fn sense(&self, page: Ppn) -> Sensed {
        let Some(faults) = &self.faults else { return Sensed::Corrected(0) };
        let block = self.geometry.block_of(page);
        let offset = self.geometry.page_offset(page);
        faults.flash.sense(block, self.blocks.erase_count(block), offset)
    }

    /// The block that takes the page which is about to be programmed at `place`: the one there, or if the
    /// program fails a spare one that has replaced it.
    pub(super) fn block_that_takes(
        &mut self,
        mapping: &mut impl Mapping,
        place: Frontier,
    ) -> BlockId {
        let Some(faults) = &mut self.faults else { return place.block };
        let plane = self.geometry.plane_of_block(place.block);
        let erases = self.blocks.erase_count(place.block);
        // With no spare block left the drive is about to be read-only: the last programs succeed.
        if self.planes[plane.index()].spare == 0
            || !faults.flash.program_fails(place.block, erases, place.next_page)
        {
            return place.block;
        }
        faults.tally.program_failures += 1;
        self.replace(mapping, plane, place)
    }

    fn replace(&mut self, mapping: &mut impl Mapping, plane: PlaneId, place: Frontier) -> BlockId {
        let spare = self.take_spare(plane);
        self.blocks.set_open(spare);
        let mut copied = Vec::new();
        while let Some(offset) = self.blocks.next_valid(place.block, 0) {
            let from = self.geometry.page(place.block, offset);
            self.copy_to_spare(mapping, from, self.geometry.page(spare, offset));
            copied.push(from);
        }
        self.planes[plane.index()].replace(place.block, spare);
        mapping.replaced(self, plane, place.block, spare);
        if let Some(audit) = &mut self.audit {
            audit.replaced(place.block, spare, place.next_page);
        }
        self.retire(place.block);
        let failed = self.geometry.page(place.block, place.next_page);
        if let Some(faults) = &mut self.faults {
            faults.replaced.push(Replaced { failed, copied });
        }
        self.refill_spare_blocks(plane);
        self.weigh(plane);
        spare
    }

    fn take_spare(&mut self, plane: PlaneId) -> BlockId {
        let state = &mut self.planes[plane.index()];
        state.spare -= 1;
        state.free.pop().expect("spare blocks are free ones")
    }

    fn copy_to_spare(&mut self, mapping: &mut impl Mapping, from: Ppn, to: Ppn) {
        let lpn = self.map.logical(from);
        self.blocks.invalidate(self.geometry.block_of(from), self.geometry.page_offset(from));
        self.blocks.program(self.geometry.block_of(to), self.geometry.page_offset(to));
        self.map.set(lpn, to);
        if let Some(audit) = &mut self.audit {
            audit.copied(from, to);
        }
        mapping.moved(self, lpn, self.geometry.plane_of(to));
    }

    /// Frees `block` of `plane`, which has just been erased, or a spare one in its place if that failed.
    pub(super) fn free_erased(&mut self, plane: PlaneId, block: BlockId) {
        let erases = self.blocks.erase_count(block);
        let state = &mut self.planes[plane.index()];
        match &mut self.faults {
            Some(faults) if state.spare > 0 && faults.flash.erase_fails(block, erases) => {
                faults.tally.erase_failures += 1;
                state.spare -= 1;
                self.retire(block);
            }
            _ => state.free.push(block, erases),
        }
    }

    /// Makes up for spare blocks that were taken, as far as free ones are left.
    pub(super) fn refill_spare_blocks(&mut self, plane: PlaneId) {
        let Some(faults) = &self.faults else { return };
        let state = &mut self.planes[plane.index()];
        while state.spare < faults.spare_blocks && state.free_blocks() > LEFT_FREE {
            state.spare += 1;
        }
        self.look_for_end(plane);
    }

    /// Notes whether `plane` has too few good blocks for the drive to take writes.
    fn look_for_end(&mut self, plane: PlaneId) {
        let spare = self.planes[plane.index()].spare;
        let Some(faults) = &mut self.faults else { return };
        let has_no_spare = faults.spare_blocks > 0 && spare == 0;
        faults.read_only |= has_no_spare || faults.good[plane.index()] < faults.needed;
    }

    /// Free blocks of `plane`, less those that it lacks of the spare ones.
    pub(super) fn free_beyond_spare(&self, plane: PlaneId) -> usize {
        let state = &self.planes[plane.index()];
        let wanted = self.faults.as_ref().map_or(0, |faults| faults.spare_blocks);
        state.free_blocks().saturating_sub(wanted - state.spare)
    }
}
