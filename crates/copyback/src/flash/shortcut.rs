//! The shortcuts of the flash. While a die is [undisturbed](Undisturbed), three stretches of the most frequent work are one
//! event each:
//!
//! - a transfer into a die and the array's work behind it, of an operation that is alone in its die, as long as
//!   no other die wants the channel;
//! - the array's work and the transfer of data out behind it, of such an operation, where no other die could want
//!   the channel: each has its own;
//! - a copyback and the next one of the same collection.
//!
//! An event that concerns one operation alone is carried out at once, with what follows.

use crate::event::{Agenda, Event};
use crate::ids::{ChannelId, DieId};
use crate::nand::{Command, Slot, Times};
use crate::shortcut::Undisturbed;
use crate::units::{Duration, Instant};

use super::channel::{Channel, Transfer};
use super::{Flash, Listener};

impl<T> Flash<T> {
    /// Begins the transfer, and the array's work behind it, if nobody else wants the channel. Returns whether
    /// it has.
    pub(super) fn begin_as_one(
        &mut self,
        channel: ChannelId,
        transfer: &Transfer,
        now: Instant,
        agenda: &mut Agenda,
        listener: &impl Listener<T>,
    ) -> bool {
        if self.channels.get(channel).is_wanted() || !self.is_undisturbed(transfer.die, listener) {
            return false;
        }
        let until = now + transfer.time;
        let die = &mut self.dies[transfer.die.index()];
        let Some(time) = die.begin_behind_transfer(transfer.slot, now, until) else {
            return false;
        };
        self.channels.get(channel).hold_unobserved(until);
        if let Some(audit) = &mut self.audit {
            audit.channel_taken(channel, now, transfer.time);
        }
        self.run_array(transfer.die, until, time, agenda, listener);
        true
    }

    /// Whether `die` is undisturbed until the operation ends that is in it, and beside which nothing can begin.
    #[inline]
    fn is_undisturbed(&self, die: DieId, listener: &impl Listener<T>) -> bool {
        let undisturbed = self.shortcuts.while_busy(|| false, || listener.keeps_room(die));
        undisturbed >= Undisturbed::UntilOperationEnds
    }

    /// The array of `die` works for `time` from `from` on. Plans what comes behind that.
    #[inline(always)]
    pub(super) fn run_array(
        &mut self,
        die: DieId,
        from: Instant,
        time: Duration,
        agenda: &mut Agenda,
        listener: &impl Listener<T>,
    ) {
        let done = self.array_is_taken(die, from, time);
        if self.channels.one_each
            && self.is_undisturbed(die, listener)
            && let Some(time) = self.dies[die.index()].go_out_at(done)
        {
            let channel = self.channels.of(die);
            self.channels.get(channel).hold(Transfer { die, slot: Slot::Array, time });
            if let Some(audit) = &mut self.audit {
                audit.channel_taken(channel, done, time);
            }
            return agenda.add(done + time, Event::TransferDone(channel));
        }
        agenda.add(done, Event::ArrayDone(die));
    }

    /// The array of `die` has finished, which is all that happens at `now`. If data of an operation that is alone
    /// are to leave now, asks for the channel and returns true; else nothing has changed.
    #[inline]
    pub fn data_leave(
        &mut self,
        die: DieId,
        now: Instant,
        agenda: &mut Agenda,
        listener: &mut impl Listener<T>,
    ) -> bool {
        let Some(time) = self.dies[die.index()].ask_out_after_array(now) else { return false };
        self.take_channel_or(Channel::ask_out, (die, time), now, agenda, listener);
        true
    }

    /// Gives its channel to `die` for so long if it is free and nobody else wants it; else has it `ask` for that.
    #[inline(always)]
    fn take_channel_or(
        &mut self,
        ask: impl FnOnce(&mut Channel, Transfer),
        (die, time): (DieId, Duration),
        now: Instant,
        agenda: &mut Agenda,
        listener: &mut impl Listener<T>,
    ) {
        let channel = self.channels.of(die);
        let transfer = Transfer { die, slot: Slot::Array, time };
        let bus = self.channels.get(channel);
        if bus.take_if_free(transfer, now) {
            self.begin_transfer(channel, transfer, now, agenda, listener);
        } else {
            ask(bus, transfer);
            self.arbitrate_channel(channel, now, agenda, listener);
        }
    }

    /// The transfer on `channel` has finished, which is all that happens at `now`. Returns the die that it was for,
    /// and whether the array goes on with an operation that is alone there; if not, that die is to be asked, and the
    /// channel then given to the next transfer.
    #[inline]
    pub fn transfer_ends(
        &mut self,
        channel: ChannelId,
        now: Instant,
        agenda: &mut Agenda,
        listener: &mut impl Listener<T>,
    ) -> Option<(DieId, bool)> {
        let transfer = self.channels.get(channel).release();
        let begun = transfer.and_then(|Transfer { die, slot, .. }| {
            self.dies[die.index()].begin_after_transfer(slot, now)
        });
        match (transfer, begun) {
            (Some(Transfer { die, slot, .. }), None) => {
                self.dies[die.index()].transfer_done(slot, now);
                return Some((die, false));
            }
            (Some(Transfer { die, .. }), Some(time)) => {
                self.run_array(die, now, time, agenda, listener);
            }
            (None, _) => {}
        }
        self.arbitrate_channel(channel, now, agenda, listener);
        transfer.map(|transfer| (transfer.die, true))
    }

    /// Whether an operation of the host could begin in `die`, if one with such a command `waits`: at worst says that one
    /// could.
    #[inline]
    pub fn could_begin(&self, die: DieId, waits: impl Fn(Command) -> bool) -> bool {
        let state = &self.dies[die.index()];
        if !state.goes_on() {
            return true;
        }
        if self.shortcuts.names_writes {
            return !state.is_full();
        }
        let could = |command| self.takes_from_host(die, command) && waits(command);
        !state.goes_on_alone() && (could(Command::Read) || could(Command::Program))
    }

    /// Tag of the operation that was alone in `die`, if it has ended.
    #[inline]
    pub fn ended_alone(&self, die: DieId) -> Option<&T> {
        self.dies[die.index()].ended_alone().map(|operation| &operation.tag)
    }

    /// Begins another operation, which is alone too, in place of the one that has [ended](Self::ended_alone).
    #[inline(always)]
    pub fn follow(
        &mut self,
        die: DieId,
        (command, times, tag): (Command, Times, T),
        now: Instant,
        agenda: &mut Agenda,
        listener: &mut impl Listener<T>,
    ) {
        let time = self.dies[die.index()].follow(command, times, tag, now);
        if time.is_zero() {
            let time = self.dies[die.index()].run_followed(now);
            self.run_array(die, now, time, agenda, listener);
            return self.arbitrate_channel(self.channels.of(die), now, agenda, listener);
        }
        self.take_channel_or(Channel::ask_in, (die, time), now, agenda, listener);
    }

    /// Whether a copyback on `die` ends at `now`, and the die is undisturbed until its collection ends.
    #[inline]
    pub fn may_repeat_copyback(&self, die: DieId, now: Instant) -> bool {
        self.shortcuts.limit() == Undisturbed::UntilCollectionEnds
            && self.dies[die.index()].ends_copyback(now)
    }

    /// Begins another copyback, which takes `time`, in place of the one that ends.
    #[inline]
    pub fn repeat_copyback(
        &mut self,
        die: DieId,
        time: Duration,
        now: Instant,
        agenda: &mut Agenda,
    ) {
        self.dies[die.index()].repeat_copyback(time, now);
        let done = self.array_is_taken(die, now, time);
        agenda.add(done, Event::ArrayDone(die));
    }

    /// The array of `die` works for `time` from `from` on. Returns when it is done.
    #[inline(always)]
    fn array_is_taken(&mut self, die: DieId, from: Instant, time: Duration) -> Instant {
        if let Some(audit) = &mut self.audit {
            audit.array_taken(die, from, time);
        }
        from + time
    }
}
