//! Placements from outside of this crate: what they are asked and what they are told.
//!
//! They are asked about many pages at a time, of a command or of a victim. What has happened since is told just before,
//! in its order.

use std::ops::Range;

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, Lpn};
use crate::outside::{Device, Failed, Kind, Policy};

use super::{Class, Life, Origin};

/// Sorts pages into classes. Made for a device whose blocks are in known states.
pub trait ExternalPlacement: Policy {
    /// Events that the placement wants to be notified of.
    fn hooks(&self) -> Hooks;

    /// Is told what has happened, in order. Returns whether [`answers`](Answer) that it has given do not hold any more.
    ///
    /// # Errors
    /// If it cannot go on; it is not asked again.
    fn notify(&mut self, updates: Updates<'_>) -> Result<bool, Failed>;

    /// Is told what has happened, and then says where each page of `question` goes: puts an answer for each into
    /// `answers`, which is empty. Returns as [`notify`](Self::tell).
    ///
    /// # Errors
    /// If it cannot say; it is not asked again.
    fn ask(
        &mut self,
        updates: Updates<'_>,
        question: &Question<'_>,
        answers: &mut Vec<Answer>,
    ) -> Result<bool, Failed>;

    /// The placement of the same device, newly made, whose blocks are in these states: the power has failed.
    ///
    /// # Errors
    /// If there is none.
    fn anew(&self, blocks: &[BlockState]) -> Result<Box<dyn ExternalPlacement>, Failed>;
}

impl Kind for dyn ExternalPlacement {
    const KEY: &'static str = "ssd.ftl.placement";
    type Facts<'a> = (Device, &'a [BlockState]);
}

/// Events that a placement wants to be notified of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct Hooks {
    /// Pages that the host has written.
    pub wrote: bool,
    /// Pages that have been moved.
    pub moved: bool,
    /// Pages that have been trimmed.
    pub trimmed: bool,
    /// Blocks that have been filled.
    pub sealed: bool,
    /// Blocks that have been chosen to be collected.
    pub chosen: bool,
    /// Blocks that have been collected.
    pub collected: bool,
    /// The classes of the blocks that the last three are about: a bit for each.
    pub watched: u128,
    /// Whether where it puts moved pages depends on what the first three have told it. If not, it is told of pages
    /// before it is asked about those of the host, and before it is told of a block: seldom, and of many.
    pub moves_depend_on_pages: bool,
}

impl Hooks {
    /// Everything.
    pub const ALL: Self = Self {
        wrote: true,
        moved: true,
        trimmed: true,
        sealed: true,
        chosen: true,
        collected: true,
        watched: u128::MAX,
        moves_depend_on_pages: true,
    };

    /// Whether it wants to be told this.
    pub const fn want(&self, news: &News) -> bool {
        match news {
            News::Wrote { .. } => self.wrote,
            News::Moved { .. } => self.moved,
            News::Trimmed { .. } => self.trimmed,
            News::Sealed(block) => self.sealed && self.watches(block),
            News::Chosen { block, .. } => self.chosen && self.watches(block),
            News::Collected { block, .. } => self.collected && self.watches(block),
        }
    }

    const fn watches(&self, block: &Life) -> bool {
        self.watched >> block.class.index() & 1 != 0
    }
}

/// Events since the placement was last notified.
#[derive(Debug, Clone, Copy)]
pub struct Updates<'a> {
    /// Events that it wanted to be notified of, in order.
    pub news: &'a [News],
    /// The blocks that are not what they were; what stands behind is newer.
    pub blocks: &'a [BlockState],
}

/// Event that a placement is notified of. Times are counted in pages that the host has written to the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// The host has written a page.
    Wrote {
        /// Logical page.
        lpn: Lpn,
        /// Age of the data that were overwritten, in pages of the host, if there were any.
        age: Option<u64>,
        /// When.
        now: u64,
    },
    /// A collection has moved a page.
    Moved {
        /// Logical page.
        lpn: Lpn,
        /// The class of the block that it has left, if the placement had a say in it.
        left: Option<Class>,
    },
    /// The host has trimmed a page.
    Trimmed {
        /// Logical page.
        lpn: Lpn,
        /// Age of the data, in pages of the host, if the host had written it.
        age: Option<u64>,
        /// When.
        now: u64,
    },
    /// A block has been filled.
    Sealed(Life),
    /// A block has been chosen to be collected.
    Chosen {
        /// Block of the event.
        block: Life,
        /// When.
        now: u64,
    },
    /// A block has been collected.
    Collected {
        /// Block of the event.
        block: Life,
        /// When.
        now: u64,
    },
}

impl News {
    /// Whether `next` may be told together with this: pages to which the same has happened.
    pub fn goes_on(&self, next: &Self) -> bool {
        match (self, next) {
            (Self::Wrote { .. }, Self::Wrote { .. }) => true,
            (Self::Trimmed { now, .. }, Self::Trimmed { now: then, .. }) => now == then,
            (Self::Moved { left, .. }, Self::Moved { left: other, .. }) => left == other,
            _ => false,
        }
    }

    /// Whether it is about a page, not a block.
    pub const fn is_of_page(&self) -> bool {
        matches!(self, Self::Wrote { .. } | Self::Moved { .. } | Self::Trimmed { .. })
    }
}

/// Pages that are to be sorted.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Logical pages; none twice.
    pub pages: &'a [Lpn],
    /// Age of the data of each, in pages of the host, if the host has written it.
    pub ages: &'a [Option<u64>],
    /// Origin of all of them.
    pub origin: Origin,
    /// When.
    pub now: u64,
    /// The numbers of the classes that take such pages, from the first to behind the last.
    pub allowed: (usize, usize),
}

impl Question<'_> {
    /// The numbers of the classes that take such pages.
    pub const fn allowed(&self) -> Range<usize> {
        self.allowed.0..self.allowed.1
    }
}

/// The class of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answer {
    /// The number of the class, which must be one of those [allowed](Question::allowed).
    pub class: usize,
    /// When it may be another: until then it is this one, unless the page is written, trimmed or moved, or the
    /// placement has said that answers do not hold any more. `None` if it may be another as soon as anything happens.
    pub until: Option<u64>,
}

/// State of a block, as far as a placement may see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockState {
    /// Identifier of the block.
    pub block: BlockId,
    /// The class that it was opened for, if it holds pages and the placement had a say in it.
    pub class: Option<Class>,
    /// When its first page was written.
    pub opened: u64,
    /// When it was filled, if it has been.
    pub sealed: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::BlockId;

    #[test]
    fn who_watches_a_class_is_told_of_its_blocks_and_of_no_others() {
        let hooks = Hooks { watched: 0b10, ..Hooks::ALL };
        let updates = [0, 1, 2].map(|class| {
            let class = Class::new(class);
            let block = Life { block: BlockId(7), class, opened: 0, sealed: 4, valid: 2 };
            let all = [
                News::Sealed(block),
                News::Chosen { block, now: 5 },
                News::Collected { block, now: 6 },
            ];
            all.map(|news| hooks.want(&news))
        });
        assert_eq!(updates, [[false; 3], [true; 3], [false; 3]]);
        assert!(hooks.want(&News::Trimmed { lpn: Lpn(1), age: None, now: 5 }), "that is no block");
    }
}
