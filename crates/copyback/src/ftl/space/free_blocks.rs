//! The erased blocks of a plane, in the order in which they are used again.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::checkpoint::Checkpointed;
use crate::config::FreeBlockOrder;
use crate::ids::BlockId;

/// Erased blocks.
#[derive(Debug, Checkpointed)]
pub enum FreeBlocks {
    /// First erased, first used.
    Fifo(VecDeque<BlockId>),
    /// Least erased first, then first erased: dynamic wear levelling.
    LeastWorn {
        /// By erase count, then by order of freeing.
        heap: BinaryHeap<Reverse<(u32, u64, BlockId)>>,
        /// Blocks freed so far.
        freed: u64,
    },
}

impl FreeBlocks {
    /// No free block yet.
    pub const fn new(order: FreeBlockOrder) -> Self {
        match order {
            FreeBlockOrder::Fifo => Self::Fifo(VecDeque::new()),
            FreeBlockOrder::LeastWorn => Self::LeastWorn { heap: BinaryHeap::new(), freed: 0 },
        }
    }

    /// Adds a block that has been erased `erase_count` times.
    pub fn push(&mut self, block: BlockId, erase_count: u32) {
        match self {
            Self::Fifo(queue) => queue.push_back(block),
            Self::LeastWorn { heap, freed } => {
                heap.push(Reverse((erase_count, *freed, block)));
                *freed += 1;
            }
        }
    }

    /// Takes the block that is used next.
    pub fn pop(&mut self) -> Option<BlockId> {
        match self {
            Self::Fifo(queue) => queue.pop_front(),
            Self::LeastWorn { heap, .. } => heap.pop().map(|Reverse((_, _, block))| block),
        }
    }

    /// The free blocks, in an order in which they may be added again.
    pub fn in_order(&self) -> Vec<BlockId> {
        match self {
            Self::Fifo(queue) => queue.iter().copied().collect(),
            Self::LeastWorn { heap, .. } => {
                let mut blocks: Vec<_> = heap.iter().map(|Reverse(entry)| *entry).collect();
                blocks.sort_unstable();
                blocks.into_iter().map(|(_, _, block)| block).collect()
            }
        }
    }

    /// Forgets all blocks.
    pub fn clear(&mut self) {
        match self {
            Self::Fifo(queue) => queue.clear(),
            Self::LeastWorn { heap, .. } => heap.clear(),
        }
    }

    /// Number of free blocks.
    pub fn len(&self) -> usize {
        match self {
            Self::Fifo(queue) => queue.len(),
            Self::LeastWorn { heap, .. } => heap.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_worn_blocks_go_first_and_ties_in_order_of_freeing() {
        let mut free = FreeBlocks::new(FreeBlockOrder::LeastWorn);
        for (block, erases) in [(7, 2), (9, 1), (3, 1), (4, 0)] {
            free.push(BlockId(block), erases);
        }
        let order: Vec<u32> = std::iter::from_fn(|| free.pop()).map(|block| block.0).collect();
        assert_eq!(order, [4, 9, 3, 7]);
    }
}
