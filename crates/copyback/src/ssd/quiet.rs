//! Transfers that nobody waits for.
//!
//! Where a die has one register, the end of a transfer into it is the begin of the array's work and nothing
//! else, unless another die wants the channel. As long as none does, both are one event.

use crate::channel::Transfer;
use crate::config::{Config, Idle, Register, Suspend};
use crate::event::{Agenda, Event};
use crate::ids::ChannelId;
use crate::units::Instant;

use super::Ssd;

/// Whether nobody looks at the ends of transfers, and nothing else comes of them.
pub(super) fn transfers_are_quiet(config: &Config, notes_stalls: bool) -> bool {
    config.ssd.timing.register == Register::Single && !notes_stalls && nobody_looks(config)
}

/// Whether nobody looks at every instant of the drive: neither what uses idle time, takes operations away or
/// lets them fail, nor who records what the flash does.
pub(super) fn nobody_looks(config: &Config) -> bool {
    config.ssd.gc.idle == Idle::None
        && config.ssd.commands.suspend == Suspend::None
        && config.ssd.faults.are_none()
        && !config.metrics.idle_time
        && !config.metrics.needs_journal()
        && !config.ssd.power.is_watched()
}

impl Ssd {
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
        if !self.options.transfers_are_quiet || bus.is_wanted() {
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
}
