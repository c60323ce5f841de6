//! What the translation layer keeps for each plane.

use serde::{Deserialize, Serialize};

use crate::config::FreeBlockOrder;
use crate::ids::BlockId;

use super::free_blocks::FreeBlocks;

/// Who fills an open block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Host writes; with a shared frontier, moved pages as well.
    Host,
    /// Translation pages that are written. They are soon out of date, all together.
    Translation,
    /// Pages that collections move.
    Collection,
    /// Pages that a collection moves together with those of other planes, which keep a block at the
    /// same offset for that.
    Aligned,
}

/// An open block and the page that is written next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frontier {
    /// The open block.
    pub block: BlockId,
    /// Offset of the next page.
    pub next_page: u32,
}

/// Free blocks and write frontiers of a plane.
#[derive(Debug, Serialize, Deserialize)]
pub struct Plane {
    /// Erased blocks.
    pub free: FreeBlocks,
    /// Of those, blocks that are kept for a buffer of writes.
    pub held: usize,
    /// Of those, blocks that are kept to take the place of bad ones.
    pub spare: usize,
    /// Invalid pages in closed blocks: what collections could give back.
    pub closed_invalid: u32,
    /// Whether a collection has opened the host's block, which it shares, because the host could
    /// open none.
    pub lent: bool,
    host: Option<Frontier>,
    translation: Option<Frontier>,
    collection: Option<Frontier>,
    aligned: Option<Frontier>,
}

impl Plane {
    /// A plane whose `blocks` are all erased, `held` of them for a buffer of writes and `spare` for bad ones.
    pub fn new(
        blocks: impl Iterator<Item = BlockId>,
        order: FreeBlockOrder,
        held: usize,
        spare: usize,
    ) -> Self {
        let mut free = FreeBlocks::new(order);
        for block in blocks {
            free.push(block, 0);
        }
        Self {
            free,
            held,
            spare,
            closed_invalid: 0,
            lent: false,
            host: None,
            translation: None,
            collection: None,
            aligned: None,
        }
    }

    /// Erased blocks, but for those that are kept for a buffer or to take the place of bad ones.
    pub fn free_blocks(&self) -> usize {
        self.free.len() - self.held - self.spare
    }

    /// The open block of `stream`.
    pub const fn frontier(&self, stream: Stream) -> Option<Frontier> {
        match stream {
            Stream::Host => self.host,
            Stream::Translation => self.translation,
            Stream::Collection => self.collection,
            Stream::Aligned => self.aligned,
        }
    }

    /// All open blocks.
    pub fn frontiers(&self) -> impl Iterator<Item = Frontier> {
        let of_others = [self.translation, self.collection, self.aligned];
        self.host.into_iter().chain(of_others.into_iter().flatten())
    }

    /// `spare` takes the place of `block`, if that is open.
    pub fn replace(&mut self, block: BlockId, spare: BlockId) {
        let open = [&mut self.host, &mut self.translation, &mut self.collection, &mut self.aligned];
        let open = open.into_iter().flatten().find(|frontier| frontier.block == block);
        if let Some(frontier) = open {
            frontier.block = spare;
        }
    }

    /// The open block of `stream`, to be changed.
    pub const fn frontier_mut(&mut self, stream: Stream) -> &mut Option<Frontier> {
        match stream {
            Stream::Host => &mut self.host,
            Stream::Translation => &mut self.translation,
            Stream::Collection => &mut self.collection,
            Stream::Aligned => &mut self.aligned,
        }
    }
}
