//! Static wear levelling: data that lie still keep their block young while the others wear out, so
//! now and then the least erased block is emptied and put to use.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::checkpoint::Checkpointed;
use crate::config::{Wear, WearCompare};
use crate::ids::{BlockId, PlaneId};
use crate::nand::Geometry;

use super::blocks::Blocks;

/// Erase counts of each plane, as far as levelling needs them.
#[derive(Debug, Checkpointed)]
pub struct WearLeveller {
    /// Greatest difference that is tolerated, or the least that is not; `None` turns levelling off.
    threshold: Option<u32>,
    compare: WearCompare,
    planes: Vec<Spread>,
}

#[derive(Debug, Checkpointed)]
struct Spread {
    /// The greatest erase count, and the first of the blocks that have it.
    most: (u32, Reverse<BlockId>),
    /// Blocks by erase count. An entry whose block has been erased since, or is bad, is dropped when
    /// it surfaces.
    by_erases: BinaryHeap<Reverse<(u32, BlockId)>>,
}

impl WearLeveller {
    /// Levels the planes as `wear` says.
    pub fn new(wear: &Wear, geometry: &Geometry, blocks: &Blocks) -> Self {
        let spread = |plane| {
            let all = || geometry.blocks_of_plane(PlaneId::from_index(plane));
            let most = all().map(|block| (blocks.erase_count(block), Reverse(block)));
            let by_erases = all().map(|block| Reverse((blocks.erase_count(block), block)));
            let first = (0, Reverse(BlockId::from_index(0)));
            Spread { most: most.max().unwrap_or(first), by_erases: by_erases.collect() }
        };
        let threshold = Some(wear.static_threshold).filter(|threshold| *threshold > 0);
        let planes = threshold.map_or(0, |_| geometry.planes());
        Self { threshold, compare: wear.compare, planes: (0..planes).map(spread).collect() }
    }

    /// `block` of `plane` has been erased for the `erase_count`th time.
    pub fn erased(&mut self, plane: PlaneId, block: BlockId, erase_count: u32) {
        if let Some(spread) = self.planes.get_mut(plane.index()) {
            spread.most = spread.most.max((erase_count, Reverse(block)));
            spread.by_erases.push(Reverse((erase_count, block)));
        }
    }

    /// The least erased block of `plane`, if it is too far behind the most erased one.
    pub fn block_to_level(&mut self, plane: PlaneId, blocks: &Blocks) -> Option<BlockId> {
        let threshold = self.threshold?;
        let spread = &mut self.planes[plane.index()];
        while let Some(Reverse((erases, block))) = spread.by_erases.peek() {
            if blocks.erase_count(*block) == *erases && !blocks.is_bad(*block) {
                let (most, Reverse(most_erased)) = spread.most;
                let is_due = match self.compare {
                    WearCompare::EraseCounts => most - erases > threshold,
                    // Without a sign, a lower number is far behind.
                    WearCompare::BlockNumbers => {
                        most > *erases && most_erased.0.wrapping_sub(block.0) >= threshold
                    }
                };
                return is_due.then_some(*block);
            }
            spread.by_erases.pop();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Geometry = with_blocks(2);

    const fn with_blocks(blocks: u32) -> Geometry {
        Geometry::of([1, 1, 1], [1, blocks, 1], 1)
    }

    fn beyond(static_threshold: u32) -> Wear {
        Wear { static_threshold, compare: WearCompare::EraseCounts }
    }

    #[test]
    fn block_numbers_are_compared_without_a_sign() {
        let plane = PlaneId(0);
        let shape = with_blocks(4);
        let mut blocks = Blocks::new(&shape);
        let wear = Wear { static_threshold: 2, compare: WearCompare::BlockNumbers };
        let mut leveller = WearLeveller::new(&wear, &shape, &blocks);
        let mut after_erase = |block| {
            blocks.erase(block);
            leveller.erased(plane, block, blocks.erase_count(block));
            leveller.block_to_level(plane, &blocks)
        };
        assert_eq!(after_erase(BlockId(1)), None, "1 is one above 0");
        assert_eq!(after_erase(BlockId(3)), None, "of 1 and 3 the lower counts");
        assert_eq!(after_erase(BlockId(3)), Some(BlockId(0)), "3 is three above 0");
        assert_eq!(after_erase(BlockId(0)), None, "3 is one above 2");
        assert_eq!(after_erase(BlockId(0)), Some(BlockId(2)), "0 is below 2");
    }

    #[test]
    fn a_spread_of_just_the_threshold_is_tolerated() {
        let (plane, block) = (PlaneId(0), BlockId(1));
        let mut blocks = Blocks::new(&SHAPE);
        let mut leveller = WearLeveller::new(&beyond(2), &SHAPE, &blocks);
        for (erases, to_level) in [(1, None), (2, None), (3, Some(BlockId(0)))] {
            blocks.erase(block);
            leveller.erased(plane, block, erases);
            assert_eq!(leveller.block_to_level(plane, &blocks), to_level, "{erases} erases");
        }
    }

    #[test]
    fn the_least_erased_of_the_good_blocks_is_levelled() {
        let plane = PlaneId(0);
        let shape = with_blocks(3);
        let mut blocks = Blocks::new(&shape);
        let mut leveller = WearLeveller::new(&beyond(2), &shape, &blocks);
        blocks.set_bad(BlockId(0));
        for _ in 0..3 {
            blocks.erase(BlockId(2));
            leveller.erased(plane, BlockId(2), blocks.erase_count(BlockId(2)));
        }
        assert_eq!(leveller.block_to_level(plane, &blocks), Some(BlockId(1)));
    }

    #[test]
    fn equally_worn_blocks_are_left_alone_whatever_their_numbers() {
        let shape = with_blocks(4);
        let mut blocks = Blocks::new(&shape);
        let wear = Wear { static_threshold: 2, compare: WearCompare::BlockNumbers };
        let mut leveller = WearLeveller::new(&wear, &shape, &blocks);
        // The number of the first one is below that of all others.
        blocks.set_bad(BlockId(0));
        assert_eq!(leveller.block_to_level(PlaneId(0), &blocks), None);
    }
}
