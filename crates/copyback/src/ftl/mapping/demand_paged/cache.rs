//! Demand-paged page mapping (DFTL: Gupta, Kim, Urgaonkar, ASPLOS 2009): which entries of the mapping
//! table are in RAM, and which of them their translation page in flash does not hold yet.
//!
//! An entry is read from its translation page when it is needed, and takes the place of the one that
//! was used longest ago. One that has changed stays in RAM until its translation page is written, with
//! all that has changed in that page. The mapping table has the values; here it is only known
//! where they are.
//!
//! A place of the cache holds one entry, or all that are in one translation page. The page of a place is that of each
//! of its entries.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::num::NonZeroU32;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::{DieId, Lpn};
use crate::lists::Lists;

/// The cached mapping table.
#[derive(Debug, Checkpointed)]
pub struct MappingCache {
    entries: Vec<Entry>,
    /// Places of the table that are cached, the one used longest ago first.
    recent: Lists,
    /// Places that fit in the cache.
    capacity: usize,
    cached: usize,
    /// Places that have been given to entries on their way.
    taken: usize,
    entries_per_place: usize,
    entries_per_page: usize,
    /// Of each translation page, the entries that wait to be written.
    waiting: Vec<u32>,
    /// Of all translation pages.
    waiting_in_all: usize,
    /// Number of entries that may wait before translation pages are written for them. `None`: each collection
    /// has those written of what it has moved.
    may_wait: Option<NonZeroU32>,
    /// Of each die, translation pages that have got waiting entries because pages were moved there.
    outdated: Vec<Vec<u32>>,
}

/// State of an entry of the table: two bits, so that the entries of a page that has been written change many at
/// a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
struct Entry(u8);

impl Entry {
    /// In its translation page, if that has ever been written; else it maps to nothing.
    const IN_FLASH: Self = Self(0);
    /// In the cache as well.
    const CLEAN: Self = Self(Self::CACHED);
    /// Entry that is not in the cache, and waits to be written to its translation page.
    const WAITING: Self = Self(Self::UNWRITTEN);
    /// In the cache only: it has changed since its translation page was written.
    const DIRTY: Self = Self(Self::CACHED | Self::UNWRITTEN);

    /// The bit of those in the cache.
    const CACHED: u8 = 1;
    /// The bit of those that their translation page does not hold.
    const UNWRITTEN: u8 = 2;

    const fn is_cached(self) -> bool {
        self.0 & Self::CACHED != 0
    }

    const fn is_unwritten(self) -> bool {
        self.0 & Self::UNWRITTEN != 0
    }

    /// Records that its translation page has been written.
    const fn write(&mut self) {
        self.0 &= Self::CACHED;
    }

    /// Records that it has come into the cache.
    const fn come(&mut self) {
        self.0 |= Self::CACHED;
    }

    /// Records that it has left the cache.
    const fn leave(&mut self) {
        self.0 &= Self::UNWRITTEN;
    }
}

/// Saved state of the cache.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedCache {
    /// The first entry of each cached place, the one used longest ago first, and whether it has changed.
    cached: Vec<(Lpn, bool)>,
    /// All others that their translation page does not hold.
    waiting: Vec<Lpn>,
}

/// A place in the cache for an entry on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// One that nothing was in.
    Empty,
    /// Place of an entry that is in flash as well.
    Reused,
    /// Place of an entry of this translation page, which must be written first.
    After(u32),
}

/// The only list of [`MappingCache::recent`].
const ALL: usize = 0;

impl MappingCache {
    /// An empty cache of a checked configuration whose mapping is demand paged.
    pub fn new(config: &Resolved, dies: usize) -> Self {
        let paging = config.drive.table.expect("made only if the mapping is demand paged");
        let entries = config.drive.capacity.logical_pages as usize;
        let per_place = paging.entries_per_place as usize;
        Self {
            entries: vec![Entry::IN_FLASH; entries],
            recent: Lists::new(entries.div_ceil(per_place), 1),
            capacity: (paging.cached_entries as usize).div_ceil(per_place),
            cached: 0,
            taken: 0,
            entries_per_place: per_place,
            entries_per_page: paging.entries_per_page as usize,
            waiting: vec![0; entries.div_ceil(paging.entries_per_page as usize)],
            waiting_in_all: 0,
            may_wait: NonZeroU32::new(u32::try_from(paging.unwritten_entries).unwrap_or(u32::MAX)),
            outdated: vec![Vec::new(); dies],
        }
    }

    /// The translation page that holds the entry of `lpn`.
    pub const fn page_of(&self, lpn: Lpn) -> u32 {
        (lpn.index() / self.entries_per_page) as u32
    }

    /// The logical pages whose entries `page` holds.
    pub fn entries_of(&self, page: u32) -> impl Iterator<Item = Lpn> + use<> {
        self.indices_of(page).map(Lpn::from_index)
    }

    fn indices_of(&self, page: u32) -> Range<usize> {
        let first = page as usize * self.entries_per_page;
        first..self.entries.len().min(first + self.entries_per_page)
    }

    const fn place_of(&self, lpn: Lpn) -> usize {
        lpn.index() / self.entries_per_place
    }

    fn entries_of_place(&self, place: usize) -> Range<usize> {
        let first = place * self.entries_per_place;
        first..self.entries.len().min(first + self.entries_per_place)
    }

    /// The first of the pages whose entries come and go with that of `lpn`.
    pub const fn first_of_place(&self, lpn: Lpn) -> Lpn {
        Lpn::from_index(self.place_of(lpn) * self.entries_per_place)
    }

    /// The pages whose entries come and go with that of `lpn`.
    pub fn entries_with(&self, lpn: Lpn) -> impl Iterator<Item = Lpn> + use<> {
        self.entries_of_place(self.place_of(lpn)).map(Lpn::from_index)
    }

    /// Whether what a place holds is a whole translation page.
    pub const fn holds_pages(&self) -> bool {
        self.entries_per_place > 1
    }

    /// Looks for the entry of `lpn` in the cache, in which it becomes the last to leave.
    pub fn find(&mut self, lpn: Lpn) -> bool {
        let is_cached = self.is_cached(lpn);
        if is_cached {
            let place = self.place_of(lpn);
            self.recent.remove(ALL, place);
            self.recent.push_back(ALL, place);
        }
        is_cached
    }

    fn is_cached(&self, lpn: Lpn) -> bool {
        self.entries[lpn.index()].is_cached()
    }

    /// Whether what `lpn` maps to is known without its translation page.
    pub fn knows(&self, lpn: Lpn) -> bool {
        self.entries[lpn.index()] != Entry::IN_FLASH
    }

    /// Whether what each page maps to whose entry comes with that of `lpn` is known without their translation page.
    pub fn knows_place_of(&self, lpn: Lpn) -> bool {
        let entries = &self.entries[self.entries_of_place(self.place_of(lpn))];
        entries.iter().all(|entry| *entry != Entry::IN_FLASH)
    }

    /// Whether the translation page of `lpn` need not hold what `lpn` maps to.
    pub fn is_unwritten(&self, lpn: Lpn) -> bool {
        self.entries[lpn.index()].is_unwritten()
    }

    /// Whether the entry of `lpn` waits to be written to its translation page.
    fn is_waiting(&self, lpn: Lpn) -> bool {
        self.entries[lpn.index()] == Entry::WAITING
    }

    /// Takes a place for an entry that is to be [loaded](Self::load). `None` if others on their way have
    /// taken all of them.
    pub fn take_place(&mut self) -> Option<Place> {
        let place = if self.cached + self.taken < self.capacity {
            Place::Empty
        } else {
            self.evict(self.recent.front(ALL)?)
        };
        self.taken += 1;
        Some(place)
    }

    fn evict(&mut self, place: usize) -> Place {
        self.recent.remove(ALL, place);
        self.cached -= 1;
        let entries = self.entries_of_place(place);
        let page = self.page_of(Lpn::from_index(entries.start));
        let mut dirty = 0;
        for entry in &mut self.entries[entries] {
            dirty += u32::from(*entry == Entry::DIRTY);
            entry.leave();
        }
        self.count_waiting(page, dirty);
        if dirty == 0 { Place::Reused } else { Place::After(page) }
    }

    fn count_waiting(&mut self, page: u32, entries: u32) {
        self.waiting[page as usize] += entries;
        self.waiting_in_all += entries as usize;
    }

    fn wait(&mut self, lpn: Lpn) {
        self.entries[lpn.index()] = Entry::WAITING;
        self.count_waiting(self.page_of(lpn), 1);
    }

    /// The entry of `lpn`, which is not cached, and those of its place have come into the one that was taken for
    /// them.
    pub fn load(&mut self, lpn: Lpn) {
        self.taken -= 1;
        self.fill(self.place_of(lpn));
    }

    fn fill(&mut self, place: usize) {
        let entries = self.entries_of_place(place);
        let page = self.page_of(Lpn::from_index(entries.start)) as usize;
        let mut waited = 0;
        for entry in &mut self.entries[entries] {
            waited += u32::from(*entry == Entry::WAITING);
            entry.come();
        }
        self.waiting[page] -= waited;
        self.waiting_in_all -= waited as usize;
        self.recent.push_back(ALL, place);
        self.cached += 1;
    }

    /// `lpn` maps to something else now.
    pub fn changed(&mut self, lpn: Lpn) {
        match self.entries[lpn.index()] {
            Entry::IN_FLASH => self.wait(lpn),
            Entry::CLEAN => self.entries[lpn.index()] = Entry::DIRTY,
            _ => {}
        }
    }

    /// `lpn` maps to something else now, because the page has been moved on `die`.
    pub fn moved(&mut self, lpn: Lpn, die: DieId) {
        self.changed(lpn);
        if self.is_waiting(lpn) && self.may_wait.is_none() {
            let page = self.page_of(lpn);
            self.outdated[die.index()].push(page);
        }
    }

    /// Takes the translation pages that are to be written because pages were moved on `die`: in order those that have
    /// entries of them which wait, or as many as make room where some may wait.
    pub fn take_outdated(&mut self, die: DieId) -> Vec<u32> {
        if let Some(most) = self.may_wait {
            return self.pages_beyond(most);
        }
        let mut pages = std::mem::take(&mut self.outdated[die.index()]);
        pages.sort_unstable();
        pages.dedup();
        pages.retain(|page| self.has_waiting(*page));
        pages
    }

    /// The translation pages that are to be written because the entry of `lpn` may have begun to wait.
    pub fn outdated_by(&self, lpn: Lpn) -> Vec<u32> {
        match self.may_wait {
            Some(most) => self.pages_beyond(most),
            None if self.is_waiting(lpn) => vec![self.page_of(lpn)],
            None => Vec::new(),
        }
    }

    /// Picks as few translation pages as are to be written for no more than `most` entries to wait: those with
    /// most of them, the first of such with as many.
    fn pages_beyond(&self, most: NonZeroU32) -> Vec<u32> {
        let mut beyond = self.waiting_in_all.saturating_sub(most.get() as usize);
        if beyond == 0 {
            return Vec::new();
        }
        let waiting = (0..).map(Reverse).zip(&self.waiting).map(|(page, entries)| (*entries, page));
        let mut by_entries: BinaryHeap<_> = waiting.collect();
        let next = || {
            let (entries, Reverse(page)) = (beyond > 0).then(|| by_entries.pop())??;
            beyond = beyond.saturating_sub(entries as usize);
            Some(page)
        };
        std::iter::from_fn(next).collect()
    }

    /// `page`, if it has entries that wait to be written.
    pub fn waiting_in(&self, page: u32) -> Vec<u32> {
        self.has_waiting(page).then_some(page).into_iter().collect()
    }

    /// Whether `page` has entries that wait to be written.
    fn has_waiting(&self, page: u32) -> bool {
        self.waiting[page as usize] > 0
    }

    /// All translation pages that have entries which wait to be written.
    pub fn pages_with_waiting(&self) -> Vec<u32> {
        (0..self.waiting.len() as u32).filter(|page| self.has_waiting(*page)).collect()
    }

    /// `page` has been written, with all that has changed in it.
    pub fn written(&mut self, page: u32) {
        let entries = self.indices_of(page);
        self.entries[entries].iter_mut().for_each(Entry::write);
        self.waiting_in_all -= std::mem::take(&mut self.waiting[page as usize]) as usize;
    }

    /// Saved state of the cache.
    pub fn saved(&self) -> SavedCache {
        let first = |place| Lpn::from_index(place * self.entries_per_place);
        let cached = self.recent.items(ALL).map(first);
        let all = (0..self.entries.len()).map(Lpn::from_index);
        let is_told = |lpn| self.is_cached(lpn) && lpn == self.first_of_place(lpn);
        SavedCache {
            cached: cached.map(|lpn| (lpn, self.is_unwritten(lpn))).collect(),
            waiting: all.filter(|lpn| self.is_unwritten(*lpn) && !is_told(*lpn)).collect(),
        }
    }

    /// Makes of an empty cache the one that was saved. False if it has no room for that.
    pub fn restore(&mut self, saved: &SavedCache) -> bool {
        let has_waiting = saved.waiting.iter().all(|lpn| self.restore_waiting(*lpn));
        let has_cached = saved.cached.iter().all(|(lpn, is_dirty)| {
            let is_new = self.entries.get(lpn.index()).is_some_and(|entry| !entry.is_cached())
                && self.first_of_place(*lpn) == *lpn
                && (!*is_dirty || self.restore_waiting(*lpn));
            if is_new {
                self.fill(self.place_of(*lpn));
            }
            is_new
        });
        has_waiting && has_cached && self.cached <= self.capacity
    }

    fn restore_waiting(&mut self, lpn: Lpn) -> bool {
        let is_new = self.entries.get(lpn.index()) == Some(&Entry::IN_FLASH);
        if is_new {
            self.wait(lpn);
        }
        is_new
    }

    /// Checks that counts and lists agree with where each entry is.
    ///
    /// # Errors
    /// Names what does not.
    pub fn check(&self) -> Result<(), String> {
        let entries = (0..self.entries.len()).map(Lpn::from_index);
        let cached = entries.clone().filter(|lpn| self.is_cached(*lpn)).count();
        let listed = || self.recent.items(ALL).flat_map(|place| self.entries_of_place(place));
        if self.recent.items(ALL).count() != self.cached
            || self.cached + self.taken > self.capacity
            || listed().count() != cached
            || !listed().all(|entry| self.entries[entry].is_cached())
        {
            return Err(format!("{cached} cached mappings, {} places counted", self.cached));
        }
        let mut waiting = vec![0; self.waiting.len()];
        for lpn in entries.filter(|lpn| self.is_waiting(*lpn)) {
            waiting[self.page_of(lpn) as usize] += 1;
        }
        if waiting != self.waiting || waiting.iter().sum::<u32>() as usize != self.waiting_in_all {
            return Err("the mappings that wait to be written are counted wrong".into());
        }
        Ok(())
    }
}
