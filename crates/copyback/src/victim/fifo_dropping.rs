//! FIFO as MQSim's source has it (7ec40e3): the head leaves the queue before it is looked at. If nothing of it can be
//! freed, that was all until the next look, and it never comes back.

use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::config::QueuedWhen;
use crate::ids::{BlockId, PlaneId};

use super::{BlockView, Memory, Shape, Victims};

/// Blocks of each plane in the order in which they joined.
#[derive(Debug, Checkpointed)]
pub struct FifoDropping {
    queued_when: QueuedWhen,
    /// A block that was emptied to level wear is there twice once it is in use again.
    queues: Vec<VecDeque<BlockId>>,
    /// Whether the last look at a plane refused its head, and nothing has called for another one.
    has_refused: Vec<bool>,
    is_closed: Vec<bool>,
    shape: Shape,
}

impl FifoDropping {
    pub(super) fn new(shape: Shape, queued_when: QueuedWhen) -> Self {
        Self {
            queued_when,
            queues: vec![VecDeque::new(); shape.planes],
            has_refused: vec![false; shape.planes],
            is_closed: vec![false; shape.blocks],
            shape,
        }
    }

    /// Full blocks of `plane` that are not queued.
    fn lost_on(&self, plane: PlaneId) -> usize {
        let queue = &self.queues[plane.index()];
        let mut is_queued = vec![false; self.shape.blocks];
        queue.iter().for_each(|block| is_queued[block.index()] = true);
        let is_lost = |block: &usize| self.is_closed[*block] && !is_queued[*block];
        self.shape.blocks_of(plane).filter(is_lost).count()
    }
}

impl Victims for FifoDropping {
    fn opened(&mut self, plane: PlaneId, block: BlockId) {
        self.has_refused[plane.index()] = false;
        if self.queued_when == QueuedWhen::Opened {
            self.queues[plane.index()].push_back(block);
        }
    }

    fn closed(&mut self, plane: PlaneId, block: BlockId, _: u16, _: &impl BlockView) {
        self.is_closed[block.index()] = true;
        if self.queued_when == QueuedWhen::Filled {
            self.queues[plane.index()].push_back(block);
        }
    }

    fn removed(&mut self, plane: PlaneId, block: BlockId, _: u16) {
        // It is erased next, after which there is another look.
        self.has_refused[plane.index()] = false;
        self.is_closed[block.index()] = false;
        let queue = &mut self.queues[plane.index()];
        if queue.front() == Some(&block) {
            queue.pop_front();
        }
    }

    fn choose(&mut self, plane: PlaneId, blocks: &impl BlockView) -> Option<BlockId> {
        let queue = &mut self.queues[plane.index()];
        if self.has_refused[plane.index()] {
            return None;
        }
        let head = *queue.front()?;
        let has_invalid_page = blocks.valid_pages(head) < self.shape.pages_per_block;
        if self.is_closed[head.index()] && has_invalid_page {
            return Some(head);
        }
        queue.pop_front();
        self.has_refused[plane.index()] = true;
        None
    }

    fn refuses(&self) -> bool {
        true
    }

    fn look_again(&mut self, plane: PlaneId) -> bool {
        std::mem::take(&mut self.has_refused[plane.index()])
    }

    fn lost(&self, plane: PlaneId) -> Option<usize> {
        Some(self.lost_on(plane))
    }

    fn closed_in_order(&self) -> Vec<BlockId> {
        let closed = (0..self.shape.blocks).filter(|block| self.is_closed[*block]);
        closed.map(BlockId::from_index).collect()
    }

    fn memory(&self) -> Memory {
        let queued = self.queues.iter().flatten().copied().collect();
        Memory::Queue { queued, has_refused: self.has_refused.clone() }
    }

    fn remember(&mut self, memory: Memory, _: &[(PlaneId, BlockId)]) -> bool {
        let Memory::Queue { queued, has_refused } = memory else { return false };
        let is_sound = has_refused.len() == self.shape.planes
            && queued.iter().all(|block| block.index() < self.shape.blocks);
        if is_sound {
            self.has_refused = has_refused;
            self.queues.iter_mut().for_each(VecDeque::clear);
            for block in queued {
                self.queues[self.shape.plane_of(block).index()].push_back(block);
            }
        }
        is_sound
    }
}
