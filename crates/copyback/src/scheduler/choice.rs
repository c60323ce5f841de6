//! Choice of the next of the host's waiting page operations for a die.

use crate::backend::{Backend, ToFill};
use crate::ftl::Ftl;
use crate::ids::{DieId, PlaneId, Ppn, ProgramId, planes_in};
use crate::nand::Command;
use crate::placement::HostPage;
use crate::transaction::TransactionId;

use super::free_die::{leaves_to_other, may_leave_to_other};
use super::queues::{Queues, WriteLevel, WriteQueue};
use super::when::Admitted;

/// A host operation that a die could take.
#[derive(Debug, Clone, Copy)]
pub enum Next {
    /// The first read that waits for this plane.
    Read(PlaneId),
    /// This write.
    Write(NextWrite),
    /// To fill up the page that this program writes, as somebody waits for what it holds.
    Fill(ProgramId),
}

impl Next {
    /// Command for the die.
    pub const fn command(self) -> Command {
        match self {
            Self::Read(_) => Command::Read,
            Self::Write(_) | Self::Fill(_) => Command::Program,
        }
    }
}

/// The first write of a queue, and where it would go.
#[derive(Debug, Clone, Copy)]
pub struct NextWrite {
    /// The queue.
    pub(super) queue: WriteQueue,
    /// Plane of the write.
    pub(super) plane: PlaneId,
    /// The offset in its block.
    pub(super) offset: u32,
}

impl Queues {
    /// Whether page operations of the host wait for this die.
    #[inline]
    pub fn host_waits(&self, backend: &Backend, die: DieId) -> bool {
        self.planes_with_reads(die) != 0 || may_fill(backend, die) || self.may_write(die)
    }

    /// Whether reads wait for this die that go before all writes.
    pub fn reads_go_first(&self, die: DieId) -> bool {
        self.reads_first && self.planes_with_reads(die) != 0
    }

    /// Whether an operation of the host that is a `command` waits, and `die` may have room for it: at worst says so.
    #[inline]
    pub fn might_serve(&self, backend: &Backend, die: DieId, command: Command) -> bool {
        if command == Command::Read {
            return self.planes_with_reads(die) != 0;
        }
        let waits = match self.write_level() {
            WriteLevel::Plane => self.planes_with_writes(die) != 0,
            WriteLevel::Die => self.write_waits(die),
            WriteLevel::Device => {
                self.write_waits(die) && self.first_may_have_place(&backend.ftl, die)
            }
        };
        waits || may_fill(backend, die)
    }

    /// Whether `die` may have room for the first write that waits for any.
    #[inline]
    fn first_may_have_place(&self, ftl: &Ftl, die: DieId) -> bool {
        ftl.rooms().keeps_room(die).unwrap_or_else(|| {
            let first = self.first_write(WriteQueue::Device);
            first.is_some_and(|id| ftl.may_have_place(die, self.transactions.get(id).page()))
        })
    }

    /// The operation that has waited longest, among those admitted that have a place; reads before
    /// writes if the drive is set so.
    #[inline(always)]
    pub fn next_host_operation(
        &self,
        backend: &Backend,
        die: DieId,
        admitted: Admitted,
    ) -> Option<Next> {
        let read = if admitted.reads { self.oldest_read(die) } else { None };
        let write = if admitted.writes { self.oldest_program(backend, die) } else { None };
        match (read, write) {
            (Some((read, plane)), Some((write, next))) => {
                let read_first = self.reads_first || read < write;
                Some(if read_first { Next::Read(plane) } else { next })
            }
            (Some((_, plane)), None) => Some(Next::Read(plane)),
            (None, Some((_, next))) => Some(next),
            (None, None) => None,
        }
    }

    /// The program that `die` would do next, and the sequence number of the write that waits for it.
    #[inline(always)]
    fn oldest_program(&self, backend: &Backend, die: DieId) -> Option<(u64, Next)> {
        let write = self.oldest_write(&backend.ftl, die);
        let write = write.filter(|_| !self.is_for_other(backend, die));
        match write {
            Some((sequence, next)) => Some((sequence, Next::Write(next))),
            None if backend.held.is_some() => Self::next_to_fill(backend, die),
            None => None,
        }
    }

    /// Whether the first write that any die could take is left to another die.
    #[inline(always)]
    fn is_for_other(&self, backend: &Backend, die: DieId) -> bool {
        self.write_level() == WriteLevel::Device
            && may_leave_to_other(backend)
            && self.is_left_to_other(backend, die)
    }

    // Apart, as few dies leave any.
    #[inline(never)]
    fn is_left_to_other(&self, backend: &Backend, die: DieId) -> bool {
        let first = self.first_write(WriteQueue::Device);
        first.is_some_and(|id| leaves_to_other(backend, die, self.transactions.get(id).page()))
    }

    fn next_to_fill(backend: &Backend, die: DieId) -> Option<(u64, Next)> {
        let ToFill { program, since } = backend.held.as_ref()?.next_to_fill(&backend.ftl, die)?;
        Some((since, Next::Fill(program)))
    }

    /// The plane of `die` whose first read has waited longest, and that read's sequence number.
    #[inline(always)]
    pub fn oldest_read(&self, die: DieId) -> Option<(u64, PlaneId)> {
        let mask = self.planes_with_reads(die);
        if mask.is_power_of_two() {
            // Mostly reads wait for one plane only.
            let plane = PlaneId(die.0 * self.planes_per_die() + mask.trailing_zeros());
            return Some((self.sequence(self.first_read(plane)?), plane));
        }
        planes_in(mask, die, self.planes_per_die())
            .filter_map(|plane| Some((self.sequence(self.first_read(plane)?), plane)))
            .min_by_key(|(sequence, _)| *sequence)
    }

    /// The write that `die` would take next, and its sequence number.
    #[inline(always)]
    fn oldest_write(&self, ftl: &Ftl, die: DieId) -> Option<(u64, NextWrite)> {
        let queue = match self.write_level() {
            WriteLevel::Plane if self.planes_with_writes(die) == 0 => return None,
            WriteLevel::Plane => return self.oldest_placed_write(ftl, die),
            WriteLevel::Die => WriteQueue::Die(die),
            WriteLevel::Device => WriteQueue::Device,
        };
        let first = self.transactions.get(self.first_write(queue)?);
        let (plane, offset) = ftl.next_place(die, first.page())?;
        Some((first.sequence, NextWrite { queue, plane, offset }))
    }

    fn oldest_placed_write(&self, ftl: &Ftl, die: DieId) -> Option<(u64, NextWrite)> {
        let mut mask = self.planes_with_writes(die);
        // Whether a plane accepts a write takes longer to say than which write is the oldest.
        loop {
            let (sequence, plane, page) = self.oldest_first_write(die, mask)?;
            if let Some(offset) = ftl.next_host_offset(plane, page) {
                let queue = WriteQueue::Plane(plane);
                return Some((sequence, NextWrite { queue, plane, offset }));
            }
            mask &= !(1 << ftl.geometry().plane_in_die(plane));
        }
    }

    /// The oldest of the first writes that wait for the planes of `mask`: its sequence number, plane and page.
    fn oldest_first_write(&self, die: DieId, mask: u32) -> Option<(u64, PlaneId, HostPage)> {
        planes_in(mask, die, self.planes_per_die())
            .filter_map(|plane| {
                let first = self.first_write(WriteQueue::Plane(plane))?;
                let first = self.transactions.get(first);
                Some((first.sequence, plane, first.page()))
            })
            .min_by_key(|(sequence, ..)| *sequence)
    }

    fn sequence(&self, id: TransactionId) -> u64 {
        self.transactions.get(id).sequence
    }

    /// The page that holds what the first read that waits for `plane` asks for.
    pub fn page_of_first_read(&self, ftl: &Ftl, plane: PlaneId) -> Option<Ppn> {
        self.page_read(ftl, self.first_read(plane)?)
    }

    /// Physical page that the write `next` supersedes.
    pub fn page_superseded_by(&self, ftl: &Ftl, next: NextWrite) -> Option<Ppn> {
        let first = self.first_write(next.queue)?;
        ftl.lookup(self.transactions.get(first).lpn)
    }

    /// Whether a write that `counts` waits for a plane of `die` that can take none.
    pub fn write_finds_no_block(
        &self,
        ftl: &Ftl,
        die: DieId,
        counts: impl Fn(HostPage) -> bool,
    ) -> bool {
        let first = |queue| {
            let page = self.transactions.get(self.first_write(queue)?).page();
            counts(page).then_some(page)
        };
        let queue = match self.write_level() {
            WriteLevel::Plane => {
                let mask = self.planes_with_writes(die);
                return planes_in(mask, die, self.planes_per_die()).any(|plane| {
                    let page = first(WriteQueue::Plane(plane));
                    page.is_some_and(|page| !ftl.accepts(plane, page))
                });
            }
            WriteLevel::Die => WriteQueue::Die(die),
            WriteLevel::Device => WriteQueue::Device,
        };
        first(queue).is_some_and(|page| !ftl.has_place(die, page))
    }
}

/// Whether a page of `die` may have to be filled up.
#[inline(always)]
fn may_fill(backend: &Backend, die: DieId) -> bool {
    backend.held.as_ref().is_some_and(|held| held.may_fill(&backend.ftl, die))
}
