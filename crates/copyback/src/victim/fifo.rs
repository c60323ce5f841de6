//! FIFO: the block that was filled first, whatever is in it.

use serde::{Deserialize, Serialize};

use crate::ids::{BlockId, PlaneId};
use crate::lists::Lists;

use super::{Closed, Shape};

/// Closed blocks of each plane in the order of closing.
#[derive(Debug, Serialize, Deserialize)]
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

    pub(super) fn is_sound(&self, fresh: &Self, closed: Closed<'_>) -> bool {
        let list_of = |block| closed(BlockId::from_index(block)).map(|(plane, _)| plane.index());
        self.by_age.has_shape_of(&fresh.by_age) && self.by_age.hold(list_of)
    }

    pub(super) fn choose(&self, plane: PlaneId) -> Option<BlockId> {
        self.by_age.front(plane.index()).map(BlockId::from_index)
    }
}
