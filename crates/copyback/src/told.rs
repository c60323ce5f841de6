//! Choices of a drive, reported as they happen to a listener that checks them. Nothing depends on it, and
//! nobody pays for it who does not ask: the second model of the tests listens.

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
        /// Logical page.
        lpn: Lpn,
        /// Present place of the page.
        ppn: Ppn,
        /// The flow that writes it, and the placement handle that it has named, if it is the host that writes and says so.
        hint: Option<Hint>,
    },
    /// A page is moved.
    Moved {
        /// Logical page.
        lpn: Lpn,
        /// Former place of the page.
        from: Ppn,
        /// Present place of the page.
        to: Ppn,
    },
    /// The host forgets a page that held data.
    Trimmed {
        /// Logical page.
        lpn: Lpn,
    },
    /// A free block is opened.
    Opened {
        /// Block that is meant.
        block: BlockId,
        /// For which class of pages, if for one.
        class: Option<Class>,
    },
    /// A block is to be collected.
    Chosen {
        /// The plane that it lies in.
        plane: PlaneId,
        /// Block that is collected.
        victim: BlockId,
        /// Reason of the collection.
        reason: Reason,
        /// Whether it joins the collection of another plane.
        joins: bool,
    },
    /// A block has been erased, and is free.
    Erased {
        /// Block that is meant.
        block: BlockId,
    },
}
