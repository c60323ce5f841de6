//! The blocks of a group on their way into fewer.

use smallvec::SmallVec;

use crate::checkpoint::Checkpointed;
use crate::ftl::blocks::Blocks;
use crate::ftl::space::Frontier;
use crate::ids::BlockId;

use super::layout::GroupId;
use crate::ftl::mapping::plan::{Cost, ReclaimKind};

/// Merge of the blocks of a group: the work that is left.
#[derive(Debug, Clone, PartialEq, Eq, Checkpointed)]
pub struct Merge {
    /// Group that the blocks belong to.
    pub group: GroupId,
    /// Kind of the merge.
    pub kind: ReclaimKind,
    /// Blocks that are emptied and erased, in this order.
    pub sources: SmallVec<[BlockId; 12]>,
    /// Pages that are taken along from a buffer.
    pub buffered: u16,
    /// Place of the next page; `None`: in a block that is yet to be opened.
    pub target: Option<Frontier>,
}

/// Worth of a merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worth {
    /// A block that is certain to be erased.
    pub victim: BlockId,
    /// Pages moved for each block that it gives back, rounded up.
    pub moves_per_block: u16,
}

impl Merge {
    /// One in which only the `buffered` pages of a group are moved.
    pub fn nothing(group: GroupId, buffered: u16) -> Self {
        let sources = SmallVec::new();
        Self { group, kind: ReclaimKind::Cleaning, sources, buffered, target: None }
    }

    /// Cost of the merge.
    pub fn cost(&self, blocks: &Blocks) -> Cost {
        Cost { pages: self.moves(blocks).into(), blocks: self.sources.len() as u64 }
    }

    fn moves(&self, blocks: &Blocks) -> u32 {
        let valid = self.sources.iter().map(|block| u32::from(blocks.valid_pages(*block)));
        valid.sum::<u32>() + u32::from(self.buffered)
    }

    /// Worth of the merge, if it gives any block back; blocks hold `data_pages` pages.
    pub fn worth(&self, blocks: &Blocks, data_pages: u32) -> Option<Worth> {
        let victim = *self.sources.first()?;
        let moves = self.moves(blocks);
        let room = self.target.map_or(0, |target| data_pages - target.next_page);
        let opened = moves.saturating_sub(room).div_ceil(data_pages);
        let gained =
            (self.sources.len() as u32).checked_sub(opened).filter(|gained| *gained > 0)?;
        Some(Worth { victim, moves_per_block: moves.div_ceil(gained) as u16 })
    }
}
