//! Superblock mapping (Kang, Jo, Kim, Lee: A superblock-based flash translation layer for NAND flash
//! memory, EMSOFT 2006).
//!
//! n neighbouring logical blocks share n data blocks and up to m update blocks. Any of their pages may
//! lie on any page of these. When no more block may be opened, the superblock is compacted: the valid
//! pages of every block that holds an invalid one are moved together, and those blocks are erased. A
//! block is erased as soon as it is empty, so that one free block is enough to begin with.

use crate::ftl::blocks::Blocks;
use crate::ftl::space::Frontier;
use crate::ids::BlockId;
use crate::victim::BlockView;

use super::bound::{Group, GroupId, Merge};
use super::plan::ReclaimKind;

/// A compaction has ended: a block that it has left open takes the next write, unless another does.
pub fn compacted(group: &mut Group, target: Option<Frontier>, data_pages: u32) {
    if group.open.is_none() {
        group.open = target.filter(|target| target.next_page < data_pages);
    }
}

/// The compaction of a superblock whose blocks hold `data_pages` pages; `victim` is among the blocks
/// that are emptied in any case.
pub fn compaction(
    id: GroupId,
    group: &Group,
    victim: Option<BlockId>,
    blocks: &Blocks,
    data_pages: u32,
) -> Merge {
    let written = |block: BlockId| match group.open {
        Some(open) if open.block == block => open.next_page,
        _ => data_pages,
    };
    let is_source = |block: &BlockId| {
        victim == Some(*block) || u32::from(blocks.valid_pages(*block)) < written(*block)
    };
    Merge {
        group: id,
        kind: ReclaimKind::Compaction,
        sources: group.blocks.iter().copied().filter(is_source).collect(),
        buffered: 0,
        target: group.open.filter(|open| !is_source(&open.block)),
    }
}
