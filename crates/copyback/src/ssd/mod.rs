//! A drive: flash, channels, translation layer and collections, driven by events.
//!
//! ```text
//!   host ──► queues (by plane, die or device) ──► dispatch ──► die ◄──► channel
//!                                                   ▲ turns
//!                                    collection ────┘  (schedule, width, job)
//! ```
//!
//! The host hands in page operations and takes back those that have finished. State changes of the
//! translation layer happen when a die takes a command.

mod breakdown;
mod clocks;
mod collection;
mod counters;
mod dispatch;
mod faults;
mod idle;
mod idle_account;
mod journal;
mod permits;
mod power;
mod queues;
mod quiet;
mod recovery_time;
mod submit;
mod suspend;
mod timing_audit;
mod transaction;
mod translation;
mod undisturbed;
mod unpark;
mod waits;
mod yielding;

pub use breakdown::{Part, Parts};
pub use counters::Counters;
pub use faults::FaultReport;
pub use idle::Announced;
pub use idle_account::{Activity, DieTime, IdlePeriods, IdleTimes};
pub use journal::{Class, Collected, Entry, Party, Work};
pub use permits::Status;
pub use power::Cut;
pub use transaction::Owner;
pub use waits::{For, HeldUp, InTheWay, Waited};

use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::channel::{Channel, Transfer};
use crate::config::{Config, GcStart, Idle, Register};
use crate::engine::DirtySet;
use crate::event::{Agenda, Event};
use crate::ftl::Ftl;
use crate::gc::external::ExternalSchedule;
use crate::gc::permit::Permits;
use crate::gc::schedule::Schedule;
use crate::gc::width::Width;
use crate::ids::{ChannelId, DieId, Lpn, PlaneId, Ppn};
use crate::nand::{Action, Die, Geometry, MultiPlaneRules, Operation, Timing};
use crate::units::{Duration, Instant, TotalTime};
use crate::victim::supply::Failed;

use clocks::{DeviceClock, DieClocks, PlaneClocks};
use collection::Collection;
use faults::FaultCosts;
use idle::IdleTime;
use idle_account::IdleAccount;
use queues::HostQueues;
use quiet::transfers_are_quiet;
use suspend::SuspendRule;
use timing_audit::TimingAudit;
use transaction::{Kind, Transaction, TransactionId, Transactions};
use translation::Translation;
use undisturbed::moves_are_undisturbed;

/// What an operation in a die is for.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    /// One page operation of the host, or several joined into a multi-plane command.
    Host(transaction::Fifo),
    /// A step of the die's collection.
    Collection(collection::StepInFlight),
}

/// A page operation of a request that has ended.
#[derive(Debug, Clone, Copy)]
pub struct Finished {
    /// Whose it was.
    pub owner: Owner,
    /// The page.
    pub lpn: Lpn,
    /// Where its time went, from being handed in to now.
    pub parts: Parts,
    /// Whether it was not done: the drive takes no writes any more.
    pub rejected: bool,
}

/// A drive.
#[derive(Debug)]
pub struct Ssd {
    geometry: Geometry,
    timing: Timing,
    rules: MultiPlaneRules,
    options: Options,
    /// The translation layer.
    pub ftl: Ftl,
    schedule: Schedule,
    width: Width,
    permits: Permits,
    /// Boxed: few drives have one.
    idle: Option<Box<IdleTime>>,
    /// Boxed, too; kept if it is asked for.
    idle_account: Option<Box<IdleAccount>>,
    /// Whether commands are in the drive, if only on their way to the flash or from it; noted for what
    /// depends on it.
    has_commands: bool,
    /// See [`is_off`](Self::is_off).
    is_off: bool,
    dies: Vec<Die<Purpose>>,
    channels: Vec<Channel>,
    /// Boxed, as a collection leaves its place for each of its steps.
    collections: Vec<Option<Box<Collection>>>,
    queues: HostQueues,
    transactions: Transactions,
    submitted: u64,
    /// The last write of a page that was handed in.
    last_write: Option<Lpn>,
    /// Writes of pages that a read-modify-write is under way for, in order of submission.
    behind_update: BTreeMap<Lpn, Vec<TransactionId>>,
    /// Boxed: few drives have one.
    translation: Option<Box<Translation>>,
    die_clocks: Vec<DieClocks>,
    plane_clocks: PlaneClocks,
    device_clock: DeviceClock,
    /// The die that is looked at first for the next write that has no place of its own.
    next_die: usize,
    dirty_dies: DirtySet,
    dirty_channels: DirtySet,
    finished: Vec<Finished>,
    /// Pages of the operation which is about to start; kept only for suspends and the journal.
    pages: SmallVec<[Ppn; 2]>,
    /// Since when writes wait for a free block on each die.
    stalled: Vec<Option<Instant>>,
    counters: Counters,
    /// Kept if anything can go wrong in the flash.
    faults: Option<Box<FaultCosts>>,
    audit: Option<Box<TimingAudit>>,
    /// What has been done since it was last taken, if somebody asks for it.
    journal: Option<Vec<Entry>>,
}

/// Time of all planes together.
#[derive(Debug, Clone, Copy, Default, derive_more::AddAssign, derive_more::SubAssign)]
pub struct PlaneUse {
    /// In which a plane was collected.
    pub busy: TotalTime,
    /// In which a plane was idle because another plane of its die was collected.
    pub idle: TotalTime,
    /// In all.
    pub whole: TotalTime,
}

/// What a die has done until now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DieUse {
    /// Time in which it collected.
    pub collecting: Duration,
    /// Time in which it held commands of the host; where collections and the host share a die, both.
    pub serving: Duration,
    /// Free blocks of its planes.
    pub free_blocks: u32,
}

/// Settings that change no tables.
#[derive(Debug, Clone, Copy)]
struct Options {
    reads_first: bool,
    copyback: bool,
    zero_cost: bool,
    gc_start: GcStart,
    /// Whether operations of the host overlap one another in a die.
    double_register: bool,
    /// DRAM for pages on their way from one block to another.
    cache_pages: usize,
    suspend: Option<SuspendRule>,
    /// Whether operations know the pages that they program ...
    notes_targets: bool,
    /// ... and those that they read or erase.
    notes_pages: bool,
    /// Whether somebody wants to know which programs are over.
    is_watched: bool,
    /// Whether erases wait for programs that supersede what they erase.
    holds_erases: bool,
    /// Whether nothing comes between the moves of a collection.
    moves_are_undisturbed: bool,
    /// Whether nobody looks at the ends of transfers into the dies.
    transfers_are_quiet: bool,
    /// Whether account is kept of writes that wait for a free block.
    notes_stalls: bool,
}

impl Ssd {
    /// A drive of a checked configuration around a prepared translation layer, in which every
    /// write so far has an order of at most `first_order`.
    pub fn new(config: &Config, ftl: Ftl, first_order: u64) -> Self {
        let mut ssd = Self::around(config, ftl, first_order);
        ssd.start_up(Instant::START);
        ssd
    }

    /// The same before its own work begins.
    fn around(config: &Config, mut ftl: Ftl, first_order: u64) -> Self {
        let geometry = ftl.geometry;
        let double_register = config.ssd.timing.register == Register::Double;
        let schedule = Schedule::new(&config.ssd.gc, geometry.dies(), geometry.planes_per_die);
        let pipelined = schedule.pipelines();
        let arbitration = config.ssd.timing.bus_arbitration;
        let dies = geometry.dies();
        ftl.watch_levels(config.register_threshold());
        ftl.reset_nv_buffer_tally();
        ftl.reset_fault_tally();
        if config.ssd.gc.idle != Idle::None {
            ftl.list_idle_jobs(config.ssd.gc.idle.delays());
        }
        let timing = Timing::new(&config.ssd);
        Self {
            idle: IdleTime::new(config, &geometry, &timing, &schedule),
            idle_account: config.metrics.idle_time.then(|| {
                let (short_idle, long_idle) = config.ssd.gc.idle.lengths();
                Box::new(IdleAccount::new(dies, short_idle.0, long_idle.0))
            }),
            has_commands: false,
            is_off: false,
            geometry,
            timing,
            rules: MultiPlaneRules::new(&config.ssd),
            options: Options::new(config, &ftl, &schedule),
            schedule,
            width: Width::new(&config.ssd),
            permits: Permits::new(dies, geometry.planes_per_die, config.reserve_blocks()),
            dies: (0..dies).map(|_| Die::new(double_register || pipelined)).collect(),
            channels: (0..geometry.channels).map(|_| Channel::new(arbitration)).collect(),
            collections: (0..dies).map(|_| None).collect(),
            queues: HostQueues::new(&geometry, &ftl.allocation),
            transactions: Transactions::default(),
            submitted: first_order,
            last_write: None,
            behind_update: BTreeMap::new(),
            translation: ftl.is_demand_paged().then(Box::default),
            die_clocks: (0..dies).map(|_| DieClocks::default()).collect(),
            plane_clocks: PlaneClocks::new(geometry.planes(), geometry.planes_per_die),
            device_clock: DeviceClock::new(dies),
            next_die: 0,
            dirty_dies: DirtySet::new(dies),
            dirty_channels: DirtySet::new(geometry.channels as usize),
            finished: Vec::new(),
            pages: SmallVec::new(),
            stalled: vec![None; dies],
            counters: Counters::default(),
            faults: ftl.has_faults().then(Box::default),
            audit: config.audit.then(|| Box::new(TimingAudit::new(&geometry))),
            journal: config.metrics.needs_journal().then(Vec::new),
            ftl,
        }
    }

    /// Takes the schedule from outside that the configuration asks for.
    pub fn supply_schedule(&mut self, schedule: Box<dyn ExternalSchedule>) {
        self.schedule.supply(schedule);
    }

    /// Why a policy from outside is no longer asked, if one has failed.
    pub fn policy_failed(&self) -> Option<&Failed> {
        self.ftl.victims_failed().or_else(|| self.schedule.failed())
    }

    /// Dies that are short of space look whether they can collect: at the start, those that the
    /// preparation left so.
    pub(super) fn wake_hungry_dies(&mut self) {
        for die in 0..self.geometry.dies() {
            if self.ftl.hungry_planes(DieId::from_index(die)) != 0 {
                self.dirty_dies.insert(die);
            }
        }
    }

    /// What the device has done so far.
    pub fn counters(&self) -> Counters {
        let put_off = self.counters.put_off + self.ftl.merges_put_off();
        let mut nv_buffer = self.counters.nv_buffer;
        nv_buffer += self.ftl.nv_buffer_tally();
        let counters = Counters { put_off, nv_buffer, ..self.counters };
        counters.striped(u64::from(self.geometry.striped_planes))
    }

    /// Die time spent collecting until `now`.
    pub fn collecting_until(&self, now: Instant) -> TotalTime {
        self.device_clock.collected(now)
    }

    /// Whether a die collects at this moment.
    pub const fn is_collecting(&self) -> bool {
        self.device_clock.is_collecting()
    }

    /// Whether a read of `lpn` would find its die collecting.
    pub fn is_behind_collection(&self, lpn: Lpn) -> bool {
        self.ftl.lookup(lpn).is_some_and(|page| {
            let die = self.geometry.die_of_plane(self.geometry.plane_of(page));
            self.die_clocks[die.index()].is_collecting()
        })
    }

    /// How much of the planes' time until `now` went to collections.
    pub fn plane_use(&self, now: Instant) -> PlaneUse {
        let running: TotalTime = self.die_clocks.iter().map(|clocks| clocks.running(now)).sum();
        let busy = self.plane_clocks.collected() + running;
        let held = self.device_clock.collected(now) * self.geometry.planes_per_die;
        let whole = TotalTime::of_each(now - Instant::START, self.geometry.planes() as u64);
        PlaneUse { busy, idle: held - busy, whole }
    }

    /// What each die has done until `now`.
    pub fn die_uses(&self, now: Instant) -> impl Iterator<Item = DieUse> {
        self.die_clocks.iter().enumerate().map(move |(die, clocks)| {
            let planes = self.geometry.planes_of_die(DieId::from_index(die));
            DieUse {
                collecting: clocks.collected(now),
                serving: clocks.served(now),
                free_blocks: planes.map(|plane| self.ftl.free_blocks(plane) as u32).sum(),
            }
        })
    }

    /// How the time until `now` in which the drive had no command was used, if that is kept account of.
    pub fn idle_times(&self, now: Instant) -> Option<IdleTimes> {
        self.idle_account.as_ref().map(|account| account.times(now))
    }

    /// Whether it may have work that is no command's: to use idle time, or to keep its mapping in flash
    /// up to date.
    pub fn works_on_its_own(&self) -> bool {
        self.uses_idle_time() || self.ftl.translation_pages() > 0
    }

    /// Page operations that are waiting or in service.
    pub fn outstanding(&self) -> usize {
        self.transactions.len()
    }

    /// Hands in the read of a page, which without collections would have come `late` earlier.
    pub fn read(&mut self, owner: Owner, lpn: Lpn, late: Duration, now: Instant) {
        let id = self.admit(owner, lpn, Kind::Read, late);
        if self.is_translated(id, now) {
            self.enqueue_read(id, now);
        }
    }

    /// Hands in the write of a page, which without collections would have come `late` earlier. One that covers
    /// only part of a page that holds data reads it first.
    pub fn write(
        &mut self,
        owner: Owner,
        lpn: Lpn,
        whole_page: bool,
        late: Duration,
        now: Instant,
    ) {
        if self.is_read_only() {
            return self.reject_at_once(owner, lpn);
        }
        // Fetched now, the entry is in the cache when a die takes the write.
        self.ftl.fetch(lpn);
        if let Some(before) = self.last_write.replace(lpn) {
            self.ftl.fetch_old_page(before);
        }
        let kind = if whole_page { Kind::Write } else { Kind::ReadToUpdate };
        let id = self.admit(owner, lpn, kind, late);
        if self.is_translated(id, now) {
            self.begin_write(id, now);
        }
    }

    /// Forgets a page. Takes no time.
    pub fn trim(&mut self, lpn: Lpn, now: Instant) {
        let page = self.ftl.lookup(lpn);
        let trimmed = self.ftl.trim(lpn);
        self.counters.trimmed += u64::from(trimmed);
        self.wake_if_hungry(page);
        self.write_back_if_waiting(lpn, now);
    }

    /// Takes the page operations that have ended since the last call, in order.
    pub fn take_finished(&mut self, into: &mut Vec<Finished>) {
        std::mem::swap(&mut self.finished, into);
        self.finished.clear();
    }

    /// Whether page operations have ended that nobody has taken yet.
    pub fn has_finished(&self) -> bool {
        !self.finished.is_empty()
    }

    /// The array of `die` has finished.
    #[inline]
    pub fn array_done(&mut self, die: DieId, now: Instant) {
        self.dies[die.index()].array_done(now);
        self.dirty_dies.insert(die.index());
    }

    /// The transfer on `channel` has finished.
    pub fn transfer_done(&mut self, channel: ChannelId, now: Instant) {
        if let Some(transfer) = self.channels[channel.index()].release() {
            self.dies[transfer.die.index()].transfer_done(transfer.slot, now);
            self.dirty_dies.insert(transfer.die.index());
        }
        self.dirty_channels.insert(channel.index());
    }

    /// The second phase of an instant: every die and channel that something has happened to looks
    /// for its next work, in index order.
    #[inline]
    pub fn arbitrate(&mut self, now: Instant, agenda: &mut Agenda) {
        if self.idle.is_some() {
            self.use_instant(now, agenda);
        } else {
            self.start_what_can_start(now, agenda);
        }
        if self.faults.is_some() && self.becomes_read_only(now) {
            self.start_what_can_start(now, agenda);
        }
        if self.idle_account.is_some() {
            self.note_idle_account(now);
        }
    }

    /// The same where idle time is used.
    fn use_instant(&mut self, now: Instant, agenda: &mut Agenda) {
        self.note_idle_time(now);
        self.start_what_can_start(now, agenda);
        // The last operation of the host may have ended just now.
        self.note_idle_time(now);
        self.start_what_can_start(now, agenda);
        self.plan_idle_look(now, agenda);
    }

    fn start_what_can_start(&mut self, now: Instant, agenda: &mut Agenda) {
        while let Some(die) = self.dirty_dies.pop() {
            self.arbitrate_die(DieId::from_index(die), now, agenda);
        }
        while let Some(channel) = self.dirty_channels.pop() {
            self.arbitrate_channel(ChannelId::from_index(channel), now, agenda);
        }
    }

    fn arbitrate_channel(&mut self, channel: ChannelId, now: Instant, agenda: &mut Agenda) {
        let bus = &mut self.channels[channel.index()];
        if let Some(end) = bus.begin_to_await(now) {
            return agenda.add(end, Event::TransferDone(channel));
        }
        let Some(transfer) = bus.grant(now) else { return };
        if self.begin_quietly(channel, &transfer, now, agenda) {
            return;
        }
        self.dies[transfer.die.index()].transfer_begun(transfer.slot, now);
        if let Some(audit) = &mut self.audit {
            audit.channel_taken(channel, now, transfer.time);
        }
        self.tell_transfer(channel, &transfer, now);
        agenda.add(now + transfer.time, Event::TransferDone(channel));
    }

    fn arbitrate_die(&mut self, die: DieId, now: Instant, agenda: &mut Agenda) {
        if self.move_next_page(die, now, agenda) {
            return;
        }
        loop {
            self.advance_die(die, now, agenda);
            if !self.may_take_more(die) || !self.start_next(die, now) {
                break;
            }
        }
        if self.options.notes_stalls {
            self.note_stall(die, now);
        }
    }

    /// Whether `die` has a register free, or what it does may be suspended.
    #[inline]
    fn may_take_more(&self, die: DieId) -> bool {
        !self.dies[die.index()].is_full() || self.options.suspend.is_some()
    }

    /// Moves the operations of a die as far as they go.
    fn advance_die(&mut self, die: DieId, now: Instant, agenda: &mut Agenda) {
        while let Some(action) = self.dies[die.index()].next_action(now) {
            match action {
                Action::BusIn(slot, time) => {
                    self.channel_for(die).ask_in(Transfer { die, slot, time });
                }
                Action::BusOut(slot, time) => {
                    self.channel_for(die).ask_out(Transfer { die, slot, time });
                }
                Action::RunArray(time) => {
                    if let Some(audit) = &mut self.audit {
                        audit.array_taken(die, now, time);
                    }
                    self.tell_array(die, time, now);
                    agenda.add(now + time, Event::ArrayDone(die));
                }
                Action::Finished(operation) => self.finish(die, &operation, now),
            }
        }
    }

    /// The channel of `die`, which is about to ask for it.
    fn channel_for(&mut self, die: DieId) -> &mut Channel {
        let channel = self.geometry.channel_of_die(die).index();
        self.dirty_channels.insert(channel);
        &mut self.channels[channel]
    }

    fn finish(&mut self, die: DieId, operation: &Operation<Purpose>, now: Instant) {
        if self.options.is_watched {
            self.note_programmed(operation);
        }
        match operation.tag {
            Purpose::Host(group) => {
                self.die_clocks[die.index()].serve_ends(now);
                self.finish_host(group, operation, now);
            }
            Purpose::Collection(step) => self.finish_step(die, step, now),
        }
    }

    /// The first broken invariant that the audit has seen, if any.
    pub fn violation(&self) -> Option<&str> {
        let timing = self.audit.as_ref().and_then(|audit| audit.violation());
        timing.or_else(|| self.ftl.violation())
    }

    fn admit(&mut self, owner: Owner, lpn: Lpn, kind: Kind, late: Duration) -> TransactionId {
        self.submitted += 1;
        if owner != Owner::Translation {
            self.permits.request_came();
        }
        self.transactions.insert(Transaction::new(owner, lpn, kind, self.submitted, late))
    }

    fn finish_transaction(&mut self, id: TransactionId, now: Instant) {
        let transaction = self.transactions.get(id);
        let Transaction { owner, lpn, parts, .. } = *transaction;
        match owner {
            Owner::Host(_) | Owner::Destage => {
                self.finished.push(Finished { owner, lpn, parts, rejected: false });
                self.transactions.remove(id);
            }
            Owner::Translation => {
                let done = transaction.clone();
                self.transactions.remove(id);
                self.finish_translation(&done, now);
            }
        }
    }
}

impl Options {
    fn new(config: &Config, ftl: &Ftl, schedule: &Schedule) -> Self {
        let gc = &config.ssd.gc;
        let suspend = SuspendRule::new(config.ssd.commands.suspend);
        let is_watched = config.ssd.power.is_watched();
        let notes_stalls = schedule.yields() || ftl.has_nv_buffer();
        let notes_pages = is_watched || config.metrics.needs_journal();
        Self {
            reads_first: config.host.scheduling == crate::config::Scheduling::ReadFirst,
            copyback: gc.copyback,
            zero_cost: gc.zero_cost,
            gc_start: gc.start,
            double_register: config.ssd.timing.register == Register::Double,
            cache_pages: config.ssd.cache_pages(),
            suspend,
            notes_targets: notes_pages || suspend.is_some(),
            notes_pages,
            is_watched,
            holds_erases: config.ssd.power.holds_erases(),
            moves_are_undisturbed: moves_are_undisturbed(config, ftl),
            transfers_are_quiet: transfers_are_quiet(config, notes_stalls),
            notes_stalls,
        }
    }
}

/// Where a physical page is: the plane and offset that multi-plane rules look at.
#[derive(Debug, Clone, Copy)]
struct Located {
    plane: PlaneId,
    offset: u32,
}

impl Ssd {
    fn locate(&self, page: Ppn) -> Located {
        let plane = self.geometry.plane_of(page);
        Located { plane, offset: self.geometry.page_offset(page) }
    }

    /// Nominal time of a lone page operation.
    fn nominal(&self, kind: Kind) -> Duration {
        match kind {
            Kind::Read | Kind::ReadToUpdate => self.timing.whole_read(),
            Kind::Write => self.timing.whole_program(),
        }
    }
}
