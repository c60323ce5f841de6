//! What can happen in a simulation.

use crate::engine::EventQueue;
use crate::ids::{ChannelId, DieId, FlowId, RequestId};
use crate::units::Instant;

/// Something that happens at an instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A die's array has finished its operation.
    ArrayDone(DieId),
    /// A channel has finished its transfer.
    TransferDone(ChannelId),
    /// The host link has finished a transfer.
    LinkDone(LinkDirection),
    /// The controller has finished with a request's command, or with its DRAM.
    ControllerDone(RequestId),
    /// A flow's next request arrives.
    Arrival(FlowId),
}

/// A direction of the host link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkDirection {
    /// From host to device: the data of writes.
    In,
    /// From device to host: the data of reads.
    Out,
}

/// The events of a simulation.
pub type Agenda = EventQueue<Event>;

impl Event {
    /// Completions free things before arrivals want them.
    const fn class(self) -> u8 {
        match self {
            Self::ArrayDone(_) => 0,
            Self::TransferDone(_) => 1,
            Self::LinkDone(_) => 2,
            Self::ControllerDone(_) => 3,
            Self::Arrival(_) => 4,
        }
    }
}

impl Agenda {
    /// Lets `event` happen at `at`.
    pub fn add(&mut self, at: Instant, event: Event) {
        self.schedule(at, event.class(), event);
    }
}
