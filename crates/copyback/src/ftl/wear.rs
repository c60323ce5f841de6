//! Static wear levelling: data that lie still keep their block young while the others wear out, so
//! now and then the least erased block is emptied and put to use.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::ids::{BlockId, PlaneId};
use crate::nand::Geometry;

use super::blocks::Blocks;

/// Erase counts of each plane, as far as levelling needs them.
#[derive(Debug)]
pub struct WearLeveller {
    /// Greatest spread that is tolerated; `None` turns levelling off.
    threshold: Option<u32>,
    planes: Vec<Spread>,
}

#[derive(Debug)]
struct Spread {
    most: u32,
    /// Blocks by erase count. An entry whose block has been erased since, or is bad, is dropped when
    /// it surfaces.
    by_erases: BinaryHeap<Reverse<(u32, BlockId)>>,
}

impl WearLeveller {
    /// Levels when erase counts of a plane differ by more than `threshold`; 0 never levels.
    pub fn new(threshold: u32, geometry: &Geometry, blocks: &Blocks) -> Self {
        let spread = |plane| {
            let all = geometry.blocks_of_plane(PlaneId::from_index(plane));
            let erases = all.map(|block| (blocks.erase_count(block), block));
            let by_erases: BinaryHeap<_> = erases.map(Reverse).collect();
            let most = by_erases.iter().map(|Reverse((erases, _))| *erases).max().unwrap_or(0);
            Spread { most, by_erases }
        };
        match threshold {
            0 => Self { threshold: None, planes: Vec::new() },
            _ => Self {
                threshold: Some(threshold),
                planes: (0..geometry.planes()).map(spread).collect(),
            },
        }
    }

    /// `block` of `plane` has been erased for the `erase_count`th time.
    pub fn erased(&mut self, plane: PlaneId, block: BlockId, erase_count: u32) {
        if let Some(spread) = self.planes.get_mut(plane.index()) {
            spread.most = spread.most.max(erase_count);
            spread.by_erases.push(Reverse((erase_count, block)));
        }
    }

    /// The least erased block of `plane`, if it is too far behind the most erased one.
    pub fn block_to_level(&mut self, plane: PlaneId, blocks: &Blocks) -> Option<BlockId> {
        let threshold = self.threshold?;
        let spread = &mut self.planes[plane.index()];
        while let Some(Reverse((erases, block))) = spread.by_erases.peek() {
            if blocks.erase_count(*block) == *erases && !blocks.is_bad(*block) {
                return (spread.most - erases > threshold).then_some(*block);
            }
            spread.by_erases.pop();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: Geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 2,
        pages_per_block: 1,
        page_size: 4096,
        striped_planes: 1,
    };

    #[test]
    fn a_spread_of_just_the_threshold_is_tolerated() {
        let (plane, block) = (PlaneId(0), BlockId(1));
        let mut blocks = Blocks::new(&SHAPE);
        let mut leveller = WearLeveller::new(2, &SHAPE, &blocks);
        for (erases, to_level) in [(1, None), (2, None), (3, Some(BlockId(0)))] {
            blocks.erase(block);
            leveller.erased(plane, block, erases);
            assert_eq!(leveller.block_to_level(plane, &blocks), to_level, "{erases} erases");
        }
    }

    #[test]
    fn the_least_erased_of_the_good_blocks_is_levelled() {
        let plane = PlaneId(0);
        let shape = Geometry { blocks_per_plane: 3, ..SHAPE };
        let mut blocks = Blocks::new(&shape);
        let mut leveller = WearLeveller::new(2, &shape, &blocks);
        blocks.set_bad(BlockId(0));
        for _ in 0..3 {
            blocks.erase(BlockId(2));
            leveller.erased(plane, BlockId(2), blocks.erase_count(BlockId(2)));
        }
        assert_eq!(leveller.block_to_level(plane, &blocks), Some(BlockId(1)));
    }
}
