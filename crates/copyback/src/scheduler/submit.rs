//! Page operations of the host on their way into the queues.

use crate::backend::{Backend, Purpose, wake_dies_to_collect, wake_for_work};
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::ids::{DieId, Ppn, going_round};
use crate::observer::Observer;
use crate::outcome::Outcome;
use crate::transaction::{Kind, TransactionId, Wait};
use crate::units::Instant;

use super::free_die::{die_with_held, is_free_for, wake_to_load};
use super::queues::WriteQueue;
use super::{Queues, Scheduler};

impl Queues {
    /// Queues a read of `page`.
    #[inline(always)]
    pub(super) fn enqueue_read_of(
        &mut self,
        ftl: &Ftl,
        flash: &mut Flash<Purpose>,
        observer: &mut Observer,
        id: TransactionId,
        page: Ppn,
        now: Instant,
    ) {
        let plane = ftl.geometry().plane_of(page);
        let die = ftl.geometry().die_of_plane(plane);
        let transaction = self.transactions.get_mut(id);
        transaction.arrive(observer, &flash.timing, (die, Some(plane)), now);
        self.push_read(plane, id);
        wake_for_work(flash, ftl, die);
    }
}

impl Scheduler {
    /// Queues a read for the plane that holds its page. A page that holds no data, or is in the
    /// device's DRAM, is read at once.
    #[inline(always)]
    pub(super) fn enqueue_read(&mut self, backend: &mut Backend, id: TransactionId, now: Instant) {
        let lpn = self.queues.transactions.get(id).lpn;
        match backend.ftl.lookup(lpn) {
            Some(page)
                if self.queues.stripes.is_some() && self.read_around(backend, id, page, now) => {}
            Some(page) => {
                let Backend { ftl, flash, observer, .. } = backend;
                self.queues.enqueue_read_of(ftl, flash, observer, id, page, now);
            }
            None => self.finish_unmapped(backend, id, now),
        }
    }

    /// Queues a read that is not made up.
    pub(super) fn enqueue_read_plainly(
        &mut self,
        backend: &mut Backend,
        id: TransactionId,
        now: Instant,
    ) {
        match backend.ftl.lookup(self.queues.transactions.get(id).lpn) {
            Some(_) if !self.lies_elsewhere(backend, id) => self.enqueue_read(backend, id, now),
            Some(page) => {
                let Backend { ftl, flash, observer, .. } = backend;
                self.queues.enqueue_read_of(ftl, flash, observer, id, page, now);
            }
            None => self.finish_unmapped(backend, id, now),
        }
    }

    fn finish_unmapped(&mut self, backend: &mut Backend, id: TransactionId, now: Instant) {
        match self.queues.transactions.get(id).kind {
            Kind::Read => {
                let lpn = self.queues.transactions.get(id).lpn;
                match backend.ftl.staged().contains(lpn) {
                    true => backend.counters.cached_reads += 1,
                    false => backend.counters.unmapped_reads += 1,
                }
                backend.ftl.check_read(lpn, self.queues.transactions.get(id).reader());
                backend.counters.mapping.reads +=
                    u64::from(backend.ftl.limits().is_translation_page(lpn));
                match backend.ftl.staged().is_lost(lpn) {
                    true => self.fail_read(backend, id, now),
                    false => self.finish(Outcome::Done, backend, id, now),
                }
            }
            // Trimmed while it waited, so that nothing is left to merge with; or in DRAM by now.
            Kind::ReadToUpdate | Kind::Write | Kind::OfStripe => {
                if backend.ftl.staged().is_lost(self.queues.transactions.get(id).lpn) {
                    self.queues.transactions.get_mut(id).cannot_be_corrected();
                }
                self.turn_into_write(backend, id, now);
            }
        }
    }

    /// Sends a write on its way whose page is known. Part of a page that holds no data is just written.
    #[inline]
    pub(super) fn begin_write(&mut self, backend: &mut Backend, id: TransactionId, now: Instant) {
        let transaction = self.queues.transactions.get_mut(id);
        if transaction.kind == Kind::ReadToUpdate && backend.ftl.lookup(transaction.lpn).is_none() {
            transaction.kind = Kind::Write;
            transaction.in_vain = backend.ftl.staged().is_lost(transaction.lpn);
        }
        self.submit_write(backend, id, now);
    }

    /// Sends a write on its way: to read the old page first, behind another that does, or into a
    /// write queue.
    #[inline]
    pub(super) fn submit_write(&mut self, backend: &mut Backend, id: TransactionId, now: Instant) {
        let transaction = self.queues.transactions.get(id);
        let (lpn, kind) = (transaction.lpn, transaction.kind);
        if !self.behind_update.is_empty()
            && let Some(waiting) = self.behind_update.get_mut(&lpn)
        {
            waiting.push(id);
            self.queues.transactions.get_mut(id).wait = Wait::Update(now);
        } else if kind == Kind::ReadToUpdate {
            self.behind_update.insert(lpn, Vec::new());
            if let Some(held) = &mut backend.held {
                held.reads_first(self.queues.transactions.get(id).sequence);
            }
            self.enqueue_read(backend, id, now);
        } else {
            self.enqueue_write(backend, id, now);
        }
    }

    #[inline]
    fn enqueue_write(&mut self, backend: &mut Backend, id: TransactionId, now: Instant) {
        if backend.condition.is_read_only() {
            return self.reject(backend, id, now);
        }
        backend.has_changed = true;
        let lpn = self.queues.transactions.get(id).lpn;
        let allocation = backend.ftl.allocation();
        let queue = match allocation.plane_of(lpn) {
            Some(plane) => WriteQueue::Plane(plane),
            None => match allocation.die_of(lpn, backend.ftl.geometry()) {
                Some(die) => WriteQueue::Die(die),
                None => WriteQueue::Device,
            },
        };
        let (die, plane) = match queue {
            WriteQueue::Plane(plane) => {
                (Some(backend.ftl.geometry().die_of_plane(plane)), Some(plane))
            }
            WriteQueue::Die(die) => (Some(die), None),
            WriteQueue::Device => (None, None),
        };
        let (transaction, timing) = (self.queues.transactions.get_mut(id), &backend.flash.timing);
        match die {
            Some(die) => {
                transaction.arrive(&mut backend.observer, timing, (die, plane), now);
            }
            None => {
                let note = backend.observer.arrive_at_device(timing.whole_program(), now);
                transaction.wait = Wait::Device(note);
            }
        }
        self.queues.push_write(queue, id);
        match die {
            Some(die) => wake_for_work(&mut backend.flash, &backend.ftl, die),
            None => self.wake_for_waiting_writes(backend),
        }
    }

    /// Wakes a die for the writes that wait for any, if there are any: an idle one that can take the first, with a page that
    /// writes wait for, or else the next, going round. If there is none, wakes those that can load a write beside what they do; or
    /// else those that are short of space.
    pub fn wake_for_waiting_writes(&mut self, backend: &mut Backend) {
        if !self.queues.device_writes_wait() {
            return;
        }
        let Some(first) = self.queues.first_write(WriteQueue::Device) else { return };
        let page = self.queues.transactions.get(first).page();
        let dies = backend.ftl.geometry().dies();
        if let Some(die) = die_with_held(backend, page) {
            return backend.flash.wake(die);
        }
        let mut in_turn = going_round(self.next_die, dies).map(DieId::from_index);
        if let Some(die) = in_turn.find(|die| is_free_for(backend, *die, page)) {
            backend.flash.wake(die);
            self.next_die = (die.index() + 1) % dies;
            return;
        }
        let Backend { ftl, flash, collecting, condition, .. } = backend;
        if !wake_to_load(flash, ftl, collecting, page) {
            wake_dies_to_collect(flash, ftl, condition.ageing.is_some());
        }
    }

    /// The old page of a partial write is here: queue the write, and those that waited for it.
    pub(super) fn turn_into_write(
        &mut self,
        backend: &mut Backend,
        id: TransactionId,
        now: Instant,
    ) {
        let transaction = self.queues.transactions.get_mut(id);
        transaction.kind = Kind::Write;
        let (lpn, late, party) = (transaction.lpn, transaction.late(), transaction.party());
        self.enqueue_write(backend, id, now);
        if let Some(held) = &mut backend.held {
            held.has_read(self.queues.transactions.get(id).sequence);
            held.wake_dies(backend.ftl.geometry(), &mut backend.flash);
        }
        for waiting in self.behind_update.remove(&lpn).unwrap_or_default() {
            let operation = self.queues.transactions.get_mut(waiting);
            operation.end_wait_for_other(&mut backend.observer, late, Some(party), now);
            self.submit_write(backend, waiting, now);
        }
    }
}
