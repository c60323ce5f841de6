//! Events that a placement learns from.

use crate::ids::{BlockId, Lpn};

use super::{Class, Origin};

/// Event in the life of pages and blocks, in the order in which they happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A page has been written.
    Wrote {
        /// Logical page.
        lpn: Lpn,
        /// Origin of the page.
        origin: Origin,
    },
    /// A page lies in a block now, whoever has put it there. Comes after [`Wrote`](Self::Wrote), if the placement was
    /// asked about the page.
    LiesIn {
        /// Logical page.
        lpn: Lpn,
        /// Block of the page.
        block: BlockId,
    },
    /// The host has written again a page that lay in an `old` place. Comes after [`LiesIn`](Self::LiesIn), if the
    /// placement [needs](Needs::rewrites) it.
    Rewrote {
        /// Logical page.
        lpn: Lpn,
        /// Earlier place of the page.
        old: Old,
    },
    /// The host has trimmed a page.
    Trimmed(Lpn),
    /// The drive has been prepared, and the run begins.
    RunBegins,
    /// A block has been filled.
    Sealed(Life),
    /// A block has been chosen to be collected.
    Chosen(Life),
    /// A block has been collected: nothing in it is valid any more.
    Collected(Life),
}

/// Events that cost time to find, and that few placements learn from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Needs {
    /// [`Rewrote`](Event::Rewrote).
    pub rewrites: bool,
    /// [`LiesIn`](Event::LiesIn) of every page when the run begins.
    pub places: bool,
}

/// The life of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Life {
    /// Identifier of the block.
    pub block: BlockId,
    /// Class whose pages it took.
    pub class: Class,
    /// When its first page was written.
    pub opened: u64,
    /// When it was filled.
    pub sealed: u64,
    /// Pages in it that are valid now.
    pub valid: u16,
}

/// Earlier place of a page that the host has written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Old {
    /// The class of the block, if the placement had a say in it.
    pub class: Option<Class>,
    /// The life of the block, if it was full.
    pub full: Option<Life>,
}
