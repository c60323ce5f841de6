//! Page operations of the host on their way into the queues, and what their waits are booked to.

use crate::ids::{DieId, PlaneId, Ppn};
use crate::units::{Duration, Instant};

use super::Ssd;
use super::breakdown::{Part, Parts};
use super::journal::Party;
use super::queues::WriteQueue;
use super::transaction::{Kind, TransactionId, Wait};

impl Ssd {
    /// Queues a read for the plane that holds its page. A page that holds no data, or is in the
    /// device's DRAM, is read at once.
    pub(super) fn enqueue_read(&mut self, id: TransactionId, now: Instant) {
        let lpn = self.transactions.get(id).lpn;
        match self.ftl.lookup(lpn) {
            Some(page) => {
                let plane = self.geometry.plane_of(page);
                let die = self.geometry.die_of_plane(plane);
                self.note_arrival(id, die, Some(plane), now);
                self.queues.push_read(plane, id, &mut self.transactions);
                self.wake_for_work(die);
            }
            None => self.finish_unmapped(id, now),
        }
    }

    fn finish_unmapped(&mut self, id: TransactionId, now: Instant) {
        match self.transactions.get(id).kind {
            Kind::Read => {
                let lpn = self.transactions.get(id).lpn;
                match self.ftl.is_parked(lpn) {
                    true => self.counters.cached_reads += 1,
                    false => self.counters.unmapped_reads += 1,
                }
                self.ftl.check_read(lpn);
                self.finish_transaction(id, now);
            }
            // Trimmed while it waited: there is nothing left to merge with.
            Kind::ReadToUpdate | Kind::Write => self.turn_into_write(id, now),
        }
    }

    /// Sends a write on its way whose page is known. Part of a page that holds no data is just written.
    #[inline]
    pub(super) fn begin_write(&mut self, id: TransactionId, now: Instant) {
        let transaction = self.transactions.get_mut(id);
        if transaction.kind == Kind::ReadToUpdate && self.ftl.lookup(transaction.lpn).is_none() {
            transaction.kind = Kind::Write;
        }
        self.submit_write(id, now);
    }

    /// Sends a write on its way: to read the old page first, behind another that does, or into a
    /// write queue.
    #[inline]
    pub(super) fn submit_write(&mut self, id: TransactionId, now: Instant) {
        let transaction = self.transactions.get(id);
        let (lpn, kind) = (transaction.lpn, transaction.kind);
        if !self.behind_update.is_empty()
            && let Some(waiting) = self.behind_update.get_mut(&lpn)
        {
            waiting.push(id);
            self.transactions.get_mut(id).wait = Wait::Update(now);
        } else if kind == Kind::ReadToUpdate {
            self.behind_update.insert(lpn, Vec::new());
            self.enqueue_read(id, now);
        } else {
            self.enqueue_write(id, now);
        }
    }

    #[inline]
    fn enqueue_write(&mut self, id: TransactionId, now: Instant) {
        if self.is_read_only() {
            return self.reject(id, now);
        }
        let lpn = self.transactions.get(id).lpn;
        let allocation = &self.ftl.allocation;
        let queue = match allocation.plane_of(lpn) {
            Some(plane) => WriteQueue::Plane(plane),
            None => match allocation.die_of(lpn, &self.geometry) {
                Some(die) => WriteQueue::Die(die),
                None => WriteQueue::Device,
            },
        };
        let (die, plane) = match queue {
            WriteQueue::Plane(plane) => (Some(self.geometry.die_of_plane(plane)), Some(plane)),
            WriteQueue::Die(die) => (Some(die), None),
            WriteQueue::Device => (None, None),
        };
        match die {
            Some(die) => self.note_arrival(id, die, plane, now),
            None => self.note_arrival_at_device(id, now),
        }
        self.queues.push_write(queue, id, &mut self.transactions);
        match die {
            Some(die) => self.wake_for_work(die),
            None => self.wake_a_die(),
        }
    }

    /// Wakes `die`, which work waits for. One that can take no more looks for it by itself when it can.
    #[inline]
    fn wake_for_work(&mut self, die: DieId) {
        if self.may_take_more(die) || self.options.notes_stalls {
            self.dirty_dies.insert(die.index());
        }
    }

    /// Wakes the next idle die, going round, that can take a write; if there is none, those that
    /// are short of space.
    fn wake_a_die(&mut self) {
        let Some(first) = self.queues.first_write(WriteQueue::Device) else { return };
        let lpn = self.transactions.get(first).lpn;
        let dies = self.dies.len();
        let takes_writes = |die: &usize| {
            let id = DieId::from_index(*die);
            self.dies[*die].is_idle()
                && (self.collections[*die].is_none() || self.is_interrupted(id))
                && self.ftl.next_plane(id, lpn).is_some()
        };
        let next = (0..dies).map(|step| (self.next_die + step) % dies).find(takes_writes);
        match next {
            Some(die) => {
                self.dirty_dies.insert(die);
                self.next_die = (die + 1) % dies;
            }
            None => self.wake_hungry_dies(),
        }
    }

    /// Wakes a die for the writes that wait for any, now that another has turned to other work.
    pub(super) fn wake_for_waiting_writes(&mut self) {
        if self.queues.device_writes_wait() {
            self.wake_a_die();
        }
    }

    /// Wakes the die of `page`, which is out of date now, if it is short of space: it may have had
    /// nothing to give so far.
    #[inline]
    pub(super) fn wake_if_hungry(&mut self, page: Option<Ppn>) {
        let Some(page) = page else { return };
        let die = self.geometry.die_of_plane(self.geometry.plane_of(page));
        if self.ftl.hungry_planes(die) != 0 {
            self.wake_for_work(die);
        }
    }

    #[inline]
    fn note_arrival(
        &mut self,
        id: TransactionId,
        die: DieId,
        plane: Option<PlaneId>,
        now: Instant,
    ) {
        let transaction = self.transactions.get(id);
        let times = (self.nominal(transaction.kind), transaction.late());
        let clocks = &mut self.die_clocks[die.index()];
        let note = clocks.arrive(&self.plane_clocks, plane, times, now);
        self.transactions.get_mut(id).wait = Wait::Die(die, note);
    }

    /// Notes the arrival of a write at no die in particular.
    fn note_arrival_at_device(&mut self, id: TransactionId, now: Instant) {
        let nominal = self.nominal(Kind::Write);
        self.transactions.get_mut(id).wait = Wait::Device(self.device_clock.arrive(nominal, now));
    }

    /// Ends the wait of an operation and books where it went.
    pub(super) fn end_wait(&mut self, id: TransactionId, now: Instant) {
        let transaction = self.transactions.get_mut(id);
        let wait = std::mem::replace(&mut transaction.wait, Wait::Nothing);
        let parts = match wait {
            // The latter two end with another operation.
            Wait::Nothing | Wait::Update(_) | Wait::Translation(_) => return,
            Wait::Die(die, note) => {
                self.die_clocks[die.index()].split_wait(&self.plane_clocks, &note, now)
            }
            Wait::Device(note) => self.device_clock.split_wait(&note, now),
        };
        transaction.parts += parts;
        self.tell_waited(id, &wait, parts, None, now);
    }

    /// Ends the wait of an operation for `other`, which without collections would have ended `late` earlier, and
    /// books where it went.
    pub(super) fn end_wait_for_other(
        &mut self,
        id: TransactionId,
        late: Duration,
        other: Option<Party>,
        now: Instant,
    ) {
        let transaction = self.transactions.get_mut(id);
        let wait = std::mem::replace(&mut transaction.wait, Wait::Nothing);
        let (part, since) = match wait {
            Wait::Update(since) => (Part::QueueBehindIo, since),
            Wait::Translation(since) => (Part::Translation, since),
            Wait::Nothing | Wait::Die(..) | Wait::Device(_) => return,
        };
        let mut parts = Parts::default();
        parts.book_wait(part, now - since, late.saturating_sub(transaction.late()));
        transaction.parts += parts;
        self.tell_waited(id, &wait, parts, other, now);
    }

    /// The old page of a partial write is here: queue the write, and those that waited for it.
    pub(super) fn turn_into_write(&mut self, id: TransactionId, now: Instant) {
        let transaction = self.transactions.get_mut(id);
        transaction.kind = Kind::Write;
        let (lpn, late, party) = (transaction.lpn, transaction.late(), transaction.party());
        self.enqueue_write(id, now);
        for waiting in self.behind_update.remove(&lpn).unwrap_or_default() {
            self.end_wait_for_other(waiting, late, Some(party), now);
            self.submit_write(waiting, now);
        }
    }
}
