//! Page map: the place of each logical page, whatever the mapping, and the logical page that each physical one
//! holds.

use copyback_memory::{prefetch, table};

use crate::checkpoint::Checkpointed;
use crate::ids::{Lpn, Ppn};

/// Entries in a line of the cache.
const ENTRIES_OF_A_LINE: usize = 64 / size_of::<Lpn>();

/// The mapping table and its inverse, four bytes an entry each.
#[derive(Debug, Checkpointed)]
pub struct PageMap {
    physical: Vec<Option<Ppn>>,
    /// The logical page last written to each physical page; current only where that page is valid.
    logical: Vec<Lpn>,
}

impl PageMap {
    /// A table in which nothing is mapped.
    pub fn new(logical_pages: usize, physical_pages: usize) -> Self {
        Self::of(table(logical_pages, None), physical_pages)
    }

    /// A table that comes from a file, to be [inverted](Self::invert).
    pub fn of(physical: Vec<Option<Ppn>>, physical_pages: usize) -> Self {
        Self { physical, logical: table(physical_pages, Lpn(0)) }
    }

    /// Brings the entry of `lpn` into the cache, without waiting for it.
    pub fn fetch(&self, lpn: Lpn) {
        prefetch(&self.physical, lpn.index());
    }

    /// Brings the inverse table's entry of `page` into the cache and the line behind it, without waiting.
    pub fn fetch_logical(&self, page: Ppn) {
        prefetch(&self.logical, page.index());
        self.fetch_behind(page);
    }

    /// Fetches what is known of the pages a line behind `page`.
    pub fn fetch_behind(&self, page: Ppn) {
        prefetch(&self.logical, page.index() + ENTRIES_OF_A_LINE);
    }

    pub fn physical(&self, lpn: Lpn) -> Option<Ppn> {
        self.physical[lpn.index()]
    }

    /// The logical page in the valid page `page`.
    pub fn logical(&self, page: Ppn) -> Lpn {
        self.logical[page.index()]
    }

    /// Maps `lpn` to `page`.
    #[inline(always)]
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

    /// The table itself: where each logical page lies.
    pub fn table(&self) -> &[Option<Ppn>] {
        &self.physical
    }

    /// Makes the inverse table, for a table that comes from a file. False if a mapped page does not exist or pass
    /// `claim`.
    pub fn invert(&mut self, mut claim: impl FnMut(Lpn, Ppn) -> bool) -> bool {
        let Self { physical, logical } = self;
        physical.iter().enumerate().all(|(lpn, page)| {
            let Some(page) = *page else { return true };
            let Some(entry) = logical.get_mut(page.index()) else { return false };
            *entry = Lpn::from_index(lpn);
            claim(*entry, page)
        })
    }

    /// Logical pages of the table.
    pub const fn logical_pages(&self) -> usize {
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
