//! Commands that a drive which takes no writes any more does not carry out.
//!
//! What its buffer holds stays there and is read from there; a flush of it cannot succeed.

use crate::checkpoint::Checkpointed;
use crate::ids::CommandId;
use crate::outcome::Outcome;
use crate::ssd::Part;
use crate::workload::Operation;

use super::Drive;

/// Commands or requests that were not carried out, or not as a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, derive_more::AddAssign, Checkpointed)]
pub struct Rejected {
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Flushes.
    pub flushes: u64,
}

impl Rejected {
    /// Whether there is none.
    pub const fn is_none(&self) -> bool {
        self.writes == 0 && self.trims == 0 && self.flushes == 0
    }

    /// Counts one.
    pub const fn count(&mut self, operation: Operation) {
        match operation {
            // No read is ever rejected.
            Operation::Read => {}
            Operation::Write => self.writes += 1,
            Operation::Trim => self.trims += 1,
            Operation::Flush => self.flushes += 1,
        }
    }
}

impl Drive {
    /// Whether the drive, which is read-only, has to reject such a command.
    pub(super) fn must_reject(&self, operation: Operation) -> bool {
        match operation {
            Operation::Read => false,
            Operation::Write | Operation::Trim => true,
            Operation::Flush => self.buffer.as_ref().is_some_and(|buffer| !buffer.is_clean()),
        }
    }

    /// Ends a command that has not been carried out.
    pub(super) fn reject(&mut self, id: CommandId) {
        self.active(id).outcome = Outcome::Rejected;
        self.end(id);
    }

    /// Rejects writes that wait for room in the buffer, and flushes that wait for it to become empty.
    pub(super) fn reject_what_waits_for_the_buffer(&mut self) {
        let Some(buffer) = &mut self.buffer else { return };
        let (writes, flushes) = buffer.take_waiting();
        let now = self.now;
        for command in writes {
            let active = self.active(command);
            active.outcome = Outcome::Rejected;
            active.pages_left -= 1;
            if active.pages_left == 0 {
                active.spend(Part::Buffer, now);
                self.end(command);
            }
        }
        for command in flushes {
            self.active(command).spend(Part::Buffer, now);
            self.reject(command);
        }
    }
}
