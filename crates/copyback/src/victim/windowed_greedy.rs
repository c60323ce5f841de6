//! Windowed greedy: of the blocks of a plane that were filled first the one with the fewest valid pages (Hu et al.,
//! SYSTOR 2009). A window of one block is FIFO, one of all blocks is greedy.
//!
//! If all pages of all blocks of the window are valid, it is the first of them.

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, PlaneId};
use crate::lists::Lists;

use super::greedy::Greedy;
use super::{BlockView, Memory, Shape, Victims};

/// Closed blocks of each plane in the order of closing, and those of the window by valid pages.
#[derive(Debug, Checkpointed)]
pub struct WindowedGreedy {
    /// List `2 x plane` is the window, the next one those behind it.
    by_closing: Lists,
    window: Greedy,
    /// Blocks in the window of each plane.
    in_window: Vec<u32>,
    is_in_window: Vec<bool>,
    valid: Vec<u16>,
    most: u32,
    shape: Shape,
}

impl WindowedGreedy {
    pub(super) fn new(most: u32, shape: Shape) -> Self {
        Self {
            by_closing: Lists::new(shape.blocks, 2 * shape.planes),
            window: Greedy::new(shape),
            in_window: vec![0; shape.planes],
            is_in_window: vec![false; shape.blocks],
            valid: vec![0; shape.blocks],
            most,
            shape,
        }
    }

    /// Adds a block behind all others of its plane. Returns whether it is in the window.
    fn queue(&mut self, plane: PlaneId, block: BlockId) -> bool {
        let has_room = self.in_window[plane.index()] < self.most;
        self.by_closing.push_back(list(plane, has_room), block.index());
        self.is_in_window[block.index()] = has_room;
        self.in_window[plane.index()] += u32::from(has_room);
        has_room
    }

    /// Lets the first of the blocks behind the window into it, where one has left.
    fn let_in(&mut self, plane: PlaneId) {
        self.in_window[plane.index()] -= 1;
        let Some(next) = self.by_closing.front(list(plane, false)) else { return };
        self.by_closing.remove(list(plane, false), next);
        self.queue(plane, BlockId::from_index(next));
        self.window.add(plane, BlockId::from_index(next), self.valid[next]);
    }

    fn all_in_order(&self) -> impl Iterator<Item = BlockId> {
        self.by_closing.all_items().map(BlockId::from_index)
    }
}

/// The list of the blocks of `plane` in the window, or behind it.
fn list(plane: PlaneId, in_window: bool) -> usize {
    2 * plane.index() + usize::from(!in_window)
}

impl Victims for WindowedGreedy {
    fn closed(&mut self, plane: PlaneId, block: BlockId, valid: u16, _: &impl BlockView) {
        self.valid[block.index()] = valid;
        if self.queue(plane, block) {
            self.window.add(plane, block, valid);
        }
    }

    fn changed(&mut self, plane: PlaneId, block: BlockId, from: u16, to: u16) {
        self.valid[block.index()] = to;
        if self.is_in_window[block.index()] {
            self.window.changed(plane, block, from, to);
        }
    }

    fn removed(&mut self, plane: PlaneId, block: BlockId, valid: u16) {
        let was_in_window = self.is_in_window[block.index()];
        self.by_closing.remove(list(plane, was_in_window), block.index());
        if was_in_window {
            self.window.removed(plane, block, valid);
            self.let_in(plane);
        }
    }

    fn choose(&mut self, plane: PlaneId, blocks: &impl BlockView) -> Option<BlockId> {
        let first = || self.by_closing.front(list(plane, true)).map(BlockId::from_index);
        self.window.choose(plane, blocks).or_else(first)
    }

    fn fetch(&self, block: BlockId) {
        self.window.fetch(block);
    }

    /// Blocks of the window by valid pages, so that of equals the first to have so few stays first, then the
    /// others.
    fn closed_in_order(&self) -> Vec<BlockId> {
        let behind = self.all_in_order().filter(|block| !self.is_in_window[block.index()]);
        self.window.closed_in_order().into_iter().chain(behind).collect()
    }

    fn memory(&self) -> Memory {
        Memory::Queue { queued: self.all_in_order().collect(), has_refused: Vec::new() }
    }

    fn remember(&mut self, memory: Memory, closed: &[(PlaneId, BlockId)]) -> bool {
        let Memory::Queue { queued, .. } = memory else { return false };
        let mut is_missing = vec![false; self.shape.blocks];
        closed.iter().for_each(|(_, block)| is_missing[block.index()] = true);
        let valid = std::mem::take(&mut self.valid);
        *self = Self { valid, ..Self::new(self.most, self.shape) };
        for block in &queued {
            let is_known = is_missing.get_mut(block.index()).is_some_and(std::mem::take);
            if !is_known {
                return false;
            }
            self.queue(self.shape.plane_of(*block), *block);
        }
        for (plane, block) in closed {
            if self.is_in_window[block.index()] {
                self.window.add(*plane, *block, self.valid[block.index()]);
            }
        }
        queued.len() == closed.len()
    }

    fn likely(&mut self, plane: PlaneId) -> Option<BlockId> {
        self.window.likely(plane)
    }
}
