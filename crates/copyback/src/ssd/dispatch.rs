//! Host operations from the queues into the dies, and out again.

use crate::gc::schedule::Admitted;
use crate::ids::{DieId, Lpn, PlaneId};
use crate::nand::{Command, Operation};
use crate::units::{Duration, Instant};

use super::breakdown::Part;
use super::queues::{WriteLevel, WriteQueue, planes_in};
use super::transaction::{Fifo, Kind, Owner, Transaction, TransactionId};
use super::{Located, Purpose, Ssd};

impl Ssd {
    /// Gives a die its next work, if it can take any: collections first, unless they yield, then the
    /// host, then what is left over. Returns whether something was started.
    pub(super) fn start_next(&mut self, die: DieId, now: Instant) -> bool {
        if let Some(more) = self.suspend_or_resume(die, now) {
            return more;
        }
        if self.dies[die.index()].is_full() {
            return false;
        }
        if self.ftl.writes_may_call_for_reclaim() {
            self.name_next_writes(die);
        }
        match &self.collections[die.index()] {
            Some(collection) if collection.in_flight => false,
            Some(_) => self.go_on_collecting(die, now),
            None if self.collection_is_due(die) => self.collect_or_serve(die, now),
            None => {
                self.start_host_operation(die, Admitted::ALL, now)
                    || (self.ftl.parked_pages() > 0 && self.unpark(die, now))
                    || (self.idle.is_some() && self.use_idle_time(die, now))
            }
        }
    }

    /// Names the next write of each plane to the translation layer, which may have to reclaim something
    /// first.
    fn name_next_writes(&mut self, die: DieId) {
        let mask = self.queues.planes_with_writes(die);
        for plane in planes_in(mask, die, self.geometry.planes_per_die) {
            if let Some(first) = self.queues.first_write(WriteQueue::Plane(plane)) {
                self.ftl.want(plane, self.transactions.get(first).lpn);
            }
        }
    }

    /// A collection is due: begins it, unless the schedule lets the host go first or there is nothing
    /// to gain.
    fn collect_or_serve(&mut self, die: DieId, now: Instant) -> bool {
        if self.schedule.yields() {
            let admitted = self.admitted(die, now);
            if self.start_host_operation(die, admitted, now) {
                return true;
            }
        }
        if !self.dies[die.index()].is_idle() {
            return false;
        }
        if self.begin_collection(die, now) {
            self.wake_for_waiting_writes();
            return true;
        }
        if !self.collection_is_due(die) {
            // It has taken no time, or an asked plane has nothing to give: look anew.
            return true;
        }
        self.start_host_operation(die, Admitted::ALL, now)
    }

    /// Whether page operations of the host wait for this die.
    pub(super) fn host_waits(&self, die: DieId) -> bool {
        self.queues.planes_with_reads(die) != 0
            || self.queues.planes_with_writes(die) != 0
            || match self.queues.write_level() {
                WriteLevel::Plane => false,
                WriteLevel::Die => self.queues.first_write(WriteQueue::Die(die)).is_some(),
                WriteLevel::Device => self.queues.device_writes_wait(),
            }
    }

    /// Starts the host operation that is next among those admitted, if the die can take it.
    pub(super) fn start_host_operation(
        &mut self,
        die: DieId,
        admitted: Admitted,
        now: Instant,
    ) -> bool {
        let next = self.next_host_operation(die, admitted);
        self.start_if_ready(die, next, now)
    }

    /// Starts `next` if the die can take it.
    pub(super) fn start_if_ready(&mut self, die: DieId, next: Option<Next>, now: Instant) -> bool {
        if !self.options.double_register && !self.dies[die.index()].is_idle() {
            return false;
        }
        let has_started = match next {
            Some(Next::Read(plane)) if self.dies[die.index()].accepts(Command::Read) => {
                self.start_read(plane, now)
            }
            Some(Next::Write(next)) if self.dies[die.index()].accepts(Command::Program) => {
                self.start_write(next, now)
            }
            // Nothing waits, or the die is not ready for what comes first.
            _ => false,
        };
        if has_started {
            self.schedule.serve_host(die.index());
        }
        has_started
    }

    /// The operation that has waited longest, among those admitted that have a place; reads before
    /// writes if the drive is set so.
    pub(super) fn next_host_operation(&self, die: DieId, admitted: Admitted) -> Option<Next> {
        let read = if admitted.reads { self.oldest_read(die) } else { None };
        let write = if admitted.writes { self.oldest_write(die) } else { None };
        match (read, write) {
            (Some((read, plane)), Some((write, next))) => {
                let read_first = self.options.reads_first || read < write;
                Some(if read_first { Next::Read(plane) } else { Next::Write(next) })
            }
            (Some((_, plane)), None) => Some(Next::Read(plane)),
            (None, Some((_, next))) => Some(Next::Write(next)),
            (None, None) => None,
        }
    }

    /// The plane of `die` whose first read has waited longest, and that read's order.
    pub(super) fn oldest_read(&self, die: DieId) -> Option<(u64, PlaneId)> {
        let mask = self.queues.planes_with_reads(die);
        planes_in(mask, die, self.geometry.planes_per_die)
            .filter_map(|plane| Some((self.order(self.queues.first_read(plane)?), plane)))
            .min()
    }

    /// The write that `die` would take next, and its order.
    fn oldest_write(&self, die: DieId) -> Option<(u64, NextWrite)> {
        let queue = match self.queues.write_level() {
            WriteLevel::Plane => return self.oldest_placed_write(die),
            WriteLevel::Die => WriteQueue::Die(die),
            WriteLevel::Device => WriteQueue::Device,
        };
        let first = self.transactions.get(self.queues.first_write(queue)?);
        let plane = self.ftl.next_plane(die, first.lpn)?;
        let offset = self.ftl.next_host_offset(plane, first.lpn)?;
        Some((first.order, NextWrite { queue, plane, offset }))
    }

    fn oldest_placed_write(&self, die: DieId) -> Option<(u64, NextWrite)> {
        let mut mask = self.queues.planes_with_writes(die);
        // Whether a plane accepts a write takes longer to say than which write is the oldest.
        loop {
            let (order, plane, lpn) = self.oldest_first_write(die, mask)?;
            if let Some(offset) = self.ftl.next_host_offset(plane, lpn) {
                let queue = WriteQueue::Plane(plane);
                return Some((order, NextWrite { queue, plane, offset }));
            }
            mask &= !self.bit(plane);
        }
    }

    /// The oldest of the first writes that wait for the planes of `mask`: its order, plane and page.
    fn oldest_first_write(&self, die: DieId, mask: u32) -> Option<(u64, PlaneId, Lpn)> {
        planes_in(mask, die, self.geometry.planes_per_die)
            .filter_map(|plane| {
                let first = self.queues.first_write(WriteQueue::Plane(plane))?;
                let Transaction { order, lpn, .. } = self.transactions.get(first);
                Some((*order, plane, *lpn))
            })
            .min()
    }

    fn order(&self, id: TransactionId) -> u64 {
        self.transactions.get(id).order
    }

    /// Starts the first read that waits for `plane`, and with it those at the front of the die's
    /// other planes that a multi-plane command may join.
    pub(super) fn start_read(&mut self, plane: PlaneId, now: Instant) -> bool {
        let Some(lead) = self.take_read(plane, now) else { return true };
        let die = self.geometry.die_of_plane(lead.plane);
        let mut group = Fifo::default();
        self.join_taken(&lead, &mut group, now);
        let mut members = 1;
        if self.rules.joins(Command::Read) {
            let others = self.queues.planes_with_reads(die) & !self.bit(lead.plane);
            for other in planes_in(others, die, self.geometry.planes_per_die) {
                members += u64::from(self.join_read(&lead, other, &mut group, now));
            }
        }
        self.counters.reads += members;
        self.counters.multi_plane_reads += u64::from(members > 1);
        let times = [
            self.timing.command,
            self.timing.read(lead.offset) + self.take_extra(),
            self.timing.page_transfer * members,
        ];
        self.start_host(die, Command::Read, times, group, now);
        self.wake_for_waiting_writes();
        true
    }

    fn join_read(
        &mut self,
        lead: &TakenRead,
        plane: PlaneId,
        group: &mut Fifo,
        now: Instant,
    ) -> bool {
        let Some(first) = self.queues.first_read(plane) else { return false };
        let Some(page) = self.ftl.lookup(self.transactions.get(first).lpn) else { return false };
        let die = self.geometry.die_of_plane(plane);
        let Located { plane: actual, offset } = self.locate(page);
        let legal = self.rules.may_join(Command::Read, (lead.plane, lead.offset), (actual, offset));
        if actual != plane || !legal || self.dies[die.index()].programs(page) {
            return false;
        }
        let Some(taken) = self.take_read(plane, now) else { return false };
        self.join_taken(&taken, group, now);
        true
    }

    /// Takes the first read off the queue of `plane`. If its page has moved to another plane or is
    /// gone meanwhile, sends it there, or finishes it, and returns `None`.
    fn take_read(&mut self, plane: PlaneId, now: Instant) -> Option<TakenRead> {
        let id = self.queues.pop_read(plane, &self.transactions)?;
        let lpn = self.transactions.get(id).lpn;
        let die = self.geometry.die_of_plane(plane);
        let located = self.ftl.lookup(lpn).map(|page| self.locate(page));
        match located {
            Some(Located { plane, offset }) if self.geometry.die_of_plane(plane) == die => {
                Some(TakenRead { id, lpn, plane, offset })
            }
            _ => {
                self.end_wait(id, now);
                self.enqueue_read(id, now);
                None
            }
        }
    }

    fn join_taken(&mut self, taken: &TakenRead, group: &mut Fifo, now: Instant) {
        self.ftl.check_read(taken.lpn);
        self.sense_page_of(taken.lpn);
        self.counters.mapping.reads += u64::from(self.ftl.is_translation_page(taken.lpn));
        self.note_read(taken.lpn);
        self.join(taken.id, group, now);
    }

    /// Starts a write, and with it those that a multi-plane command may join on the die's other planes.
    fn start_write(&mut self, next: NextWrite, now: Instant) -> bool {
        let NextWrite { queue, plane, offset } = next;
        let Some(id) = self.queues.pop_write(queue, &self.transactions) else { return false };
        self.start_taken_write(id, queue, (plane, offset), now);
        true
    }

    /// The same for a write that has been taken off `queue`, and the plane and offset it goes to.
    pub(super) fn start_taken_write(
        &mut self,
        id: TransactionId,
        queue: WriteQueue,
        (plane, offset): (PlaneId, u32),
        now: Instant,
    ) {
        let die = self.geometry.die_of_plane(plane);
        let mut group = Fifo::default();
        let mut summary = self.place(id, plane, &mut group, now);
        let mut members = 1;
        if self.rules.joins(Command::Program) {
            for other in self.planes_to_join(die, queue) {
                let queue = if queue == WriteQueue::Plane(plane) {
                    WriteQueue::Plane(other)
                } else {
                    queue
                };
                let Some(first) = self.queues.first_write(queue) else { continue };
                let lpn = self.transactions.get(first).lpn;
                let next = self.ftl.next_host_offset(other, lpn).map(|offset| (other, offset));
                let legal = |next| self.rules.may_join(Command::Program, (plane, offset), next);
                if next.is_some_and(legal)
                    && let Some(id) = self.queues.pop_write(queue, &self.transactions)
                {
                    summary |= self.place(id, other, &mut group, now);
                    members += 1;
                }
            }
        }
        self.counters.programs += members;
        self.counters.multi_plane_programs += u64::from(members > 1);
        let times = [
            self.timing.command + self.timing.page_transfer * members,
            self.program_time(die, offset, summary, now),
            Duration::ZERO,
        ];
        self.start_host(die, Command::Program, times, group, now);
    }

    /// The planes of `die` on which a write might join one from `queue`.
    fn planes_to_join(
        &self,
        die: DieId,
        queue: WriteQueue,
    ) -> impl Iterator<Item = PlaneId> + use<> {
        let planes_per_die = self.geometry.planes_per_die;
        let mask = match queue {
            WriteQueue::Plane(_) => self.queues.planes_with_writes(die),
            WriteQueue::Die(_) | WriteQueue::Device => u32::MAX >> (u32::BITS - planes_per_die),
        };
        planes_in(mask, die, planes_per_die)
    }

    /// Puts the data of a write on `plane`. Returns whether that filled the block.
    // Inlined, so that a group of one stays in registers.
    #[inline(always)]
    fn place(&mut self, id: TransactionId, plane: PlaneId, group: &mut Fifo, now: Instant) -> bool {
        let Transaction { owner, lpn, order, .. } = *self.transactions.get(id);
        let old = self.ftl.lookup(lpn);
        let placed = self.ftl.write(plane, lpn, order);
        self.note_target(placed.page);
        self.wake_if_hungry(old);
        match owner {
            Owner::Host(_) | Owner::Destage => {
                self.counters.host_programs += 1;
                self.write_back_if_waiting(lpn, now);
            }
            Owner::Translation => self.translation_write_begins(lpn, order),
        }
        self.join(id, group, now);
        placed.closes_block
    }

    /// Time in the array of `die` of a program at `offset`, whose pages have found their places, with the
    /// summary page if it fills the block.
    pub(super) fn program_time(
        &mut self,
        die: DieId,
        offset: u32,
        closes_block: bool,
        now: Instant,
    ) -> Duration {
        let summary = self.timing.summary.filter(|_| closes_block).unwrap_or_default();
        let time = self.timing.program(offset) + summary;
        if self.faults.is_none() {
            return time;
        }
        self.count_replaced(die, now);
        time + self.take_extra()
    }

    /// Ends the wait of an operation and adds it to a command.
    #[inline(always)]
    pub(super) fn join(&mut self, id: TransactionId, group: &mut Fifo, now: Instant) {
        self.end_wait(id, now);
        group.push(id, &mut self.transactions);
    }

    // Inlined as `start_on_die`.
    #[inline(always)]
    fn start_host(
        &mut self,
        die: DieId,
        command: Command,
        times: [Duration; 3],
        group: Fifo,
        now: Instant,
    ) {
        let mut operation = Operation::new(command, times, Purpose::Host(group), now);
        operation.pages = self.take_pages();
        self.die_clocks[die.index()].serve_begins(now);
        self.dies[die.index()].start(operation);
    }

    /// Ends every page operation of a command.
    pub(super) fn finish_host(
        &mut self,
        mut group: Fifo,
        operation: &Operation<Purpose>,
        now: Instant,
    ) {
        while let Some(id) = group.pop(&self.transactions) {
            let parts = &mut self.transactions.get_mut(id).parts;
            parts[Part::Service] += operation.nominal();
            parts[Part::Bus] += operation.waited_for_bus;
            parts[Part::QueueBehindIo] += operation.waited_for_array;
            match self.transactions.get(id).kind {
                Kind::Read | Kind::Write => self.finish_transaction(id, now),
                Kind::ReadToUpdate => self.turn_into_write(id, now),
            }
        }
    }
}

/// A host operation that a die could take.
#[derive(Debug, Clone, Copy)]
pub enum Next {
    /// The first read that waits for this plane.
    Read(PlaneId),
    /// This write.
    Write(NextWrite),
}

/// The first write of a queue, and where it would go.
#[derive(Debug, Clone, Copy)]
pub struct NextWrite {
    queue: WriteQueue,
    plane: PlaneId,
    offset: u32,
}

/// A read on its way into a die.
struct TakenRead {
    id: TransactionId,
    lpn: Lpn,
    plane: PlaneId,
    offset: u32,
}
