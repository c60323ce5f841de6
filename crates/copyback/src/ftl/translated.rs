//! The translation layer whose mapping table lies in flash ([`MappingCache`]): its translation pages
//! are logical pages behind those of the host, so that they are placed, moved and audited as data are.

use crate::ids::{DieId, Lpn, Ppn};

use super::Ftl;
use super::mapping::{MappingCache, Place};

/// A place in the cache for an entry of the mapping table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Nothing had to leave.
    Free,
    /// An entry has left that was in flash as well.
    Evicted,
    /// An entry has left that is still to be written to this translation page.
    EvictedTo(Lpn),
}

impl Ftl {
    /// Whether the mapping table lies in flash.
    pub const fn is_demand_paged(&self) -> bool {
        self.cache.is_some()
    }

    /// Whether `lpn` is a translation page and not one of the host's.
    pub const fn is_translation_page(&self, lpn: Lpn) -> bool {
        lpn.index() >= self.limits.logical_pages
    }

    /// The translation page that holds the entry of `lpn`.
    pub fn translation_page_of(&self, lpn: Lpn) -> Lpn {
        self.translation_page(self.cache().page_of(lpn))
    }

    /// Translation pages of the device.
    pub const fn translation_pages(&self) -> usize {
        self.map.logical_pages() - self.limits.logical_pages
    }

    const fn translation_page(&self, page: u32) -> Lpn {
        Lpn(self.limits.logical_pages as u32 + page)
    }

    fn cache(&self) -> &MappingCache {
        self.cache.as_deref().expect("asked only where the mapping is demand paged")
    }

    fn cache_mut(&mut self) -> &mut MappingCache {
        self.cache.as_deref_mut().expect("asked only where the mapping is demand paged")
    }

    /// Looks for the entry of `lpn` in the cache, and notes that it is used.
    pub fn find_entry(&mut self, lpn: Lpn) -> bool {
        self.cache_mut().find(lpn)
    }

    /// Makes room for an entry that is to be [loaded](Self::load_entry); `None` if others on their way
    /// have taken all the room there is.
    pub fn make_room_for_entry(&mut self) -> Option<Room> {
        let place = self.cache_mut().take_place()?;
        Some(match place {
            Place::Empty => Room::Free,
            Place::Reused => Room::Evicted,
            Place::After(page) => Room::EvictedTo(self.translation_page(page)),
        })
    }

    /// Whether the entry of `lpn` must be read from its translation page: it has been written there, and
    /// is not in RAM.
    pub fn must_fetch_entry(&self, lpn: Lpn) -> bool {
        !self.cache().knows(lpn) && self.is_in_flash(lpn)
    }

    /// The entry of `lpn` has come into the cache.
    pub fn load_entry(&mut self, lpn: Lpn) {
        let is_from_flash = !self.cache().knows(lpn);
        let page = self.lookup(lpn);
        if is_from_flash && let Some(audit) = &mut self.audit {
            audit.entry_loaded(lpn, page);
        }
        self.cache_mut().load(lpn);
    }

    /// The translation page of `lpn`, if the entry is out of date there and not in the cache either.
    pub fn page_waiting_for(&self, lpn: Lpn) -> Option<Lpn> {
        let cache = self.cache.as_deref()?;
        cache.is_waiting(lpn).then(|| self.translation_page(cache.page_of(lpn)))
    }

    /// Takes the translation pages that are out of date because pages were moved on `die`.
    pub fn take_outdated(&mut self, die: DieId) -> Vec<Lpn> {
        let Some(cache) = self.cache.as_deref_mut() else { return Vec::new() };
        let pages = cache.take_outdated(die);
        pages.into_iter().map(|page| self.translation_page(page)).collect()
    }

    /// Whether the translation page `page` is out of date, and entries that are not in the cache wait for
    /// it to be written.
    pub fn is_outdated(&self, page: Lpn) -> bool {
        self.cache().has_waiting(page.0 - self.limits.logical_pages as u32)
    }

    /// All translation pages that wait to be written.
    pub fn pages_waiting(&self) -> Vec<Lpn> {
        let pages = self.cache.iter().flat_map(|cache| cache.pages_with_waiting());
        pages.map(|page| self.translation_page(page)).collect()
    }

    /// `lpn` has been written, which is a translation page or makes an entry of one change.
    pub(super) fn note_write(&mut self, lpn: Lpn) {
        if self.cache.is_none() {
            return;
        }
        if self.is_translation_page(lpn) {
            self.translation_page_written(lpn.0 - self.limits.logical_pages as u32);
        } else {
            self.cache_mut().changed(lpn);
        }
    }

    fn translation_page_written(&mut self, page: u32) {
        let Self { cache: Some(cache), map, audit, .. } = self else { return };
        if let Some(audit) = audit {
            let entry = |lpn: Lpn| (lpn, map.physical(lpn), cache.is_unwritten(lpn));
            audit.entries_written(cache.entries_of(page).map(entry));
        }
        cache.written(page);
    }

    /// The host's page `lpn` has been trimmed or taken into DRAM.
    pub(super) fn note_unmapped(&mut self, lpn: Lpn) {
        if self.cache.is_some() && !self.is_translation_page(lpn) {
            self.cache_mut().changed(lpn);
        }
    }

    /// `lpn` has been moved on `die`.
    pub(super) fn note_moved(&mut self, lpn: Lpn, die: DieId) {
        if self.cache.is_some() && !self.is_translation_page(lpn) {
            self.cache_mut().moved(lpn, die);
        }
    }

    /// Whether the mapped page `lpn` has an entry in RAM or in flash; those of translation pages are in
    /// RAM.
    pub(super) fn has_entry(&self, lpn: Lpn) -> bool {
        let is_in_ram = |lpn| self.cache.as_ref().is_none_or(|cache| cache.is_unwritten(lpn));
        self.is_translation_page(lpn) || is_in_ram(lpn) || self.is_in_flash(lpn)
    }

    /// Whether the translation page of `lpn` has ever been written.
    fn is_in_flash(&self, lpn: Lpn) -> bool {
        let page = self.translation_page_of(lpn);
        page.index() < self.map.logical_pages()
            && (self.map.physical(page).is_some() || self.is_parked(page))
    }

    /// The host's pages and where their translation pages say that they are.
    pub(super) fn written_entries(&self) -> impl Iterator<Item = (Lpn, Option<Ppn>)> {
        let pages = (0..self.limits.logical_pages).map(Lpn::from_index);
        let cache = self.cache.as_deref();
        let written = move |lpn: &Lpn| cache.is_some_and(|cache| !cache.is_unwritten(*lpn));
        pages.filter(written).map(|lpn| (lpn, self.map.physical(lpn)))
    }

    /// Checks that what is in RAM and in the translation pages is the whole table.
    pub(super) fn check_cache(&self) -> Result<(), String> {
        let Some(cache) = &self.cache else { return Ok(()) };
        cache.check()?;
        let Some(audit) = &self.audit else { return Ok(()) };
        audit.check_entries(self.written_entries())
    }
}
