//! A channel: a bus that its dies take in turn.

use std::collections::VecDeque;

use crate::config::BusArbitration;
use crate::ids::DieId;
use crate::nand::Slot;
use crate::units::Duration;

/// A die's wish for the channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    /// The die that asks.
    pub die: DieId,
    /// Which of its operations asks.
    pub slot: Slot,
    /// How long it will hold the channel.
    pub time: Duration,
}

/// A bus and the transfers that wait for it.
#[derive(Debug)]
pub struct Channel {
    arbitration: BusArbitration,
    current: Option<Transfer>,
    inward: VecDeque<(u64, Transfer)>,
    outward: VecDeque<(u64, Transfer)>,
    asked: u64,
}

impl Channel {
    /// An idle channel.
    pub const fn new(arbitration: BusArbitration) -> Self {
        Self {
            arbitration,
            current: None,
            inward: VecDeque::new(),
            outward: VecDeque::new(),
            asked: 0,
        }
    }

    /// Queues a transfer to a chip: command, address and, for programs, data.
    #[inline]
    pub fn ask_in(&mut self, transfer: Transfer) {
        self.inward.push_back((self.asked, transfer));
        self.asked += 1;
    }

    /// Queues a transfer from a chip: the data of a read.
    #[inline]
    pub fn ask_out(&mut self, transfer: Transfer) {
        self.outward.push_back((self.asked, transfer));
        self.asked += 1;
    }

    /// Gives a free channel to the next waiting transfer, if there is one.
    #[inline]
    pub fn grant(&mut self) -> Option<Transfer> {
        if self.current.is_some() {
            return None;
        }
        self.current = self.next().map(|(_, transfer)| transfer);
        self.current
    }

    /// Ends the current transfer and returns it.
    #[inline]
    pub fn release(&mut self) -> Option<Transfer> {
        self.current.take()
    }

    fn next(&mut self) -> Option<(u64, Transfer)> {
        let order = |queue: &VecDeque<(u64, Transfer)>| queue.front().map(|(order, _)| *order);
        let inward_first = match (order(&self.inward), order(&self.outward)) {
            (Some(inward), Some(outward)) => match self.arbitration {
                BusArbitration::CommandFirst => true,
                BusArbitration::DataFirst => false,
                BusArbitration::InOrder => inward < outward,
            },
            (inward, _) => inward.is_some(),
        };
        if inward_first { self.inward.pop_front() } else { self.outward.pop_front() }
    }
}
