//! State that the translation layer keeps for each plane.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::BlockId;
use crate::placement::Class;

use super::free_blocks::FreeBlocks;

/// Stream of pages that fills an open block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// The pages of a class.
    Class(Class),
    /// Translation pages that are written. They are soon out of date, all together.
    Translation,
    /// Pages that a collection moves together with those of other planes, which keep a block at the
    /// same offset for that.
    Aligned,
}

/// Streams that there are whatever the placement.
const BESIDE_CLASSES: usize = 2;

impl Stream {
    /// The class that its blocks are of, if the placement has a say in it.
    pub const fn class(self) -> Option<Class> {
        match self {
            Self::Class(class) => Some(class),
            Self::Translation | Self::Aligned => None,
        }
    }

    /// Index of the stream in tables.
    pub(super) const fn index(self) -> usize {
        match self {
            Self::Translation => 0,
            Self::Aligned => 1,
            Self::Class(class) => BESIDE_CLASSES + class.index(),
        }
    }
}

/// An open block and the page that is written next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Checkpointed)]
pub struct Frontier {
    /// The open block.
    pub block: BlockId,
    /// Offset of the next page.
    pub next_page: u32,
}

/// Free blocks and write frontiers of a plane.
#[derive(Debug, Checkpointed)]
pub struct Plane {
    /// Erased blocks.
    pub free: FreeBlocks,
    /// Blocks of those that are kept for a buffer of writes.
    pub held: usize,
    /// Blocks of those that are kept to take the place of bad ones.
    pub spare: usize,
    /// Invalid pages in closed blocks: what collections could give back.
    pub closed_invalid: u32,
    /// Whether a collection has opened a block that the host shares, because the host could open none.
    pub lent: bool,
    /// The block that is being reclaimed.
    pub reclaiming: Option<BlockId>,
    /// One of each stream, or none.
    open: Vec<Option<Frontier>>,
}

/// Saved state of a plane.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedPlane {
    /// Erased blocks, in the order in which they are used again if their erase counts allow it.
    pub free: Vec<BlockId>,
    /// Blocks of those that are kept to take the place of bad ones.
    pub spare: usize,
    /// Whether the plane, or the die or drive that it is counted with, is below its threshold, or has been and has not
    /// recovered.
    pub is_below_threshold: bool,
    lent: bool,
    open: Vec<Option<Frontier>>,
}

impl Plane {
    /// A plane of a checked configuration, whose `blocks` are all erased.
    pub fn new(config: &Resolved, blocks: impl Iterator<Item = BlockId>) -> Self {
        let mut free = FreeBlocks::new(config.ssd.ftl.free_blocks);
        for block in blocks {
            free.push(block, 0);
        }
        Self {
            free,
            held: config.drive.blocks.buffer as usize,
            spare: config.drive.blocks.spare as usize,
            closed_invalid: 0,
            lent: false,
            reclaiming: None,
            open: vec![None; BESIDE_CLASSES + config.ssd.ftl.placement.classes() as usize],
        }
    }

    /// Saved state of the plane.
    pub fn saved(&self, is_below_threshold: bool) -> SavedPlane {
        let Self { spare, lent, .. } = *self;
        let (free, open) = (self.free.in_order(), self.open.clone());
        SavedPlane { free, spare, is_below_threshold, lent, open }
    }

    /// Makes a plane of no closed block the one that was saved. Its free blocks have been erased so often. False if it
    /// can't have had these streams.
    pub fn restore(&mut self, saved: &SavedPlane, erases: impl Fn(BlockId) -> u32) -> bool {
        let has_its_streams = self.open.len() == saved.open.len();
        (self.spare, self.lent, self.open) = (saved.spare, saved.lent, saved.open.clone());
        self.free.clear();
        saved.free.iter().for_each(|block| self.free.push(*block, erases(*block)));
        has_its_streams
    }

    /// Erased blocks, but for those that are kept for a buffer or to take the place of bad ones.
    pub fn free_blocks(&self) -> usize {
        self.free.len() - self.held - self.spare
    }

    /// The open block of `stream`.
    pub fn frontier(&self, stream: Stream) -> Option<Frontier> {
        self.open[stream.index()]
    }

    /// All open blocks.
    pub fn frontiers(&self) -> impl Iterator<Item = Frontier> {
        self.open.iter().copied().flatten()
    }

    /// `spare` takes the place of `block`, if that is open.
    pub fn replace(&mut self, block: BlockId, spare: BlockId) {
        let open = self.open.iter_mut().flatten().find(|frontier| frontier.block == block);
        if let Some(frontier) = open {
            frontier.block = spare;
        }
    }

    /// The open block of `stream`, to be changed.
    pub fn frontier_mut(&mut self, stream: Stream) -> &mut Option<Frontier> {
        &mut self.open[stream.index()]
    }
}
