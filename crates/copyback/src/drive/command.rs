//! Commands while they are in a drive.

use crate::checkpoint::Checkpointed;
use crate::ids::{RequestId, TaskId};
use crate::outcome::Outcome;
use crate::ssd::{Part, Parts};
use crate::units::{Duration, Instant};
use crate::workload::{Hint, Operation};

/// Purpose of a command: the request or task that it serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Serves {
    /// A request, whole.
    Request(RequestId),
    /// A task of the controller, of which it may be a part.
    Task(TaskId),
}

/// Command to a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct Command {
    /// Purpose of the command.
    pub serves: Serves,
    /// Operation to be done.
    pub operation: Operation,
    /// First byte on the drive.
    pub offset: u64,
    /// Bytes; zero for a flush.
    pub length: u64,
    /// Hint of the host about data that it writes.
    pub hint: Option<Hint>,
    /// Delay by collections before the command came.
    pub late: Duration,
}

/// A command that has ended.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Ended {
    /// Command as it was sent.
    pub command: Command,
    /// Parts of the time since its arrival at the drive.
    pub parts: Parts,
    /// Outcome: done, or an error.
    pub outcome: Outcome,
}

/// Stage of a command on its way through the controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub(super) enum Stage {
    /// The controller works on it, or the flash.
    Begun,
    /// A write that waits for tokens.
    Throttled {
        /// Part of the wait that is due to collections.
        late: Duration,
    },
    /// A write that waits while the drive collects.
    Held,
    /// The write buffer serves it, or it waits for room there.
    Buffered,
}

/// A command in the drive.
#[derive(Debug, Checkpointed)]
pub(super) struct ActiveCommand {
    pub(super) command: Command,
    /// Page operations that have not ended.
    pub(super) pages_left: u32,
    /// Parts of its time so far.
    pub(super) parts: Parts,
    /// Stage on the way through the controller.
    pub(super) stage: Stage,
    /// Worst outcome of its page operations so far.
    pub(super) outcome: Outcome,
    arrived: Instant,
    /// When it got its place in the drive's queue.
    pub(super) entered: Instant,
    /// Part of its wait for that that was due to collections.
    pub(super) entered_late: Duration,
    /// Until when `parts` accounts for its time.
    pub(super) accounted: Instant,
}

impl ActiveCommand {
    /// A command that arrived at `arrived`.
    pub(super) fn new(command: Command, arrived: Instant) -> Self {
        Self {
            command,
            pages_left: 0,
            parts: Parts::default(),
            stage: Stage::Begun,
            outcome: Outcome::Done,
            arrived,
            entered: arrived,
            entered_late: Duration::ZERO,
            accounted: arrived,
        }
    }

    /// Books the time since the last booking, until `now`.
    pub(super) fn spend(&mut self, part: Part, now: Instant) {
        self.parts[part] += now - self.accounted;
        self.accounted = now;
    }

    /// Books the time since the last booking, until `now`: `late` of it is due to collections, the rest is `part`.
    pub(super) fn spend_late(&mut self, part: Part, late: Duration, now: Instant) {
        self.parts.book_wait(part, now - self.accounted, late);
        self.accounted = now;
    }

    /// Books the parts of its last page operation, which ends now.
    pub(super) fn spend_parts(&mut self, parts: &Parts, now: Instant) {
        self.parts += *parts;
        self.accounted = now;
    }

    /// Delay by collections so far.
    pub(super) fn late(&self) -> Duration {
        self.command.late + self.parts.late()
    }

    /// When it arrived.
    pub(super) const fn arrived(&self) -> Instant {
        self.arrived
    }

    /// From its arrival until `now`.
    pub(super) fn response(&self, now: Instant) -> Duration {
        now - self.arrived
    }
}
