//! A drive: flash, translation layer, the host's page operations and collections, driven by events.
//!
//! ```text
//!   host ──► scheduler ──► backend: ftl, flash ◄── collector
//!              ▲ turns (when)          │               │
//!              └───────────────────────┼───────────────┘
//!                                      ▼
//!                                  observer
//! ```
//!
//! The host hands in page operations and takes back those that have finished. State changes of the
//! translation layer happen when a die takes a command.

mod alone;
mod describe;
#[cfg(test)]
mod learned;
mod next;
mod permits;
mod power;
mod recovery_time;
mod stalls;
mod suspend;
mod write_time;

pub use crate::backend::{Counters, FaultReport, Moves, Outlook, PacingTally, SortingReport};
pub use crate::collector::idle::Announced;
pub use crate::ftl::{HandleTally, LineTally, OfClass, SlcState, Takes, UnitReport};
pub use crate::observer::{
    Activity, Blocked, Blocker, Class, Collected, DieTime, Entry, For, IdlePeriods, IdleTimes,
    Part, Parts, Party, PlaneUse, Waited, Work,
};
pub use crate::purpose::Owner;
pub use crate::scheduler::{Finished, LostDieReport, Phase, RebuildTally};
pub use crate::transaction::PageWrite;
pub use permits::Status;
pub use power::Cut;

use std::ops::Range;

use crate::backend::Backend;
use crate::checkpoint::Checkpointed;
use crate::collector::idle::IdleTime;
use crate::collector::{Collector, place_copy};
use crate::config::{Idle, Resolved};
use crate::event::{Agenda, Event};
use crate::ftl::Ftl;
use crate::ids::{DieId, Lpn, SsdId};
use crate::outcome::Outcome;
use crate::outside::Failed;
use crate::rng::Stream;
use crate::scheduler::Scheduler;
use crate::scheduler::when::Schedule;
use crate::scheduler::when::supply::{ExternalSchedule, Supplier};
use crate::shortcut::{Shortcuts, Undisturbed, each_instant};
use crate::units::{Duration, Instant};
use crate::workload::Hint;

use stalls::Stalls;
use suspend::SuspendRule;
use write_time::WriteTime;

/// A drive.
#[derive(Debug, Checkpointed)]
pub struct Ssd {
    backend: Backend,
    scheduler: Scheduler,
    collector: Collector,
    schedule: Schedule,
    suspend: Option<SuspendRule>,
    /// If the placement measures in it.
    write_time: Option<WriteTime>,
    /// Whether commands are in the drive, if only on their way to the flash or from it; noted for what
    /// depends on it.
    has_commands: bool,
    /// See [`is_off`](Self::is_off).
    is_off: bool,
    /// Whether writes may wait for a free block though collections yield, or for room in a full buffer.
    stalls: Stalls,
}

/// Work of a die until now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
pub struct DieUse {
    /// Time in which it collected.
    pub collecting: Duration,
    /// Time in which it held commands of the host; where collections and the host share a die, both.
    pub serving: Duration,
    /// Free blocks of its planes.
    pub free_blocks: u32,
}

impl Ssd {
    /// A drive of a checked configuration around a prepared translation layer, in which every
    /// write so far has a sequence number of at most `first_sequence`.
    pub fn new(config: &Resolved, ftl: Ftl, first_sequence: u64) -> Self {
        let mut ssd = Self::around(config, ftl, first_sequence);
        ssd.start_up(Instant::START);
        ssd
    }

    /// A drive before its own work begins.
    fn around(config: &Resolved, mut ftl: Ftl, first_sequence: u64) -> Self {
        ftl.run_begins(config.protocol.register);
        if config.ssd.gc.idle != Idle::None {
            ftl.list_idle_jobs(config.ssd.gc.idle.delays());
        }
        let geometry = ftl.geometry();
        let schedule = Schedule::new(&config.ssd.gc, geometry.dies(), geometry.planes_per_die);
        let facts = ftl.facts();
        let stalls = Stalls::new(schedule.yields || facts.buffer.is_some());
        let limit = match each_instant::is_needed(config) || facts.buffer.is_some() {
            true => Undisturbed::Never,
            false => schedule.undisturbed,
        };
        let shortcuts = Shortcuts::new(limit, facts.opens_blocks);
        let scheme = &schedule.scheme;
        let backend = Backend::new(config, ftl, scheme.overlaps(), shortcuts);
        Self {
            scheduler: Scheduler::new(config, &backend, first_sequence),
            collector: Collector::new(config, &backend, scheme.poll(), scheme.splits_moves()),
            schedule,
            suspend: SuspendRule::new(config.ssd.commands.suspend),
            write_time: backend.ftl.streams().has_time().then(WriteTime::default),
            has_commands: false,
            is_off: false,
            stalls,
            backend,
        }
    }

    /// Takes the schedule from outside that the configuration asks for.
    pub fn supply_schedule(&mut self, schedule: Box<dyn ExternalSchedule>) {
        self.schedule.scheme.supply(schedule);
    }

    /// Takes the policies from outside that the configuration asks for, if it does, to go on with a run. The choices of
    /// the schedule, if it is from outside, follow from `schedule`.
    ///
    /// # Errors
    /// If the supplier has none, or it can't go on.
    pub fn supply_again(
        &mut self,
        device: SsdId,
        schedule: Option<Stream>,
        supplier: &dyn Supplier,
    ) -> Result<(), Failed> {
        let ftl = &mut self.backend.ftl;
        let described = ftl.limits().described(device, ftl.geometry());
        ftl.supply(described, supplier, supplier)?;
        if let Some(random) = schedule {
            self.supply_schedule(supplier.supply(described, random)?);
        }
        self.schedule.scheme.failed().map_or(Ok(()), Err)
    }

    /// Reason why an external policy is no longer called, if one has failed.
    pub fn policy_failed(&self) -> Option<Failed> {
        self.backend.ftl.policy_failed().or_else(|| self.schedule.scheme.failed())
    }

    /// Translation layer, flash and observer, to look at.
    pub const fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Counts of the device so far.
    pub fn counters(&self) -> Counters {
        let ftl = &self.backend.ftl;
        let mut counters = self.backend.counters;
        let facts = ftl.facts();
        counters.put_off += facts.deferred;
        counters.nv_buffer += facts.buffer.unwrap_or_default();
        counters.slc_programs = ftl.slc_pool().map_or(0, |pool| pool.programs());
        counters.stalled = self.backend.observer.stalled();
        counters
            .striped(ftl.geometry().striped_planes.into(), ftl.geometry().counted_pages().into())
    }

    /// Charges to writes so far, if there are any.
    pub fn pacing(&self) -> Option<PacingTally> {
        self.schedule.scheme.charges_writes().then_some(self.backend.counters.pacing)
    }

    /// Page operations of the host, to look at.
    pub const fn scheduler(&self) -> &Scheduler {
        &self.scheduler
    }

    /// The back end: to take what it has recorded, or to change how fast its flash is from now on.
    pub const fn backend_mut(&mut self) -> &mut Backend {
        &mut self.backend
    }

    /// The use of idle time, if there is one.
    pub fn idle_time(&mut self) -> Option<&mut IdleTime> {
        self.collector.idle.as_deref_mut()
    }

    /// Whether a die collects at this moment.
    pub const fn is_collecting(&self) -> bool {
        self.backend.collecting.is_any_running()
    }

    /// Time for which the die of `lpn` will still [collect](crate::collector::Collector::busy_time), if a read would find
    /// it collecting.
    pub fn busy_time(&self, lpn: Lpn) -> Option<Duration> {
        let ftl = &self.backend.ftl;
        let page = ftl.lookup(lpn)?;
        let die = ftl.geometry().die_of_plane(ftl.geometry().plane_of(page));
        let is_running = self.backend.collecting.is_running(die);
        is_running.then(|| self.collector.busy_time(&self.backend, die))
    }

    /// Work of each die until `now`.
    pub fn die_uses(&self, now: Instant) -> impl Iterator<Item = DieUse> {
        let ftl = &self.backend.ftl;
        let times = self.backend.observer.die_times(now).enumerate();
        times.map(move |(die, (collecting, serving))| {
            let free_blocks = ftl.space().free_blocks_of_die(DieId::from_index(die)) as u32;
            DieUse { collecting, serving, free_blocks }
        })
    }

    /// The first broken invariant that the audit has seen, if any.
    pub fn violation(&self) -> Option<&str> {
        self.backend
            .flash
            .violation()
            .or_else(|| self.backend.ftl.audit().and_then(|audit| audit.violation()))
    }

    /// Whether it may have work that is no command's: to use idle time, to keep its mapping in flash up to date, or to
    /// refresh data.
    pub fn works_on_its_own(&self) -> bool {
        self.collector.idle.is_some()
            || self.collector.folds.is_some()
            || self.scheduler.rebuild.is_some()
            || self.backend.ftl.limits().translation_pages() > 0
            || self.backend.condition.ageing.is_some()
    }

    /// Counts the pages of a command that reads.
    #[inline(always)]
    pub fn read_comes(&mut self, pages: &Range<u32>) {
        self.backend.counters.page_reads += u64::from(pages.end - pages.start);
    }

    /// Hands in the read of a page, which without collections would have come `late` earlier.
    #[inline]
    pub fn read(&mut self, owner: Owner, lpn: Lpn, late: Duration, now: Instant) {
        self.collector.permits.request_came();
        self.scheduler.read(&mut self.backend, (owner, lpn), late, now);
    }

    /// A command that writes has come, at `arrived`.
    #[inline(always)]
    pub fn write_comes(&mut self, arrived: Instant) {
        if let Some(time) = &mut self.write_time {
            self.backend.ftl.streams_mut().host_writes_at(time.write_comes(arrived));
        }
    }

    /// The host is about to write these pages, in this order. It only saves time.
    #[inline(always)]
    pub fn expect_writes(&mut self, hint: Option<Hint>, pages: Range<u32>) {
        self.backend.ftl.streams_mut().expect_writes(hint, pages.map(Lpn));
    }

    /// Hands in the write of a page. One that covers only part of a page that holds data reads it first.
    #[inline]
    pub fn write(&mut self, page: PageWrite, now: Instant) {
        if self.backend.condition.is_read_only() {
            return self.scheduler.finished.reject(page.owner, page.lpn);
        }
        self.collector.permits.request_came();
        self.scheduler.write(&mut self.backend, page, now);
    }

    /// Forgets a page. Takes no time.
    pub fn trim(&mut self, lpn: Lpn, now: Instant) {
        self.backend.has_changed = true;
        self.scheduler.trim(&mut self.backend, lpn, now);
    }

    /// Takes the page operations that have ended since the last call, in order. Under audit, checks that what is lost was read
    /// in vain.
    pub fn take_finished(&mut self, into: &mut Vec<Finished>) {
        if let Some(audit) = self.backend.ftl.audit_mut() {
            for Finished { owner, lpn, outcome, .. } in self.scheduler.finished.iter() {
                if let Owner::Host(command) = *owner {
                    audit.read_ends(command, *lpn, *outcome == Outcome::Uncorrectable);
                }
            }
        }
        self.scheduler.finished.take(into);
    }

    /// Whether commands are in the drive, if only on their way to the flash or from it.
    pub const fn note_commands(&mut self, commands: bool) {
        self.has_commands = commands;
    }

    /// Applies an event of the flash, or a look that was on the agenda.
    #[inline]
    pub fn apply(&mut self, event: Event, now: Instant) {
        match event {
            Event::ArrayDone(die) => {
                self.backend.flash.array_done(die, now);
                self.backend.flash.wake(die);
            }
            Event::TransferDone(channel) => self.backend.flash.transfer_done(channel, now),
            Event::IdleLook => self.idle_look(now),
            Event::RefreshLook => {
                self.backend.has_changed = true;
                if let Some(ageing) = &mut self.backend.condition.ageing {
                    ageing.look();
                }
                if !self.is_off {
                    self.backend.flash.wake_all();
                }
            }
            Event::LostDieLook => self.lost_die_look(now),
            // They concern what is around the flash.
            Event::LinkDone(_) | Event::ControllerDone(_) => {}
            Event::PowerFails | Event::PowerIsBack => {}
        }
    }

    /// A look at the idle time.
    fn idle_look(&mut self, now: Instant) {
        self.backend.has_changed = true;
        let Backend { ftl, flash, .. } = &mut self.backend;
        if let Some(idle) = &mut self.collector.idle
            && idle.look(ftl, now)
        {
            flash.wake_all();
        }
        if let Some(folds) = &mut self.collector.folds
            && folds.look(now)
        {
            ftl.use_idle_time_to_fold(true);
            flash.wake_all();
        }
    }

    /// A look whether a die is lost, or whether more of it may be rebuilt.
    fn lost_die_look(&mut self, now: Instant) {
        let lost = self.scheduler.rebuild.as_mut().and_then(|rebuild| rebuild.look(now));
        let Some(die) = lost else { return };
        self.backend.has_changed = true;
        // What the die has begun ends, its erases too.
        self.backend.ftl.lose_die(die, self.collector.erasing(die));
        let Backend { collecting, observer, .. } = &mut self.backend;
        self.collector.lay_down(collecting, observer, die, now);
        self.scheduler.lose_die(&mut self.backend, die, now);
        self.backend.flash.wake_all();
    }

    /// The second phase of an instant: every die and channel that something has happened to looks
    /// for its next work, in index order.
    #[inline]
    pub fn arbitrate(&mut self, now: Instant, agenda: &mut Agenda) {
        if self.backend.flash.shortcuts.limit() == Undisturbed::Never {
            self.arbitrate_at_each_instant(now, agenda);
        } else {
            self.start_what_can_start(now, agenda);
        }
    }

    /// The second phase of an instant of a drive that needs arbitration at each. A part that does is asked here and in what
    /// this calls alone, and has its line in [`each_instant`].
    #[inline]
    fn arbitrate_at_each_instant(&mut self, now: Instant, agenda: &mut Agenda) {
        if let Some(ageing) = &mut self.backend.condition.ageing {
            ageing.note(&self.backend.ftl.take_opened_blocks(), &self.backend.ftl, now);
        }
        if self.collector.idle.is_some() || self.collector.folds.is_some() {
            self.use_instant(now, agenda);
        } else {
            self.start_what_can_start(now, agenda);
        }
        while !self.is_off && self.backend.wake_if_others_are_due() {
            self.start_what_can_start(now, agenda);
        }
        // A read of the host leaves room and work of other dies as they were.
        let may_give_room =
            std::mem::take(&mut self.backend.has_changed) || self.collector.permits.any();
        if self.backend.ftl.lines().is_some() {
            if may_give_room {
                self.give_room_to_writes(now, agenda);
            }
            while self.scheduler.rebuild(&mut self.backend, now, agenda) {
                self.give_room_to_writes(now, agenda);
                self.start_what_can_start(now, agenda);
            }
        }
        if self.backend.condition.becomes_read_only(&self.backend.ftl, now) {
            self.turn_read_only(now);
            self.start_what_can_start(now, agenda);
        }
        if self.backend.observer.keeps_idle_account() {
            self.backend.observer.note_commands(self.is_busy(), now);
        }
        if !self.is_off && (may_give_room || self.backend.has_changed) {
            let Backend { ftl, observer, .. } = &mut self.backend;
            self.stalls.note_all(ftl, observer, &self.scheduler.queues, now);
        }
        // Blocks that have been opened at this instant are as old as it, whenever the next one is.
        if let Some(ageing) = &mut self.backend.condition.ageing {
            ageing.note(&self.backend.ftl.take_opened_blocks(), &self.backend.ftl, now);
        }
        if !self.is_off
            && let Some(ageing) = &mut self.backend.condition.ageing
            && let Some(next) = ageing.plan_look(&self.backend.ftl)
        {
            agenda.add(next, Event::RefreshLook);
        }
    }

    /// Lets idle dies take the writes that wait for any, where the work of one die changes which others have
    /// room for a class.
    fn give_room_to_writes(&mut self, now: Instant, agenda: &mut Agenda) {
        let mut written = None;
        while !self.is_off && written != Some(self.backend.counters.host_programs) {
            written = Some(self.backend.counters.host_programs);
            self.scheduler.wake_for_waiting_writes(&mut self.backend);
            self.start_what_can_start(now, agenda);
            self.backend.wake_if_others_are_due();
            self.start_what_can_start(now, agenda);
        }
    }

    /// Lets idle time be used.
    fn use_instant(&mut self, now: Instant, agenda: &mut Agenda) {
        self.note_idle_time(now);
        self.start_what_can_start(now, agenda);
        // The last operation of the host may have ended just now.
        self.note_idle_time(now);
        self.start_what_can_start(now, agenda);
        if let Some(idle) = &mut self.collector.idle {
            idle.plan_look(now, agenda);
        }
        if let Some(folds) = &mut self.collector.folds {
            folds.plan_look(now, agenda);
        }
    }

    /// Before work is looked for: whether the drive has commands. Without power there is nothing to use idle
    /// time with.
    fn note_idle_time(&mut self, now: Instant) {
        let is_busy = self.is_busy() || self.is_off;
        let Backend { ftl, flash, .. } = &mut self.backend;
        if let Some(idle) = &mut self.collector.idle
            && idle.note(ftl, is_busy, self.scheduler.next_die(), now)
        {
            flash.wake_all();
        }
        if let Some(folds) = &mut self.collector.folds
            && folds.note(is_busy, now)
        {
            ftl.use_idle_time_to_fold(false);
        }
    }

    /// Whether the drive has anything to do for a command.
    fn is_busy(&self) -> bool {
        self.has_commands || self.serves_host()
    }

    /// Whether page operations of the host are waiting or in service, but for those that wait for others.
    pub(super) fn serves_host(&self) -> bool {
        let held = self.backend.held.as_ref().map_or(0, |held| held.count());
        self.scheduler.host_operations() > held
    }

    /// The buffer waits: a flush at the place `flush` among its writes for all writes so far, and something for room, which one
    /// of `all` writes would make as it ends; `None` if nothing does.
    pub fn buffer_waits(&mut self, flush: Option<u64>, all: Option<usize>) {
        let Backend { held: Some(held), ftl, flash, has_changed, .. } = &mut self.backend else {
            return;
        };
        *has_changed = true;
        if let Some(place) = flush {
            held.flush(place, self.scheduler.last_sequence());
        }
        if held.wait_for_any(all) || flush.is_some() {
            held.wake_dies(ftl.geometry(), flash);
        }
    }

    /// The flush at `place` has ended, and all before.
    pub fn flush_ended(&mut self, place: u64) {
        if let Some(held) = &mut self.backend.held {
            held.flush_ended(place);
            self.backend.has_changed = true;
        }
    }

    /// Stops to take writes: the translation layer has just run out of good blocks. What has begun in a die
    /// ends; collections are laid down where they are, as no space is needed any more.
    #[cold]
    fn turn_read_only(&mut self, now: Instant) {
        self.backend.has_changed = true;
        let Backend { ftl, collecting, observer, .. } = &mut self.backend;
        ftl.use_idle_time_to_fold(false);
        self.collector.stop(collecting, observer, now);
        for id in self.scheduler.queues.take_writes() {
            self.scheduler.reject(&mut self.backend, id, now);
        }
        self.backend.flash.wake_all();
    }

    #[inline]
    fn start_what_can_start(&mut self, now: Instant, agenda: &mut Agenda) {
        if !self.backend.flash.is_at_rest() {
            self.let_dies_look(now, agenda);
        }
    }

    /// Lets each die and channel look for work that something has happened to.
    fn let_dies_look(&mut self, now: Instant, agenda: &mut Agenda) {
        while let Some(die) = self.backend.flash.next_awake() {
            self.note_passed(Some(die), now);
            self.arbitrate_die(die, now, agenda);
        }
        self.note_passed(None, now);
        let (flash, mut describer) = self.flash_and_describer();
        flash.arbitrate_channels(now, agenda, &mut describer);
    }

    #[inline(always)]
    fn arbitrate_die(&mut self, die: DieId, now: Instant, agenda: &mut Agenda) {
        if self.move_next_page(die, now, agenda) {
            return;
        }
        // With a channel of its own, what else begins at this instant is nothing to the die.
        if self.backend.flash.has_own_channels()
            && !self.backend.flash.shortcuts.names_writes
            && self.begin_next_step(die, now, agenda)
        {
            return;
        }
        if self.scheduler.queues.undisturbed(&self.backend, die) == Undisturbed::Never {
            self.move_on(die, now, agenda);
        }
        if self.stalls.may_happen() {
            let Backend { ftl, observer, .. } = &mut self.backend;
            Stalls::note(ftl, observer, &self.scheduler.queues, die, now);
        }
    }

    /// Ends what has ended in `die`, and begins what can begin there.
    #[inline(always)]
    fn move_on(&mut self, die: DieId, now: Instant, agenda: &mut Agenda) {
        loop {
            self.end_what_has_ended(die, now, agenda);
            if !self.backend.flash.may_take_more(die) || !self.start_next(die, now) {
                break;
            }
        }
    }

    /// Begins the next move where one of the die's collection ends, if that is all that follows. Returns
    /// whether one has begun.
    #[inline]
    fn move_next_page(&mut self, die: DieId, now: Instant, agenda: &mut Agenda) -> bool {
        self.backend.flash.may_repeat_copyback(die, now) && self.begin_next_move(die, now, agenda)
    }

    #[inline(never)]
    fn begin_next_move(&mut self, die: DieId, now: Instant, agenda: &mut Agenda) -> bool {
        let Some(page) = self.collector.next_move(&self.backend.ftl, die) else { return false };
        let time = place_copy(&mut self.backend, page);
        self.backend.flash.repeat_copyback(die, time, now, agenda);
        true
    }
}
