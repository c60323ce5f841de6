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
mod free_die;
mod made_up_moves;
mod queues;
mod rebuild;
mod stripes;
mod submit;
mod translation;
pub mod when;

pub use choice::{Next, NextWrite};
pub use queues::{Queues, WriteLevel, WriteQueue};
pub use rebuild::{Phase, Rebuild, RebuildTally};

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use crate::backend::Backend;
use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::{DieId, Lpn};
use crate::observer::Parts;
use crate::outcome::Outcome;
use crate::purpose::Owner;
use crate::transaction::{Kind, PageWrite, Transaction, TransactionId};
use crate::units::{Duration, Instant};

use translation::Translation;

/// A page operation of a request that has ended.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Finished {
    /// Owner of the operation.
    pub owner: Owner,
    /// The page.
    pub lpn: Lpn,
    /// Parts of its time, from being handed in to now.
    pub parts: Parts,
    /// Outcome: done, or an error.
    pub outcome: Outcome,
}

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
    finished: Vec<Finished>,
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
            finished: Vec::new(),
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
        if self.is_translated(backend, id, now) {
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
        if self.is_translated(backend, id, now) {
            self.begin_write(backend, id, now);
        }
    }

    /// Forgets a page. Takes no time.
    pub fn trim(&mut self, backend: &mut Backend, lpn: Lpn, now: Instant) {
        let page = backend.ftl.lookup(lpn);
        backend.counters.trimmed += u64::from(backend.ftl.trim(lpn));
        backend.wake_if_to_collect(page);
        self.write_back_if_waiting(backend, lpn, now);
    }

    #[inline(always)]
    fn admit(&mut self, owner: Owner, lpn: Lpn, kind: Kind, late: Duration) -> TransactionId {
        self.submitted += 1;
        let transaction = Transaction::new(owner, lpn, kind, self.submitted, late);
        self.queues.transactions.insert(transaction)
    }

    #[inline(always)]
    fn finish_transaction(&mut self, backend: &mut Backend, id: TransactionId, now: Instant) {
        self.finish_as(Outcome::Done, backend, id, now);
    }

    #[inline(always)]
    fn finish_as(
        &mut self,
        outcome: Outcome,
        backend: &mut Backend,
        id: TransactionId,
        now: Instant,
    ) {
        let transaction = self.queues.transactions.get(id);
        let Transaction { owner, lpn, parts, .. } = *transaction;
        match owner {
            Owner::Host(_) | Owner::Destage => {
                self.finished.push(Finished { owner, lpn, parts, outcome });
                self.queues.transactions.remove(id);
            }
            Owner::Translation => {
                let done = transaction.clone();
                self.queues.transactions.remove(id);
                self.finish_translation(backend, &done, now);
            }
            Owner::Rebuild => self.stripe_was_read(backend, id, true, now),
        }
    }

    /// Rejects the write of a page that nothing is known of yet.
    pub fn reject_at_once(&mut self, owner: Owner, lpn: Lpn) {
        let (parts, outcome) = (Parts::default(), Outcome::Rejected);
        self.finished.push(Finished { owner, lpn, parts, outcome });
    }

    /// Rejects a write that has waited. One of a translation page is not needed any more: what it would
    /// hold is known in RAM.
    fn reject(&mut self, backend: &mut Backend, id: TransactionId, now: Instant) {
        self.end_wait(backend, id, now);
        let transaction = self.queues.transactions.get(id);
        let Transaction { owner, lpn, parts, .. } = *transaction;
        let late = transaction.late();
        self.queues.transactions.remove(id);
        match owner {
            Owner::Host(_) | Owner::Destage => {
                let outcome = Outcome::Rejected;
                self.finished.push(Finished { owner, lpn, parts, outcome });
            }
            Owner::Translation => self.translation_write_rejected(backend, lpn, late, now),
            // It is no write: what is made up goes by DRAM.
            Owner::Rebuild => {}
        }
    }

    /// Rejects every write that waits.
    pub fn reject_writes(&mut self, backend: &mut Backend, now: Instant) {
        for id in self.queues.take_writes() {
            self.reject(backend, id, now);
        }
    }

    /// Checks that what is lost was read in vain.
    #[cold]
    pub fn check_finished(&self, backend: &mut Backend) {
        for Finished { owner, lpn, outcome, .. } in &self.finished {
            if let Owner::Host(command) = *owner
                && let Some(audit) = backend.ftl.audit_mut()
            {
                audit.read_ends(command, *lpn, *outcome == Outcome::Uncorrectable);
            }
        }
    }

    /// Takes the page operations that have ended since the last call, in order.
    pub fn take_finished(&mut self, into: &mut Vec<Finished>) {
        std::mem::swap(&mut self.finished, into);
        self.finished.clear();
    }

    /// Whether page operations have ended that nobody has taken yet.
    pub const fn has_finished(&self) -> bool {
        !self.finished.is_empty()
    }

    /// Page operations that are waiting or in service.
    pub const fn outstanding(&self) -> usize {
        self.queues.transactions.outstanding()
    }

    /// Place of the last page operation that was handed in, in their order.
    pub const fn last_sequence(&self) -> u64 {
        self.submitted
    }

    /// The die that is looked at first for the next write that has no place of its own.
    pub const fn next_die(&self) -> usize {
        self.next_die
    }

    /// Updates the translation pages of what has moved on `die` because a block was replaced, if one was.
    #[inline]
    pub fn note_replaced(&mut self, backend: &mut Backend, die: DieId, now: Instant) {
        if backend.has_replaced() {
            self.write_back_outdated(backend, die, now);
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
        if changed != 0 {
            self.name_writes(backend, die, changed);
        }
    }

    #[inline(never)]
    fn name_writes(&self, backend: &mut Backend, die: DieId, planes: u32) {
        for plane in backend.planes_in(planes, die) {
            if let Some(first) = self.queues.first_write(WriteQueue::Plane(plane)) {
                backend.ftl.want(plane, self.queues.transactions.get(first).lpn);
            }
        }
    }
}
