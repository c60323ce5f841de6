//! Page mapping: every logical page maps to any physical page, and the whole table is in RAM. A
//! block is reclaimed by moving its valid pages and erasing it.

use serde::{Deserialize, Serialize};

use crate::ftl::Ftl;
use crate::ids::{BlockId, Lpn, Ppn};

/// The mapping table and its inverse, four bytes an entry each.
#[derive(Debug, Serialize, Deserialize)]
pub struct PageMap {
    physical: Vec<Option<Ppn>>,
    /// The logical page last written to each physical page; current only where that page is valid.
    #[serde(skip)]
    logical: Vec<Lpn>,
}

impl PageMap {
    /// A table in which nothing is mapped.
    pub fn new(logical_pages: usize, physical_pages: usize) -> Self {
        Self { physical: vec![None; logical_pages], logical: vec![Lpn(0); physical_pages] }
    }

    pub fn physical(&self, lpn: Lpn) -> Option<Ppn> {
        self.physical[lpn.index()]
    }

    /// The logical page in the valid page `page`.
    pub fn logical(&self, page: Ppn) -> Lpn {
        self.logical[page.index()]
    }

    /// Maps `lpn` to `page`.
    pub fn set(&mut self, lpn: Lpn, page: Ppn) {
        self.logical[page.index()] = lpn;
        self.physical[lpn.index()] = Some(page);
    }

    /// Forgets `lpn` and returns where it was.
    pub fn unmap(&mut self, lpn: Lpn) -> Option<Ppn> {
        self.physical[lpn.index()].take()
    }

    /// Every mapped logical page and where it is.
    pub fn mapped(&self) -> impl Iterator<Item = (Lpn, Ppn)> {
        let entry = |(index, page): (usize, &Option<Ppn>)| Some((Lpn::from_index(index), (*page)?));
        self.physical.iter().enumerate().filter_map(entry)
    }

    /// Makes the inverse table of `physical_pages` from the mapping, each page of which must exist
    /// and pass `claim`. False if one does not.
    pub fn restore(
        &mut self,
        physical_pages: usize,
        mut claim: impl FnMut(Lpn, Ppn) -> bool,
    ) -> bool {
        let mut logical = vec![Lpn(0); physical_pages];
        for (lpn, page) in self.mapped() {
            match logical.get_mut(page.index()) {
                Some(entry) if claim(lpn, page) => *entry = lpn,
                _ => return false,
            }
        }
        self.logical = logical;
        true
    }

    /// Logical pages of the table.
    pub fn logical_pages(&self) -> usize {
        self.physical.len()
    }

    /// Checks that each mapped page is valid and points back.
    pub fn check(&self, is_valid: impl Fn(Ppn) -> bool) -> Result<(), String> {
        for (index, page) in self.physical.iter().enumerate() {
            let Some(page) = *page else { continue };
            let back = self.logical(page);
            if back.index() != index || !is_valid(page) {
                return Err(format!("Lpn({index}) maps to {page:?}, which holds {back:?}"));
            }
        }
        Ok(())
    }
}

/// One step of reclaiming a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReclaimStep {
    /// Move this valid page.
    Move(Ppn),
    /// Erase this block; nothing in it is valid any more.
    Erase(BlockId),
}

/// What is left to do to reclaim a block. It keeps a position, not a list of pages: what is valid
/// is looked up at each step.
#[derive(Debug)]
pub struct ReclaimPlan {
    block: BlockId,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// Pages before this offset have been moved.
    Moving(u32),
    Erasing,
}

impl ReclaimPlan {
    /// All of `block` is to be reclaimed.
    pub const fn new(block: BlockId) -> Self {
        Self { block, stage: Stage::Moving(0) }
    }

    /// The block that is reclaimed.
    pub const fn block(&self) -> BlockId {
        self.block
    }

    /// The first page that is left to be moved.
    pub fn first_page(&self, ftl: &Ftl) -> Option<Ppn> {
        match self.stage {
            Stage::Moving(offset) => ftl.next_valid(self.block, offset),
            Stage::Erasing => None,
        }
    }

    /// The next step; `None` after the erase.
    pub fn next_step(&mut self, ftl: &Ftl) -> Option<ReclaimStep> {
        let Stage::Moving(offset) = self.stage else { return None };
        match ftl.next_valid(self.block, offset) {
            Some(page) => {
                self.stage = Stage::Moving(ftl.geometry.page_offset(page) + 1);
                Some(ReclaimStep::Move(page))
            }
            None => {
                self.stage = Stage::Erasing;
                Some(ReclaimStep::Erase(self.block))
            }
        }
    }
}
