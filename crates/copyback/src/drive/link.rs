//! The host link: data of writes cross it before their page operations start, data of reads after
//! theirs have ended, one command at a time in each direction (or altogether, if half duplex).

use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::config::{self, Duplex, quantity::Rate};
use crate::event::LinkDirection;
use crate::ids::CommandId;
use crate::nand::transfer_time;
use crate::units::Duration;

/// A link and the commands that wait for it.
#[derive(Debug, Checkpointed)]
pub struct Link {
    rate: Rate,
    /// Time of a command beside its data.
    overhead: Duration,
    half_duplex: bool,
    inward: Direction,
    outward: Direction,
    /// Transfers that have been asked for.
    asked: u64,
}

#[derive(Debug, Default, Checkpointed)]
struct Direction {
    current: Option<CommandId>,
    waiting: VecDeque<WaitingTransfer>,
}

/// Data that wait for the link.
#[derive(Debug, Checkpointed)]
struct WaitingTransfer {
    command: CommandId,
    bytes: u64,
    /// Place in the order of asking, over both directions.
    place: u64,
}

/// A transfer that has got the link.
#[derive(Debug, Clone, Copy)]
pub struct LinkTransfer {
    /// Command whose data are transferred.
    pub command: CommandId,
    /// Direction of the transfer.
    pub direction: LinkDirection,
    /// Duration of the transfer.
    pub time: Duration,
}

impl Link {
    /// The link of a checked configuration, if it has one.
    pub fn new(config: &config::Host) -> Option<Self> {
        let overhead = config.link_overhead.0;
        (config.link_rate != Rate::None || overhead > Duration::ZERO).then(|| Self {
            rate: config.link_rate,
            overhead,
            half_duplex: config.link_duplex == Duplex::Half,
            inward: Direction::default(),
            outward: Direction::default(),
            asked: 0,
        })
    }

    fn direction(&mut self, direction: LinkDirection) -> &mut Direction {
        match direction {
            LinkDirection::In => &mut self.inward,
            LinkDirection::Out => &mut self.outward,
        }
    }

    /// Queues the data of a command.
    pub fn ask(&mut self, direction: LinkDirection, command: CommandId, bytes: u64) {
        let place = self.asked;
        self.asked += 1;
        self.direction(direction).waiting.push_back(WaitingTransfer { command, bytes, place });
    }

    /// Whether data wait for the link.
    pub fn is_asked(&self) -> bool {
        !self.inward.waiting.is_empty() || !self.outward.waiting.is_empty()
    }

    /// Starts the next transfer, if the link is free for one. In one direction at a time, what was asked for first comes
    /// first: data out that never end do not keep data in from crossing.
    pub fn grant(&mut self) -> Option<LinkTransfer> {
        use LinkDirection::{In, Out};
        let place = |direction: &Direction| direction.waiting.front().map(|first| first.place);
        let first = match (place(&self.inward), place(&self.outward)) {
            (Some(inward), Some(outward)) if self.half_duplex && inward < outward => [In, Out],
            _ => [Out, In],
        };
        first.into_iter().find_map(|direction| self.grant_one(direction))
    }

    fn grant_one(&mut self, direction: LinkDirection) -> Option<LinkTransfer> {
        let taken = if self.half_duplex {
            self.inward.current.or(self.outward.current)
        } else {
            self.direction(direction).current
        };
        if taken.is_some() {
            return None;
        }
        let WaitingTransfer { command, bytes, .. } =
            self.direction(direction).waiting.pop_front()?;
        self.direction(direction).current = Some(command);
        let time = self.overhead + transfer_time(bytes, self.rate);
        Some(LinkTransfer { command, direction, time })
    }

    /// Ends the transfer in `direction` and returns whose it was.
    pub fn release(&mut self, direction: LinkDirection) -> Option<CommandId> {
        self.direction(direction).current.take()
    }
}
