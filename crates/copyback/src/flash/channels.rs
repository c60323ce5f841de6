//! Channels of a drive, and the dies that share them.

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::engine::DirtySet;
use crate::ids::{ChannelId, DieId};
use crate::nand::Geometry;

use super::channel::Channel;

/// Channels of a drive.
#[derive(Debug, Checkpointed)]
pub struct Channels {
    all: Vec<Channel>,
    /// The channel of each die.
    of_die: Vec<ChannelId>,
    /// Channels that something has happened to.
    stirred: DirtySet,
    /// Whether each die has a channel of its own.
    pub one_each: bool,
}

impl Channels {
    /// Idle channels of a checked configuration.
    pub fn new(config: &Resolved, geometry: &Geometry) -> Self {
        let arbitration = config.ssd.timing.bus_arbitration;
        let dies = (0..geometry.dies()).map(DieId::from_index);
        Self {
            all: (0..geometry.channels).map(|_| Channel::new(arbitration)).collect(),
            of_die: dies.map(|die| geometry.channel_of_die(die)).collect(),
            stirred: DirtySet::new(geometry.channels as usize),
            one_each: geometry.dies() == geometry.channels as usize,
        }
    }

    /// The channel called `id`.
    #[inline(always)]
    pub fn get(&mut self, id: ChannelId) -> &mut Channel {
        &mut self.all[id.index()]
    }

    /// The channel of `die`.
    #[inline(always)]
    pub fn of(&self, die: DieId) -> ChannelId {
        self.of_die[die.index()]
    }

    /// Gives `channel` to its next transfer when the drive next arbitrates.
    #[inline]
    pub fn stir(&mut self, channel: ChannelId) {
        self.stirred.insert(channel.index());
    }

    /// The channel of `die`, which is about to ask for it.
    pub fn ask(&mut self, die: DieId) -> &mut Channel {
        let channel = self.of(die);
        self.stir(channel);
        self.get(channel)
    }

    /// Whether nothing has happened to any channel since they were last asked.
    #[inline]
    pub const fn are_at_rest(&self) -> bool {
        self.stirred.is_empty()
    }

    /// Takes the first channel that something has happened to.
    #[inline]
    pub fn next_stirred(&mut self) -> Option<ChannelId> {
        self.stirred.pop().map(ChannelId::from_index)
    }
}
