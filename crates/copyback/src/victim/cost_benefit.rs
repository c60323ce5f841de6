//! Cost-benefit: most (1 - u) / cost x age, where u is the share of valid pages (Rosenblum and Ousterhout 1992;
//! Kawaguchi et al. 1995; with the root of the age: the artefact of SepBIT, Wang et al. 2022).
//!
//! Of blocks with equally many valid pages the oldest is the best, whatever the cost and the weight: only the oldest
//! of each number are compared, which costs O(pages a block).

use crate::checkpoint::Checkpointed;
use crate::config::{Age, AgeWeight, CollectionCost};
use crate::ids::{BlockId, PlaneId};

use super::by_age::ByAge;
use super::{BlockView, Memory, Shape, Victims};

/// Closed blocks of each plane by valid pages, and what is thought of them.
#[derive(Debug, Checkpointed)]
pub struct CostBenefit {
    by_age: ByAge,
    weight: AgeWeight,
    cost: CollectionCost,
    pages_per_block: u16,
}

impl CostBenefit {
    pub(super) fn new(age: Age, weight: AgeWeight, cost: CollectionCost, shape: Shape) -> Self {
        let by_age = ByAge::new(age, shape);
        Self { by_age, weight, cost, pages_per_block: shape.pages_per_block }
    }

    fn benefit(&self, valid: u16, age: u64) -> f64 {
        let age = match self.weight {
            AgeWeight::Linear => age as f64,
            AgeWeight::Sqrt => (age as f64).sqrt(),
        };
        let cost = match self.cost {
            CollectionCost::ValidPages => 2.0 * f64::from(valid),
            CollectionCost::WholeBlock => f64::from(self.pages_per_block) + f64::from(valid),
        };
        f64::from(self.pages_per_block - valid) / cost * age
    }
}

impl Victims for CostBenefit {
    fn closed(&mut self, plane: PlaneId, block: BlockId, valid: u16, blocks: &impl BlockView) {
        self.by_age.closed(plane, block, valid, blocks);
    }

    fn changed(&mut self, plane: PlaneId, block: BlockId, from: u16, to: u16) {
        self.by_age.changed(plane, block, from, to);
    }

    fn removed(&mut self, plane: PlaneId, block: BlockId, valid: u16) {
        self.by_age.removed(plane, block, valid);
    }

    fn choose(&mut self, plane: PlaneId, blocks: &impl BlockView) -> Option<BlockId> {
        let mut best: Option<(f64, usize)> = None;
        for valid in 0..self.pages_per_block {
            let Some(block) = self.by_age.oldest(plane, valid) else { continue };
            if valid == 0 {
                return Some(BlockId::from_index(block));
            }
            let benefit = self.benefit(valid, self.by_age.age(plane, block, blocks));
            if best.is_none_or(|(best, _)| benefit > best) {
                best = Some((benefit, block));
            }
        }
        best.map(|(_, block)| BlockId::from_index(block))
    }

    fn fetch(&self, block: BlockId) {
        self.by_age.fetch(block);
    }

    fn closed_in_order(&self) -> Vec<BlockId> {
        self.by_age.closed_in_order()
    }

    fn memory(&self) -> Memory {
        self.by_age.memory()
    }

    fn remember(&mut self, memory: Memory, closed: &[(PlaneId, BlockId)]) -> bool {
        self.by_age.remember(memory, closed)
    }
}
