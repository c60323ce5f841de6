//! A die: one array operation at a time, and one or two page registers.
//!
//! ```text
//!            asked      granted     register full          array done      asked     granted
//! New ──► WaitIn ──► TransferIn ──► Loaded ──► InArray ──► Sensed ──► WaitOut ──► TransferOut ──► Done
//!              (skipped without a bus)          (programs and erases end here)
//! ```
//!
//! With a single register an operation holds the whole die from first to last phase. With a double
//! register the `port` slot (cache register) moves data while the `array` slot works: the next
//! program is loaded during a program, and data leave during the next read.
//!
//! A program or erase may be suspended: it leaves the array for reads, and what was left of it is
//! done when it is resumed.

use smallvec::SmallVec;

use crate::checkpoint::Checkpointed;
use crate::ids::Ppn;
use crate::units::{Duration, Instant};

/// Command to a die. Multi-plane forms are one command of the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Command {
    /// Cells to register, then out over the channel.
    Read,
    /// In over the channel, then register to cells.
    Program,
    /// Erase of whole blocks.
    Erase,
    /// Read and program inside a plane, without the channel.
    Copyback,
}

impl Command {
    /// The name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Program => "program",
            Self::Erase => "erase",
            Self::Copyback => "copyback",
        }
    }
}

/// Phase of an operation; see the module's picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Phase {
    /// Just accepted.
    New,
    /// Waits for the channel to bring command and data.
    WaitIn,
    /// Command and data are on the channel.
    TransferIn,
    /// Waits for the array.
    Loaded,
    /// The array works.
    InArray,
    /// The array had begun and was taken away.
    Suspended,
    /// The array is done; data wait for the port or the channel.
    Sensed,
    /// Waits for the channel to take the data.
    WaitOut,
    /// Data are on the channel.
    TransferOut,
    /// Ended: no phase is left.
    Done,
}

/// The two places of a die that can hold an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Slot {
    /// Data register and cell array.
    Array,
    /// Cache register.
    Port,
}

/// An operation on its way through a die. `T` is the caller's note of what it is for.
#[derive(Debug, Clone, Checkpointed)]
pub struct Operation<T> {
    /// Command of the die.
    pub command: Command,
    /// Time on the channel before the array works.
    pub transfer_in: Duration,
    /// Time in the array.
    pub array: Duration,
    /// Time on the channel after the array has worked.
    pub transfer_out: Duration,
    /// Time spent waiting for the channel so far.
    pub waited_for_bus: Duration,
    /// Time spent in a register waiting for the array so far.
    pub waited_for_array: Duration,
    /// Tag of the operation's owner.
    pub tag: T,
    /// The pages that it reads or programs, or the first of each block that it erases, if somebody
    /// asks for them. Boxed, as hardly any operation has some and all are moved from slot to slot.
    pub pages: Option<Box<SmallVec<[Ppn; 2]>>>,
    /// Whether nothing else begins in the die before it ends.
    pub alone: bool,
    /// Number of times that it has been suspended.
    suspends: u32,
    phase: Phase,
    phase_since: Instant,
}

/// Durations of the phases of an operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Times {
    /// On the channel before the array works.
    pub transfer_in: Duration,
    /// In the array.
    pub array: Duration,
    /// On the channel after the array has worked.
    pub transfer_out: Duration,
}

impl<T> Operation<T> {
    /// An operation about to be given to a die at `now`.
    pub fn new(command: Command, times: Times, tag: T, now: Instant) -> Self {
        let Times { transfer_in, array, transfer_out } = times;
        Self {
            command,
            transfer_in,
            array,
            transfer_out,
            waited_for_bus: Duration::ZERO,
            waited_for_array: Duration::ZERO,
            tag,
            pages: None,
            alone: false,
            suspends: 0,
            phase: Phase::New,
            phase_since: now,
        }
    }

    /// Whether it has been suspended.
    pub const fn was_suspended(&self) -> bool {
        self.suspends > 0
    }

    /// Whether the array has begun it.
    pub const fn has_begun(&self) -> bool {
        !matches!(self.phase, Phase::New | Phase::WaitIn | Phase::TransferIn | Phase::Loaded)
    }

    /// Duration on an idle die and channel.
    pub fn nominal(&self) -> Duration {
        self.transfer_in + self.array + self.transfer_out
    }

    /// Whether nothing can begin in the die when the array follows the transfer in: nothing else may, or a read has
    /// the array already.
    fn goes_on_alone(&self) -> bool {
        self.alone || self.command == Command::Read
    }

    /// Whether the array works on it, and its data leave behind that with nothing to choose for anybody.
    fn leaves_alone(&self) -> bool {
        self.alone && self.phase == Phase::InArray && !self.transfer_out.is_zero()
    }

    fn enter(&mut self, phase: Phase, now: Instant) {
        let spent = now - self.phase_since;
        match self.phase {
            Phase::WaitIn | Phase::WaitOut => self.waited_for_bus += spent,
            Phase::Loaded | Phase::Sensed | Phase::Suspended => self.waited_for_array += spent,
            _ => {}
        }
        self.phase = phase;
        self.phase_since = now;
    }
}

/// Way in which an operation leaves the array for reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    /// Time for which it goes on: to the end of a pulse.
    pub goes_on: Duration,
    /// Time from then until the array can read.
    pub overhead: Duration,
}

impl Pause {
    /// Time until the array can read.
    pub fn length(self) -> Duration {
        self.goes_on + self.overhead
    }
}

/// Next need of a die from its surroundings.
#[derive(Debug)]
pub enum Action<T> {
    /// The channel, to bring command and data in.
    BusIn(Slot, Duration),
    /// The channel, to take data out.
    BusOut(Slot, Duration),
    /// A call of [`Die::array_done`] after this time.
    RunArray(Duration),
    /// End of this operation.
    Finished(Operation<T>),
}

/// A die and the operations in it.
#[derive(Debug, Checkpointed)]
pub struct Die<T> {
    array: Option<Operation<T>>,
    port: Option<Operation<T>>,
    suspended: Option<Box<Suspended<T>>>,
    /// When the array is done with what it does now.
    array_due: Option<Instant>,
    /// Time for which the array has yet to be started: to suspend, or to go on.
    to_run: Option<Duration>,
    /// Whether the array is busy suspending.
    suspending: bool,
    double_register: bool,
    /// Whether an operation may go on by itself: something has happened since the last
    /// [`next_action`](Self::next_action) that found nothing.
    stirred: bool,
}

/// An operation that has left the array.
#[derive(Debug, Checkpointed)]
struct Suspended<T> {
    operation: Operation<T>,
    left: Duration,
}

impl<T> Die<T> {
    /// An idle die.
    pub const fn new(double_register: bool) -> Self {
        Self {
            array: None,
            port: None,
            suspended: None,
            array_due: None,
            to_run: None,
            suspending: false,
            double_register,
            stirred: false,
        }
    }

    /// Whether the die can take nothing more.
    pub const fn is_full(&self) -> bool {
        self.array.is_some() && (self.port.is_some() || !self.double_register)
    }

    /// Whether nothing is in the die.
    pub const fn is_idle(&self) -> bool {
        self.has_free_registers() && self.suspended.is_none()
    }

    /// Whether nothing is in the registers, though an operation may be suspended.
    pub const fn has_free_registers(&self) -> bool {
        self.array.is_none() && self.port.is_none()
    }

    /// The operation in `slot`.
    pub const fn in_slot(&self, slot: Slot) -> Option<&Operation<T>> {
        match slot {
            Slot::Array => self.array.as_ref(),
            Slot::Port => self.port.as_ref(),
        }
    }

    /// The operation that is suspended.
    pub fn suspended(&self) -> Option<&Operation<T>> {
        self.suspended.as_ref().map(|suspended| &suspended.operation)
    }

    /// Every operation in the die.
    pub fn operations(&self) -> impl Iterator<Item = &Operation<T>> {
        self.array.iter().chain(&self.port).chain(self.suspended())
    }

    /// Whether nothing is in it, or nothing but units of a page on their way in.
    pub fn only_transfers(&self) -> bool {
        self.operations().all(|one| one.command == Command::Program && one.array.is_zero())
    }

    /// The program or erase in the array and what is left of it, if it has been suspended less than `most` times.
    pub fn suspendable(&self, most: u32, now: Instant) -> Option<(Command, Duration)> {
        let operation = self.array.as_ref()?;
        let may = operation.phase == Phase::InArray
            && operation.command != Command::Read
            && operation.suspends < most
            && self.port.is_none()
            && self.suspended.is_none();
        let due = self.array_due.filter(|due| may && *due > now)?;
        Some((operation.command, due - now))
    }

    /// Takes the operation in the array away.
    pub fn suspend(&mut self, pause: Pause, now: Instant) {
        let (Some(mut operation), Some(due)) = (self.array.take(), self.array_due.take()) else {
            return;
        };
        operation.suspends += 1;
        let from = now + pause.goes_on;
        operation.enter(Phase::Suspended, from);
        self.suspended = Some(Box::new(Suspended { operation, left: due - from }));
        self.suspending = !pause.length().is_zero();
        self.to_run = self.suspending.then_some(pause.length());
        self.stirred = true;
    }

    /// Goes on with the suspended operation, which takes `overhead` and what was left of it.
    pub fn resume(&mut self, overhead: Duration, now: Instant) {
        debug_assert!(self.has_free_registers() && !self.suspending);
        let Some(suspended) = self.suspended.take() else { return };
        let Suspended { mut operation, left } = *suspended;
        operation.enter(Phase::InArray, now);
        operation.waited_for_array += overhead;
        self.array = Some(operation);
        self.to_run = Some(overhead + left);
        self.stirred = true;
    }

    /// Whether `page` is being programmed, or its program is suspended.
    pub fn programs(&self, page: Ppn) -> bool {
        let operations = self.array.iter().chain(self.suspended());
        let programs = |operation: &Operation<T>| {
            matches!(operation.command, Command::Program | Command::Copyback)
                && operation.pages.as_ref().is_some_and(|pages| pages.contains(&page))
        };
        operations.into_iter().any(programs)
    }

    /// Whether everything in the die is a `command`, and there is something.
    pub fn holds_only(&self, command: Command) -> bool {
        let mut held = self.array.iter().chain(&self.port).map(|operation| operation.command);
        !self.is_idle() && held.all(|held| held == command)
    }

    /// Whether the die can take a `command` now.
    pub fn accepts(&self, command: Command) -> bool {
        if self.suspended.is_some() && (self.suspending || command != Command::Read) {
            return false;
        }
        if !self.double_register {
            return self.has_free_registers();
        }
        let array = self.array.as_ref().map(|operation| operation.command);
        let port = self.port.as_ref().map(|operation| operation.command);
        match command {
            Command::Read => array.is_none() && port != Some(Command::Program),
            Command::Program => port.is_none() && array.is_none_or(|c| c == Command::Program),
            Command::Erase | Command::Copyback => self.is_idle(),
        }
    }

    /// Takes an operation that [`accepts`](Self::accepts) allows.
    #[inline]
    pub fn start(&mut self, operation: Operation<T>) {
        debug_assert!(self.accepts(operation.command), "die cannot take a {:?}", operation.command);
        let slot = match operation.command {
            Command::Program if self.double_register => &mut self.port,
            _ => &mut self.array,
        };
        debug_assert!(slot.is_none(), "slot is taken");
        *slot = Some(operation);
        self.stirred = true;
    }

    /// The array has finished the operation in it.
    #[inline]
    pub fn array_done(&mut self, now: Instant) {
        // The end of an operation that was suspended meanwhile comes too early.
        if self.array_due != Some(now) {
            return;
        }
        self.array_due = None;
        self.stirred = true;
        if self.suspending {
            self.suspending = false;
        } else if let Some(operation) = &mut self.array {
            debug_assert_eq!(operation.phase, Phase::InArray);
            let next = if operation.transfer_out.is_zero() { Phase::Done } else { Phase::Sensed };
            operation.enter(next, now);
        }
    }

    /// Whether a copyback in the array ends at `now` or has ended.
    #[inline]
    pub fn ends_copyback(&self, now: Instant) -> bool {
        let copyback = self.array.as_ref().filter(|in_it| in_it.command == Command::Copyback);
        copyback.is_some_and(|in_it| self.array_due == Some(now) || in_it.phase == Phase::Done)
    }

    /// Whether an operation goes on in the die, and nothing has happened to it since the die was last asked.
    #[inline]
    pub const fn goes_on(&self) -> bool {
        !self.stirred && !self.is_idle()
    }

    /// Whether an operation that is alone is in the die.
    #[inline]
    pub fn goes_on_alone(&self) -> bool {
        self.array.as_ref().or(self.port.as_ref()).is_some_and(|operation| operation.alone)
    }

    /// The operation that is alone in the die, if it has ended.
    #[inline]
    pub fn ended_alone(&self) -> Option<&Operation<T>> {
        let operation = self.array.as_ref().or(self.port.as_ref())?;
        (operation.alone && operation.phase == Phase::Done).then_some(operation)
    }

    /// Begins another operation in place of the one that [has ended alone](Self::ended_alone), and that is alone, too.
    /// It stays in the array's register, as nothing could use the other one meanwhile. Returns for how long it will
    /// hold the channel that it waits for now.
    #[inline]
    pub fn follow(&mut self, command: Command, times: Times, tag: T, now: Instant) -> Duration {
        if self.array.is_none() {
            self.array = self.port.take();
        }
        self.stirred = false;
        let Some(operation) = &mut self.array else { return Duration::ZERO };
        debug_assert!(operation.alone && operation.pages.is_none() && operation.suspends == 0);
        let Times { transfer_in, array, transfer_out } = times;
        operation.command = command;
        operation.transfer_in = transfer_in;
        operation.array = array;
        operation.transfer_out = transfer_out;
        operation.waited_for_bus = Duration::ZERO;
        operation.waited_for_array = Duration::ZERO;
        operation.tag = tag;
        operation.phase = Phase::WaitIn;
        operation.phase_since = now;
        transfer_in
    }

    /// Begins the array's work for an operation that has just [followed](Self::follow), with nothing to be brought in.
    /// Returns what it takes.
    #[inline]
    pub fn run_followed(&mut self, now: Instant) -> Duration {
        self.run_array(Slot::Array, now)
    }

    /// Begins another copyback for the same purpose in place of the one that ends; it takes `array`.
    #[inline]
    pub fn repeat_copyback(&mut self, array: Duration, now: Instant) {
        debug_assert!(self.ends_copyback(now) && self.port.is_none() && !self.suspending);
        if let Some(operation) = &mut self.array {
            operation.array = array;
            operation.phase = Phase::InArray;
            operation.phase_since = now;
        }
        self.array_due = Some(now + array);
        self.stirred = false;
    }

    /// The channel has started to serve the operation in `slot`.
    #[inline]
    pub fn transfer_begun(&mut self, slot: Slot, now: Instant) {
        if let Some(operation) = self.slot(slot) {
            let next = match operation.phase {
                Phase::WaitIn => Phase::TransferIn,
                _ => Phase::TransferOut,
            };
            operation.enter(next, now);
        }
    }

    /// The channel serves the operation in `slot` until `until`, and the array begins right behind it, with nothing
    /// to choose for anybody. Returns what the array takes; `None` if it does not follow.
    #[inline]
    pub fn begin_behind_transfer(
        &mut self,
        slot: Slot,
        now: Instant,
        until: Instant,
    ) -> Option<Duration> {
        let waits = |operation: &&mut Operation<T>| {
            operation.phase == Phase::WaitIn
                && operation.goes_on_alone()
                && !operation.array.is_zero()
        };
        let operation = self.slot(slot).filter(waits)?;
        operation.enter(Phase::TransferIn, now);
        Some(self.run_array(slot, until))
    }

    /// The channel has served the operation in `slot`. If that was brought in, and nobody has anything to choose now,
    /// its work in the array begins: returns what it takes.
    #[inline]
    pub fn begin_after_transfer(&mut self, slot: Slot, now: Instant) -> Option<Duration> {
        let operation = self.slot(slot)?;
        let follows = operation.goes_on_alone() && operation.phase == Phase::TransferIn;
        follows.then(|| self.run_array(slot, now))
    }

    /// Begins at `now` the work in the array of the operation in `slot`.
    #[inline]
    fn run_array(&mut self, slot: Slot, now: Instant) -> Duration {
        debug_assert!(self.suspended.is_none());
        if slot == Slot::Port {
            debug_assert!(self.array.is_none());
            self.array = self.port.take();
        }
        let Some(operation) = &mut self.array else { return Duration::ZERO };
        operation.enter(Phase::InArray, now);
        self.array_due = Some(now + operation.array);
        operation.array
    }

    /// The array has finished. If it has sensed data for an operation that is alone, they wait for the channel at
    /// once: returns for how long they will hold it. `None`, and nothing has changed, else.
    #[inline]
    pub fn ask_out_after_array(&mut self, now: Instant) -> Option<Duration> {
        if self.array_due != Some(now) {
            return None;
        }
        let operation = self.array.as_mut().filter(|operation| operation.leaves_alone())?;
        operation.phase = Phase::WaitOut;
        operation.phase_since = now;
        self.array_due = None;
        Some(operation.transfer_out)
    }

    /// The array finishes at `at` what it has begun, and the channel is free for the data then, if there are some and
    /// their operation is alone: returns for how long they hold it. `None`, and nothing has changed, else.
    #[inline]
    pub fn go_out_at(&mut self, at: Instant) -> Option<Duration> {
        let operation = self.array.as_mut().filter(|operation| operation.leaves_alone())?;
        operation.phase = Phase::TransferOut;
        operation.phase_since = at;
        self.array_due = None;
        Some(operation.transfer_out)
    }

    /// The channel has served the operation in `slot`.
    #[inline]
    pub fn transfer_done(&mut self, slot: Slot, now: Instant) {
        self.stirred = true;
        if let Some(operation) = self.slot(slot) {
            let next = match operation.phase {
                Phase::TransferIn => Phase::Loaded,
                _ => Phase::Done,
            };
            operation.enter(next, now);
        }
    }

    /// Moves the operations as far as they go by themselves and returns the next thing that the
    /// die needs, or `None` when it has to wait. Call until it returns `None`.
    #[inline]
    pub fn next_action(&mut self, now: Instant) -> Option<Action<T>> {
        if !self.stirred {
            return None;
        }
        if let Some(time) = self.to_run.take() {
            self.array_due = Some(now + time);
            return Some(Action::RunArray(time));
        }
        if self.double_register { self.next_of_two(now) } else { self.next_of_one(now) }
    }

    /// With a single register an operation goes one step, and then waits.
    #[inline]
    fn next_of_one(&mut self, now: Instant) -> Option<Action<T>> {
        self.stirred = false;
        match self.array.take_if(|operation| operation.phase == Phase::Done) {
            Some(finished) => Some(Action::Finished(finished)),
            None => self.array_action(now),
        }
    }

    fn next_of_two(&mut self, now: Instant) -> Option<Action<T>> {
        if let Some(finished) = self.take_finished() {
            self.stirred = !self.has_free_registers();
            return Some(Action::Finished(finished));
        }
        self.shift(now);
        let action = self.array_action(now).or_else(|| self.port_action(now));
        self.stirred = action.is_some();
        action
    }

    fn slot(&mut self, slot: Slot) -> Option<&mut Operation<T>> {
        match slot {
            Slot::Array => self.array.as_mut(),
            Slot::Port => self.port.as_mut(),
        }
    }

    fn take_finished(&mut self) -> Option<Operation<T>> {
        let done = |operation: &mut Operation<T>| operation.phase == Phase::Done;
        self.port.take_if(done).or_else(|| self.array.take_if(done))
    }

    /// Moves operations between the two registers.
    fn shift(&mut self, now: Instant) {
        if self.array.is_none() {
            self.array = self.port.take_if(|operation| operation.phase == Phase::Loaded);
        }
        if self.port.is_none()
            && let Some(mut sensed) = self.array.take_if(|o| o.phase == Phase::Sensed)
        {
            // The wait for the cache register ends here; the wait for the channel begins.
            sensed.enter(Phase::Sensed, now);
            self.port = Some(sensed);
        }
    }

    #[inline]
    fn array_action(&mut self, now: Instant) -> Option<Action<T>> {
        let double_register = self.double_register;
        let operation = self.array.as_mut()?;
        match operation.phase {
            Phase::New if !operation.transfer_in.is_zero() => {
                operation.enter(Phase::WaitIn, now);
                Some(Action::BusIn(Slot::Array, operation.transfer_in))
            }
            Phase::New | Phase::Loaded => {
                operation.enter(Phase::InArray, now);
                self.array_due = Some(now + operation.array);
                Some(Action::RunArray(operation.array))
            }
            Phase::Sensed if !double_register => {
                operation.enter(Phase::WaitOut, now);
                Some(Action::BusOut(Slot::Array, operation.transfer_out))
            }
            _ => None,
        }
    }

    fn port_action(&mut self, now: Instant) -> Option<Action<T>> {
        let operation = self.port.as_mut()?;
        match operation.phase {
            Phase::New if operation.transfer_in.is_zero() => {
                operation.enter(Phase::Loaded, now);
                self.shift(now);
                self.array_action(now)
            }
            Phase::New => {
                operation.enter(Phase::WaitIn, now);
                Some(Action::BusIn(Slot::Port, operation.transfer_in))
            }
            Phase::Sensed => {
                operation.enter(Phase::WaitOut, now);
                Some(Action::BusOut(Slot::Port, operation.transfer_out))
            }
            _ => None,
        }
    }
}
