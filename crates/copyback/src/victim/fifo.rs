//! FIFO: the block that was filled first, whatever is in it.

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, PlaneId};
use crate::lists::Lists;

use super::{BlockView, Shape, Victims};

/// Closed blocks of each plane in the order of closing.
#[derive(Debug, Checkpointed)]
pub struct Fifo {
    by_age: Lists,
}

impl Fifo {
    pub(super) fn new(shape: Shape) -> Self {
        Self { by_age: Lists::new(shape.blocks, shape.planes) }
    }
}

impl Victims for Fifo {
    fn closed(&mut self, plane: PlaneId, block: BlockId, _: u16, _: &impl BlockView) {
        self.by_age.push_back(plane.index(), block.index());
    }

    fn removed(&mut self, plane: PlaneId, block: BlockId, _: u16) {
        self.by_age.remove(plane.index(), block.index());
    }

    fn choose(&mut self, plane: PlaneId, _: &impl BlockView) -> Option<BlockId> {
        self.by_age.front(plane.index()).map(BlockId::from_index)
    }

    fn closed_in_order(&self) -> Vec<BlockId> {
        self.by_age.all_items().map(BlockId::from_index).collect()
    }
}
