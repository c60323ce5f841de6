//! What a drive chose, told as it happens to whoever has an opinion of his own about it. Nothing depends on it, and nobody
//! pays for it who does not ask: the second model of the tests listens.

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::placement::Class;
use crate::purpose::Reason;
use crate::workload::Hint;

/// A choice, or something that choices depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Told {
    /// A page of the host, or of a mapping table, is written.
    Written {
        /// Which page.
        lpn: Lpn,
        /// Where it lies now.
        ppn: Ppn,
        /// The flow that writes it, and the placement handle that it has named, if it is the host that writes and says so.
        hint: Option<Hint>,
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
        class: Option<Class>,
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
