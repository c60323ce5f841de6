//! Cost-benefit: most (1 - u) / 2u x age, where u is the share of valid pages and age the time
//! since the block last lost a page (Rosenblum and Ousterhout 1992; Kawaguchi et al. 1995).
//!
//! Blocks that lose a page go to the end of the list of their new number of valid pages, so the
//! front of each list is its oldest block and the best of its list: only the fronts are compared.
//! Time is counted in changes of the plane's blocks, so that it runs while the device is prepared,
//! too.

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, PlaneId};
use crate::lists::Lists;

use super::{BlockView, Memory, Shape, Victims};

/// Changes that a plane can't have seen.
const NEVER: u64 = 1 << 60;

/// Closed blocks of each plane by valid pages, oldest first.
#[derive(Debug, Checkpointed)]
pub struct CostBenefit {
    by_valid: Lists,
    changed_at: Vec<u64>,
    clock: Vec<u64>,
    pages_per_block: u16,
}

impl CostBenefit {
    pub(super) fn new(shape: Shape) -> Self {
        let lists = shape.planes * (usize::from(shape.pages_per_block) + 1);
        Self {
            by_valid: Lists::new(shape.blocks, lists),
            changed_at: vec![0; shape.blocks],
            clock: vec![0; shape.planes],
            pages_per_block: shape.pages_per_block,
        }
    }

    fn list(&self, plane: PlaneId, valid: u16) -> usize {
        plane.index() * (usize::from(self.pages_per_block) + 1) + usize::from(valid)
    }

    fn benefit(&self, plane: PlaneId, block: usize, valid: u16) -> f64 {
        let age = self.clock[plane.index()] - self.changed_at[block];
        let free = f64::from(self.pages_per_block - valid);
        free / (2.0 * f64::from(valid)) * age as f64
    }
}

impl Victims for CostBenefit {
    fn closed(&mut self, plane: PlaneId, block: BlockId, valid: u16) {
        self.by_valid.push_back(self.list(plane, valid), block.index());
        self.clock[plane.index()] += 1;
        self.changed_at[block.index()] = self.clock[plane.index()];
    }

    fn changed(&mut self, plane: PlaneId, block: BlockId, from: u16, to: u16) {
        self.removed(plane, block, from);
        self.closed(plane, block, to);
    }

    fn removed(&mut self, plane: PlaneId, block: BlockId, valid: u16) {
        self.by_valid.remove(self.list(plane, valid), block.index());
    }

    fn choose(&mut self, plane: PlaneId, _: &impl BlockView) -> Option<BlockId> {
        let mut best: Option<(f64, usize)> = None;
        for valid in 0..self.pages_per_block {
            let Some(block) = self.by_valid.front(self.list(plane, valid)) else { continue };
            if valid == 0 {
                return Some(BlockId::from_index(block));
            }
            let benefit = self.benefit(plane, block, valid);
            if best.is_none_or(|(best, _)| benefit > best) {
                best = Some((benefit, block));
            }
        }
        best.map(|(_, block)| BlockId::from_index(block))
    }

    fn fetch(&self, block: BlockId) {
        self.by_valid.fetch(block.index());
    }

    fn closed_in_order(&self) -> Vec<BlockId> {
        self.by_valid.all_items().map(BlockId::from_index).collect()
    }

    fn memory(&self) -> Memory {
        let closed = self.closed_in_order().into_iter();
        let changed_at = closed.map(|block| self.changed_at[block.index()]).collect();
        Memory::Ages { clock: self.clock.clone(), changed_at }
    }

    fn remember(&mut self, memory: Memory, closed: &[(PlaneId, BlockId)]) -> bool {
        let Memory::Ages { clock, changed_at } = memory else { return false };
        if (clock.len(), changed_at.len()) != (self.clock.len(), closed.len())
            || clock.iter().any(|changes| *changes >= NEVER)
        {
            return false;
        }
        let mut closed = closed.iter().zip(changed_at);
        let are_past = closed.all(|((plane, block), at)| {
            self.changed_at[block.index()] = at;
            at <= clock[plane.index()]
        });
        self.clock = clock;
        are_past
    }
}
