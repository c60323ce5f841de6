//! FIFO: the block that was filled first, whatever is in it.

use crate::ids::{BlockId, PlaneId};
use crate::lists::Lists;

use super::Shape;

/// Closed blocks of each plane in the order of closing.
#[derive(Debug)]
pub struct Fifo {
    by_age: Lists,
}

impl Fifo {
    pub(super) fn new(shape: Shape) -> Self {
        Self { by_age: Lists::new(shape.blocks, shape.planes) }
    }

    pub(super) fn insert(&mut self, plane: PlaneId, block: BlockId) {
        self.by_age.push_back(plane.index(), block.index());
    }

    pub(super) fn remove(&mut self, plane: PlaneId, block: BlockId) {
        self.by_age.remove(plane.index(), block.index());
    }

    /// The closed blocks of each plane, by the order of closing.
    pub(super) fn closed_in_order(&self) -> impl Iterator<Item = BlockId> {
        self.by_age.all_items().map(BlockId::from_index)
    }

    pub(super) fn choose(&self, plane: PlaneId) -> Option<BlockId> {
        self.by_age.front(plane.index()).map(BlockId::from_index)
    }
}
