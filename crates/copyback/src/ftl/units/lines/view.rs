//! The lines as the blocks of one plane, which is how a victim policy and a placement see them.

use crate::ftl::blocks::Blocks;
use crate::ftl::streams::Streams;
use crate::ids::BlockId;
use crate::placement::Life;
use crate::victim::BlockView;

use super::{LineId, Lines};

/// The lines as a victim policy sees them.
#[derive(Debug, Clone, Copy)]
pub struct LinesAt<'a> {
    lines: &'a Lines,
    blocks: &'a Blocks,
    streams: &'a Streams,
}

impl Lines {
    /// The lines, whose blocks are these, by the clock of `streams`.
    pub const fn at<'a>(&'a self, blocks: &'a Blocks, streams: &'a Streams) -> LinesAt<'a> {
        LinesAt { lines: self, blocks, streams }
    }

    /// A block of `line` that stands for all: they were opened together, for one class.
    fn any_block(line: LineId) -> BlockId {
        BlockId::from_index(line)
    }

    /// Valid pages of `line`, which is numbered as a block of one plane, if it is full.
    pub fn valid_if_full(&self, line: BlockId) -> Option<u16> {
        self.is_full(line.index()).then(|| self.lines[line.index()].valid as u16)
    }

    /// Class of `line` and the time since which it takes its pages.
    pub fn life(&self, line: LineId, blocks: &Blocks) -> Option<Life> {
        let Life { class, opened, .. } = blocks.life(Self::any_block(line))?;
        let (block, super::Line { sealed, valid, .. }) =
            (BlockId::from_index(line), self.lines[line]);
        Some(Life { block, class, opened, sealed, valid: valid as u16 })
    }
}

impl BlockView for LinesAt<'_> {
    fn valid_pages(&self, line: BlockId) -> u16 {
        self.lines.lines[line.index()].valid as u16
    }

    fn erase_count(&self, line: BlockId) -> u32 {
        self.blocks.erase_count(Lines::any_block(line.index()))
    }

    fn class(&self, line: BlockId) -> Option<usize> {
        Some(self.blocks.class(Lines::any_block(line.index()))?.index())
    }

    fn opened_at(&self, line: BlockId) -> u64 {
        self.blocks.opened_at(Lines::any_block(line.index()))
    }

    fn sealed_at(&self, line: BlockId) -> u64 {
        self.lines.lines[line.index()].sealed
    }

    fn hotness(&self, line: BlockId) -> Option<f64> {
        self.streams.hotness(line)
    }

    fn now(&self) -> u64 {
        self.streams.clock
    }
}
