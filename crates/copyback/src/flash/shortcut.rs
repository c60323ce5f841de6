//! The one rule for shortcuts: what nobody watches and nothing contends for is passed over.
//!
//! Whoever needs to be asked at every instant of the flash says so when the drive is built, see
//! [`Watched`]. Where nobody does, two stretches of the most frequent work are one event each:
//!
//! - a transfer into the only register of a die, and the array's work behind it, as long as no other die
//!   wants the channel;
//! - a copyback and the next one of the same collection.

use crate::event::{Agenda, Event};
use crate::ids::{ChannelId, DieId};
use crate::units::{Duration, Instant};

use super::channel::Transfer;
use super::{Flash, Watched};

impl<T> Flash<T> {
    /// Begins the transfer, and the array's work behind it, if nobody else wants the channel. Returns whether
    /// it has.
    pub(super) fn begin_quietly(
        &mut self,
        channel: ChannelId,
        transfer: &Transfer,
        now: Instant,
        agenda: &mut Agenda,
    ) -> bool {
        let bus = &mut self.channels[channel.index()];
        if self.watched == Watched::EveryInstant || self.overlaps || bus.is_wanted() {
            return false;
        }
        let until = now + transfer.time;
        let Some(time) = self.dies[transfer.die.index()].begin_behind_transfer(now, until) else {
            return false;
        };
        bus.hold_quietly(until);
        if let Some(audit) = &mut self.audit {
            audit.channel_taken(channel, now, transfer.time);
            audit.array_taken(transfer.die, until, time);
        }
        agenda.add(until + time, Event::ArrayDone(transfer.die));
        true
    }

    /// Whether a copyback on `die` ends at `now`, and nobody watches what comes between it and the next.
    #[inline]
    pub fn may_repeat_copyback(&self, die: DieId, now: Instant) -> bool {
        self.watched == Watched::WhatEnds && self.dies[die.index()].ends_copyback(now)
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
        if let Some(audit) = &mut self.audit {
            audit.array_taken(die, now, time);
        }
        agenda.add(now + time, Event::ArrayDone(die));
    }
}
