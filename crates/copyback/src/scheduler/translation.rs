//! The mapping on the clock, where its table lies in flash: page operations wait here until the entry of
//! their page is in RAM. What is read and written for that are page operations like those of the host.
//!
//! ```text
//!   miss ──► room in the cache ──► write back what left ──► fetch ──► entry in RAM ──► page operation
//! ```

use std::collections::VecDeque;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::backend::Backend;
use crate::checkpoint::Checkpointed;
use crate::ftl::{Ftl, Room};
use crate::ids::{DieId, Lpn};
use crate::observer::Party;
use crate::purpose::Owner;
use crate::transaction::{Fifo, Kind, Transaction, TransactionId, Wait};
use crate::units::{Duration, Instant};

use super::Scheduler;

/// Entries on their way into RAM or out of it.
#[derive(Debug, Checkpointed)]
pub struct Translation {
    /// The page operations that wait for the entry of each page, or the first of those whose entries come together.
    /// Nobody goes through the pages, whose order means nothing.
    waiting: HashMap<Lpn, Fifo, FixedState>,
    /// Pages whose entry waits for room in the cache.
    without_room: VecDeque<Lpn>,
    /// Every translation page, from the first one on.
    pages: Vec<Underway>,
    first_page: Lpn,
    /// The pages whose entries follow writes that a die has taken, by order of submission: what changes now is not in
    /// what is written.
    begun: HashMap<u64, Pages, FixedState>,
    /// Reads and writes of translation pages that are waiting or in service.
    operations: usize,
}

/// Pages of the host, mostly one.
type Pages = SmallVec<[Lpn; 2]>;

/// Operations under way for a translation page.
#[derive(Debug, Clone, Default, Checkpointed)]
struct Underway {
    /// If it is being read, the pages whose entries are wanted of it.
    wanted: Pages,
    /// If it is to be written, the pages whose entries take the room of what is written.
    write_back: Option<Pages>,
}

impl Translation {
    /// Creates the state without an operation under way.
    pub fn new(ftl: &Ftl) -> Self {
        Self {
            waiting: HashMap::default(),
            without_room: VecDeque::new(),
            pages: vec![Underway::default(); ftl.translation_pages()],
            first_page: Lpn::from_index(ftl.logical_pages()),
            begun: HashMap::default(),
            operations: 0,
        }
    }

    fn of(&mut self, page: Lpn) -> &mut Underway {
        &mut self.pages[page.index() - self.first_page.index()]
    }
}

impl Scheduler {
    fn translation(&mut self) -> &mut Translation {
        self.translation.as_deref_mut().expect("asked only where the mapping is demand paged")
    }

    /// Whether the mapping of an operation's page is in RAM. If not, the operation goes on when it is.
    #[inline]
    pub(super) fn is_translated(
        &mut self,
        backend: &mut Backend,
        id: TransactionId,
        now: Instant,
    ) -> bool {
        self.translation.is_none() || self.finds_entry(backend, id, now)
    }

    fn finds_entry(&mut self, backend: &mut Backend, id: TransactionId, now: Instant) -> bool {
        let Some(translation) = &mut self.translation else { return true };
        let transaction = self.queues.transactions.get_mut(id);
        if transaction.owner == Owner::Translation {
            return true;
        }
        // Where others wait for it, it is not there.
        if backend.ftl.paging_mut().find_entry(transaction.lpn) {
            backend.counters.mapping.hits += 1;
            return true;
        }
        backend.counters.mapping.misses += 1;
        let lpn = backend.ftl.paging().first_of_place(transaction.lpn);
        transaction.wait = Wait::Translation(now);
        let waiting = translation.waiting.entry(lpn).or_default();
        let is_first = waiting.is_empty();
        waiting.push(id, &mut self.queues.transactions);
        if is_first {
            translation.without_room.push_back(lpn);
            self.make_room(backend, Duration::ZERO, now);
        }
        false
    }

    /// Gives entries that wait for room what there is: by the end of an operation that without collections
    /// would have ended `late` earlier.
    fn make_room(&mut self, backend: &mut Backend, late: Duration, now: Instant) {
        while let Some(lpn) = self.translation().without_room.front().copied()
            && let Some(room) = backend.ftl.paging_mut().make_room_for_entry()
        {
            self.translation().without_room.pop_front();
            backend.counters.mapping.evictions += u64::from(room != Room::Free);
            match room {
                Room::Free | Room::Evicted => self.fetch(backend, lpn, late, now),
                Room::EvictedTo(page) => {
                    backend.counters.mapping.dirty_evictions += 1;
                    let kind = match backend.ftl.paging().evicts_pages() {
                        true => Kind::Write,
                        false => Kind::ReadToUpdate,
                    };
                    self.write_back(backend, page, kind, Some(lpn), late, now);
                }
            }
        }
    }

    /// Reads the entry of `lpn` from its translation page, if it is there; shares a read that is under
    /// way. Without collections it would have done so `late` earlier.
    fn fetch(&mut self, backend: &mut Backend, lpn: Lpn, late: Duration, now: Instant) {
        if !backend.ftl.paging().must_fetch_entry(&backend.ftl, lpn) {
            return self.load(backend, lpn, late, now);
        }
        let page = backend.ftl.paging().translation_page_of(lpn);
        let translation = self.translation();
        let wanted = &mut translation.of(page).wanted;
        wanted.push(lpn);
        if wanted.len() > 1 {
            return;
        }
        translation.operations += 1;
        let id = self.admit(Owner::Translation, page, Kind::Read, late);
        self.enqueue_read(backend, id, now);
    }

    /// The entry of `lpn` is in RAM: what waits for it goes on. Without collections it would have been so `late`
    /// earlier.
    fn load(&mut self, backend: &mut Backend, lpn: Lpn, late: Duration, now: Instant) {
        let page =
            Party { owner: Owner::Translation, lpn: backend.ftl.paging().translation_page_of(lpn) };
        backend.ftl.load_entry(lpn);
        let mut waiting = self.translation().waiting.remove(&lpn).unwrap_or_default();
        while let Some(id) = waiting.pop(&self.queues.transactions) {
            self.end_wait_for_other(backend, id, late, Some(page), now);
            match self.queues.transactions.get(id).kind {
                Kind::Read => self.enqueue_read(backend, id, now),
                Kind::Write | Kind::ReadToUpdate | Kind::OfStripe => {
                    self.begin_write(backend, id, now);
                }
            }
        }
    }

    /// Updates the translation page `page` by an operation of this kind, or lets an update that has not begun do.
    /// The entry of `follower`, if there is one, is fetched after that.
    /// A drive that is read-only keeps what the page would hold in RAM.
    fn write_back(
        &mut self,
        backend: &mut Backend,
        page: Lpn,
        kind: Kind,
        follower: Option<Lpn>,
        late: Duration,
        now: Instant,
    ) {
        if backend.is_read_only() {
            return follower.into_iter().for_each(|lpn| self.fetch(backend, lpn, late, now));
        }
        let translation = self.translation();
        let underway = translation.of(page);
        let is_new = underway.write_back.is_none();
        underway.write_back.get_or_insert_default().extend(follower);
        if is_new {
            translation.operations += 1;
            let id = self.admit(Owner::Translation, page, kind, late);
            self.begin_write(backend, id, now);
        }
    }

    /// Updates translation pages if the entry of `lpn` has changed without being in the cache.
    pub(super) fn write_back_if_waiting(&mut self, backend: &mut Backend, lpn: Lpn, now: Instant) {
        let pages = backend.ftl.outdated_by(lpn);
        self.update_pages(backend, pages, now);
    }

    /// Updates the translation pages that are out of date because pages were moved on `die`.
    pub fn write_back_outdated(&mut self, backend: &mut Backend, die: DieId, now: Instant) {
        let pages = backend.ftl.take_outdated(die);
        self.update_pages(backend, pages, now);
    }

    /// Updates the translation pages that the preparation or a recovery has left out of date.
    pub fn write_back_what_waits(&mut self, backend: &mut Backend, now: Instant) {
        let pages = backend.ftl.pages_waiting();
        self.update_pages(backend, pages, now);
    }

    fn update_pages(&mut self, backend: &mut Backend, pages: Vec<Lpn>, now: Instant) {
        for page in pages {
            self.write_back(backend, page, Kind::ReadToUpdate, None, Duration::ZERO, now);
        }
    }

    /// The write of the translation page `page` is not done, as the drive is read-only.
    pub(super) fn translation_write_rejected(
        &mut self,
        backend: &mut Backend,
        page: Lpn,
        late: Duration,
        now: Instant,
    ) {
        let translation = self.translation();
        translation.operations -= 1;
        let followers = translation.of(page).write_back.take().unwrap_or_default();
        followers.into_iter().for_each(|lpn| self.fetch(backend, lpn, late, now));
        self.make_room(backend, late, now);
    }

    /// A die has taken the write of a translation page.
    pub(super) fn translation_write_begins(
        &mut self,
        backend: &mut Backend,
        page: Lpn,
        sequence: u64,
    ) {
        backend.counters.mapping.writes += 1;
        let translation = self.translation();
        let followers = translation.of(page).write_back.take().unwrap_or_default();
        if !followers.is_empty() {
            translation.begun.insert(sequence, followers);
        }
    }

    /// Page operations that are waiting or in service, but for those that are the drive's own: reads and writes of
    /// translation pages, and reads to rebuild a lost die.
    pub fn host_operations(&self) -> usize {
        let own = self.translation.as_ref().map_or(0, |translation| translation.operations);
        self.outstanding() - own - self.reads_to_rebuild()
    }

    /// A translation page has been read or written by `done`.
    pub(super) fn finish_translation(
        &mut self,
        backend: &mut Backend,
        done: &Transaction,
        now: Instant,
    ) {
        let (page, late) = (done.lpn, done.late());
        self.translation().operations -= 1;
        match done.kind {
            Kind::Read | Kind::OfStripe => {
                let wanted = std::mem::take(&mut self.translation().of(page).wanted);
                wanted.into_iter().for_each(|lpn| self.load(backend, lpn, late, now));
            }
            Kind::Write | Kind::ReadToUpdate => {
                let followers = self.translation().begun.remove(&done.sequence).unwrap_or_default();
                followers.into_iter().for_each(|lpn| self.fetch(backend, lpn, late, now));
            }
        }
        self.make_room(backend, late, now);
    }
}
