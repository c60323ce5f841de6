//! What is asked of the table of a mapping that keeps it in flash.

use crate::ids::{DieId, Lpn};

use super::mapping::{DemandPaged, Mapping, Room, each};
use super::{Ftl, Tables};

const HAS_ONE: &str = "asked only where the mapping is demand paged";

impl Ftl {
    /// Whether the mapping table lies in flash.
    pub fn is_demand_paged(&self) -> bool {
        self.paging().is_some()
    }

    fn paging(&self) -> Option<&DemandPaged> {
        each!(&self.mapping, mapping => mapping.paging())
    }

    fn table_in_flash(&mut self) -> (&mut DemandPaged, &mut Tables) {
        let paging = each!(&mut self.mapping, mapping => mapping.paging_mut());
        (paging.expect(HAS_ONE), &mut self.tables)
    }

    /// The translation page that holds the entry of `lpn`.
    pub fn translation_page_of(&self, lpn: Lpn) -> Lpn {
        self.paging().expect(HAS_ONE).translation_page_of(lpn)
    }

    /// Looks for the entry of `lpn` in the cache, and notes that it is used.
    pub fn find_entry(&mut self, lpn: Lpn) -> bool {
        self.table_in_flash().0.find_entry(lpn)
    }

    /// Makes room for an entry that is to be [loaded](Self::load_entry); `None` if others on their way
    /// have taken all the room there is.
    pub fn make_room_for_entry(&mut self) -> Option<Room> {
        self.table_in_flash().0.make_room_for_entry()
    }

    /// Whether the entry of `lpn` must be read from its translation page: it has been written there, and
    /// is not in RAM.
    pub fn must_fetch_entry(&self, lpn: Lpn) -> bool {
        self.paging().expect(HAS_ONE).must_fetch_entry(&self.tables, lpn)
    }

    /// The entry of `lpn` has come into the cache.
    pub fn load_entry(&mut self, lpn: Lpn) {
        let (paging, tables) = self.table_in_flash();
        paging.load_entry(tables, lpn);
    }

    /// The translation page of `lpn`, if the entry is out of date there and not in the cache either.
    pub fn page_waiting_for(&self, lpn: Lpn) -> Option<Lpn> {
        self.paging()?.page_waiting_for(lpn)
    }

    /// Takes the translation pages that are out of date because pages were moved on `die`.
    pub fn take_outdated(&mut self, die: DieId) -> Vec<Lpn> {
        let paging = each!(&mut self.mapping, mapping => mapping.paging_mut());
        paging.map(|paging| paging.take_outdated(die)).unwrap_or_default()
    }

    /// Whether the translation page `page` is out of date, and entries that are not in the cache wait for
    /// it to be written.
    pub fn is_outdated(&self, page: Lpn) -> bool {
        self.paging().expect(HAS_ONE).is_outdated(page)
    }

    /// All translation pages that wait to be written.
    pub fn pages_waiting(&self) -> Vec<Lpn> {
        self.paging().map(DemandPaged::pages_waiting).unwrap_or_default()
    }
}
