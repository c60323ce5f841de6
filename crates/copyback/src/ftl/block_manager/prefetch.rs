//! Prefetches of the tables' entries that are looked at soon. They only save time.

use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::victim::Victims;

use super::BlockManager;

/// Prefetches of what is known of pages and blocks.
#[derive(Debug, Clone, Copy)]
pub struct Prefetch<'a> {
    pub(super) manager: &'a BlockManager,
}

impl Prefetch<'_> {
    /// Brings the table entry that a write of `lpn` will need into the cache, without waiting for it.
    pub fn entry(&self, lpn: Lpn) {
        self.manager.map.fetch(lpn);
        self.manager.streams.fetch(lpn);
    }

    /// Fetches what a write of `lpn`, whose entry has come, changes of the block that the page is in.
    pub fn old_page(&self, lpn: Lpn) {
        if let Some(page) = self.manager.map.physical(lpn) {
            let block = self.manager.geometry.block_of(page);
            self.manager.blocks.fetch(block, self.manager.geometry.page_offset(page));
            if !self.manager.limits.victims_are_lines {
                self.manager.victims.fetch(block);
            }
        }
    }

    /// Fetches what is known of the valid page at `offset` of `block`, or the next one behind it, which is moved soon.
    #[inline(always)]
    pub fn move_behind(&self, block: BlockId, offset: u32) {
        if let Some(page) = self.manager.next_valid(block, offset) {
            self.page_to_move(page);
        }
    }

    /// Fetches what is known of the valid page `page`, which is moved soon, and of those behind it.
    #[inline(always)]
    pub fn page_to_move(&self, page: Ppn) {
        self.manager.map.fetch(self.manager.map.logical(page));
        self.manager.map.fetch_behind(page);
    }
}

impl BlockManager {
    pub(super) fn fetch_likely_victim(&mut self, plane: PlaneId, is_wanted: bool) {
        if is_wanted
            && !self.limits.victims_are_lines
            && let Some(victim) = self.victims.likely(plane)
        {
            self.blocks.fetch(victim, 0);
            self.victims.fetch(victim);
            self.map.fetch_logical(self.geometry.page(victim, 0));
        }
    }
}
