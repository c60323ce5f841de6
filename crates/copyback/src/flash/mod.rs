//! The flash of a drive on the clock: operations are issued to dies, share their channels, and end.
//!
//! ```text
//!   issue ──► die ◄──► channel ──► ends
//! ```
//!
//! It knows when each die and channel is free, and nothing of what operations are for: `T` is the issuer's
//! note of that.

mod audit;
pub mod channel;
mod channels;
mod noted;
mod overlap;
mod shortcut;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::engine::DirtySet;
use crate::event::{Agenda, Event};
use crate::ids::{ChannelId, DieId};
use crate::nand::{
    Action, Command, Die, Geometry, MultiPlaneRules, Operation, Pause, Slot, Times, Timing,
};
use crate::shortcut::Shortcuts;
use crate::units::{Duration, Instant};

use audit::TimingAudit;
use channel::Transfer;
use channels::Channels;
pub use noted::Noted;
use noted::NotedPages;
use overlap::Overlap;

/// Is told what the flash begins to do.
pub trait Listener<T> {
    /// Whether each write that may wait has room on `die`, until an operation begins or ends there.
    fn keeps_room(&self, die: DieId) -> bool;

    /// The array of `die` begins to work for `time`: on `operation`, or to suspend one.
    fn array_begins(&mut self, die: DieId, time: Duration, work: Begun<'_, T>, at: Instant);

    /// `channel` begins to carry commands or data of `work` for `die`.
    fn transfer_begins(
        &mut self,
        channel: ChannelId,
        die: DieId,
        time: Duration,
        work: Begun<'_, T>,
        at: Instant,
    );
}

/// Work that a die has begun.
#[derive(Debug)]
pub enum Begun<'a, T> {
    /// This operation.
    Operation(&'a Operation<T>),
    /// To suspend an operation of this kind.
    Suspending(Command),
}

/// Dies and channels.
#[derive(Debug, Checkpointed)]
pub struct Flash<T> {
    /// Durations of operations.
    pub timing: Timing,
    /// Rules for operations that may share a command.
    pub rules: MultiPlaneRules,
    dies: Vec<Die<T>>,
    channels: Channels,
    /// Dies that something has happened to.
    awake: DirtySet,
    /// Dies that are [passed](Self::pass).
    passed: DirtySet,
    /// Pages of the operation which is about to start, noted if somebody asks.
    pub pages: NotedPages,
    /// Until when its dies are undisturbed.
    pub shortcuts: Shortcuts,
    /// Operations that may overlap in a die.
    pub overlap: Overlap,
    audit: Option<Box<TimingAudit>>,
}

impl<T> Flash<T> {
    /// Idle flash of a checked configuration; `pipelined` if operations of collections and of the host overlap
    /// in a die.
    pub fn new(
        config: &Resolved,
        geometry: &Geometry,
        pipelined: bool,
        noted: Noted,
        shortcuts: Shortcuts,
    ) -> Self {
        let overlap = Overlap::new(config, pipelined);
        Self {
            timing: Timing::new(config),
            rules: MultiPlaneRules::new(config),
            dies: (0..geometry.dies()).map(|_| Die::new(overlap.any_begun())).collect(),
            channels: Channels::new(config, geometry),
            awake: DirtySet::new(geometry.dies()),
            passed: DirtySet::new(geometry.dies()),
            pages: NotedPages::new(noted),
            shortcuts,
            overlap,
            audit: config.audit.then(|| Box::new(TimingAudit::new(geometry))),
        }
    }

    /// The die called `id`.
    #[inline]
    pub fn die(&self, id: DieId) -> &Die<T> {
        &self.dies[id.index()]
    }

    /// Every die.
    pub fn dies(&self) -> &[Die<T>] {
        &self.dies
    }

    /// Whether each die has a channel of its own.
    #[inline]
    pub const fn has_own_channels(&self) -> bool {
        self.channels.one_each
    }

    /// Whether `die` may be given work now.
    #[inline]
    pub fn may_take_more(&self, die: DieId) -> bool {
        self.overlap.may_take_more(self.die(die))
    }

    /// Whether `die` can begin a `command` of the host now.
    #[inline]
    pub fn takes_from_host(&self, die: DieId, command: Command) -> bool {
        self.overlap.takes_from_host(self.die(die), command)
    }

    /// Whether `die` can begin any command of the host now: else there is no need to choose one.
    #[inline]
    pub fn takes_any_from_host(&self, die: DieId) -> bool {
        self.overlap.takes_any_from_host(self.die(die))
    }

    /// Whether `die` is about to look for work.
    pub fn is_awake(&self, die: DieId) -> bool {
        self.awake.contains(die.index())
    }

    /// Lets `die` look for work when the drive next arbitrates.
    #[inline]
    pub fn wake(&mut self, die: DieId) {
        self.awake.insert(die.index());
    }

    /// Lets `die`, in which nothing can begin, be passed when the drive next arbitrates: what waits for it may be noted.
    #[inline]
    pub fn pass(&mut self, die: DieId) {
        self.passed.insert(die.index());
    }

    /// Takes the first die that is passed before it is the turn of `next`, or at the end.
    #[inline]
    pub fn next_passed(&mut self, next: Option<DieId>) -> Option<DieId> {
        let bound = next.map_or(self.dies.len(), DieId::index);
        self.passed.pop_below(bound).map(DieId::from_index)
    }

    /// Whether dies are passed.
    #[inline]
    pub const fn passes_any(&self) -> bool {
        !self.passed.is_empty()
    }

    /// Whether nothing has happened to any die or channel since they were last asked.
    #[inline]
    pub const fn is_at_rest(&self) -> bool {
        self.awake.is_empty() && self.channels.are_at_rest() && self.passed.is_empty()
    }

    /// Lets every die look for work when the drive next arbitrates.
    pub fn wake_all(&mut self) {
        (0..self.dies.len()).for_each(|die| self.awake.insert(die));
    }

    /// Takes the first die that something has happened to.
    #[inline]
    pub fn next_awake(&mut self) -> Option<DieId> {
        let die = self.awake.pop()?;
        self.passed.remove(die);
        Some(DieId::from_index(die))
    }

    /// Gives `die` an operation that it accepts, and that is for what `tag` says. `alone`: whether its issuer lets
    /// nothing else begin in the die before it ends.
    // Inlined, the times stay in registers: read back from memory right after they were written, they
    // would wait for every cache miss before them.
    #[inline(always)]
    pub fn issue(
        &mut self,
        die: DieId,
        command: Command,
        times: Times,
        (tag, alone): (T, bool),
        now: Instant,
    ) {
        let mut operation = Operation::new(command, times, tag, now);
        operation.alone = alone || self.overlap.is_none();
        operation.pages = self.pages.take();
        self.dies[die.index()].start(operation);
    }

    /// Moves the operations of `die` as far as they go. Takes the first that has ended, if one has.
    #[inline(always)]
    pub fn next_ended(
        &mut self,
        die: DieId,
        now: Instant,
        agenda: &mut Agenda,
        listener: &mut impl Listener<T>,
    ) -> Option<Operation<T>> {
        while let Some(action) = self.dies[die.index()].next_action(now) {
            match action {
                Action::BusIn(slot, time) => {
                    self.channels.ask(die).ask_in(Transfer { die, slot, time });
                }
                Action::BusOut(slot, time) => {
                    self.channels.ask(die).ask_out(Transfer { die, slot, time });
                }
                Action::RunArray(time) => {
                    listener.array_begins(die, time, self.begun(die, Slot::Array), now);
                    self.run_array(die, now, time, agenda, listener);
                }
                Action::Finished(operation) => return Some(operation),
            }
        }
        None
    }

    /// Gives the channel of `die` to the next transfer when the drive next arbitrates.
    pub fn stir_channel(&mut self, die: DieId) {
        self.channels.stir(self.channels.of(die));
    }

    /// Work of `die` in its `slot`. While its array suspends, the suspended operation is beside it.
    fn begun(&self, die: DieId, slot: Slot) -> Begun<'_, T> {
        let die = &self.dies[die.index()];
        match die.in_slot(slot) {
            Some(operation) => Begun::Operation(operation),
            None => {
                let suspended = die.suspended().map(|operation| operation.command);
                Begun::Suspending(suspended.unwrap_or(Command::Program))
            }
        }
    }

    /// The array of `die`, which is to be asked next, has finished.
    #[inline]
    pub fn array_done(&mut self, die: DieId, now: Instant) {
        self.dies[die.index()].array_done(now);
    }

    /// The transfer on `channel` has finished.
    pub fn transfer_done(&mut self, channel: ChannelId, now: Instant) {
        if let Some(transfer) = self.channels.get(channel).release() {
            self.dies[transfer.die.index()].transfer_done(transfer.slot, now);
            self.wake(transfer.die);
        }
        self.channels.stir(channel);
    }

    /// Gives every channel that something has happened to its next transfer.
    #[inline]
    pub fn arbitrate_channels(
        &mut self,
        now: Instant,
        agenda: &mut Agenda,
        listener: &mut impl Listener<T>,
    ) {
        while let Some(channel) = self.channels.next_stirred() {
            self.arbitrate_channel(channel, now, agenda, listener);
        }
    }

    #[inline]
    fn arbitrate_channel(
        &mut self,
        channel: ChannelId,
        now: Instant,
        agenda: &mut Agenda,
        listener: &mut impl Listener<T>,
    ) {
        if self.channels.get(channel).is_wanted() {
            self.grant_channel(channel, now, agenda, listener);
        }
    }

    fn grant_channel(
        &mut self,
        channel: ChannelId,
        now: Instant,
        agenda: &mut Agenda,
        listener: &mut impl Listener<T>,
    ) {
        let bus = self.channels.get(channel);
        if let Some(end) = bus.begin_to_await(now) {
            return agenda.add(end, Event::TransferDone(channel));
        }
        if let Some(transfer) = bus.grant(now) {
            self.begin_transfer(channel, transfer, now, agenda, listener);
        }
    }

    /// Begins a transfer, which has the channel.
    #[inline]
    fn begin_transfer(
        &mut self,
        channel: ChannelId,
        transfer: Transfer,
        now: Instant,
        agenda: &mut Agenda,
        listener: &mut impl Listener<T>,
    ) {
        if self.begin_as_one(channel, &transfer, now, agenda, listener) {
            return;
        }
        let Transfer { die, slot, time } = transfer;
        self.dies[die.index()].transfer_begun(slot, now);
        if let Some(audit) = &mut self.audit {
            audit.channel_taken(channel, now, time);
        }
        listener.transfer_begins(channel, die, time, self.begun(die, slot), now);
        agenda.add(now + time, Event::TransferDone(channel));
    }

    /// Takes what the array of `die` does away from it.
    pub fn suspend(&mut self, die: DieId, pause: Pause, now: Instant) {
        if let Some(audit) = &mut self.audit {
            audit.array_suspended(die, now);
        }
        self.dies[die.index()].suspend(pause, now);
    }

    /// Goes on with the suspended operation of `die`, which takes `overhead` and what was left of it.
    pub fn resume(&mut self, die: DieId, overhead: Duration, now: Instant) {
        self.dies[die.index()].resume(overhead, now);
    }

    /// The first broken invariant of time that the audit has seen, if any.
    pub fn violation(&self) -> Option<&str> {
        self.audit.as_ref().and_then(|audit| audit.violation())
    }
}
