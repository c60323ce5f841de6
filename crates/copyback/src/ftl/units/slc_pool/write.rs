//! Writes of the host's pages: to the pool's open block of their plane, or past it.

use crate::ftl::block_manager::BlockManager;
use crate::ftl::blocks::{Blocks, CellMode};
use crate::ftl::space::{Frontier, Space};
use crate::ids::{BlockId, PlaneId};

use super::SlcPool;

impl SlcPool {
    /// Takes the next page of the pool on `plane`, which may open a block for it.
    pub(in crate::ftl) fn take_page(
        &mut self,
        manager: &mut BlockManager,
        plane: PlaneId,
    ) -> Option<Frontier> {
        self.next_offset(plane)?;
        if self.planes[plane.index()].open.is_none() {
            let block = self.planes[plane.index()].free.pop_front();
            let block =
                block.unwrap_or_else(|| self.lend(&mut manager.space, &mut manager.blocks, plane));
            manager.blocks.open(block, None, manager.streams.clock);
            manager.streams.block_changed(manager.blocks.state(block));
            self.planes[plane.index()].open = Some(Frontier { block, next_page: 0 });
            self.look_at(manager, plane);
        }
        let open = self.planes[plane.index()].open.as_mut()?;
        let place = *open;
        open.next_page += 1;
        Some(place)
    }

    /// Takes a free native block of `plane` for the pool.
    fn lend(&mut self, space: &mut Space, blocks: &mut Blocks, plane: PlaneId) -> BlockId {
        let block = space.take_free(plane);
        space.opened(plane);
        blocks.set_mode(block, CellMode::LentToSlc);
        self.planes[plane.index()].lent += 1;
        block
    }

    /// Closes `block`, whose page at `place` has been taken, if that was its last.
    pub(in crate::ftl) fn close_if_full(
        &mut self,
        manager: &mut BlockManager,
        place: Frontier,
        block: BlockId,
    ) {
        if place.next_page + 1 < self.pages {
            return;
        }
        let plane = manager.geometry.plane_of_block(block);
        let state = &mut self.planes[plane.index()];
        state.open = None;
        state.full.push(block);
        manager.blocks.fill_in_cache(block, manager.streams.clock);
        manager.streams.block_changed(manager.blocks.state(block));
        self.look_at(manager, plane);
    }
}
