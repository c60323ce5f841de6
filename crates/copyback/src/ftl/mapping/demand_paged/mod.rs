//! Page mapping whose table lies in flash ([`MappingCache`]): its translation pages are logical pages behind those
//! of the host, so that they are placed, moved and audited as data are.

mod cache;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ftl::Placed;
use crate::ftl::audit::Audit;
use crate::ftl::block_manager::BlockManager;
use crate::ftl::image::Image;
use crate::ftl::page_map::PageMap;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::placement::HostPage;

use super::page::Page;
use super::{
    Change, Facts, Left, Mapping, Occasion, Outdated, Put, ReclaimPlan, SavedMapping, Stage,
    Translated,
};

pub use cache::SavedCache;
use cache::{MappingCache, Place};

/// Page mapping, and the part of its table that is in RAM.
#[derive(Debug, Checkpointed)]
pub struct DemandPaged {
    cache: MappingCache,
    /// Pages of the host; translation pages are behind them.
    logical_pages: u32,
}

impl DemandPaged {
    /// With nothing written.
    pub fn new(config: &Resolved, tables: &Tables) -> Self {
        let cache = MappingCache::new(config, tables.geometry.dies());
        Self { cache, logical_pages: tables.limits().logical_pages() as u32 }
    }

    /// The translation page that holds the entry of `lpn`.
    fn translation_page_of(&self, lpn: Lpn) -> Lpn {
        self.translation_page(self.cache.page_of(lpn))
    }

    const fn translation_page(&self, page: u32) -> Lpn {
        Lpn(self.logical_pages + page)
    }

    /// Makes room for an entry that is to be [loaded](Self::load_entry).
    fn make_room(&mut self) -> Translated {
        match self.cache.take_place() {
            None => Translated::NoRoom,
            Some(Place::Empty) => Translated::Room(Left::Nothing),
            Some(Place::Reused) => Translated::Room(Left::Written),
            Some(Place::After(page)) => Translated::Room(Left::Unwritten {
                page: self.translation_page(page),
                is_whole: self.cache.holds_pages(),
            }),
        }
    }

    /// Whether the entry of `lpn`, or another that comes with it, must be read from its translation page: it has been
    /// written there, and is not in RAM.
    fn must_fetch_entry(&self, tables: &Tables, lpn: Lpn) -> bool {
        self.is_in_flash(tables, lpn) && !self.cache.knows_place_of(lpn)
    }

    /// Notes that the entry of `lpn` has come into the cache, with those that share its place.
    fn load_entry(&mut self, map: &PageMap, audit: Option<&mut Audit>, lpn: Lpn) {
        if let Some(audit) = audit {
            let loaded = self.cache.entries_with(lpn).filter(|lpn| !self.cache.knows(*lpn));
            loaded.for_each(|lpn| audit.entry_loaded(lpn, map.physical(lpn)));
        }
        self.cache.load(lpn);
    }

    const fn is_translation_page(&self, lpn: Lpn) -> bool {
        lpn.0 >= self.logical_pages
    }

    /// `lpn` maps to something else now, or is a translation page that has been written.
    fn note_write(&mut self, map: &PageMap, audit: Option<&mut Audit>, lpn: Lpn) {
        if !self.is_translation_page(lpn) {
            return self.cache.changed(lpn);
        }
        let (cache, page) = (&mut self.cache, lpn.0 - self.logical_pages);
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
    fn written_entries(&self, map: &PageMap) -> impl Iterator<Item = (Lpn, Option<Ppn>)> {
        let pages = (0..self.logical_pages).map(Lpn);
        let written = pages.filter(|lpn| !self.cache.is_unwritten(*lpn));
        written.map(|lpn| (lpn, map.physical(lpn)))
    }

    /// Brings the entry of every page that holds data into a cache that has room for all: of those that
    /// are staged as well, which have no place in flash yet.
    fn keep_entries(&mut self, tables: &mut Tables) {
        for lpn in (0..self.logical_pages).map(Lpn) {
            if tables.has_data(lpn) && !self.cache.find(lpn) {
                self.make_room();
                let BlockManager { map, audit, .. } = &mut tables.manager;
                self.load_entry(map, audit.as_deref_mut(), lpn);
            }
        }
    }

    /// Each entry that its last translation page does not hold waits to be written there.
    fn recover_entry(&mut self, tables: &Tables, lpn: Lpn, image: &Image) {
        let (found, entry) = (tables.lookup(lpn), image.entries[lpn.index()]);
        if tables.limits().translation_pages() == 0 {
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

impl DemandPaged {
    // Apart: page mapping's own code for these is inlined.
    #[inline(never)]
    fn write(&mut self, tables: &mut Tables, plane: PlaneId, page: HostPage) -> Placed {
        let placed = tables.append_for_host(self, plane, tables.stream_of(page), page.lpn);
        let BlockManager { map, audit, .. } = &mut tables.manager;
        self.note_write(map, audit.as_deref_mut(), page.lpn);
        placed
    }

    #[inline(never)]
    fn relocate(&mut self, tables: &mut Tables, from: Ppn) -> Placed {
        let placed = tables.relocate_as_placed(self, from);
        self.note_move(tables, tables.logical(placed.page), tables.geometry.plane_of(from));
        placed
    }

    fn note_move(&mut self, tables: &Tables, lpn: Lpn, plane: PlaneId) {
        if !self.is_translation_page(lpn) {
            self.cache.moved(lpn, tables.geometry.die_of_plane(plane));
        }
    }

    fn recover_entries(&mut self, tables: &mut Tables, image: &Image) {
        for lpn in (0..self.logical_pages).map(Lpn) {
            self.recover_entry(tables, lpn, image);
        }
        if tables.limits().translation_pages() == 0 {
            self.keep_entries(tables);
        }
        let BlockManager { map, audit, .. } = &mut tables.manager;
        self.report_to_audit(map, audit.as_deref_mut());
    }

    fn report_to_audit(&self, map: &PageMap, audit: Option<&mut Audit>) {
        if let Some(audit) = audit {
            audit.entries_restored(self.written_entries(map));
        }
    }
}

impl Mapping for DemandPaged {
    #[inline(always)]
    fn put(&mut self, tables: &mut Tables, put: Put) -> Placed {
        match put {
            Put::Write(plane, page) => self.write(tables, plane, page),
            Put::Move(from) => self.relocate(tables, from),
        }
    }

    fn next_offset(&self, tables: &Tables, plane: PlaneId, page: HostPage) -> Option<u32> {
        tables.offset_for_host(tables.stream_of(page), plane)
    }

    fn choose_victim(&mut self, tables: &mut Tables, occasion: Occasion<'_>) -> Option<BlockId> {
        Page.choose_victim(tables, occasion)
    }

    fn plan(&mut self, tables: &mut Tables, victim: BlockId) -> ReclaimPlan {
        Page.plan(tables, victim)
    }

    #[inline(always)]
    fn note(&mut self, tables: &mut Tables, change: Change<'_>) {
        match change {
            Change::Unmapped(lpn) => self.note_unmapped(lpn),
            Change::Moved { lpn, plane } => self.note_move(tables, lpn, plane),
            Change::AuditBegins => {
                let BlockManager { map, audit, .. } = &mut tables.manager;
                self.report_to_audit(map, audit.as_deref_mut());
            }
            Change::TableFound(image) => self.recover_entries(tables, image),
            other => Page.note(tables, other),
        }
    }

    fn translate(&mut self, tables: &mut Tables, lpn: Lpn, stage: Stage) -> Translated {
        match stage {
            Stage::Asked if self.cache.find(lpn) => Translated::Known,
            Stage::Asked => Translated::Waits {
                with: self.cache.first_of_place(lpn),
                page: self.translation_page_of(lpn),
            },
            Stage::NextForRoom => self.make_room(),
            Stage::HasRoom if self.must_fetch_entry(tables, lpn) => {
                Translated::ReadFirst(self.translation_page_of(lpn))
            }
            Stage::HasRoom | Stage::WasRead => {
                let BlockManager { map, audit, .. } = &mut tables.manager;
                self.load_entry(map, audit.as_deref_mut(), lpn);
                Translated::Known
            }
        }
    }

    fn outdated(&mut self, which: Outdated) -> Vec<Lpn> {
        let pages = match which {
            Outdated::By(lpn) => self.cache.outdated_by(lpn),
            Outdated::On(die) => self.cache.take_outdated(die),
            Outdated::Page(lpn) => self.cache.waiting_in(lpn.0 - self.logical_pages),
            Outdated::All => self.cache.pages_with_waiting(),
        };
        pages.into_iter().map(|page| self.translation_page(page)).collect()
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

    fn check(&self, tables: &Tables) -> Result<(), String> {
        self.cache.check()?;
        let Some(audit) = &tables.audit else { return Ok(()) };
        audit.check_entries(self.written_entries(&tables.map))
    }

    fn facts(&self) -> Facts {
        Facts { translates: true, ..Facts::default() }
    }
}
