//! Repair of a page that a drive cannot read: it is reconstructed from the other drives of its stripes and
//! their parity, or read from a copy, and written to that drive again, as Linux md does (`raid5.c`: `R5_ReadError`,
//! `R5_ReWrite`; `raid1.c` and `raid10.c`: `fix_read_error`).
//!
//! ```text
//!  a read ends in vain ──► stripes are held ──► the others are read ──► the read has ended ──► its drive is written
//! ```
//!
//! A controller is told of the command that has failed, not of the pages of flash in it: all of the command is made up.
//! A task that holds the stripes itself goes on when the drive has been written. Where a second drive cannot read its
//! part either, the repair is repaired in its turn, as far as copies and parities go.

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::drive::{Ended, Serves};
use crate::ids::{RequestId, SsdId, TaskId};
use crate::outcome::Outcome;
use crate::slots::Slots;

use super::Array;
use super::tasks::{TaskPurpose, request_served};
use crate::layout::{Layout, Missing, Plan};

/// Uncorrectable reads of drives, and their reconstruction by the array.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema, Checkpointed)]
pub struct RepairsSummary {
    /// Reads of drives which no retry could correct, and which were made up from other drives.
    pub made_up: u64,
    /// Pages that could not be reconstructed: too many drives are lost, or cannot read their part either.
    pub lost: u64,
    /// Bytes that were written to their drives again.
    pub written_bytes: u64,
    /// Bytes of replacements in whose place nothing is known, as what they are made up from could not be read.
    pub unknown_rebuilt_bytes: u64,
}

/// The repairs of an array.
#[derive(Debug, Checkpointed)]
pub(super) struct Repairs {
    under_way: Slots<Repair>,
    tally: RepairsSummary,
}

impl Repairs {
    /// If a drive may read in vain, and there are copies or a parity.
    pub(super) fn new(config: &Resolved, layout: &Layout) -> Option<Box<Self>> {
        let is_possible = layout.is_redundant() && config.ssd.faults.reads_may_fail();
        let none = Self { under_way: Slots::new(), tally: RepairsSummary::default() };
        is_possible.then(|| Box::new(none))
    }

    pub(super) const fn summary(&self) -> RepairsSummary {
        self.tally
    }

    /// Notes that `bytes` were rebuilt from what could not be read.
    pub(super) const fn rebuild_failed(&mut self, bytes: u64) {
        self.tally.unknown_rebuilt_bytes += bytes;
    }

    /// Plans to make up what `step` is about, and to write it, if drives that are not `missing` allow it.
    pub(super) fn plan(
        &mut self,
        step: RepairStep,
        (layout, missing): (&Layout, &Missing),
        plan: &mut Plan,
    ) -> bool {
        let Repair { device, ended, unreadable } = &mut self.under_way[step.place as usize];
        let (offset, length) = (ended.command.offset, ended.command.length);
        // Drives may have failed since the page could not be read.
        unreadable.add(missing);
        let is_possible = layout.can_rebuild(*device, offset..offset + length, unreadable);
        if is_possible {
            layout.rebuild(*device, offset..offset + length, unreadable, plan);
        }
        is_possible
    }
}

/// A command that a drive has read in vain.
#[derive(Debug, Clone, Checkpointed)]
struct Repair {
    device: SsdId,
    ended: Ended,
    /// Unreadable drives of the repair: lost drives, that drive, and others that have failed to read their
    /// part.
    unreadable: Missing,
}

/// A repair, for those that carry it out.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub(super) struct RepairStep {
    place: u32,
    /// The request that waits for it.
    pub(super) request: Option<RequestId>,
    /// Whether the task that waits for it holds the stripes.
    pub(super) is_under_lock: bool,
}

impl Array {
    /// Begins to make up what `device` has read in vain. Returns whether it can.
    #[cold]
    #[inline(never)]
    pub(super) fn repair(&mut self, device: SsdId, ended: &Ended) -> bool {
        let Some(repairs) = &mut self.repairs else { return false };
        let (mut unreadable, is_under_lock) = match ended.command.serves {
            Serves::Request(_) => (self.members.missing.clone(), false),
            Serves::Task(task) => match self.work.tasks[task.index()].repair() {
                Some(step) => (repairs.under_way[step.place as usize].unreadable.clone(), true),
                None => (self.members.missing.clone(), self.work.tasks[task.index()].has_lock),
            },
        };
        unreadable.lose(device);
        let (offset, length) = (ended.command.offset, ended.command.length);
        if !self.layout.can_rebuild(device, offset..offset + length, &unreadable) {
            repairs.tally.lost += 1;
            return false;
        }
        let place = repairs.under_way.insert(Repair { device, ended: *ended, unreadable }) as u32;
        let request = request_served(&self.work.tasks, ended.command.serves);
        let late = ended.command.late + ended.parts.late();
        self.begin(TaskPurpose::Repair(RepairStep { place, request, is_under_lock }), late);
        true
    }

    /// A phase of a repair has ended: the others have been read, or the drive has been written.
    pub(super) fn repair_goes_on(&mut self, id: TaskId, step: RepairStep) {
        let task = &self.work.tasks[id.index()];
        if task.outcome == Outcome::Uncorrectable {
            return self.end_repair(id, step, Outcome::Uncorrectable);
        }
        // Whether the drive takes the write: it has been read all the same.
        if !task.has_more() {
            return self.end_repair(id, step, Outcome::Done);
        }
        self.count_reconstructed(step);
        if !step.is_under_lock {
            self.answer(id, step, Outcome::Done);
        }
        self.begin_next_phase(id);
    }

    fn count_reconstructed(&mut self, step: RepairStep) {
        let Some(repairs) = &mut self.repairs else { return };
        repairs.tally.made_up += 1;
        repairs.tally.written_bytes += repairs.under_way[step.place as usize].ended.command.length;
    }

    pub(super) fn end_repair(&mut self, id: TaskId, step: RepairStep, outcome: Outcome) {
        let is_awaited = step.is_under_lock || outcome == Outcome::Uncorrectable;
        if is_awaited {
            self.answer(id, step, outcome);
        }
        if let Some(repairs) = &mut self.repairs {
            repairs.under_way.remove(step.place as usize);
            repairs.tally.lost += u64::from(outcome == Outcome::Uncorrectable);
        }
        self.end_task(id, SsdId::default());
    }

    /// The command that `step` repairs has ended, with this `outcome`.
    fn answer(&mut self, id: TaskId, step: RepairStep, outcome: Outcome) {
        let Some(repairs) = &self.repairs else { return };
        let Repair { device, mut ended, .. } = repairs.under_way[step.place as usize].clone();
        let task = &mut self.work.tasks[id.index()];
        ended.parts += task.parts;
        ended.outcome = outcome;
        task.forget_request();
        self.book_piece(self.members.drive(device), &ended);
    }
}
