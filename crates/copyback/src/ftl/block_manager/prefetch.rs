//! Prefetches of the tables' entries that are looked at soon. They only save time.

use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::victim::Victims;

use super::BlockManager;

impl BlockManager {
    /// Brings the table entry that a write of `lpn` will need into the cache, without waiting for it.
    pub fn fetch(&self, lpn: Lpn) {
        self.map.fetch(lpn);
        self.streams.fetch(lpn);
    }

    /// Fetches what a write of `lpn`, whose entry has come, changes of the block that the page is in.
    pub fn fetch_old_page(&self, lpn: Lpn) {
        if let Some(page) = self.map.physical(lpn) {
            let block = self.geometry.block_of(page);
            self.blocks.fetch(block, self.geometry.page_offset(page));
            if !self.limits.victims_are_lines {
                self.victims.fetch(block);
            }
        }
    }

    /// Fetches what is known of the valid page at `offset` of `block`, or the next one behind it, which is moved soon.
    #[inline(always)]
    pub fn fetch_move(&self, block: BlockId, offset: u32) {
        if let Some(page) = self.next_valid(block, offset) {
            self.fetch_to_move(page);
        }
    }

    /// Fetches what is known of the valid page `page`, which is moved soon, and of those behind it.
    #[inline(always)]
    pub fn fetch_to_move(&self, page: Ppn) {
        self.map.fetch(self.map.logical(page));
        self.map.fetch_behind(page);
    }

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
