//! Host operations from the queues into the dies, and out again.

use crate::backend::{Backend, Found, Purpose, wake_if_to_collect};
use crate::flash::Flash;
use crate::ftl::{Ftl, Outdated, Placed};
use crate::ids::{DieId, Lpn, PlaneId, Ppn};
use crate::nand::{Command, Located, Operation, Times};
use crate::observer::{Observer, Part};
use crate::outcome::Outcome;
use crate::purpose::Owner;
use crate::transaction::{Fifo, Kind, Transaction, TransactionId};
use crate::units::{Duration, Instant};

use super::choice::{Next, NextWrite};
use super::fill::start_fill;
use super::free_die::may_leave_to_other;
use super::queues::WriteQueue;
use super::{Queues, Scheduler};

impl Queues {
    /// A read is about to begin that does not find its data. It is made up from others, if it is of a stripe and its page cannot
    /// be corrected.
    #[inline(never)]
    fn note_found(&mut self, ftl: &Ftl, found: Found, taken: &TakenRead) {
        let read = self.transactions.get_mut(taken.id);
        let is_part = read.kind == Kind::OfStripe;
        match (found, &mut self.stripes) {
            (Found::Data, _) => {}
            // The mark itself is part of what parity is made of.
            (Found::Mark, _) if is_part => {}
            (Found::Nothing, Some(stripes))
                if is_part || !ftl.lost_pages().is_marked(taken.page) =>
            {
                stripes.note_uncorrectable(taken.id, taken.page);
            }
            (Found::Mark | Found::Nothing, _) => read.cannot_be_corrected(),
        }
    }
}

impl Scheduler {
    /// Starts `next`, which its die can take. Returns whether it has.
    #[inline]
    pub fn start(&mut self, backend: &mut Backend, next: Next, now: Instant) -> bool {
        match next {
            Next::Read(plane) => self.start_read(backend, plane, now),
            Next::Write(NextWrite { queue, plane, offset }) => {
                let Some(id) = self.queues.pop_write(queue) else { return false };
                self.start_taken_write(backend, id, queue, (plane, offset), now);
                if may_leave_to_other(backend) {
                    // Others may have been left to this die.
                    self.wake_for_waiting_writes(backend);
                }
                true
            }
            Next::Fill(program) => start_fill(backend, program, now),
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
        let others = self.queues.planes_with_reads(die) & !backend.ftl.geometry().bit(lead.plane);
        if others != 0 && backend.flash.rules.joins(Command::Read) {
            for other in backend.ftl.geometry().planes_in(others, die) {
                members += u64::from(self.join_read(backend, &lead, other, &mut group, now));
            }
        }
        backend.counters.reads += members;
        backend.counters.multi_plane_reads += u64::from(members > 1);
        let Backend { condition, ftl, flash, .. } = &mut *backend;
        let timing = &flash.timing;
        let array =
            condition.array_read(ftl, timing, (lead.page, lead.offset)) + condition.take_extra();
        let times = Times {
            transfer_in: timing.command,
            array,
            transfer_out: timing.page_transfer * members,
        };
        issue(&mut backend.observer, &mut backend.flash, die, Command::Read, times, group, now);
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
        let Located { plane: actual, offset } = backend.ftl.geometry().locate(page);
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
            self.queues.transactions.get_mut(id).end_wait(&mut backend.observer, now);
            self.finish_part(backend, id, true, now);
            return None;
        }
        let page = self.queues.page_read(&backend.ftl, id);
        let located = page.map(|page| (page, backend.ftl.geometry().locate(page)));
        match located {
            Some((page, Located { plane: actual, offset }))
                if actual == plane || backend.ftl.geometry().die_of_plane(actual) == die =>
            {
                let plane = actual;
                Some(TakenRead { id, lpn, page, plane, offset })
            }
            _ => {
                self.queues.transactions.get_mut(id).end_wait(&mut backend.observer, now);
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
        let read = self.queues.transactions.get(taken.id);
        if read.kind != Kind::OfStripe {
            backend.ftl.check_read(read.lpn, read.reader());
        }
        let Backend { condition, ftl, flash, .. } = &mut *backend;
        let found = condition.sense(ftl, &flash.timing, taken.page);
        if found != Found::Data {
            self.queues.note_found(ftl, found, taken);
        }
        backend.counters.mapping.reads +=
            u64::from(backend.ftl.limits().is_translation_page(taken.lpn));
        backend.flash.pages.note(taken.page);
        self.queues.join(&mut backend.observer, taken.id, group, now);
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
            for other in backend.ftl.geometry().planes_in(self.planes_to_join(die, queue), die) {
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
        issue(&mut backend.observer, &mut backend.flash, die, Command::Program, times, group, now);
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
        backend.flash.pages.note_target(placed.page);
        if let Some(held) = &mut backend.held {
            held.begins(id, backend.ftl.geometry().program_of(placed.page));
        }
        wake_if_to_collect(&mut backend.flash, &backend.ftl, old);
        match owner {
            Owner::Host(_) | Owner::Destage => {
                backend.counters.host_programs += 1;
                self.write_back_outdated(backend, Outdated::By(lpn), now);
            }
            Owner::Translation => {
                backend.counters.mapping.writes += 1;
                self.translation().write_begins(lpn, sequence);
            }
            Owner::Rebuild => {}
        }
        self.queues.join(&mut backend.observer, id, group, now);
        placed
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
                    self.finish_read(backend, id, now);
                }
                Kind::Write
                    if backend.held.as_mut().is_some_and(|held| {
                        self.queues.waits_for_page(
                            held,
                            &backend.observer,
                            backend.ftl.geometry(),
                            id,
                            now,
                        )
                    }) => {}
                Kind::Read | Kind::Write => self.finish(Outcome::Done, backend, id, now),
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
    observer: &mut Observer,
    flash: &mut Flash<Purpose>,
    die: DieId,
    command: Command,
    times: Times,
    group: Fifo,
    now: Instant,
) {
    observer.serve_begins(die, now);
    flash.issue(die, command, times, (Purpose::Host(group), false), now);
}
