//! FIFO by opening: of the full blocks the one that was opened first, whatever is in it.

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, PlaneId};
use crate::lists::Lists;

use super::{BlockView, Memory, Shape, Victims};

/// Open and closed blocks of each plane in the order of opening.
#[derive(Debug, Checkpointed)]
pub struct FifoOpened {
    by_age: Lists,
    is_queued: Vec<bool>,
    is_closed: Vec<bool>,
    shape: Shape,
}

impl FifoOpened {
    pub(super) fn new(shape: Shape) -> Self {
        Self {
            by_age: Lists::new(shape.blocks, shape.planes),
            is_queued: vec![false; shape.blocks],
            is_closed: vec![false; shape.blocks],
            shape,
        }
    }

    /// Queues `block`, unless it is.
    fn join(&mut self, plane: PlaneId, block: BlockId) {
        if !std::mem::replace(&mut self.is_queued[block.index()], true) {
            self.by_age.push_back(plane.index(), block.index());
        }
    }

    /// Takes `block` off the queue, if it is there.
    fn leave(&mut self, plane: PlaneId, block: BlockId) {
        if std::mem::replace(&mut self.is_queued[block.index()], false) {
            self.by_age.remove(plane.index(), block.index());
        }
    }
}

impl Victims for FifoOpened {
    fn opened(&mut self, plane: PlaneId, block: BlockId) {
        self.join(plane, block);
    }

    fn retired(&mut self, plane: PlaneId, block: BlockId) {
        self.leave(plane, block);
    }

    fn closed(&mut self, plane: PlaneId, block: BlockId, _: u16, _: &impl BlockView) {
        self.join(plane, block);
        self.is_closed[block.index()] = true;
    }

    fn removed(&mut self, plane: PlaneId, block: BlockId, _: u16) {
        self.leave(plane, block);
        self.is_closed[block.index()] = false;
    }

    // No more blocks are passed over than a plane has open ones.
    fn choose(&mut self, plane: PlaneId, _: &impl BlockView) -> Option<BlockId> {
        let mut queued = self.by_age.items(plane.index());
        queued.find(|block| self.is_closed[*block]).map(BlockId::from_index)
    }

    fn closed_in_order(&self) -> Vec<BlockId> {
        let closed = self.by_age.all_items().filter(|block| self.is_closed[*block]);
        closed.map(BlockId::from_index).collect()
    }

    fn memory(&self) -> Memory {
        let queued = self.by_age.all_items().map(BlockId::from_index).collect();
        Memory::Queue { queued, has_refused: Vec::new() }
    }

    fn remember(&mut self, memory: Memory, closed: &[(PlaneId, BlockId)]) -> bool {
        let Memory::Queue { queued, .. } = memory else { return false };
        if queued.iter().any(|block| block.index() >= self.shape.blocks) {
            return false;
        }
        for (plane, block) in closed {
            self.leave(*plane, *block);
        }
        for block in queued {
            self.join(self.shape.plane_of(block), block);
        }
        closed.iter().all(|(_, block)| self.is_queued[block.index()])
    }
}
