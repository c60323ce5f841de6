//! Demand-paged page mapping (DFTL: Gupta, Kim, Urgaonkar, ASPLOS 2009): which entries of the mapping
//! table are in RAM, and which of them their translation page in flash does not hold yet.
//!
//! An entry is read from its translation page when it is needed, and takes the place of the one that
//! was used longest ago. One that has changed stays in RAM until its translation page is written, with
//! all that has changed in that page. The mapping table has the values; here it is only known
//! where they are.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::config::Config;
use crate::ids::{DieId, Lpn};
use crate::lists::Lists;

/// The cached mapping table.
#[derive(Debug, Checkpointed)]
pub struct MappingCache {
    entries: Vec<Entry>,
    /// Cached entries, the one used longest ago first.
    recent: Lists,
    capacity: usize,
    cached: usize,
    /// Places that have been given to entries on their way.
    taken: usize,
    entries_per_page: usize,
    /// Of each translation page, the entries that wait to be written.
    waiting: Vec<u32>,
    /// Of each die, translation pages that have got waiting entries because pages were moved there.
    outdated: Vec<Vec<u32>>,
}

/// Where an entry of the table is: two bits, so that the entries of a page that has been written change many
/// at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
struct Entry(u8);

impl Entry {
    /// In its translation page, if that has ever been written; else it maps to nothing.
    const IN_FLASH: Self = Self(0);
    /// In the cache as well.
    const CLEAN: Self = Self(Self::CACHED);
    /// It has left the cache, or was never there, and waits to be written to its translation page.
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

    /// Its translation page has been written.
    const fn write(&mut self) {
        self.0 &= Self::CACHED;
    }
}

/// What a file tells of the cache.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedCache {
    /// Cached entries, the one used longest ago first, and whether they have changed.
    cached: Vec<(Lpn, bool)>,
    waiting: Vec<Lpn>,
}

/// A place in the cache for an entry on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// One that nothing was in.
    Empty,
    /// That of an entry that is in flash as well.
    Reused,
    /// That of an entry of this translation page, which must be written first.
    After(u32),
}

/// The only list of [`MappingCache::recent`].
const ALL: usize = 0;

impl MappingCache {
    /// An empty cache of a checked configuration whose mapping is demand paged.
    pub fn new(config: &Config, dies: usize) -> Self {
        let paging = config.ssd.demand_paging().expect("made only if the mapping is demand paged");
        let entries = config.logical_pages() as usize;
        Self {
            entries: vec![Entry::IN_FLASH; entries],
            recent: Lists::new(entries, 1),
            capacity: paging.cached_entries as usize,
            cached: 0,
            taken: 0,
            entries_per_page: paging.entries_per_page as usize,
            waiting: vec![0; entries.div_ceil(paging.entries_per_page as usize)],
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

    /// Looks for the entry of `lpn` in the cache, in which it becomes the last to leave.
    pub fn find(&mut self, lpn: Lpn) -> bool {
        let is_cached = self.is_cached(lpn);
        if is_cached {
            self.recent.remove(ALL, lpn.index());
            self.recent.push_back(ALL, lpn.index());
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

    /// Whether the translation page of `lpn` need not hold what `lpn` maps to.
    pub fn is_unwritten(&self, lpn: Lpn) -> bool {
        self.entries[lpn.index()].is_unwritten()
    }

    /// Whether the entry of `lpn` waits to be written to its translation page.
    pub fn is_waiting(&self, lpn: Lpn) -> bool {
        self.entries[lpn.index()] == Entry::WAITING
    }

    /// Takes a place for an entry that is to be [loaded](Self::load). `None` if others on their way have
    /// taken all of them.
    pub fn take_place(&mut self) -> Option<Place> {
        let place = if self.cached + self.taken < self.capacity {
            Place::Empty
        } else {
            self.evict(Lpn::from_index(self.recent.front(ALL)?))
        };
        self.taken += 1;
        Some(place)
    }

    fn evict(&mut self, lpn: Lpn) -> Place {
        let is_dirty = self.entries[lpn.index()] == Entry::DIRTY;
        self.recent.remove(ALL, lpn.index());
        self.cached -= 1;
        if is_dirty {
            self.wait(lpn);
            Place::After(self.page_of(lpn))
        } else {
            self.entries[lpn.index()] = Entry::IN_FLASH;
            Place::Reused
        }
    }

    fn wait(&mut self, lpn: Lpn) {
        let page = self.page_of(lpn) as usize;
        self.entries[lpn.index()] = Entry::WAITING;
        self.waiting[page] += 1;
    }

    /// The entry of `lpn`, which is not cached, has come into the place that was taken for it.
    pub fn load(&mut self, lpn: Lpn) {
        let page = self.page_of(lpn) as usize;
        let entry = &mut self.entries[lpn.index()];
        if *entry == Entry::WAITING {
            *entry = Entry::DIRTY;
            self.waiting[page] -= 1;
        } else {
            *entry = Entry::CLEAN;
        }
        self.recent.push_back(ALL, lpn.index());
        self.taken -= 1;
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
        if self.is_waiting(lpn) {
            let page = self.page_of(lpn);
            self.outdated[die.index()].push(page);
        }
    }

    /// Takes the translation pages, in order, that have entries which wait to be written because pages
    /// were moved on `die`.
    pub fn take_outdated(&mut self, die: DieId) -> Vec<u32> {
        let mut pages = std::mem::take(&mut self.outdated[die.index()]);
        pages.sort_unstable();
        pages.dedup();
        pages.retain(|page| self.has_waiting(*page));
        pages
    }

    /// Whether `page` has entries that wait to be written.
    pub fn has_waiting(&self, page: u32) -> bool {
        self.waiting[page as usize] > 0
    }

    /// All translation pages that have entries which wait to be written.
    pub fn pages_with_waiting(&self) -> impl Iterator<Item = u32> {
        (0..self.waiting.len() as u32).filter(|page| self.has_waiting(*page))
    }

    /// `page` has been written, with all that has changed in it.
    pub fn written(&mut self, page: u32) {
        let entries = self.indices_of(page);
        self.entries[entries].iter_mut().for_each(Entry::write);
        self.waiting[page as usize] = 0;
    }

    /// What a file has to tell.
    pub fn saved(&self) -> SavedCache {
        let cached = self.recent.items(ALL).map(Lpn::from_index);
        let all = (0..self.entries.len()).map(Lpn::from_index);
        SavedCache {
            cached: cached.map(|lpn| (lpn, self.is_unwritten(lpn))).collect(),
            waiting: all.filter(|lpn| self.is_waiting(*lpn)).collect(),
        }
    }

    /// Makes of an empty cache the one that was saved. False if it has no room for that.
    pub fn restore(&mut self, saved: &SavedCache) -> bool {
        let in_flash =
            |cache: &Self, lpn: Lpn| cache.entries.get(lpn.index()) == Some(&Entry::IN_FLASH);
        let has_waiting = saved.waiting.iter().all(|lpn| {
            let is_new = in_flash(self, *lpn);
            if is_new {
                self.wait(*lpn);
            }
            is_new
        });
        let has_cached = saved.cached.iter().all(|(lpn, is_dirty)| {
            let is_new = in_flash(self, *lpn);
            if is_new {
                self.entries[lpn.index()] = if *is_dirty { Entry::DIRTY } else { Entry::CLEAN };
                self.recent.push_back(ALL, lpn.index());
                self.cached += 1;
            }
            is_new
        });
        has_waiting && has_cached && self.cached <= self.capacity
    }

    /// Checks that counts and lists agree with where each entry is.
    ///
    /// # Errors
    /// Names what does not.
    pub fn check(&self) -> Result<(), String> {
        let entries = (0..self.entries.len()).map(Lpn::from_index);
        let cached = entries.clone().filter(|lpn| self.is_cached(*lpn)).count();
        let mut listed = self.recent.items(ALL).map(Lpn::from_index);
        if cached != self.cached
            || cached + self.taken > self.capacity
            || self.recent.items(ALL).count() != cached
            || !listed.all(|lpn| self.is_cached(lpn))
        {
            return Err(format!("{cached} cached mappings, {} counted", self.cached));
        }
        let mut waiting = vec![0; self.waiting.len()];
        for lpn in entries.filter(|lpn| self.is_waiting(*lpn)) {
            waiting[self.page_of(lpn) as usize] += 1;
        }
        if waiting != self.waiting {
            return Err("the mappings that wait to be written are counted wrong".into());
        }
        Ok(())
    }
}
