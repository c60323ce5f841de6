//! Questions to the translation layer for the sake of data that wear out by reads and time.

use crate::ids::BlockId;

use super::Ftl;

impl Ftl {
    /// Keeps account from now on of the blocks that are opened.
    pub fn tell_opened_blocks(&mut self) {
        self.tables.manager.blocks.tell_opened();
    }

    /// Takes the blocks that have been opened since the last call, in order.
    pub fn take_opened_blocks(&mut self) -> Vec<BlockId> {
        self.tables.manager.blocks.take_opened()
    }

    /// Whether `block` can be collected for the sake of its data, or folded if it is of the SLC cache: it is full, nothing
    /// else reclaims it, and there is room for its pages.
    pub fn may_refresh(&self, block: BlockId) -> bool {
        let plane = self.geometry.plane_of_block(block);
        let is_full = self.blocks.is_full_in_cache(block) || self.block_use(block).may_level;
        is_full && self.rooms().has_room_for(block, plane)
    }
}
