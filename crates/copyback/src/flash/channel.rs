//! A channel: a bus that its dies take in turn.

use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::config::BusArbitration;
use crate::ids::DieId;
use crate::nand::Slot;
use crate::units::{Duration, Instant};

/// A die's wish for the channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct Transfer {
    /// The die that asks.
    pub die: DieId,
    /// Slot of the die whose operation asks.
    pub slot: Slot,
    /// Time for which it will hold the channel.
    pub time: Duration,
}

/// Holder of a channel.
#[derive(Debug, Checkpointed)]
enum Holder {
    Nobody,
    /// A transfer that is [released](Channel::release) when it ends.
    Transfer(Transfer),
    /// A transfer that ends then by itself, as nobody waits for its end.
    Unobserved(Instant),
    /// A transfer that would have ended by itself, and that somebody waits for now.
    Awaited,
}

/// A bus and the transfers that wait for it.
#[derive(Debug, Checkpointed)]
pub struct Channel {
    arbitration: BusArbitration,
    holder: Holder,
    inward: VecDeque<(u64, Transfer)>,
    outward: VecDeque<(u64, Transfer)>,
    asked: u64,
}

impl Channel {
    /// An idle channel.
    pub const fn new(arbitration: BusArbitration) -> Self {
        Self {
            arbitration,
            holder: Holder::Nobody,
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

    /// Gives the channel to `transfer`, which has not asked for it, if it is free and nobody waits. Returns whether it has.
    #[inline]
    pub fn take_if_free(&mut self, transfer: Transfer, now: Instant) -> bool {
        let takes = self.is_free(now) && !self.is_wanted();
        if takes {
            self.holder = Holder::Transfer(transfer);
        }
        takes
    }

    /// Gives the channel, which nobody else can ask for, to `transfer` until it is [released](Self::release).
    #[inline]
    pub const fn hold(&mut self, transfer: Transfer) {
        self.holder = Holder::Transfer(transfer);
    }

    /// Gives a free channel to the next waiting transfer, if there is one.
    #[inline]
    pub fn grant(&mut self, now: Instant) -> Option<Transfer> {
        if !self.is_free(now) {
            return None;
        }
        let (_, transfer) = self.next()?;
        self.holder = Holder::Transfer(transfer);
        Some(transfer)
    }

    /// Ends the current transfer and returns it, unless it had ended by itself before somebody waited for it.
    #[inline]
    pub fn release(&mut self) -> Option<Transfer> {
        match std::mem::replace(&mut self.holder, Holder::Nobody) {
            Holder::Transfer(transfer) => Some(transfer),
            _ => None,
        }
    }

    /// Whether nobody has it.
    #[inline]
    fn is_free(&self, now: Instant) -> bool {
        match self.holder {
            Holder::Nobody => true,
            Holder::Unobserved(until) => until <= now,
            Holder::Transfer(_) | Holder::Awaited => false,
        }
    }

    /// Whether transfers wait for it.
    #[inline]
    pub fn is_wanted(&self) -> bool {
        !self.inward.is_empty() || !self.outward.is_empty()
    }

    /// The transfer that it has just been given to ends by itself at `until`.
    pub const fn hold_unobserved(&mut self, until: Instant) {
        self.holder = Holder::Unobserved(until);
    }

    /// If somebody has begun to wait for the end of a transfer that ends by itself, returns when that is: the
    /// channel must be [released](Self::release) then.
    #[inline]
    pub fn begin_to_await(&mut self, now: Instant) -> Option<Instant> {
        match self.holder {
            Holder::Unobserved(until) if until > now && self.is_wanted() => {
                self.holder = Holder::Awaited;
                Some(until)
            }
            _ => None,
        }
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
