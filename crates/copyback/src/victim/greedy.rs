//! Greedy: the closed block with the fewest valid pages. Ties go to the block that reached that
//! number first.

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, PlaneId};
use crate::lists::Lists;

use super::{BlockView, Shape, Victims};

/// Closed blocks of each plane in lists by their number of valid pages.
#[derive(Debug, Checkpointed)]
pub struct Greedy {
    /// List `plane x (pages + 1) + valid` holds the blocks of `plane` with `valid` valid pages.
    by_valid: Lists,
    /// No list of the plane below this number of valid pages has a block.
    lowest: Vec<u16>,
    pages_per_block: u16,
}

impl Greedy {
    pub(super) fn new(shape: Shape) -> Self {
        let lists = shape.planes * (usize::from(shape.pages_per_block) + 1);
        Self {
            by_valid: Lists::new(shape.blocks, lists),
            lowest: vec![shape.pages_per_block; shape.planes],
            pages_per_block: shape.pages_per_block,
        }
    }

    fn list(&self, plane: PlaneId, valid: u16) -> usize {
        plane.index() * (usize::from(self.pages_per_block) + 1) + usize::from(valid)
    }

    /// `block` of `plane` may be chosen.
    pub(super) fn add(&mut self, plane: PlaneId, block: BlockId, valid: u16) {
        self.by_valid.push_back(self.list(plane, valid), block.index());
        let lowest = &mut self.lowest[plane.index()];
        *lowest = valid.min(*lowest);
    }

    fn fewest_valid(&mut self, plane: PlaneId) -> Option<BlockId> {
        // A block whose pages are all valid gives nothing back.
        while self.lowest[plane.index()] < self.pages_per_block {
            let list = self.list(plane, self.lowest[plane.index()]);
            if let Some(block) = self.by_valid.front(list) {
                return Some(BlockId::from_index(block));
            }
            self.lowest[plane.index()] += 1;
        }
        None
    }
}

impl Victims for Greedy {
    fn closed(&mut self, plane: PlaneId, block: BlockId, valid: u16, _: &impl BlockView) {
        self.add(plane, block, valid);
    }

    fn changed(&mut self, plane: PlaneId, block: BlockId, from: u16, to: u16) {
        if from != to {
            self.removed(plane, block, from);
            self.add(plane, block, to);
        }
    }

    fn removed(&mut self, plane: PlaneId, block: BlockId, valid: u16) {
        self.by_valid.remove(self.list(plane, valid), block.index());
    }

    fn choose(&mut self, plane: PlaneId, _: &impl BlockView) -> Option<BlockId> {
        self.fewest_valid(plane)
    }

    fn fetch(&self, block: BlockId) {
        self.by_valid.fetch(block.index());
    }

    fn closed_in_order(&self) -> Vec<BlockId> {
        self.by_valid.all_items().map(BlockId::from_index).collect()
    }

    fn likely(&mut self, plane: PlaneId) -> Option<BlockId> {
        self.fewest_valid(plane)
    }
}
