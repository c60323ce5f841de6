//! Page operations of the host: from the hand-in into the queues, from there into the dies, and out again; and
//! WHEN collections yield to them.
//!
//! ```text
//!   read, write ──► mapping in RAM? ──► queue (of a plane, a die, the drive) ──► die ──► finished
//!                    (translation)                     (choice)             (dispatch)
//! ```

mod around;
mod choice;
mod dispatch;
mod fill;
mod finished;
mod free_die;
mod made_up_moves;
mod queues;
mod rebuild;
mod stripes;
mod submit;
mod translation;
mod undisturbed;
pub mod when;

pub use choice::{Next, NextWrite};
pub use finished::{Finished, FinishedList};
pub use queues::{Queues, WriteLevel, WriteQueue};
pub use rebuild::{LostDieReport, Phase, Rebuild, RebuildTally};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::backend::{Backend, wake_if_to_collect};
use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ftl::Outdated;
use crate::ids::{DieId, Lpn};
use crate::outcome::Outcome;
use crate::purpose::Owner;
use crate::transaction::{Kind, PageWrite, Transaction, TransactionId};
use crate::units::{Duration, Instant};

use translation::Translation;

/// The page operations of a drive's host.
#[derive(Debug, Checkpointed)]
pub struct Scheduler {
    /// Queues of waiting operations.
    pub queues: Queues,
    submitted: u64,
    /// The last write of a page that was handed in.
    last_write: Option<Lpn>,
    /// Writes of pages that a read-modify-write is under way for, in order of submission. Nobody goes through the
    /// pages, whose order means nothing.
    behind_update: HashMap<Lpn, Vec<TransactionId>, FixedState>,
    /// Boxed: few drives have one.
    translation: Option<Box<Translation>>,
    /// The die that is looked at first for the next write that has no place of its own.
    next_die: usize,
    /// Page operations that have ended.
    pub finished: FinishedList,
    /// If a die is lost. Boxed: few drives lose one.
    pub rebuild: Option<Box<Rebuild>>,
}

impl Scheduler {
    /// Creates the scheduler of a drive of a checked configuration, in which every write so far has a sequence
    /// number of at most `first_sequence`.
    pub fn new(config: &Resolved, backend: &Backend, first_sequence: u64) -> Self {
        let ftl = &backend.ftl;
        Self {
            queues: Queues::new(config, ftl.geometry(), ftl.allocation()),
            submitted: first_sequence,
            last_write: None,
            behind_update: HashMap::default(),
            translation: ftl.facts().translates.then(Box::default),
            next_die: 0,
            finished: FinishedList::default(),
            rebuild: Rebuild::new(config, ftl.geometry().dies()),
        }
    }

    /// Hands in the read of a page, which without collections would have come `late` earlier.
    #[inline(always)]
    pub fn read(
        &mut self,
        backend: &mut Backend,
        (owner, lpn): (Owner, Lpn),
        late: Duration,
        now: Instant,
    ) {
        let id = self.admit(owner, lpn, Kind::Read, late);
        if self.translation.is_none() || self.is_known(backend, id, now) {
            self.enqueue_read(backend, id, now);
        }
    }

    /// Hands in the write of a page. One that covers only part of a page that holds data reads it first.
    #[inline]
    pub fn write(&mut self, backend: &mut Backend, page: PageWrite, now: Instant) {
        let PageWrite { owner, lpn, hint, whole, late } = page;
        // Fetched now, the entry is in the cache when a die takes the write.
        backend.ftl.prefetch().entry(lpn);
        if let Some(before) = self.last_write.replace(lpn) {
            backend.ftl.prefetch().old_page(before);
        }
        let kind = if whole { Kind::Write } else { Kind::ReadToUpdate };
        let id = self.admit(owner, lpn, kind, late);
        self.queues.transactions.get_mut(id).hint = hint;
        if self.translation.is_none() || self.is_known(backend, id, now) {
            self.begin_write(backend, id, now);
        }
    }

    /// Forgets a page. Takes no time.
    pub fn trim(&mut self, backend: &mut Backend, lpn: Lpn, now: Instant) {
        let page = backend.ftl.lookup(lpn);
        backend.counters.trimmed += u64::from(backend.ftl.trim(lpn));
        wake_if_to_collect(&mut backend.flash, &backend.ftl, page);
        self.write_back_outdated(backend, Outdated::By(lpn), now);
    }

    #[inline(always)]
    fn admit(&mut self, owner: Owner, lpn: Lpn, kind: Kind, late: Duration) -> TransactionId {
        self.submitted += 1;
        let transaction = Transaction::new(owner, lpn, kind, self.submitted, late);
        self.queues.transactions.insert(transaction)
    }

    #[inline(always)]
    fn finish(&mut self, outcome: Outcome, backend: &mut Backend, id: TransactionId, now: Instant) {
        let transaction = self.queues.transactions.get(id);
        match transaction.owner {
            Owner::Host(_) | Owner::Destage => {
                self.finished.push(transaction, outcome);
                self.queues.transactions.remove(id);
            }
            Owner::Translation => {
                let done = transaction.clone();
                self.queues.transactions.remove(id);
                self.finish_translation(backend, &done, false, now);
            }
            Owner::Rebuild => self.stripe_was_read(backend, id, true),
        }
    }

    /// Rejects a write that has waited. One of a translation page is not needed any more: what it would
    /// hold is known in RAM.
    pub fn reject(&mut self, backend: &mut Backend, id: TransactionId, now: Instant) {
        self.queues.transactions.get_mut(id).end_wait(&mut backend.observer, now);
        let transaction = self.queues.transactions.get(id).clone();
        self.queues.transactions.remove(id);
        match transaction.owner {
            Owner::Host(_) | Owner::Destage => {
                self.finished.push(&transaction, Outcome::Rejected);
            }
            Owner::Translation => self.finish_translation(backend, &transaction, true, now),
            // It is no write: what is made up goes by DRAM.
            Owner::Rebuild => {}
        }
    }

    /// Page operations that are waiting or in service.
    pub const fn outstanding(&self) -> usize {
        self.queues.transactions.outstanding()
    }

    /// Place of the last page operation that was handed in, in their order.
    pub const fn last_sequence(&self) -> u64 {
        self.submitted
    }

    /// Place of the page operation that is handed in next: the version of a page that is written.
    pub const fn next_sequence(&self) -> u64 {
        self.submitted + 1
    }

    /// The die that is looked at first for the next write that has no place of its own.
    pub const fn next_die(&self) -> usize {
        self.next_die
    }

    /// Updates the translation pages of what has moved on `die` because a block was replaced, if one was.
    #[inline]
    pub fn note_replaced(&mut self, backend: &mut Backend, die: DieId, now: Instant) {
        if backend.condition.has_replaced() {
            self.write_back_outdated(backend, Outdated::On(die), now);
        }
    }

    /// Notes that the next write of each plane of `die` is waited for, if the translation layer may have to
    /// reclaim something first. It knows of those that are waited for still, if nothing has changed for them.
    #[inline]
    pub fn name_next_writes(&mut self, backend: &mut Backend, die: DieId) {
        let waiting = self.queues.planes_with_writes(die);
        if waiting == 0 {
            return;
        }
        let others = self.queues.take_planes_with_other_writes(die, waiting);
        let changed = others | backend.ftl.changed_wants(die, waiting);
        for plane in backend.ftl.geometry().planes_in(changed, die) {
            if let Some(first) = self.queues.first_write(WriteQueue::Plane(plane)) {
                backend.ftl.want(plane, self.queues.transactions.get(first).lpn);
            }
        }
    }
}
