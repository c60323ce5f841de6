//! Marks of lost pages go where the pages go.

use crate::ids::{BlockId, Ppn};

use super::BlockManager;
use crate::ftl::lost_pages::Lost;

impl BlockManager {
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

    /// Carries the mark of a lost page from `from` to `to`.
    pub(in crate::ftl) fn carry_loss(&mut self, from: Ppn, to: Ppn) {
        if self.takes_loss(from) {
            self.mark(to);
        }
    }

    /// Whether the data of `from`, which are moved, are lost.
    pub(in crate::ftl) fn takes_loss(&mut self, from: Ppn) -> bool {
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
    pub(in crate::ftl) fn mark(&mut self, page: Ppn) {
        if let Some(lost) = &mut self.lost_pages {
            lost.marked.insert(page);
        }
    }

    /// `block` holds nothing any more.
    pub(in crate::ftl) fn forget_lost_pages(&mut self, block: BlockId) {
        let Some(lost) = &mut self.lost_pages else { return };
        let pages = 0..self.geometry.pages_per_block;
        for page in pages.map(|offset| self.geometry.page(block, offset)) {
            lost.unreadable.remove(&page);
            lost.marked.remove(&page);
        }
    }
}
