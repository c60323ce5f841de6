//! Division into pages of a mapping table that lies in flash.

use super::{CachedUnit, Mapping, Ssd};

/// The table of a demand-paged mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DemandPaging {
    /// Entries that the cache has room for; no more than there are.
    pub cached_entries: u64,
    /// Entries that come into the cache and leave it together.
    pub entries_per_place: u64,
    /// Entries that may wait in RAM without being in the cache.
    pub unwritten_entries: u64,
    /// Entries of a translation page.
    pub entries_per_page: u64,
    /// Translation pages; none if the whole table fits in the cache.
    pub translation_pages: u64,
}

impl Ssd {
    /// The table of a checked configuration, if its mapping is demand paged.
    pub fn demand_paging(&self) -> Option<DemandPaging> {
        let Mapping::DemandPaged { cache, cached_entry, entry, unit, unwritten } = self.ftl.mapping
        else {
            return None;
        };
        let logical_pages = self.logical_pages();
        let entries_per_page = self.managed_page_size().0 / entry.0;
        let (entries_per_place, place) = match unit {
            CachedUnit::Entry => (1, cached_entry.0),
            CachedUnit::Segment => (entries_per_page, self.managed_page_size().0),
        };
        let cached_entries = (cache.0 / place * entries_per_place).min(logical_pages);
        let needs_pages = cached_entries < logical_pages;
        let translation_pages =
            if needs_pages { logical_pages.div_ceil(entries_per_page) } else { 0 };
        Some(DemandPaging {
            cached_entries,
            entries_per_place,
            unwritten_entries: unwritten.0 / cached_entry.0,
            entries_per_page,
            translation_pages,
        })
    }

    /// Translation pages of the device.
    pub fn translation_pages(&self) -> u64 {
        self.demand_paging().map_or(0, |paging| paging.translation_pages)
    }
}
