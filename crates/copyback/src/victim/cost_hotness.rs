//! Cost-hotness: most (1 - u) / (u x hotness), where u is the share of valid pages (SFS: Min et al., FAST 2012). Hotness
//! is what the placement knows of a block. Of one of which it knows nothing each page counts as written once, when the
//! block was filled.
//!
//! With the root of the hotness, and an oracle for placement whose hotness is one over the time that pages still live, it is
//! [foresight](crate::config::VictimPolicy::Foresight): cost-benefit with what is left of lives in the place of an age.
//!
//! What is best changes as time goes on, and blocks pass each other: each choice looks at all closed ones of the plane,
//! as the placement does when it clusters blocks.

use crate::checkpoint::Checkpointed;
use crate::config::AgeWeight;
use crate::config::quantity::Share;
use crate::ids::{BlockId, PlaneId};
use crate::lists::Lists;

use super::{BlockView, Shape, Victims};

/// Closed blocks of each plane in the order of closing.
#[derive(Debug, Checkpointed)]
pub struct CostHotness {
    by_closing: Lists,
    /// Valid pages that a block may have to be chosen, where there is one that has no more.
    most_valid: u16,
    pages_per_block: u16,
    /// Weight of the hotness.
    weight: AgeWeight,
}

impl CostHotness {
    pub(super) fn new(least_invalid: Share, weight: AgeWeight, shape: Shape) -> Self {
        let pages_per_block = shape.pages_per_block;
        let least = (least_invalid.0 * f64::from(pages_per_block)).ceil() as u16;
        Self {
            by_closing: Lists::new(shape.blocks, shape.planes),
            most_valid: pages_per_block - least.clamp(1, pages_per_block),
            pages_per_block,
            weight,
        }
    }

    /// Benefit of a collection of `block`, which has invalid pages.
    fn benefit(&self, block: BlockId, blocks: &impl BlockView) -> f64 {
        let valid = blocks.valid_pages(block);
        if valid == 0 {
            return f64::INFINITY;
        }
        let since_filled = || 1.0 / (blocks.now() - blocks.sealed_at(block)).max(1) as f64;
        let hotness = blocks.hotness(block).unwrap_or_else(since_filled);
        let hotness = match self.weight {
            AgeWeight::Linear => hotness,
            AgeWeight::Sqrt => hotness.sqrt(),
        };
        f64::from(self.pages_per_block - valid) / (f64::from(valid) * hotness)
    }

    /// The best of the blocks of `plane` with no more valid pages, of equals the first.
    fn best(&self, plane: PlaneId, valid: u16, blocks: &impl BlockView) -> Option<BlockId> {
        let closed = self.by_closing.items(plane.index()).map(BlockId::from_index);
        let may_be = closed.filter(|block| blocks.valid_pages(*block) <= valid);
        let rated = may_be.map(|block| (self.benefit(block, blocks), block));
        let best = rated.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map(|(_, block)| block)
    }
}

impl Victims for CostHotness {
    fn closed(&mut self, plane: PlaneId, block: BlockId, _: u16, _: &impl BlockView) {
        self.by_closing.push_back(plane.index(), block.index());
    }

    fn removed(&mut self, plane: PlaneId, block: BlockId, _: u16) {
        self.by_closing.remove(plane.index(), block.index());
    }

    fn choose(&mut self, plane: PlaneId, blocks: &impl BlockView) -> Option<BlockId> {
        let any = || self.best(plane, self.pages_per_block - 1, blocks);
        self.best(plane, self.most_valid, blocks).or_else(any)
    }

    fn fetch(&self, block: BlockId) {
        self.by_closing.fetch(block.index());
    }

    fn closed_in_order(&self) -> Vec<BlockId> {
        self.by_closing.all_items().map(BlockId::from_index).collect()
    }
}
