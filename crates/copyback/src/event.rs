//! Events of a simulation.

use crate::checkpoint::Checkpointed;
use crate::engine::EventQueue;
use crate::ids::{ChannelId, CommandId, DieId, FlowId};
use crate::units::Instant;

/// Event of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Event {
    /// The power fails.
    PowerFails,
    /// The power is back, and the mapping found.
    PowerIsBack,
    /// A die's array has finished its operation.
    ArrayDone(DieId),
    /// A channel has finished its transfer.
    TransferDone(ChannelId),
    /// The host link has finished a transfer.
    LinkDone(LinkDirection),
    /// The drive's controller has finished with a command, or with its DRAM.
    ControllerDone(CommandId),
    /// The drive looks whether it has been idle for long enough.
    IdleLook,
    /// The drive looks for data that have become too old.
    RefreshLook,
    /// A die is lost, or the next page of it is due to be rebuilt.
    LostDieLook,
}

/// A direction of the host link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum LinkDirection {
    /// From host to device: the data of writes.
    In,
    /// From device to host: the data of reads.
    Out,
}

/// The events of a drive.
pub type Agenda = EventQueue<Event>;

/// The arrivals of the flows' next requests.
pub type Arrivals = EventQueue<FlowId>;

impl Event {
    /// The keys that say how long it takes until this happens.
    pub const fn key(self) -> &'static str {
        match self {
            Self::PowerFails => "ssd.power.cuts",
            Self::PowerIsBack => "ssd.power",
            Self::ArrayDone(_) => "ssd.timing",
            Self::TransferDone(_) => "ssd.timing.transfer_rate",
            Self::LinkDone(_) => "host.link_rate",
            Self::ControllerDone(_) => "host.command_overhead",
            Self::IdleLook => "ssd.gc.idle",
            Self::RefreshLook => "ssd.refresh.age",
            Self::LostDieLook => "ssd.faults.lost_die",
        }
    }

    /// Order of events of one instant: an event that frees something comes before one that may want it. What
    /// would end when the power fails does not.
    const fn class(self) -> u8 {
        match self {
            Self::PowerFails => 0,
            Self::PowerIsBack => 1,
            Self::ArrayDone(_) => 2,
            Self::TransferDone(_) => 3,
            Self::LinkDone(_) => 4,
            Self::ControllerDone(_) => 5,
            Self::IdleLook => 6,
            Self::RefreshLook => 7,
            Self::LostDieLook => 8,
        }
    }
}

impl Agenda {
    /// Lets `event` happen at `at`.
    #[inline]
    pub fn add(&mut self, at: Instant, event: Event) {
        self.schedule(at, event.class(), event);
    }
}
