//! Translation on the clock, where a mapping keeps its table in flash: page operations wait here until it is known where
//! their page lies. The mapping says what comes next ([`Stage`], [`Translated`]); what is read and written for that are
//! page operations like those of the host.
//!
//! ```text
//!   miss ──► room in RAM ──► write back what left ──► read first ──► known ──► page operation
//! ```

use std::collections::VecDeque;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use smallvec::SmallVec;

use crate::backend::Backend;
use crate::checkpoint::Checkpointed;
use crate::ftl::{Left, Outdated, Stage, Translated};
use crate::ids::Lpn;
use crate::observer::Party;
use crate::purpose::Owner;
use crate::transaction::{Fifo, Kind, Transaction, TransactionId, Wait};
use crate::units::{Duration, Instant};

use super::Scheduler;

/// Entries of the table on their way into RAM or out of it. The order of pages in maps means nothing.
#[derive(Debug, Default, Checkpointed)]
pub struct Translation {
    /// Page operations that wait, under the page that is translated for all of them.
    waiting: HashMap<Lpn, Waiting, FixedState>,
    /// Pages whose translation waits for room in RAM.
    without_room: VecDeque<Lpn>,
    /// Pages that are being read first, and those whose translation goes on then.
    reads: HashMap<Lpn, Pages, FixedState>,
    /// Pages of the table that are to be written, and those whose translation takes the room of what is written.
    write_backs: HashMap<Lpn, Pages, FixedState>,
    /// Pages whose translation follows writes that a die has taken, by order of submission: what changes now is not in
    /// what is written.
    begun: HashMap<u64, Pages, FixedState>,
    /// Reads and writes for the sake of translation that are waiting or in service.
    operations: usize,
}

/// Page operations that wait for a translation.
#[derive(Debug, Checkpointed)]
struct Waiting {
    operations: Fifo,
    /// Page of the table that has the entry.
    page: Lpn,
}

/// Pages of the host, mostly one.
type Pages = SmallVec<[Lpn; 2]>;

impl Translation {
    /// A page of the table has been read or written by `done`, or its write is rejected. Returns the pages whose translation goes
    /// on now, and where.
    fn ended(&mut self, done: &Transaction, is_rejected: bool) -> (Pages, Stage) {
        self.operations -= 1;
        let (pages, stage) = match done.kind {
            _ if is_rejected => (self.write_backs.remove(&done.lpn), Stage::HasRoom),
            Kind::Read | Kind::OfStripe => (self.reads.remove(&done.lpn), Stage::WasRead),
            Kind::Write | Kind::ReadToUpdate => (self.begun.remove(&done.sequence), Stage::HasRoom),
        };
        (pages.unwrap_or_default(), stage)
    }

    /// A die has taken the write of the page `page` of the table.
    pub fn write_begins(&mut self, page: Lpn, sequence: u64) {
        let followers = self.write_backs.remove(&page).unwrap_or_default();
        if !followers.is_empty() {
            self.begun.insert(sequence, followers);
        }
    }
}

impl Scheduler {
    pub(super) fn translation(&mut self) -> &mut Translation {
        self.translation.as_deref_mut().expect("asked only where the mapping translates")
    }

    /// Whether it is known where an operation's page lies, on a drive whose mapping translates. If not, the operation goes on
    /// when it is.
    pub(super) fn is_known(
        &mut self,
        backend: &mut Backend,
        id: TransactionId,
        now: Instant,
    ) -> bool {
        let Some(translation) = &mut self.translation else { return true };
        let transaction = self.queues.transactions.get_mut(id);
        if transaction.owner == Owner::Translation {
            return true;
        }
        // Where others wait for it, it is not there.
        let Translated::Waits { with, page } = backend.ftl.translate(transaction.lpn, Stage::Asked)
        else {
            backend.counters.mapping.hits += 1;
            return true;
        };
        backend.counters.mapping.misses += 1;
        transaction.wait = Wait::Translation(now);
        let new = || Waiting { operations: Fifo::default(), page };
        let waiting = translation.waiting.entry(with).or_insert_with(new);
        let is_first = waiting.operations.is_empty();
        waiting.operations.push(id, &mut self.queues.transactions);
        if is_first {
            translation.without_room.push_back(with);
            self.make_room(backend, Duration::ZERO, now);
        }
        false
    }

    /// Gives translations that wait for room what there is: by the end of an operation that without collections
    /// would have ended `late` earlier.
    fn make_room(&mut self, backend: &mut Backend, late: Duration, now: Instant) {
        while let Some(lpn) = self.translation().without_room.front().copied()
            && let Translated::Room(left) = backend.ftl.translate(lpn, Stage::NextForRoom)
        {
            self.translation().without_room.pop_front();
            backend.counters.mapping.evictions += u64::from(left != Left::Nothing);
            match left {
                Left::Nothing | Left::Written => {
                    self.go_on(backend, lpn, Stage::HasRoom, late, now);
                }
                Left::Unwritten { page, is_whole } => {
                    backend.counters.mapping.dirty_evictions += 1;
                    let kind = if is_whole { Kind::Write } else { Kind::ReadToUpdate };
                    self.write_back(backend, page, kind, Some(lpn), late, now);
                }
            }
        }
    }

    /// Goes on with the translation of `lpn`: reads what the mapping wants to be read first, or shares a read of it that is
    /// under way. Without collections it would have done so `late` earlier.
    fn go_on(
        &mut self,
        backend: &mut Backend,
        lpn: Lpn,
        stage: Stage,
        late: Duration,
        now: Instant,
    ) {
        let Translated::ReadFirst(page) = backend.ftl.translate(lpn, stage) else {
            return self.end_waits(backend, lpn, late, now);
        };
        let translation = self.translation();
        let wanted = translation.reads.entry(page).or_default();
        wanted.push(lpn);
        if wanted.len() > 1 {
            return;
        }
        translation.operations += 1;
        let id = self.admit(Owner::Translation, page, Kind::Read, late);
        self.enqueue_read(backend, id, now);
    }

    /// Lets go on what waits for the translation of `lpn`. Without collections it would have done so `late` earlier.
    fn end_waits(&mut self, backend: &mut Backend, lpn: Lpn, late: Duration, now: Instant) {
        let Some(waiting) = self.translation().waiting.remove(&lpn) else { return };
        let Waiting { mut operations, page } = waiting;
        let page = Party { owner: Owner::Translation, lpn: page };
        while let Some(id) = operations.pop(&self.queues.transactions) {
            let operation = self.queues.transactions.get_mut(id);
            operation.end_wait_for_other(&mut backend.observer, late, Some(page), now);
            match operation.kind {
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
        if backend.condition.is_read_only() {
            return follower.into_iter().for_each(|lpn| {
                self.go_on(backend, lpn, Stage::HasRoom, late, now);
            });
        }
        let translation = self.translation();
        let is_new = !translation.write_backs.contains_key(&page);
        translation.write_backs.entry(page).or_default().extend(follower);
        if is_new {
            translation.operations += 1;
            let id = self.admit(Owner::Translation, page, kind, late);
            self.begin_write(backend, id, now);
        }
    }

    /// Updates the translation pages that are out of date because of `which` changes.
    pub fn write_back_outdated(&mut self, backend: &mut Backend, which: Outdated, now: Instant) {
        for page in backend.ftl.outdated(which) {
            self.write_back(backend, page, Kind::ReadToUpdate, None, Duration::ZERO, now);
        }
    }

    /// Page operations that are waiting or in service, but for those that are the drive's own: reads and writes of
    /// translation pages, and reads to rebuild a lost die.
    pub fn host_operations(&self) -> usize {
        let own = self.translation.as_ref().map_or(0, |translation| translation.operations);
        let rebuilt = self.rebuild.as_ref().map(|rebuild| rebuild.pages_read());
        let stripes = self.queues.stripes.as_ref();
        self.outstanding() - own - stripes.map_or(0, |stripes| stripes.own_reads(rebuilt))
    }

    /// A translation page has been read or written by `done`, or its write is rejected, as the drive is read-only.
    pub(super) fn finish_translation(
        &mut self,
        backend: &mut Backend,
        done: &Transaction,
        is_rejected: bool,
        now: Instant,
    ) {
        let late = done.late();
        let (pages, stage) = self.translation().ended(done, is_rejected);
        for lpn in pages {
            self.go_on(backend, lpn, stage, late, now);
        }
        self.make_room(backend, late, now);
    }
}
