//! Page mapping whose table lies in flash ([`MappingCache`]): its translation pages are logical pages behind those
//! of the host, so that they are placed, moved and audited as data are.

mod cache;

use crate::checkpoint::Checkpointed;
use crate::config::Config;
use crate::ftl::Placed;
use crate::ftl::block_manager::BlockManager;
use crate::ftl::image::Image;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn};
use crate::placement::HostPage;

use super::{Mapping, ReclaimPlan, SavedMapping, page};

pub use cache::SavedCache;
use cache::{MappingCache, Place};

/// A place in the cache for an entry of the mapping table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// Room without an eviction.
    Free,
    /// An entry has left that was in flash as well.
    Evicted,
    /// An entry has left that is still to be written to this translation page.
    EvictedTo(Lpn),
}

/// Page mapping, and the part of its table that is in RAM.
#[derive(Debug, Checkpointed)]
pub struct DemandPaged {
    cache: MappingCache,
    /// Pages of the host; translation pages are behind them.
    logical_pages: u32,
}

impl DemandPaged {
    /// With nothing written.
    pub fn new(config: &Config, tables: &Tables) -> Self {
        let cache = MappingCache::new(config, tables.geometry.dies());
        Self { cache, logical_pages: tables.logical_pages() as u32 }
    }

    /// The translation page that holds the entry of `lpn`.
    pub fn translation_page_of(&self, lpn: Lpn) -> Lpn {
        self.translation_page(self.cache.page_of(lpn))
    }

    const fn translation_page(&self, page: u32) -> Lpn {
        Lpn(self.logical_pages + page)
    }

    /// Looks for the entry of `lpn` in the cache, and notes that it is used.
    pub fn find_entry(&mut self, lpn: Lpn) -> bool {
        self.cache.find(lpn)
    }

    /// Makes room for an entry that is to be [loaded](Self::load_entry); `None` if others on their way
    /// have taken all the room there is.
    pub fn make_room_for_entry(&mut self) -> Option<Room> {
        Some(match self.cache.take_place()? {
            Place::Empty => Room::Free,
            Place::Reused => Room::Evicted,
            Place::After(page) => Room::EvictedTo(self.translation_page(page)),
        })
    }

    /// The page that stands for those whose entries come into the cache with that of `lpn`.
    pub const fn first_of_place(&self, lpn: Lpn) -> Lpn {
        self.cache.first_of_place(lpn)
    }

    /// Whether what leaves the cache is a whole translation page, which need not be read to be written.
    pub const fn evicts_pages(&self) -> bool {
        self.cache.holds_pages()
    }

    /// Whether the entry of `lpn`, or another that comes with it, must be read from its translation page: it has been
    /// written there, and is not in RAM.
    pub fn must_fetch_entry(&self, tables: &Tables, lpn: Lpn) -> bool {
        self.is_in_flash(tables, lpn) && !self.cache.knows_place_of(lpn)
    }

    /// The entry of `lpn` has come into the cache, with those that share its place.
    pub fn load_entry(&mut self, tables: &mut Tables, lpn: Lpn) {
        let BlockManager { map, audit, .. } = &mut tables.manager;
        if let Some(audit) = audit {
            let loaded = self.cache.entries_with(lpn).filter(|lpn| !self.cache.knows(*lpn));
            loaded.for_each(|lpn| audit.entry_loaded(lpn, map.physical(lpn)));
        }
        self.cache.load(lpn);
    }

    /// The translation pages that are to be written because the entry of `lpn` may have changed without being in
    /// the cache.
    pub fn outdated_by(&self, lpn: Lpn) -> Vec<Lpn> {
        let pages = self.cache.outdated_by(lpn);
        pages.into_iter().map(|page| self.translation_page(page)).collect()
    }

    /// Takes the translation pages that are to be written because pages were moved on `die`.
    pub fn take_outdated(&mut self, die: DieId) -> Vec<Lpn> {
        let pages = self.cache.take_outdated(die);
        pages.into_iter().map(|page| self.translation_page(page)).collect()
    }

    /// Whether the translation page `page` is out of date, and entries that are not in the cache wait for
    /// it to be written.
    pub fn is_outdated(&self, page: Lpn) -> bool {
        self.cache.has_waiting(page.0 - self.logical_pages)
    }

    /// All translation pages that wait to be written.
    pub fn pages_waiting(&self) -> Vec<Lpn> {
        self.cache.pages_with_waiting().map(|page| self.translation_page(page)).collect()
    }

    const fn is_translation_page(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.logical_pages
    }

    /// `lpn` maps to something else now, or is a translation page that has been written.
    fn note_write(&mut self, tables: &mut Tables, lpn: Lpn) {
        if !self.is_translation_page(lpn) {
            return self.cache.changed(lpn);
        }
        let (cache, page) = (&mut self.cache, lpn.0 - self.logical_pages);
        let BlockManager { map, audit, .. } = &mut tables.manager;
        if let Some(audit) = audit {
            let entry = |lpn: Lpn| (lpn, map.physical(lpn), cache.is_unwritten(lpn));
            audit.entries_written(cache.entries_of(page).map(entry));
        }
        cache.written(page);
    }

    fn note_unmapped(&mut self, lpn: Lpn) {
        if !self.is_translation_page(lpn) {
            self.cache.changed(lpn);
        }
    }

    /// Whether the mapped page `lpn` has an entry in RAM or in flash; those of translation pages are in
    /// RAM.
    fn has_entry(&self, tables: &Tables, lpn: Lpn) -> bool {
        self.is_translation_page(lpn)
            || self.cache.is_unwritten(lpn)
            || self.is_in_flash(tables, lpn)
    }

    /// Whether the translation page of `lpn` has ever been written.
    fn is_in_flash(&self, tables: &Tables, lpn: Lpn) -> bool {
        let page = self.translation_page_of(lpn);
        page.index() < tables.map.logical_pages() && tables.has_data(page)
    }

    /// The host's pages and where their translation pages say that they are.
    fn written_entries(&self, tables: &Tables) -> impl Iterator<Item = (Lpn, Option<Ppn>)> {
        let pages = (0..self.logical_pages).map(Lpn);
        let written = pages.filter(|lpn| !self.cache.is_unwritten(*lpn));
        written.map(|lpn| (lpn, tables.lookup(lpn)))
    }

    /// Brings the entry of every page that holds data into a cache that has room for all: of those that
    /// are staged as well, which have no place in flash yet.
    fn keep_entries(&mut self, tables: &mut Tables) {
        for lpn in (0..self.logical_pages).map(Lpn) {
            if tables.has_data(lpn) && !self.cache.find(lpn) {
                self.make_room_for_entry();
                self.load_entry(tables, lpn);
            }
        }
    }

    /// Each entry that its last translation page does not hold waits to be written there.
    fn recover_entry(&mut self, tables: &Tables, lpn: Lpn, image: &Image) {
        let (found, entry) = (tables.lookup(lpn), image.entries[lpn.index()]);
        if tables.translation_pages() == 0 {
            if found.is_some() {
                self.note_unmapped(lpn);
            }
            return;
        }
        let page = self.translation_page_of(lpn);
        let version = tables.audit.as_ref().and_then(|audit| audit.version(page));
        let is_intact = image.entry_versions.get(&page).copied() == version;
        if !is_intact || found != entry {
            self.note_unmapped(lpn);
        }
    }
}

impl Mapping for DemandPaged {
    #[inline(never)]
    fn place(&mut self, tables: &mut Tables, plane: PlaneId, page: HostPage) -> Placed {
        let placed = tables.append_for_host(self, plane, tables.stream_of(page), page.lpn);
        self.note_write(tables, page.lpn);
        placed
    }

    fn next_offset(&self, tables: &Tables, plane: PlaneId, page: HostPage) -> Option<u32> {
        tables.offset_for_host(tables.stream_of(page), plane)
    }

    #[inline(never)]
    fn relocate(&mut self, tables: &mut Tables, from: Ppn) -> Placed {
        let placed = tables.relocate_as_placed(self, from);
        self.moved(tables, tables.logical(placed.page), tables.geometry.plane_of(from));
        placed
    }

    fn choose_victim(&mut self, tables: &mut Tables, plane: PlaneId) -> Option<BlockId> {
        page::choose_victim(tables, plane)
    }

    fn plan(&mut self, tables: &mut Tables, victim: BlockId) -> ReclaimPlan {
        page::plan(tables, victim)
    }

    fn erased(&mut self, tables: &mut Tables, plane: PlaneId, block: BlockId) {
        page::erased(tables, plane, block);
    }

    fn unmapped(&mut self, _: &mut Tables, lpn: Lpn) {
        self.note_unmapped(lpn);
    }

    fn moved(&mut self, tables: &Tables, lpn: Lpn, plane: PlaneId) {
        if !self.is_translation_page(lpn) {
            self.cache.moved(lpn, tables.geometry.die_of_plane(plane));
        }
    }

    fn paging(&self) -> Option<&DemandPaged> {
        Some(self)
    }

    fn paging_mut(&mut self) -> Option<&mut DemandPaged> {
        Some(self)
    }

    fn recover_entries(&mut self, tables: &mut Tables, image: &Image) {
        for lpn in (0..self.logical_pages).map(Lpn) {
            self.recover_entry(tables, lpn, image);
        }
        if tables.translation_pages() == 0 {
            self.keep_entries(tables);
        }
        self.restore_audit(tables);
    }

    fn saved(&self) -> SavedMapping {
        SavedMapping::DemandPaged(self.cache.saved())
    }

    fn restore(&mut self, saved: &SavedMapping, tables: &Tables) -> Result<(), &'static str> {
        let SavedMapping::DemandPaged(saved) = saved else { return Err("mapping") };
        let is_sound = self.cache.restore(saved);
        let mut mapped = tables.map.mapped().map(|(lpn, _)| lpn);
        match is_sound && mapped.all(|lpn| self.has_entry(tables, lpn)) {
            true => Ok(()),
            false => Err("cached mapping"),
        }
    }

    fn restore_audit(&self, tables: &mut Tables) {
        let written: Vec<_> = self.written_entries(tables).collect();
        if let Some(audit) = &mut tables.manager.audit {
            audit.entries_restored(written.into_iter());
        }
    }

    fn check(&self, tables: &Tables) -> Result<(), String> {
        self.cache.check()?;
        let Some(audit) = &tables.audit else { return Ok(()) };
        audit.check_entries(self.written_entries(tables))
    }
}
