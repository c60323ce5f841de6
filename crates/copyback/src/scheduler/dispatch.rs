//! Host operations from the queues into the dies, and out again.

use crate::backend::{Backend, Found, Located, Purpose};
use crate::ftl::Placed;
use crate::ids::{DieId, Lpn, PlaneId, Ppn};
use crate::nand::{Command, Operation, Times};
use crate::observer::Part;
use crate::purpose::Owner;
use crate::transaction::{Fifo, Kind, Transaction, TransactionId};
use crate::units::{Duration, Instant};

use super::Scheduler;
use super::choice::{Next, NextWrite};
use super::free_die::may_leave_to_other;
use super::queues::WriteQueue;

impl Scheduler {
    /// Starts `next` if `die` can take it. Returns whether it has.
    #[inline(always)]
    pub fn start_if_ready(
        &mut self,
        backend: &mut Backend,
        die: DieId,
        next: Next,
        now: Instant,
    ) -> bool {
        backend.flash.takes_from_host(die, next.command()) && self.start(backend, next, now)
    }

    /// Starts `next`, which its die can take. Returns whether it has.
    #[inline]
    pub fn start(&mut self, backend: &mut Backend, next: Next, now: Instant) -> bool {
        match next {
            Next::Read(plane) => self.start_read(backend, plane, now),
            Next::Write(next) => self.start_write(backend, next, now),
            Next::Fill(program) => Self::start_fill(backend, program, now),
        }
    }

    /// Starts the first read that waits for `plane`, and with it those at the front of the die's
    /// other planes that a multi-plane command may join.
    pub fn start_read(&mut self, backend: &mut Backend, plane: PlaneId, now: Instant) -> bool {
        let die = backend.ftl.geometry().die_of_plane(plane);
        let Some(lead) = self.take_read(backend, (die, plane), now) else { return true };
        let mut group = Fifo::default();
        self.join_taken(backend, &lead, &mut group, now);
        let mut members = 1;
        let others = self.queues.planes_with_reads(die) & !backend.bit(lead.plane);
        if others != 0 && backend.flash.rules.joins(Command::Read) {
            for other in backend.planes_in(others, die) {
                members += u64::from(self.join_read(backend, &lead, other, &mut group, now));
            }
        }
        backend.counters.reads += members;
        backend.counters.multi_plane_reads += u64::from(members > 1);
        let array = backend.array_read(lead.page, lead.offset) + backend.take_extra();
        let timing = &backend.flash.timing;
        let times = Times {
            transfer_in: timing.command,
            array,
            transfer_out: timing.page_transfer * members,
        };
        issue(backend, die, Command::Read, times, group, now);
        self.wake_for_waiting_writes(backend);
        true
    }

    fn join_read(
        &mut self,
        backend: &mut Backend,
        lead: &TakenRead,
        plane: PlaneId,
        group: &mut Fifo,
        now: Instant,
    ) -> bool {
        let Some(first) = self.queues.first_read(plane) else { return false };
        let Some(page) = self.queues.page_read(&backend.ftl, first) else { return false };
        let die = backend.ftl.geometry().die_of_plane(plane);
        let Located { plane: actual, offset } = backend.locate(page);
        let legal = backend.flash.rules.may_join(
            Command::Read,
            (lead.plane, lead.offset),
            (actual, offset),
        );
        let is_in_mode = backend.ftl.is_in_cache(page) == backend.ftl.is_in_cache(lead.page);
        if actual != plane || !legal || !is_in_mode || backend.flash.die(die).programs(page) {
            return false;
        }
        let Some(taken) = self.take_read(backend, (die, plane), now) else { return false };
        self.join_taken(backend, &taken, group, now);
        true
    }

    /// Takes the first read off the queue of `plane`. If its page has moved to another plane or is
    /// gone meanwhile, sends it there, or finishes it, and returns `None`.
    #[inline(always)]
    fn take_read(
        &mut self,
        backend: &mut Backend,
        (die, plane): (DieId, PlaneId),
        now: Instant,
    ) -> Option<TakenRead> {
        let id = self.queues.pop_read(plane)?;
        let lpn = self.queues.transactions.get(id).lpn;
        if let Some(stripes) = &self.queues.stripes
            && stripes.is_gone(id, &backend.ftl)
        {
            self.end_wait(backend, id, now);
            self.finish_part(backend, id, true, now);
            return None;
        }
        let page = self.queues.page_read(&backend.ftl, id);
        let located = page.map(|page| (page, backend.locate(page)));
        match located {
            Some((page, Located { plane: actual, offset }))
                if actual == plane || backend.ftl.geometry().die_of_plane(actual) == die =>
            {
                let plane = actual;
                Some(TakenRead { id, lpn, page, plane, offset })
            }
            _ => {
                self.end_wait(backend, id, now);
                self.enqueue_read(backend, id, now);
                None
            }
        }
    }

    #[inline(always)]
    fn join_taken(
        &mut self,
        backend: &mut Backend,
        taken: &TakenRead,
        group: &mut Fifo,
        now: Instant,
    ) {
        if self.queues.stripes.is_some() {
            self.sense_of_stripe(backend, taken);
        } else {
            self.check_read(backend, taken.id);
            if backend.sense(taken.page) != Found::Data {
                self.is_in_vain(taken.id);
            }
        }
        backend.count_translation_read(taken.lpn);
        backend.flash.note_page(taken.page);
        self.join(backend, taken.id, group, now);
    }

    /// Begins a read where one that cannot be corrected is made up from others.
    #[inline(never)]
    fn sense_of_stripe(&mut self, backend: &mut Backend, taken: &TakenRead) {
        let is_part = self.queues.transactions.get(taken.id).kind == Kind::OfStripe;
        if !is_part {
            self.check_read(backend, taken.id);
        }
        let found = backend.sense(taken.page);
        // The mark itself is part of what parity is made of.
        match found {
            Found::Data => {}
            Found::Mark if is_part => {}
            Found::Mark => self.is_in_vain(taken.id),
            Found::Nothing if !is_part && backend.ftl.lost_pages().is_marked(taken.page) => {
                self.is_in_vain(taken.id);
            }
            Found::Nothing => {
                if let Some(stripes) = &mut self.queues.stripes {
                    stripes.note_uncorrectable(taken.id, taken.page);
                }
            }
        }
    }

    /// Checks, under audit, what `id` is about to read.
    #[inline]
    pub(super) fn check_read(&self, backend: &mut Backend, id: TransactionId) {
        let read = self.queues.transactions.get(id);
        let reader = match (read.owner, read.kind) {
            (Owner::Host(command), Kind::Read) => Some(command),
            _ => None,
        };
        backend.ftl.check_read(read.lpn, reader);
    }

    /// Marks the read `id` of the host as uncorrectable; the content of a translation page the drive knows from
    /// elsewhere.
    #[cold]
    pub(super) fn is_in_vain(&mut self, id: TransactionId) {
        let read = self.queues.transactions.get_mut(id);
        read.in_vain = match read.owner {
            Owner::Host(_) | Owner::Destage => read.kind != Kind::OfStripe,
            Owner::Translation | Owner::Rebuild => false,
        };
    }

    /// Starts a write, and with it those that a multi-plane command may join on the die's other planes.
    fn start_write(&mut self, backend: &mut Backend, next: NextWrite, now: Instant) -> bool {
        let NextWrite { queue, plane, offset } = next;
        let Some(id) = self.queues.pop_write(queue) else { return false };
        self.start_taken_write(backend, id, queue, (plane, offset), now);
        if may_leave_to_other(backend) {
            // Others may have been left to this die.
            self.wake_for_waiting_writes(backend);
        }
        true
    }

    /// Starts a write that has been taken off `queue`, at the plane and offset it goes to, and with it those
    /// that a multi-plane command may join on the die's other planes.
    pub fn start_taken_write(
        &mut self,
        backend: &mut Backend,
        id: TransactionId,
        queue: WriteQueue,
        (plane, offset): (PlaneId, u32),
        now: Instant,
    ) {
        let die = backend.ftl.geometry().die_of_plane(plane);
        let mut group = Fifo::default();
        let placed = self.place(backend, id, plane, &mut group, now);
        let mut filled = u64::from(placed.closes_block);
        let in_cache = backend.ftl.is_in_cache(placed.page);
        let mut members = 1;
        if backend.flash.rules.joins(Command::Program) {
            for other in backend.planes_in(self.planes_to_join(die, queue), die) {
                let queue = if queue == WriteQueue::Plane(plane) {
                    WriteQueue::Plane(other)
                } else {
                    queue
                };
                let Some(first) = self.queues.first_write(queue) else { continue };
                let page = self.queues.transactions.get(first).page();
                let next = backend.ftl.next_host_offset(other, page).map(|offset| (other, offset));
                let legal =
                    |next| backend.flash.rules.may_join(Command::Program, (plane, offset), next);
                let is_in_mode = backend.ftl.goes_to_cache(other, page.lpn) == in_cache;
                if is_in_mode
                    && next.is_some_and(legal)
                    && let Some(id) = self.queues.pop_write(queue)
                {
                    let placed = self.place(backend, id, other, &mut group, now);
                    filled += u64::from(placed.closes_block);
                    members += 1;
                }
            }
        }
        backend.counters.multi_plane_programs += u64::from(members > 1);
        let mut array = backend.host_program_time(placed.page, offset, filled);
        if !backend.ftl.geometry().ends_program(offset) {
            let (units, time) = self.gather(backend, (queue, plane), &mut group, now);
            members += units;
            array = time;
        }
        backend.counters.programs += members;
        let timing = &backend.flash.timing;
        let transfer_in = timing.command + timing.page_transfer * members;
        let times = Times { transfer_in, array, transfer_out: Duration::ZERO };
        issue(backend, die, Command::Program, times, group, now);
        self.note_replaced(backend, die, now);
    }

    /// Takes further writes of `queue` to the controller, until those that came to `plane` fill a page. Returns how
    /// many, and what the array takes to program that page.
    fn gather(
        &mut self,
        backend: &mut Backend,
        (queue, plane): (WriteQueue, PlaneId),
        group: &mut Fifo,
        now: Instant,
    ) -> (u64, Duration) {
        let mut units = 0;
        while let Some(first) = self.queues.first_write(queue)
            && let page = self.queues.transactions.get(first).page()
            && let Some(offset) = backend.ftl.next_host_offset(plane, page)
            && let Some(id) = self.queues.pop_write(queue)
        {
            let placed = self.place(backend, id, plane, group, now);
            units += 1;
            let array = backend.host_program_time(placed.page, offset, placed.closes_block.into());
            if backend.ftl.geometry().ends_program(offset) {
                return (units, array);
            }
        }
        (units, Duration::ZERO)
    }

    /// A bit for each plane of `die` on which a write might join one from `queue`.
    fn planes_to_join(&self, die: DieId, queue: WriteQueue) -> u32 {
        match queue {
            WriteQueue::Plane(_) => self.queues.planes_with_writes(die),
            WriteQueue::Die(_) | WriteQueue::Device => self.queues.all_planes(),
        }
    }

    /// Puts the data of a write on `plane`. Returns where.
    // Inlined, so that a group of one stays in registers.
    #[inline(always)]
    fn place(
        &mut self,
        backend: &mut Backend,
        id: TransactionId,
        plane: PlaneId,
        group: &mut Fifo,
        now: Instant,
    ) -> Placed {
        let transaction = self.queues.transactions.get(id);
        let Transaction { owner, lpn, sequence, in_vain, .. } = *transaction;
        let old = backend.ftl.lookup(lpn);
        let placed = backend.ftl.write(plane, transaction.page(), sequence);
        if in_vain {
            backend.ftl.lose(placed.page);
        }
        backend.flash.note_target(placed.page);
        if let Some(held) = &mut backend.held {
            held.begins(id, backend.ftl.geometry().program_of(placed.page));
        }
        backend.wake_if_to_collect(old);
        match owner {
            Owner::Host(_) | Owner::Destage => {
                backend.counters.host_programs += 1;
                self.write_back_if_waiting(backend, lpn, now);
            }
            Owner::Translation => self.translation_write_begins(backend, lpn, sequence),
            Owner::Rebuild => {}
        }
        self.join(backend, id, group, now);
        placed
    }

    /// Ends the wait of an operation and adds it to a command.
    #[inline(always)]
    pub fn join(
        &mut self,
        backend: &mut Backend,
        id: TransactionId,
        group: &mut Fifo,
        now: Instant,
    ) {
        self.end_wait(backend, id, now);
        group.push(id, &mut self.queues.transactions);
    }

    /// Ends every page operation of a command.
    pub fn finish_host(
        &mut self,
        backend: &mut Backend,
        mut group: Fifo,
        operation: &Operation<Purpose>,
        now: Instant,
    ) {
        while let Some(id) = group.pop(&self.queues.transactions) {
            let parts = &mut self.queues.transactions.get_mut(id).parts;
            parts[Part::Service] += operation.nominal();
            parts[Part::Bus] += operation.waited_for_bus;
            parts[Part::QueueBehindIo] += operation.waited_for_array;
            let Transaction { kind, in_vain, .. } = *self.queues.transactions.get(id);
            match kind {
                Kind::OfStripe => self.finish_part(backend, id, false, now),
                Kind::Read | Kind::ReadToUpdate if in_vain => self.fail_read(backend, id, now),
                Kind::Read | Kind::ReadToUpdate if self.queues.stripes.is_some() => {
                    self.finish_read_or_rebuild(backend, id, now);
                }
                Kind::Write if backend.held.is_some() && self.waits_for_page(backend, id, now) => {}
                Kind::Read | Kind::Write => self.finish_transaction(backend, id, now),
                Kind::ReadToUpdate => self.turn_into_write(backend, id, now),
            }
        }
    }
}

/// A read on its way into a die.
struct TakenRead {
    id: TransactionId,
    lpn: Lpn,
    page: Ppn,
    plane: PlaneId,
    offset: u32,
}

/// Gives `die` a command for the page operations of `group`.
#[inline(always)]
pub fn issue(
    backend: &mut Backend,
    die: DieId,
    command: Command,
    times: Times,
    group: Fifo,
    now: Instant,
) {
    backend.observer.serve_begins(die, now);
    backend.flash.issue(die, command, times, (Purpose::Host(group), false), now);
}
