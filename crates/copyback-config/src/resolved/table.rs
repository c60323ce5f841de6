//! Division into pages of a mapping table that lies in flash.

use super::Pages;
use crate::{CachedUnit, Mapping, Ssd};

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

impl DemandPaging {
    /// The table of so many logical pages, if the mapping is demand paged.
    pub(super) fn of(ssd: &Ssd, pages: &Pages, logical_pages: u64) -> Option<Self> {
        let Mapping::DemandPaged { cache, cached_entry, entry, unit, unwritten } = ssd.ftl.mapping
        else {
            return None;
        };
        let entries_per_page = pages.size.0 / entry.0.max(1);
        let (entries_per_place, place) = match unit {
            CachedUnit::Entry => (1, cached_entry),
            CachedUnit::Segment => (entries_per_page, pages.size),
        };
        let room = (cache.0 / place.0.max(1)).saturating_mul(entries_per_place);
        let cached_entries = room.min(logical_pages);
        let needs_pages = cached_entries < logical_pages;
        Some(Self {
            cached_entries,
            entries_per_place,
            unwritten_entries: unwritten.0 / cached_entry.0.max(1),
            entries_per_page,
            translation_pages: match needs_pages {
                true => logical_pages.div_ceil(entries_per_page.max(1)),
                false => 0,
            },
        })
    }
}
