//! Folding: the collection of a block of the pool, whose valid pages move to native blocks.

use crate::ftl::block_manager::BlockManager;
use crate::ftl::blocks::CellMode;
use crate::ids::{BlockId, PlaneId};

use super::SlcPool;

impl SlcPool {
    /// The block that is to come back to the native ones, which are short on `plane`, if one was lent.
    pub(super) fn victim_that_was_lent(
        &self,
        manager: &BlockManager,
        plane: PlaneId,
    ) -> Option<BlockId> {
        if !manager.space.is_below_threshold(plane) {
            return None;
        }
        let victim = self.emptiest(manager, plane, |block| !manager.blocks.is_static_slc(block));
        victim.filter(|block| manager.rooms().has_room_for(*block, plane))
    }

    /// The block of `plane` to fold, if one is to be folded, and native blocks have room for that and for a collection
    /// beside it.
    pub(in crate::ftl) fn victim_to_fold(
        &self,
        manager: &BlockManager,
        plane: PlaneId,
    ) -> Option<BlockId> {
        if !self.is_due(plane) {
            return None;
        }
        let state = &self.planes[plane.index()];
        let is_lent = |block| !manager.blocks.is_static_slc(block);
        let is_over = state.lent > state.limit;
        let lent = || self.emptiest(manager, plane, is_lent);
        let victim =
            is_over.then(lent).flatten().or_else(|| self.emptiest(manager, plane, |_| true))?;
        let needed =
            u32::from(manager.blocks.valid_pages(victim)) + manager.rooms().room_beside(victim);
        (needed <= manager.rooms().collection_room(plane)).then_some(victim)
    }

    /// Of the full blocks of the pool on `plane`, the one with fewest valid pages; of several, the one that was filled first.
    fn emptiest(
        &self,
        manager: &BlockManager,
        plane: PlaneId,
        is_asked_for: impl Fn(BlockId) -> bool,
    ) -> Option<BlockId> {
        let full = &self.planes[plane.index()].full;
        let candidates = full.iter().copied().filter(|block| is_asked_for(*block));
        candidates.min_by_key(|block| manager.blocks.valid_pages(*block))
    }

    /// Begins to fold `victim` of `plane`.
    pub(super) fn begin_fold(&mut self, manager: &BlockManager, plane: PlaneId, victim: BlockId) {
        let state = &mut self.planes[plane.index()];
        state.full.retain(|block| *block != victim);
        state.folding = Some(victim);
        self.mark(&manager.blocks, plane);
    }

    /// Takes back `block` of the pool on `plane`, which has been erased.
    pub(super) fn take_back(&mut self, manager: &mut BlockManager, plane: PlaneId, block: BlockId) {
        self.planes[plane.index()].folding = None;
        self.tally.erases += 1;
        match manager.blocks.is_static_slc(block) {
            // Where the erase of a static block has failed, a free native one takes its place.
            true => {
                manager.streams.block_changed(manager.blocks.state(block));
                let erased = match manager.erase_has_failed(plane, block) {
                    false => block,
                    true => {
                        let spare = manager.space.take_free(plane);
                        manager.blocks.pass_mode_on(block, spare);
                        spare
                    }
                };
                self.planes[plane.index()].free.push_back(erased);
                manager.refill_spare_blocks(plane);
            }
            false => {
                manager.blocks.set_mode(block, CellMode::Native);
                self.planes[plane.index()].lent -= 1;
                manager.free(plane, block, false);
            }
        }
        self.look_at(manager, plane);
    }
}
