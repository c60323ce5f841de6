//! Tasks: what a request, or a step of a rebuild, becomes.
//!
//! A task is pieces on drives, in up to two phases: a write under parity first reads what it needs for
//! the new parity. It ends with the last piece of its last phase; where its time went is what that piece
//! of each phase tells.

use std::ops::Range;

use crate::checkpoint::Checkpointed;
use crate::drive::{Command, Ended, Serves};
use crate::ids::{RequestId, SsdId, TaskId};
use crate::outcome::Outcome;
use crate::slots::Slots;
use crate::ssd::{Blocked, Blocker, For, Part, Parts, Waited};
use crate::units::{Duration, Instant};
use crate::workload::{Hint, Operation, Request};

use super::consistency::ResyncStep;
use super::failures::Failures;
use super::locks::{Hold, Unlocked};
use super::members::Places;
use super::rebuild::RebuildStep;
use super::repair::RepairStep;
use super::scrub::ScrubStep;
use super::{Array, FinishedRequest};
use crate::layout::{Layout, Piece, Plan};

/// Work of the controller for a request, or for itself.
#[derive(Debug, Checkpointed)]
pub(super) struct Task {
    purpose: TaskPurpose,
    stage: TaskStage,
    /// Writes of a log or a bitmap, before those of the next phase.
    ahead: Vec<Piece>,
    /// Pieces of the next phase.
    pub(super) then: Vec<Piece>,
    /// Whether it keeps others from its stripes.
    pub(super) has_lock: bool,
    /// Whether it has said that it writes, and has not taken that back.
    pub(super) has_intent: bool,
    /// Whether a drive has failed that it read from: it is planned again once all that is under way has ended.
    pub(super) is_outdated: bool,
    /// Time that passes before its pieces begin, as a drive fails one of them first.
    delay: Duration,
    /// Delay by collections before the task came.
    came_late: Duration,
    /// Parts of its time in the array.
    pub(super) parts: Parts,
    /// Of the pieces of this phase that have ended, the one that counts as the last. None before the first.
    last: Option<LastPiece>,
    /// Worst outcome of its pieces so far.
    pub(super) outcome: Outcome,
}

/// Piece of a phase that ended last: of pieces of one instant that of the last drive, because in which order
/// drives get to the end of an instant is their own affair.
#[derive(Debug, Clone, Copy, Checkpointed)]
struct LastPiece {
    at: Instant,
    device: SsdId,
    /// Parts of its time.
    parts: Parts,
}

impl LastPiece {
    /// The later of the two.
    fn or(self, other: Option<Self>) -> Self {
        match other {
            Some(other) if (other.at, other.device) > (self.at, self.device) => other,
            Some(_) | None => self,
        }
    }
}

/// Purpose of a task: what its pieces are planned from.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub(super) enum TaskPurpose {
    /// A request of the host: an operation on bytes of the array.
    Request {
        id: RequestId,
        operation: Operation,
        offset: u64,
        length: u64,
        /// Hint of the host about the data.
        hint: Option<Hint>,
    },
    /// A part of a replacement is written anew.
    Rebuild(RebuildStep),
    /// A range of every drive is read, to see whether it can be.
    Scrub(ScrubStep),
    /// After a cut of power, copies or parities are made to agree in a range.
    Resync(ResyncStep),
    /// A block of the bitmap is written, in which bits have been cleared.
    ClearBits(u64),
    /// Repair: pages that a drive could not read are reconstructed, and written there.
    Repair(RepairStep),
    /// A request that has not arrived, whose drives have gone ahead.
    Announced,
}

impl TaskPurpose {
    /// To serve this request.
    pub(super) const fn of(id: RequestId, request: &Request) -> Self {
        let Request { operation, offset, length, hint, .. } = *request;
        Self::Request { id, operation, offset, length, hint }
    }
}

impl Task {
    /// Hint of the host about the data that it writes.
    const fn hint(&self) -> Option<Hint> {
        match self.purpose {
            TaskPurpose::Request { hint, .. } => hint,
            _ => None,
        }
    }

    /// Creates the task of a request that has not arrived; its `pieces` have been handed to drives that go
    /// ahead.
    pub(super) fn announced(pieces: u32) -> Self {
        Self {
            purpose: TaskPurpose::Announced,
            stage: TaskStage::Running(pieces),
            ahead: Vec::new(),
            then: Vec::new(),
            has_lock: false,
            has_intent: false,
            is_outdated: false,
            delay: Duration::ZERO,
            came_late: Duration::ZERO,
            parts: Parts::default(),
            last: None,
            outcome: Outcome::Done,
        }
    }

    /// Delay by collections so far.
    pub(super) fn late(&self) -> Duration {
        self.came_late + self.parts.late()
    }

    /// The request that it serves.
    pub(super) const fn request(&self) -> Option<RequestId> {
        match self.purpose {
            TaskPurpose::Request { id, .. } => Some(id),
            TaskPurpose::Repair(step) => step.request,
            _ => None,
        }
    }

    /// The repair that it is, if it is one.
    pub(super) const fn repair(&self) -> Option<RepairStep> {
        match self.purpose {
            TaskPurpose::Repair(step) => Some(step),
            _ => None,
        }
    }

    /// Bytes of the array that it writes or trims for a request, if it does.
    pub(super) fn written_bytes(&self, layout: &Layout) -> Option<Range<u64>> {
        let TaskPurpose::Request { operation, offset, length, .. } = self.purpose else {
            return None;
        };
        Some(layout.changed(operation, offset..offset + length)).filter(|bytes| !bytes.is_empty())
    }

    /// Bytes of the array that pieces under way write, or would if their drives had begun them.
    pub(super) fn bytes_under_way(&self, layout: &Layout) -> Option<Range<u64>> {
        let is_last_phase = matches!(self.stage, TaskStage::Running(_)) && !self.has_more();
        self.written_bytes(layout).filter(|_| is_last_phase)
    }

    /// Whether a piece of the phase under way has ended.
    pub(super) const fn has_begun(&self) -> bool {
        self.last.is_some()
    }

    /// Whether its reads must be done by whoever is left: a scrub only looks at drives that are there.
    pub(super) const fn needs_its_reads(&self) -> bool {
        !matches!(self.purpose, TaskPurpose::Scrub(_))
    }

    /// Detaches the repair from its request: nobody waits for it any more.
    pub(super) const fn forget_request(&mut self) {
        if let TaskPurpose::Repair(step) = &mut self.purpose {
            step.request = None;
        }
    }

    /// Outcome if it cannot be carried out, as data are lost.
    pub(super) const fn outcome_if_lost(&self) -> Outcome {
        match self.purpose {
            TaskPurpose::Request { operation: Operation::Read, .. } => Outcome::Uncorrectable,
            TaskPurpose::Request { .. } => Outcome::Rejected,
            _ => Outcome::Uncorrectable,
        }
    }

    /// Forgets what it was to do.
    pub(super) fn give_up_plan(&mut self) {
        self.is_outdated = false;
        self.ahead.clear();
        self.then.clear();
    }

    /// Whether another phase comes after the one that has just ended.
    pub(super) const fn has_more(&self) -> bool {
        !self.then.is_empty()
    }
}

#[derive(Debug, Clone, Copy, Checkpointed)]
enum TaskStage {
    /// Other tasks hold its stripes, since then.
    Waiting(Instant),
    /// Number of pieces that have not ended.
    Running(u32),
}

impl Array {
    /// Begins what `purpose` asks for, which without collections would have come `came_late` earlier.
    pub(super) fn begin(&mut self, purpose: TaskPurpose, came_late: Duration) {
        let task = Task { purpose, came_late, ..Task::announced(0) };
        let id = TaskId::from_index(self.work.tasks.insert(task));
        if let TaskPurpose::Request { .. } = purpose {
            self.upkeep.note_request();
        }
        self.plan_and_begin(id);
    }

    /// Plans a task, and begins it once it has its stripes.
    pub(super) fn plan_and_begin(&mut self, id: TaskId) {
        if !self.make_plan(id) {
            return self.end_uncorrectable(id);
        }
        if let Some(stripes) = self.work.plan.stripes.clone()
            && !self.work.tasks[id.index()].repair().is_some_and(|step| step.is_under_lock)
        {
            let task = &mut self.work.tasks[id.index()];
            task.has_lock = true;
            let is_shared = self.work.plan.is_shared;
            if !self.work.locks.take(id, Hold { stripes, is_shared }) {
                task.stage = TaskStage::Waiting(self.clock.now);
                return;
            }
        }
        self.begin_planned(id);
    }

    /// Plans a task. Returns whether the drives that are left can carry it out.
    fn make_plan(&mut self, id: TaskId) -> bool {
        if self.failures().is_some_and(Failures::have_lost_data) {
            return false;
        }
        match self.work.tasks[id.index()].purpose {
            TaskPurpose::Request { operation, offset, length, .. } => {
                let bytes = offset..offset + length;
                if operation == Operation::Read
                    && let Some(reads) = &mut self.reads
                {
                    let layout = (&self.layout, &self.members.missing);
                    let places = Places { drives: &self.drives, members: &self.members };
                    let delay =
                        reads.plan(bytes, layout, places, self.clock.now, &mut self.work.plan);
                    self.work.tasks[id.index()].delay = delay;
                } else if operation == Operation::Write
                    && let Some(consistency) = &mut self.upkeep.consistency
                {
                    let layout = (&self.layout, &self.members.missing);
                    consistency.plan_write(id, bytes, layout, &mut self.work.plan);
                } else {
                    self.layout.plan(operation, bytes, &self.members.missing, &mut self.work.plan);
                }
            }
            TaskPurpose::Rebuild(RebuildStep { device, offset, length }) => {
                self.layout.rebuild(
                    device,
                    offset..offset + length,
                    &self.members.missing,
                    &mut self.work.plan,
                );
            }
            TaskPurpose::Scrub(ScrubStep { offset, length }) => {
                self.layout.scrub(
                    offset..offset + length,
                    &self.members.missing,
                    &mut self.work.plan,
                );
                if let Some(scrubber) = &mut self.upkeep.scrubber {
                    scrubber.reads(self.work.plan.first.iter().map(|piece| piece.length).sum());
                }
            }
            TaskPurpose::Resync(step) => {
                let layout = (&self.layout, &self.members.missing);
                let consistency = self.upkeep.consistency.iter_mut();
                consistency.for_each(|care| care.plan_resync(step, layout, &mut self.work.plan));
            }
            TaskPurpose::ClearBits(block) => {
                let layout = (&self.layout, &self.members.missing);
                let consistency = self.upkeep.consistency.iter_mut();
                consistency.for_each(|care| care.plan_block(block, layout, &mut self.work.plan));
            }
            TaskPurpose::Repair(step) => {
                let left = (&self.layout, &self.members.missing);
                let repairs = self.repairs.as_mut();
                return repairs
                    .is_some_and(|repairs| repairs.plan(step, left, &mut self.work.plan));
            }
            TaskPurpose::Announced => {}
        }
        true
    }

    /// Begins the task that the plan was made for.
    fn begin_planned(&mut self, id: TaskId) {
        let layout = (&self.layout, &self.members.missing);
        let task = &mut self.work.tasks[id.index()];
        let ahead = self.upkeep.declare_intent(task, layout, &self.work.plan.then);
        if self.work.plan.first.is_empty() && ahead.is_empty() {
            return self.begin_last_phase(id);
        }
        let Plan { first, then, .. } = &self.work.plan;
        let task = &mut self.work.tasks[id.index()];
        task.ahead = ahead;
        if first.is_empty() {
            task.then = then.to_vec();
            return self.begin_next_phase(id);
        }
        let delay = std::mem::take(&mut task.delay);
        if delay > Duration::ZERO
            && let Some(reads) = &mut self.reads
        {
            // A read has but one phase: it comes when its failure has been reported.
            task.stage = TaskStage::Running(0);
            task.then = first.to_vec();
            task.parts[Part::Late] += delay;
            return reads.hold(id, self.clock.now + delay);
        }
        task.stage = TaskStage::Running(first.len() as u32);
        task.then = then.to_vec();
        // By index: a plan is large, and handing in a piece needs the whole array.
        for index in 0..self.work.plan.first.len() {
            self.hand_in(id, self.work.plan.first[index]);
        }
    }

    /// Begins the second phase of the plan as the only one; a task without pieces has ended at once.
    fn begin_last_phase(&mut self, id: TaskId) {
        let pieces = self.work.plan.then.len();
        if pieces == 0 {
            return self.end_task(id, SsdId::default());
        }
        self.work.tasks[id.index()].stage = TaskStage::Running(pieces as u32);
        for index in 0..pieces {
            self.hand_in(id, self.work.plan.then[index]);
        }
    }

    /// Hands a piece of a task to its drive.
    fn hand_in(&mut self, task: TaskId, piece: Piece) {
        let Piece { device, operation, offset, length } = piece;
        let (late, hint) =
            (self.work.tasks[task.index()].late(), self.work.tasks[task.index()].hint());
        let serves = Serves::Task(task);
        let command = Command { serves, operation, offset, length, hint, late };
        self.send(self.members.drive(device), command);
        if let Some(protocol) = &mut self.protocol
            && operation == Operation::Write
            && self.members.is_of_layout(device)
        {
            protocol.note_sent(device, length, self.outbox.outstanding, self.clock.now);
        }
    }

    /// The request of a task whose drives have gone ahead arrives.
    pub(super) fn arrive(&mut self, id: TaskId, purpose: TaskPurpose) {
        let task = &mut self.work.tasks[id.index()];
        task.purpose = purpose;
        match task.stage {
            TaskStage::Running(0) => self.end_task(id, SsdId::default()),
            TaskStage::Running(_) | TaskStage::Waiting(_) => {}
        }
    }

    /// Takes the commands that have ended in the drives, until no more do.
    pub(super) fn take_ended_of_several(&mut self) {
        self.name_blocked();
        while let Some(index) = self.drive_with_ended() {
            // Those that end because of these come behind the ones of other drives.
            for _ in 0..self.drives[index].ended() {
                let Some(ended) = self.drives[index].take_first_ended() else { break };
                self.piece_ended(SsdId::from_index(index), &ended);
            }
        }
    }

    /// Notes which requests have waited in the drives, before the tasks end that serve them.
    fn name_blocked(&mut self) {
        let Some(blocked) = &mut self.outbox.blocked else { return };
        for index in self.clock.touched.iter() {
            let tasks = &self.work.tasks;
            let request = |serves| request_served(tasks, serves);
            let waits = self.drives[index].take_blocked();
            let named =
                waits.filter_map(|wait| wait.renamed(request, |behind| behind.renamed(request)));
            blocked.extend(named.map(|wait| (Some(SsdId::from_index(index)), wait)));
        }
    }

    fn drive_with_ended(&self) -> Option<usize> {
        self.clock.touched.iter().find(|index| self.drives[*index].has_ended())
    }

    pub(super) fn piece_ended(&mut self, device: SsdId, ended: &Ended) {
        if self.drives.len() > 1 {
            self.outbox.pieces.push((device, *ended));
        }
        let Some(place) = self.members.place(device) else {
            return self.book_failed(device, ended);
        };
        if ended.outcome == Outcome::Rejected && self.members.failures.is_some() {
            return self.fail_as_it_rejects(place, device, ended);
        }
        if ended.outcome == Outcome::Uncorrectable && self.repair(place, ended) {
            return;
        }
        self.book_piece(device, ended);
    }

    /// Books a piece that has ended, for the task or the request that it is of.
    #[inline(always)]
    pub(super) fn book_piece(&mut self, device: SsdId, ended: &Ended) {
        let id = match ended.command.serves {
            Serves::Request(request) => return self.ended_as_one(request, device, ended),
            Serves::Task(id) => id,
        };
        let task = &mut self.work.tasks[id.index()];
        task.outcome.worsen(ended.outcome);
        let TaskStage::Running(left) = &mut task.stage else { return };
        *left -= 1;
        let last =
            LastPiece { at: self.clock.now, device, parts: ended.parts }.or(task.last.take());
        if *left == 0 {
            task.parts += last.parts;
            self.end_phase(id, last.device);
        } else {
            task.last = Some(last);
        }
    }

    /// The last piece of a phase has ended, on `device`.
    fn end_phase(&mut self, id: TaskId, device: SsdId) {
        let task = &self.work.tasks[id.index()];
        if task.is_outdated {
            return self.begin_again(id);
        }
        if let Some(step) = task.repair() {
            return self.repair_goes_on(id, step);
        }
        match task.has_more() {
            true => self.begin_next_phase(id),
            false => self.end_task(id, device),
        }
    }

    pub(super) fn begin_next_phase(&mut self, id: TaskId) {
        let task = &mut self.work.tasks[id.index()];
        let is_there = |piece: &Piece| !self.members.has_failed(self.members.drive(piece.device));
        let mut ahead = std::mem::take(&mut task.ahead);
        ahead.retain(is_there);
        // What is logged is flushed once it is in its drive.
        if ahead.iter().any(|piece| piece.operation == Operation::Write) {
            task.ahead =
                ahead.extract_if(.., |piece| piece.operation == Operation::Flush).collect();
        }
        if !ahead.is_empty() {
            task.stage = TaskStage::Running(ahead.len() as u32);
            self.upkeep.count_log(&ahead);
            return ahead.into_iter().for_each(|piece| self.hand_in(id, piece));
        }
        self.upkeep.note_logged(task, &self.layout);
        let mut then = std::mem::take(&mut task.then);
        // A drive may have failed since they were planned, and a spare be in its place that does not hold it yet.
        let missing = &self.members.missing;
        let is_gone =
            |piece: &Piece| missing.from(piece.device).is_some_and(|from| from < piece.end());
        if then.iter().any(|piece| piece.operation == Operation::Read && is_gone(piece)) {
            return self.begin_again(id);
        }
        then.retain(is_there);
        if then.is_empty() {
            return self.end_phase(id, SsdId::default());
        }
        task.stage = TaskStage::Running(then.len() as u32);
        then.into_iter().for_each(|piece| self.hand_in(id, piece));
    }

    pub(super) fn end_task(&mut self, id: TaskId, device: SsdId) {
        let mut task = self.work.tasks.remove(id.index());
        self.upkeep.take_back_intent((id, &mut task), &self.layout, true, self.clock.now);
        match task.purpose {
            TaskPurpose::Request { id: request, .. } => {
                let Task { parts, outcome, .. } = task;
                self.outbox.outstanding -= 1;
                let finished = FinishedRequest { request, parts, device, outcome };
                self.outbox.finished.push_back(finished);
            }
            // A replacement that takes no writes cannot be rebuilt.
            TaskPurpose::Rebuild(_) if task.outcome == Outcome::Rejected => self.stop_upkeep(),
            TaskPurpose::Rebuild(step) => self.rebuilt(step, task.outcome),
            TaskPurpose::Scrub(step) => {
                if let Some(scrubber) = &mut self.upkeep.scrubber {
                    scrubber.ended(step, self.clock.now, self.outbox.outstanding > 0);
                }
            }
            TaskPurpose::Resync(step) => {
                if let Some(consistency) = &mut self.upkeep.consistency {
                    consistency.resynced(
                        step,
                        &self.layout,
                        self.clock.now,
                        self.outbox.outstanding > 0,
                    );
                }
            }
            TaskPurpose::ClearBits(_) | TaskPurpose::Repair(_) | TaskPurpose::Announced => {}
        }
        if task.has_lock {
            let undelayed = self.clock.now.before(task.late());
            self.work.locks.release(id, undelayed);
            self.begin_unlocked(task.request());
        }
    }

    fn rebuilt(&mut self, step: RebuildStep, outcome: Outcome) {
        let is_loaded = self.outbox.outstanding > 0;
        let Some(rebuilder) = &mut self.upkeep.rebuilder else { return };
        if !rebuilder.ended(step, self.clock.now, is_loaded) {
            return;
        }
        if outcome == Outcome::Uncorrectable
            && let Some(repairs) = &mut self.repairs
        {
            repairs.rebuild_failed(step.length);
        }
        let end = step.offset + step.length;
        self.upkeep.rebuilt_bytes += step.length;
        if let Some(consistency) = &mut self.upkeep.consistency {
            consistency.rebuilt(step.offset..end, &self.layout);
        }
        if end < self.layout.used_device_bytes() {
            return self.members.missing.rebuilt(step.device, end);
        }
        self.members.missing.restore(step.device);
        let drive = self.members.drive(step.device);
        if let Some(failures) = &mut self.members.failures {
            failures.rebuilt(drive, self.clock.now);
        }
    }

    /// Begins the tasks that waited for stripes which are free now, of the request `behind` or a rebuild. They
    /// are planned anew: more of a replacement may have been rebuilt meanwhile.
    pub(super) fn begin_unlocked(&mut self, behind: Option<RequestId>) {
        while let Some(Unlocked { task: id, undelayed }) = self.work.locks.next_unlocked() {
            let task = &mut self.work.tasks[id.index()];
            let TaskStage::Waiting(since) = task.stage else { continue };
            let (wait, late) = (self.clock.now - since, self.clock.now - undelayed);
            let mut parts = Parts::default();
            parts.book_wait(Part::QueueBehindIo, wait, late.saturating_sub(task.late()));
            task.parts += parts;
            if let (Some(blocked), Some(who)) = (&mut self.outbox.blocked, task.request()) {
                let wait = Waited { what: For::Stripe, since, until: self.clock.now, parts };
                blocked.push((None, Blocked { who, wait, behind: behind.map(Blocker::Other) }));
            }
            match self.make_plan(id) {
                true => self.begin_planned(id),
                false => self.end_uncorrectable(id),
            }
        }
    }
}

/// The request that a command serves, if it is one.
pub(super) fn request_served(tasks: &Slots<Task>, serves: Serves) -> Option<RequestId> {
    match serves {
        Serves::Request(request) => Some(request),
        Serves::Task(task) => tasks[task.index()].request(),
    }
}
