//! Pages whose data are lost (`ssd.faults`): a move could not read them, they could not be rebuilt, or the host wrote a part of a
//! page whose rest could neither be read nor be made up.
//!
//! Such a page is programmed with a mark in its spare area, as firmware does, so that a read of it ends with an error and not with
//! data that nobody wrote. The mark goes where the page goes, and with the page: once the host has written it again, or trimmed it.

use std::collections::BTreeSet;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::{BlockId, Ppn};
use crate::nand::Geometry;

/// The lost pages of a drive, if it may lose any.
#[derive(Debug, Checkpointed)]
pub struct LostPages {
    known: Option<Box<Known>>,
}

/// Lost pages.
#[derive(Debug, Default, Checkpointed)]
struct Known {
    /// Pages that a move could not read, and that it has not programmed elsewhere yet.
    unreadable: BTreeSet<Ppn>,
    /// Pages that were programmed with a mark.
    marked: BTreeSet<Ppn>,
    /// Pages that were lost as they were moved.
    in_moves: u64,
}

impl LostPages {
    /// Creates an empty record, on a drive of a checked configuration that may lose pages.
    pub fn new(config: &Resolved) -> Self {
        Self { known: config.ssd.faults.pages_may_be_lost().then(Box::default) }
    }

    /// Whether the data of `page` are lost, as its mark says.
    pub fn is_marked(&self, page: Ppn) -> bool {
        self.known.as_ref().is_some_and(|known| known.marked.contains(&page))
    }

    /// Whether the data of `page` are lost, or a move could not read them.
    pub fn is_illegible(&self, page: Ppn) -> bool {
        let is_unreadable = |known: &Known| known.unreadable.contains(&page);
        self.is_marked(page) || self.known.as_deref().is_some_and(is_unreadable)
    }

    /// Pages that were lost as they were moved.
    pub fn in_moves(&self) -> u64 {
        self.known.as_ref().map_or(0, |known| known.in_moves)
    }

    /// Whether the data of `page` are lost, for a move that takes them elsewhere: counts that if the move has lost them.
    pub(super) fn take(&mut self, page: Ppn) -> Option<Lost> {
        let known = self.known.as_mut()?;
        if known.marked.contains(&page) {
            return Some(Lost::Before);
        }
        let is_new = known.unreadable.remove(&page);
        known.in_moves += u64::from(is_new);
        is_new.then_some(Lost::Now)
    }

    /// Notes that `page` has been programmed with a mark.
    pub(super) fn mark(&mut self, page: Ppn) {
        if let Some(known) = &mut self.known {
            known.marked.insert(page);
        }
    }

    /// Notes that a move could not read `page`.
    pub(super) fn note_unreadable(&mut self, page: Ppn) {
        if let Some(known) = &mut self.known {
            known.unreadable.insert(page);
        }
    }

    /// Forgets the pages of `block`, which holds nothing any more.
    pub(super) fn forget(&mut self, block: BlockId, geometry: &Geometry) {
        let Some(known) = &mut self.known else { return };
        for page in (0..geometry.pages_per_block).map(|offset| geometry.page(block, offset)) {
            known.unreadable.remove(&page);
            known.marked.remove(&page);
        }
    }
}

/// Since when data are lost that are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    Before,
    Now,
}
