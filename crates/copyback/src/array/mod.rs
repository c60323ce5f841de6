//! Several drives behind one controller.
//!
//! ```text
//!  requests ──► tasks ── plan (layout) ──► stripe locks ──► commands ──► drives
//!  upkeep   ──►                                                            │ ▲
//!                          coordination ◄── messages (protocol) ──► agents ┘ │
//!                                       └────────── asks to collect ─────────┘
//! ```

mod ahead;
mod consistency;
pub mod coordination;
mod cuts;
mod direct;
mod due;
mod failures;
mod locks;
mod members;
mod mirror_reads;
mod pacer;
mod protocol;
mod reads;
mod reads_around;
mod rebuild;
mod repair;
mod scrub;
mod slow_drives;
mod tasks;
mod upkeep;

use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::drive::{Command, Drive, Ended, Moment, NotOnCommand, Serves};
use crate::engine::Touched;
use crate::ids::{CommandId, RequestId, SsdId, TaskId};
use crate::outcome::Outcome;
use crate::outside::Failed;
use crate::precondition::Preconditioner;
use crate::slots::Slots;
use crate::ssd::{Blocked, Blocker, Entry, Parts};
use crate::units::{Duration, Instant, earlier};
use crate::workload::Request;
use schemars::JsonSchema;
use serde::Serialize;

pub use protocol::{Content, SentMessage};

use crate::layout::{Layout, Piece, Plan};
use ahead::Ahead;
use consistency::ConsistencySummary;
use coordination::supply::ExternalCoordinator;
use direct::Direct;
use due::Due;
pub use failures::{FailureCause, FailureSummary, Failures, LossSummary};
use locks::StripeLocks;
use members::Members;
use protocol::Protocol;
use reads::Reads;
use repair::{Repairs, RepairsSummary};
use scrub::ScrubsSummary;
use tasks::{Task, TaskPurpose, request_served};
use upkeep::Upkeep;

/// Work of an array beside serving requests.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ArraySummary {
    /// Reads answered from other drives because theirs collected.
    pub reads_around_gc: u64,
    /// Bytes of lost drives that were rebuilt.
    pub rebuilt_bytes: u64,
    /// Repairs of pages that drives could not read, where that may happen and others hold them.
    pub repairs: Option<RepairsSummary>,
    /// Scrubs. Absent where there are none (`array.scrub`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scrubs: Option<ScrubsSummary>,
    /// Cuts of power. Absent where power does not fail and nothing is written for that day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consistency: Option<ConsistencySummary>,
    /// Drives that are lost, and not rebuilt.
    pub drives_missing: usize,
    /// Drives that have failed in the run, in order of time. Absent where none can (`array.failures`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failures: Option<Vec<FailureSummary>>,
    /// Data that are lost, as too many drives have failed. Absent if none are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<LossSummary>,
}

/// An array.
#[derive(Checkpointed)]
pub struct Array {
    drives: Vec<Drive>,
    layout: Layout,
    members: Members,
    upkeep: Upkeep,
    protocol: Option<Protocol>,
    direct: Direct,
    work: Work,
    clock: Clock,
    /// Choice where a read goes, if there is one.
    reads: Option<Reads>,
    repairs: Option<Box<Repairs>>,
    /// Events of drives that have gone ahead, if some have.
    ahead: Option<Ahead>,
    outbox: Outbox,
}

/// Tasks under way, and what they hold.
#[derive(Debug, Default, Checkpointed)]
struct Work {
    tasks: Slots<Task>,
    locks: StripeLocks,
    /// Kept to reuse their memory.
    plan: Plan,
    ended: VecDeque<Ended>,
}

/// Instant that the array has come to, and those that follow.
#[derive(Debug, Default, Checkpointed)]
struct Clock {
    now: Instant,
    /// When something happens in each drive next.
    due: Due,
    /// When something happens next in all of the array, known since the end of the last instant.
    next: Option<Instant>,
    /// Drives that something has happened to at this instant.
    touched: Touched,
}

/// Requests in the array, and what has become of others, until somebody takes it.
#[derive(Debug, Default, Checkpointed)]
struct Outbox {
    /// Requests in the array.
    outstanding: u32,
    finished: VecDeque<FinishedRequest>,
    /// Requests that have waited for others, and in which drive, if it was in one; kept if somebody asks.
    blocked: Option<Vec<(Option<SsdId>, RequestBlocked)>>,
    /// Pieces that have ended, to be observed. None of one drive.
    pieces: Vec<(SsdId, Ended)>,
}

/// A request has waited for another, or for a page operation of a drive's own.
pub type RequestBlocked = Blocked<RequestId, Blocker<RequestId>>;

/// A request whose last piece has ended.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct FinishedRequest {
    /// Request that has finished.
    pub request: RequestId,
    /// Parts of its time in the array.
    pub parts: Parts,
    /// The drive that ended last.
    pub device: SsdId,
    /// Outcome: done, or an error.
    pub outcome: Outcome,
}

impl Array {
    /// The array of a checked configuration, of prepared devices.
    pub fn new(config: &Resolved, devices: Vec<Preconditioner>) -> Self {
        let numbered = devices.into_iter().enumerate();
        let drive = |(index, device)| Drive::new(config, SsdId::from_index(index), device);
        let drives: Vec<_> = numbered.map(drive).collect();
        let layout = Layout::new(&config.array, config.drive.capacity.bytes);
        let mut touched = Touched::default();
        // Preparation may have left drives short of space.
        (0..drives.len()).for_each(|drive| touched.insert(drive));
        Self {
            upkeep: Upkeep::new(config, &layout),
            protocol: Protocol::new(config),
            repairs: Repairs::new(config, &layout),
            drives,
            layout,
            members: Members::new(config),
            direct: Direct::new(config),
            work: Work::default(),
            clock: Clock { touched, ..Clock::default() },
            reads: Reads::new(config),
            ahead: None,
            outbox: Outbox {
                blocked: config.metrics.needs_journal().then(Vec::new),
                ..Outbox::default()
            },
        }
    }

    /// Takes the coordinator of the drives, if it comes from outside.
    ///
    /// # Errors
    /// If it can't begin, or go on with what a checkpoint told of it.
    pub fn supply_coordinator(
        &mut self,
        policy: Box<dyn ExternalCoordinator>,
    ) -> Result<(), Failed> {
        self.protocol.as_mut().map_or(Ok(()), |protocol| protocol.supply(policy))
    }

    /// Reason why an external policy is no longer called, if one has failed.
    pub fn policy_failed(&self) -> Option<Failed> {
        let of_drive = || self.drives.iter().find_map(|drive| drive.ssd.policy_failed());
        self.protocol.as_ref().and_then(Protocol::policy_failed).or_else(of_drive)
    }

    /// The drives, in order.
    pub fn drives(&self) -> &[Drive] {
        &self.drives
    }

    /// The drives, to be told that measuring begins, or given what a checkpoint does not hold.
    pub fn drives_mut(&mut self) -> &mut [Drive] {
        &mut self.drives
    }

    /// Lets the power of the drives fail at `at`, which is later than now. Between two instants.
    ///
    /// # Errors
    /// If the configuration does not let it be cut on command.
    pub fn cut_power_at(&mut self, at: Instant) -> Result<(), NotOnCommand> {
        for (index, drive) in self.drives.iter_mut().enumerate() {
            drive.cut_power_at(at)?;
            self.clock.due.set(index, drive.next_time());
        }
        self.clock.next = self.find_next_time();
        Ok(())
    }

    /// When something happens next, once an instant has [ended](Self::end_instant).
    pub const fn next_time(&self) -> Option<Instant> {
        self.clock.next
    }

    /// Whether the coordinator goes on though no drive will do anything any more, unless a request comes.
    pub fn is_livelocked(&self) -> bool {
        self.protocol.as_ref().is_some_and(Protocol::is_livelocked)
    }

    /// The keys that say how long it takes until then.
    pub fn waits_for(&self) -> &'static str {
        let first = self.clock.next.and_then(|next| self.clock.due.at(next).next());
        let drive = first.and_then(|index| self.drives[index].waits_for());
        let [rebuild, scrub, after_cut] = self.upkeep.next_times();
        let [failure, slow] = self.members.next_times();
        let failed_read = self.reads.as_ref().and_then(Reads::next_time);
        match self.clock.next {
            next if next.is_some() && next == rebuild => "array.rebuild",
            next if next.is_some() && next == scrub => "array.scrub",
            next if next.is_some() && next == after_cut => "array.consistency_policy",
            next if next.is_some() && next == failure => "array.failures",
            next if next.is_some() && next == slow => "array.slow",
            next if next.is_some() && next == failed_read => "array.reads_around_gc",
            _ => drive.unwrap_or("array.coordination"),
        }
    }

    /// Number of the layout's drives that hold all that they should.
    pub fn drives_present(&self) -> usize {
        self.layout.devices() - self.members.missing.count() as usize
    }

    /// Whether a drive that something has happened to at this instant takes no writes any more. Where drives may fail,
    /// one that can be spared does not count.
    pub fn has_become_read_only(&self) -> bool {
        match &self.members.failures {
            Some(failures) => failures.is_read_only(),
            None => {
                let is_read_only =
                    |index: usize| self.drives[index].ssd.backend().condition.is_read_only();
                self.clock.touched.iter().any(is_read_only)
            }
        }
    }

    /// Whether drives have work that no request waits for: pages in their buffers.
    pub fn is_destaging(&self) -> bool {
        self.drives.iter().any(Drive::is_destaging)
    }

    /// Begins no further step of a rebuild or a scrub.
    pub fn stop_upkeep(&mut self) {
        if !self.upkeep.is_none() {
            self.upkeep.stop();
            self.clock.next = self.find_next_time();
        }
    }

    /// The first phase of an instant: every state change that falls on it. Drives that are alone with any go on
    /// before `until`, one after the other, as long as it concerns nobody else. Returns the instant whose second
    /// phase is to come.
    #[inline]
    pub fn apply_events(&mut self, now: Instant, until: Instant) -> Instant {
        self.clock.now = now;
        if self.ahead.is_some() {
            self.notify(now);
            return now;
        }
        for index in self.clock.due.at(now) {
            self.drives[index].apply_events(now);
            self.clock.touched.insert(index);
        }
        if self.has_events_of_its_own() {
            self.apply_events_of_controller(now);
        } else if let Some(only) = self.clock.touched.only()
            && now < until
        {
            self.let_drives_go_on(only, until);
        }
        self.clock.now
    }

    /// Lets the drive that something has just happened to go on until something happens in another, then that one,
    /// and so on, before `until`. Ends with the drive and the instant that concern others.
    #[inline]
    fn let_drives_go_on(&mut self, mut drive: usize, until: Instant) {
        let before_others =
            |due: &Due, drive| due.of_others(drive).map_or(until, |at| at.min(until));
        let mut goes_on = self.drives[drive].go_on(before_others(&self.clock.due, drive));
        while goes_on {
            self.clock.due.set(drive, self.drives[drive].next_time());
            let Some((next, _)) = self.clock.due.first_alone().filter(|(_, at)| *at < until) else {
                break;
            };
            drive = next;
            goes_on = self.drives[drive].go_on_from_next(before_others(&self.clock.due, drive));
        }
        self.clock.touched.clear();
        self.clock.touched.insert(drive);
        self.clock.now = self.drives[drive].now();
    }

    /// Whether something may happen in the array that happens in no drive.
    fn has_events_of_its_own(&self) -> bool {
        !self.upkeep.is_none()
            || self.protocol.is_some()
            || self.members.may_change()
            || self.reads.as_ref().is_some_and(|reads| reads.next_time().is_some())
    }

    fn apply_events_of_controller(&mut self, now: Instant) {
        self.fail_drives();
        self.notice_cut();
        if let Some(slow) = &mut self.members.slow {
            slow.change(&mut self.drives, now);
        }
        while let Some(step) = self.upkeep.begin(now, (&self.layout, &self.members.missing)) {
            self.begin(step, Duration::ZERO);
        }
        if let Some(protocol) = &mut self.protocol {
            let touched = |device: SsdId| self.clock.touched.insert(device.index());
            protocol.deliver(
                &mut self.drives,
                &self.members,
                self.outbox.outstanding,
                now,
                touched,
            );
        }
        while let Some(id) = self.reads.as_mut().and_then(|reads| reads.next_to_go_on(now)) {
            self.begin_next_phase(id);
        }
    }

    /// The second phase, first half: books what has ended.
    pub fn book_finished(&mut self) {
        if let Some(ahead) = &self.ahead {
            return self.book_ended(Moment::Round(ahead.round()));
        }
        let mut any = false;
        for index in self.clock.touched.iter() {
            any |= self.drives[index].book_finished();
        }
        // What ends in a drive alone is taken from there.
        if !self.direct.is_lone && (any || self.outbox.blocked.is_some()) {
            self.take_ended_of_several();
        }
    }

    /// The second phase, second half: everything that is free looks for work. Returns whether
    /// something has ended at once.
    pub fn start_work(&mut self) -> bool {
        if let Some(ahead) = &mut self.ahead {
            return ahead.begin_round();
        }
        let mut more = false;
        for index in self.clock.touched.iter() {
            debug_assert_eq!(
                self.drives[index].now(),
                self.clock.now,
                "a drive that works lags behind"
            );
            more |= self.drives[index].start_work();
        }
        more
    }

    /// Tells of the drives that may have begun or ceased to collect at this instant.
    pub fn report_collecting(&mut self, mut note: impl FnMut(SsdId, bool)) {
        for index in self.clock.touched.iter() {
            let device = SsdId::from_index(index);
            let collects = match &mut self.ahead {
                Some(ahead) => ahead.take_collects(device),
                None => Some(self.drives[index].ssd.is_collecting()),
            };
            if let Some(collects) = collects {
                note(device, collects);
            }
        }
    }

    /// The drives that something has happened to at this instant.
    pub fn touched(&self) -> impl Iterator<Item = (SsdId, &Drive)> {
        self.clock.touched.iter().map(|index| (SsdId::from_index(index), &self.drives[index]))
    }

    /// Ends an instant.
    #[inline]
    pub fn end_instant(&mut self) {
        if self.ahead.is_some() {
            return self.end_instant_ahead();
        }
        for index in self.clock.touched.iter() {
            self.clock.due.set(index, self.drives[index].next_time());
        }
        if self.protocol.is_some() {
            self.update_protocol();
        }
        self.clock.touched.clear();
        self.clock.next = self.find_next_time();
    }

    fn update_protocol(&mut self) {
        let Some(protocol) = &mut self.protocol else { return };
        for index in self.clock.touched.iter() {
            if let Some(place) = self.members.place(SsdId::from_index(index))
                && self.members.is_of_layout(place)
            {
                protocol.watch(place, &self.drives[index], self.clock.now);
            }
        }
        protocol.note_load(self.outbox.outstanding, self.clock.now);
        let goes_on = earlier(self.clock.due.first(), self.upkeep.next_time()).is_some();
        protocol.note_whether_drives_go_on(goes_on);
    }

    #[inline]
    fn find_next_time(&self) -> Option<Instant> {
        let drives = self.clock.due.first();
        if !self.has_events_of_its_own() {
            return drives;
        }
        let protocol = self.protocol.as_ref().and_then(Protocol::next_time);
        let failed_read = self.reads.as_ref().and_then(Reads::next_time);
        let own = earlier(self.members.next_time(), self.upkeep.next_time());
        earlier(earlier(drives, failed_read), earlier(own, protocol))
    }

    /// Appends what the drives did since the last call, if they keep journals. Every command that it
    /// tells of is still in its drive until the next call of [`book_finished`](Self::book_finished).
    pub fn take_journal(&mut self, into: &mut Vec<(SsdId, Entry)>) {
        for index in self.clock.touched.iter() {
            let entries = self.drives[index].ssd.backend_mut().observer.take_journal();
            into.extend(entries.map(|entry| (SsdId::from_index(index), entry)));
        }
    }

    /// The request that `command`, which is in the drive `device`, serves; `None` if it serves a
    /// rebuild.
    pub fn request_of(&self, device: SsdId, command: CommandId) -> Option<RequestId> {
        request_served(&self.work.tasks, self.drives[device.index()].serves(command))
    }

    /// Whether requests or pieces have ended that nobody has taken yet.
    pub fn has_ended(&self) -> bool {
        !self.outbox.finished.is_empty()
            || self.has_ended_directly()
            || !self.outbox.pieces.is_empty()
    }

    /// Takes a request whose last piece has ended.
    #[inline]
    pub fn take_finished(&mut self) -> Option<FinishedRequest> {
        if self.has_ended_directly() {
            return self.take_finished_directly();
        }
        self.outbox.finished.pop_front()
    }

    /// Takes the requests that have waited for others since the last call, outside the flash, if that is kept, and
    /// in which drive, if it was in one. Those that they waited for may have [finished](Self::take_finished), but
    /// have not been taken.
    pub fn take_blocked(&mut self) -> impl Iterator<Item = (Option<SsdId>, RequestBlocked)> {
        self.outbox.blocked.iter_mut().flat_map(|blocked| blocked.drain(..))
    }

    /// Takes the pieces that have ended since the last call, if there are several drives.
    pub fn take_pieces(&mut self) -> impl Iterator<Item = (SsdId, Ended)> {
        self.outbox.pieces.drain(..)
    }

    /// Summary of the work beside serving requests.
    pub fn summary(&self) -> ArraySummary {
        ArraySummary {
            reads_around_gc: self.reads.as_ref().map_or(0, Reads::around_gc),
            rebuilt_bytes: self.upkeep.rebuilt_bytes,
            repairs: self.repairs.as_deref().map(Repairs::summary),
            scrubs: self.upkeep.scrubs(),
            consistency: self.upkeep.consistency.as_ref().map(|consistency| consistency.summary()),
            drives_missing: self.members.missing.count() as usize,
            failures: self.failures().map(|failures| failures.had().to_vec()),
            lost: self.failures().and_then(Failures::lost),
        }
    }

    /// Takes the messages between the controller and its drives since the last call, in order of sending, if
    /// they are kept.
    pub fn take_messages(&mut self) -> Vec<SentMessage> {
        self.protocol.as_mut().map(Protocol::take_log).unwrap_or_default()
    }

    /// Hands in a request, which without collections would have come `late` earlier.
    #[inline]
    pub fn submit(&mut self, id: RequestId, request: &Request, late: Duration, now: Instant) {
        self.clock.now = now;
        self.outbox.outstanding += 1;
        if let Some(protocol) = &mut self.protocol {
            protocol.note_whether_drives_go_on(true);
        }
        match self.direct.is_lone {
            true => self.hand_in_directly(id, request, late),
            false => self.submit_to_several(id, request, late),
        }
    }

    // Apart, so that the way to a drive alone stays short.
    #[inline(never)]
    fn submit_to_several(&mut self, id: RequestId, request: &Request, late: Duration) {
        if let Some(task) = self.ahead.as_mut().and_then(Ahead::next_task) {
            self.arrive(task, TaskPurpose::of(id, request));
            return self.book_ended(Moment::Behind(Serves::Task(task)));
        }
        if !self.hand_in_as_one(id, request, late) {
            self.begin(TaskPurpose::of(id, request), late);
        }
        self.take_ended_of_several();
    }

    /// Tells the drives of the requests that come next, in order of arrival, in place of what they were
    /// told before.
    pub fn announce(&mut self, requests: &[Request], now: Instant) {
        self.clock.now = now;
        self.drives.iter_mut().for_each(|drive| drive.forget_announced(now));
        for Request { operation, offset, length, arrival, hint, .. } in requests {
            self.layout.plan(
                *operation,
                *offset..offset + length,
                &self.members.missing,
                &mut self.work.plan,
            );
            for piece in self.work.plan.first.iter().chain(self.work.plan.then.iter()) {
                let Piece { device, operation, offset, length } = *piece;
                let (serves, late) = (Serves::Task(TaskId::default()), Duration::ZERO);
                let hint = *hint;
                let command = Command { serves, operation, offset, length, hint, late };
                self.drives[self.members.drive(device).index()].announce(*arrival, &command);
            }
        }
        (0..self.drives.len()).for_each(|drive| self.clock.touched.insert(drive));
    }

    /// The first broken invariant that the audit of a drive has seen, if any.
    pub fn violation(&self) -> Option<&str> {
        self.drives.iter().find_map(Drive::violation)
    }
}
