//! Pages whose data are lost (`ssd.faults`): a move could not read them, they could not be rebuilt, or the host wrote a part of a
//! page whose rest could neither be read nor be made up.
//!
//! Such a page is programmed with a mark in its spare area, as firmware does, so that a read of it ends with an error and not with
//! data that nobody wrote. The mark goes where the page goes, and with the page: once the host has written it again, or trimmed it.

use std::collections::BTreeSet;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::Ppn;

/// The lost pages of a drive.
#[derive(Debug, Default, Checkpointed)]
pub struct LostPages {
    /// Pages that a move could not read, and that it has not programmed elsewhere yet.
    pub(super) unreadable: BTreeSet<Ppn>,
    /// Pages that were programmed with a mark.
    pub(super) marked: BTreeSet<Ppn>,
    /// Pages that were lost as they were moved.
    pub(super) in_moves: u64,
}

impl LostPages {
    /// Creates an empty record, on a drive of a checked configuration that may lose pages.
    pub fn new(config: &Resolved) -> Option<Box<Self>> {
        config.ssd.faults.pages_may_be_lost().then(Box::default)
    }

    /// Whether the data of `page` are lost, for a move that takes them elsewhere: counts that if the move has lost them.
    pub(super) fn take(&mut self, page: Ppn) -> Option<Lost> {
        if self.marked.contains(&page) {
            return Some(Lost::Before);
        }
        let is_new = self.unreadable.remove(&page);
        self.in_moves += u64::from(is_new);
        is_new.then_some(Lost::Now)
    }
}

/// Since when data are lost that are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lost {
    Before,
    Now,
}
