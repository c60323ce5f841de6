//! Blocks that fail are retired, and spare ones take their place.

use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::nand::{Sensed, Strain};

use super::BlockManager;

impl BlockManager {
    /// Retires the blocks that are bad when the drive is new.
    pub(in crate::ftl) fn mark_factory_bad_blocks(&mut self) {
        let Self { bad_blocks, geometry, .. } = self;
        let bad: Vec<_> =
            geometry.all_blocks().filter(|block| bad_blocks.is_bad_when_new(*block)).collect();
        bad_blocks.count_factory_bad(bad.len());
        bad.into_iter().for_each(|block| self.retire(block));
        let Self { bad_blocks, space, .. } = self;
        space.planes().for_each(|plane| bad_blocks.look_for_end(plane, space));
    }

    /// Never uses `block`, which holds nothing valid, again.
    pub(in crate::ftl) fn retire(&mut self, block: BlockId) {
        self.blocks.set_bad(block);
        self.lost_pages.forget(block, &self.geometry);
        self.bad_blocks.retired(self.geometry.plane_of_block(block));
        if let Some(audit) = &mut self.audit {
            audit.retired(block);
        }
    }

    /// Outcomes of reading `page`, after what its block's data have been through: one for each plane that is striped; none
    /// if the flash is perfect.
    pub fn sense(&self, page: Ppn, strain: Strain) -> impl Iterator<Item = Sensed> {
        let block = self.geometry.block_of(page);
        let (erases, offset) = (self.blocks.erase_count(block), self.geometry.page_offset(page));
        let flash = self.bad_blocks.flash().into_iter();
        flash.flat_map(move |flash| flash.sense(block, erases, offset, strain))
    }

    /// Copies what is in `from`, a page of a block whose program has failed, to the spare block. Returns its logical page.
    pub(in crate::ftl) fn copy_to_spare(&mut self, from: Ppn, to: Ppn) -> Lpn {
        let lpn = self.map.logical(from);
        self.blocks.invalidate(self.geometry.block_of(from), self.geometry.page_offset(from));
        self.blocks.program(self.geometry.block_of(to), self.geometry.page_offset(to));
        self.map.set(lpn, to);
        self.carry_loss(from, to);
        if let Some(audit) = &mut self.audit {
            audit.copied(from, to);
        }
        self.streams.lies_in(lpn, self.geometry.block_of(to));
        lpn
    }

    /// Whether the erase of `block` of `plane`, which has just ended, has failed. A spare one is then free in its place.
    #[inline]
    pub(in crate::ftl) fn erase_has_failed(&mut self, plane: PlaneId, block: BlockId) -> bool {
        if !self.bad_blocks.are_possible() {
            return false;
        }
        let erases = self.blocks.erase_count(block);
        let spare = &mut self.space[plane].spare;
        let has_failed = *spare > 0 && self.bad_blocks.erase_fails(block, erases);
        if has_failed {
            *spare -= 1;
            self.retire(block);
        }
        has_failed
    }

    /// Makes up for spare blocks of `plane` that were taken. Its free blocks have changed.
    pub(in crate::ftl) fn refill_spare_blocks(&mut self, plane: PlaneId) {
        self.space.refill_spare(plane);
        self.bad_blocks.look_for_end(plane, &self.space);
        self.free_blocks_changed(plane);
    }
}
