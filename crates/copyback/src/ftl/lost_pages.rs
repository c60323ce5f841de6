//! Pages whose data are lost (`ssd.faults`): a move could not read them, they could not be rebuilt, or the host wrote a part of a
//! page whose rest could neither be read nor be made up.
//!
//! Such a page is programmed with a mark in its spare area, as firmware does, so that a read of it ends with an error and not with
//! data that nobody wrote. The mark goes where the page goes, and with the page: once the host has written it again, or trimmed it.

use std::collections::BTreeSet;

use crate::checkpoint::Checkpointed;
use crate::config::Config;
use crate::ids::{BlockId, Ppn};

use super::Ftl;
use super::tables::Tables;

/// The lost pages of a drive.
#[derive(Debug, Default, Checkpointed)]
pub struct LostPages {
    /// Pages that a move could not read, and that it has not programmed elsewhere yet.
    unreadable: BTreeSet<Ppn>,
    /// Pages that were programmed with a mark.
    marked: BTreeSet<Ppn>,
    /// Pages that were lost as they were moved.
    in_moves: u64,
}

impl LostPages {
    /// None yet, on a drive of a checked configuration that may lose some.
    pub fn new(config: &Config) -> Option<Box<Self>> {
        config.ssd.faults.pages_may_be_lost().then(Box::default)
    }

    /// Whether the data of `page` are lost, for a move that takes them elsewhere: counts that if the move has lost them.
    fn take(&mut self, page: Ppn) -> Option<Lost> {
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
enum Lost {
    Before,
    Now,
}

impl Tables {
    /// Whether the data of `page` are lost, as its mark says.
    pub fn is_marked(&self, page: Ppn) -> bool {
        self.lost_pages.as_ref().is_some_and(|lost| lost.marked.contains(&page))
    }

    /// Whether the data of `page` are lost, or a move could not read them.
    pub fn is_illegible(&self, page: Ppn) -> bool {
        self.lost_pages
            .as_ref()
            .is_some_and(|lost| lost.marked.contains(&page) || lost.unreadable.contains(&page))
    }

    /// Pages that were lost as they were moved.
    pub fn pages_lost_in_moves(&self) -> u64 {
        self.lost_pages.as_ref().map_or(0, |lost| lost.in_moves)
    }

    /// What was in `from` is in `to` now, lost or not.
    pub(super) fn carry_loss(&mut self, from: Ppn, to: Ppn) {
        if self.takes_loss(from) {
            self.mark(to);
        }
    }

    /// Whether the data of `from`, which are moved, are lost.
    pub(super) fn takes_loss(&mut self, from: Ppn) -> bool {
        let Some(lost) = &mut self.lost_pages else { return false };
        let found = lost.take(from);
        if found == Some(Lost::Now)
            && let Some(audit) = &mut self.audit
        {
            audit.lost_in(from);
        }
        found.is_some()
    }

    /// `page` has been programmed with a mark.
    pub(super) fn mark(&mut self, page: Ppn) {
        if let Some(lost) = &mut self.lost_pages {
            lost.marked.insert(page);
        }
    }

    /// `block` holds nothing any more.
    pub(super) fn forget_lost_pages(&mut self, block: BlockId) {
        let Some(lost) = &mut self.lost_pages else { return };
        let pages = 0..self.geometry.pages_per_block;
        for page in pages.map(|offset| self.geometry.page(block, offset)) {
            lost.unreadable.remove(&page);
            lost.marked.remove(&page);
        }
    }
}

impl Ftl {
    /// A move reads `page` in vain. Returns whether it is made up from the others of its stripe, for which the move
    /// [waits](Tables::waits_for_stripe); else it is lost with the move.
    pub fn reads_in_vain_to_move(&mut self, page: Ppn) -> bool {
        let is_made_up = !self.is_marked(page) && self.tables.wait_for_stripe(page);
        if !is_made_up {
            self.cannot_read_to_move(page);
        }
        is_made_up
    }

    /// A page that waited for its stripe has been made up, or cannot be.
    pub fn stripe_was_read(&mut self, page: Ppn, is_made_up: bool) {
        if !is_made_up {
            self.cannot_read_to_move(page);
        }
        self.tables.page_is_made_up(page);
    }

    /// `page` is lost as it is moved, or copied inside the flash with what could not be read.
    pub fn cannot_read_to_move(&mut self, page: Ppn) {
        let is_of_host = self.is_of_host(page);
        if let Some(lost) = self.tables.lost_pages.as_mut().filter(|_| is_of_host) {
            lost.unreadable.insert(page);
        }
    }

    /// What is in `page` is lost: as it cannot be made up, or the rest of what the host has written a part of. Returns whether it
    /// is.
    pub fn lose(&mut self, page: Ppn) -> bool {
        let is_of_host = self.is_of_host(page);
        if is_of_host {
            self.tables.mark(page);
            if let Some(audit) = &mut self.tables.audit {
                audit.lost_in(page);
            }
        }
        is_of_host
    }

    /// Whether `page` holds data of the host: what is in a translation page the drive knows from elsewhere.
    fn is_of_host(&self, page: Ppn) -> bool {
        !self.is_translation_page(self.logical(page))
    }
}
