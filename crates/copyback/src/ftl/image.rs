//! Image of a drive after a power cut: all that a recovery may look at.

use std::collections::BTreeMap;

use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::nand::Geometry;

use super::spare::Role;

/// Content of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// Erased page: it can be programmed.
    Erased,
    /// Page without usable data: its program was cut off, or it has long been out of date.
    Unreadable,
    /// Data, and what its spare area says of them.
    Written(Stamp),
}

/// Stamp in the spare area of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    /// The logical page.
    pub lpn: Lpn,
    /// Place of the write that the data are from in the order of all writes.
    pub version: u64,
    /// Place of the page's program in the order of all programs.
    pub sequence: u64,
}

/// State of a block.
#[derive(Debug, Clone, Copy)]
pub struct Block {
    /// Purpose that it was filled for.
    pub role: Role,
    /// Number of its erases.
    pub erases: u32,
    /// Whether its erase was cut off: it must be erased again.
    pub is_half_erased: bool,
}

/// Image of a drive after a power cut.
#[derive(Debug, Clone)]
pub struct Image {
    pub(super) geometry: Geometry,
    pub(super) pages: Vec<Page>,
    pub(super) blocks: Vec<Block>,
    /// Programs that were begun.
    pub(super) programs: u64,
    /// Place of each of the host's pages, as the last translation pages say.
    pub(super) entries: Vec<Option<Ppn>>,
    /// The version of each translation page that says so.
    pub(super) entry_versions: BTreeMap<Lpn, u64>,
    /// RAM that a drive with capacitors has saved.
    pub(super) saved: Option<Saved>,
}

/// Saved RAM of a drive with capacitors.
#[derive(Debug, Clone, Default)]
pub struct Saved {
    /// Logical pages that are mapped, by number.
    pub(super) is_mapped: Vec<bool>,
    /// Pages on their way from one block to another: where they came from, and their version.
    pub(super) staged: Vec<(Lpn, PlaneId, u64)>,
}

impl Image {
    /// The program of `page` was cut off.
    pub fn tear(&mut self, page: Ppn) {
        self.pages[page.index()] = Page::Unreadable;
    }

    /// The program of `page` was cut off, and with it the pages of its cells are lost that were programmed before, where so
    /// many pages share cells. Returns what they held.
    pub fn tear_paired(&mut self, page: Ppn, paired_pages: u32) -> Vec<Stamp> {
        let block = self.geometry.block_of(page);
        if self.is_in_cache(block) {
            return Vec::new();
        }
        let geometry = self.geometry;
        let units = geometry.units_per_program;
        let program = geometry.page_offset(page) / units;
        let first = program - program % paired_pages;
        let mut taken = Vec::new();
        for page in (first * units..program * units).map(|offset| geometry.page(block, offset)) {
            if let Some(stamp) = self.stamp(page) {
                taken.push(stamp);
                self.tear(page);
            }
        }
        taken
    }

    /// The program of `page` never began.
    pub fn blank(&mut self, page: Ppn) {
        self.pages[page.index()] = Page::Erased;
    }

    /// The erase of `block` was cut off.
    pub fn erase_in_part(&mut self, block: BlockId) {
        self.blocks[block.index()].is_half_erased = true;
        self.pages_of(block).for_each(|page| self.tear(page));
    }

    /// The erase of `block` was finished.
    pub fn erase(&mut self, block: BlockId) {
        self.blocks[block.index()].erases += 1;
        self.pages_of(block).for_each(|page| self.blank(page));
    }

    /// Whether `block` was filled in the mode of a cache.
    pub fn is_in_cache(&self, block: BlockId) -> bool {
        self.blocks[block.index()].role == Role::Cache
    }

    /// The pages of `block`.
    pub fn pages_of(
        &self,
        block: BlockId,
    ) -> impl DoubleEndedIterator<Item = Ppn> + ExactSizeIterator + use<> {
        let geometry = self.geometry;
        (0..geometry.pages_per_block).map(move |offset| geometry.page(block, offset))
    }

    /// Content of `page`.
    pub fn page(&self, page: Ppn) -> Page {
        self.pages[page.index()]
    }

    /// The spare area of `page`, if it can be read.
    pub fn stamp(&self, page: Ppn) -> Option<Stamp> {
        match self.page(page) {
            Page::Written(stamp) => Some(stamp),
            Page::Erased | Page::Unreadable => None,
        }
    }

    /// The spare areas of `block` that can be read.
    pub fn stamps(&self, block: BlockId) -> impl Iterator<Item = (Ppn, Stamp)> {
        self.pages_of(block).filter_map(|page| Some((page, self.stamp(page)?)))
    }

    /// Pages of `block` from the first to the last that is not erased.
    pub fn written(&self, block: BlockId) -> u32 {
        let last = self.pages_of(block).rposition(|page| self.page(page) != Page::Erased);
        last.map_or(0, |last| last as u32 + 1)
    }

    /// Whether the erase of `block` was cut off.
    pub fn is_half_erased(&self, block: BlockId) -> bool {
        self.blocks[block.index()].is_half_erased
    }

    /// Blocks of the device.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + use<> {
        (0..self.blocks.len()).map(BlockId::from_index)
    }
}
