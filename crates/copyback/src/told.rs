//! What a drive chose, told as it happens to whoever has an opinion of his own about it. Nothing depends on it, and nobody
//! pays for it who does not ask: the second model of the tests listens.

use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::purpose::Reason;

/// A choice, or something that choices depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// A page of the host, or of a mapping table, is written.
    Written {
        /// Which page.
        lpn: Lpn,
        /// Where it lies now.
        ppn: Ppn,
        /// The placement handle that the host has named.
        handle: u16,
    },
    /// A page is moved.
    Moved {
        /// Which page.
        lpn: Lpn,
        /// Where it lay.
        from: Ppn,
        /// Where it lies now.
        to: Ppn,
    },
    /// The host forgets a page that held data.
    Trimmed {
        /// Which page.
        lpn: Lpn,
    },
    /// A free block is opened.
    Opened {
        /// Which block.
        block: BlockId,
        /// For which class of pages, if for one.
        class: Option<u8>,
    },
    /// A block is to be collected.
    Chosen {
        /// The plane that it lies in.
        plane: PlaneId,
        /// Which block.
        victim: BlockId,
        /// Why.
        reason: Reason,
        /// Whether it joins the collection of another plane.
        joins: bool,
    },
    /// A block has been erased, and is free.
    Erased {
        /// Which block.
        block: BlockId,
    },
}
