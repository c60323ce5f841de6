//! Commands that have ended, until the host takes them.

use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::outcome::Outcome;

use super::command::Ended;
use super::reject::Rejected;

/// Commands that have ended.
#[derive(Default, Checkpointed)]
pub(super) struct Endings {
    pub queue: VecDeque<Ended>,
    /// Whether they were booked on the way to the second phase of this instant.
    are_booked: bool,
    rejected: Rejected,
}

impl Endings {
    /// Adds a command that has ended.
    #[inline]
    pub fn add(&mut self, ended: Ended) {
        if ended.outcome == Outcome::Rejected {
            self.rejected.count(ended.command.operation);
        }
        self.queue.push_back(ended);
    }

    /// Notes that all that have ended are booked before the second phase of this instant.
    #[inline]
    pub fn booked(&mut self) {
        self.are_booked = !self.queue.is_empty();
    }

    /// Takes whether they have been booked before the second phase.
    #[inline]
    pub const fn take_booked(&mut self) -> bool {
        std::mem::replace(&mut self.are_booked, false)
    }

    /// Commands that have not been carried out.
    pub const fn rejected(&self) -> Rejected {
        self.rejected
    }
}
