//! Waits of requests, reported to whoever explains them. Nothing depends on it.

use crate::checkpoint::Checkpointed;
use crate::ids::DieId;
use crate::units::Instant;

use super::breakdown::Parts;
use super::journal::Party;

/// Object of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum For {
    /// A die.
    Die(DieId),
    /// Any die that could take a write.
    AnyDie,
    /// Another write of the page, which had to read it first.
    Update,
    /// The mapping of the page.
    Mapping,
    /// The program of the page, of which it is a unit.
    Page,
    /// Room in the write buffer.
    Room,
    /// Earlier writes to leave the buffer: a flush.
    Flush,
    /// A place in the queue of a drive.
    DriveQueue,
    /// A stripe that another request was writing.
    Stripe,
    /// A place in the host's queue.
    HostQueue,
}

impl For {
    /// The name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Die(_) => "die",
            Self::AnyDie => "any_die",
            Self::Update => "update",
            Self::Mapping => "mapping",
            Self::Page => "page",
            Self::Room => "buffer",
            Self::Flush => "flush",
            Self::DriveQueue => "drive_queue",
            Self::Stripe => "stripe",
            Self::HostQueue => "host_queue",
        }
    }
}

/// A wait that has ended.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Waited {
    /// Object of the wait.
    pub what: For,
    /// Since when.
    pub since: Instant,
    /// Until when.
    pub until: Instant,
    /// Parts that the wait is booked to.
    pub parts: Parts,
}

/// Wait of one party for another. `W` names who waits, and `B` who is waited for.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Blocked<W, B> {
    /// Party that waited.
    pub who: W,
    /// Wait: its object, begin and parts.
    pub wait: Waited,
    /// For whom, if that can be told.
    pub behind: Option<B>,
}

/// Party outside the flash that may be waited for. `W` names commands or requests.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub enum Blocker<W> {
    /// Another command or request.
    Other(W),
    /// A page operation of the drive's own.
    Own(Party),
}

impl<W, B> Blocked<W, B> {
    /// With other names; `None` if who waited has none.
    pub fn renamed<V, C>(
        self,
        who: impl FnOnce(W) -> Option<V>,
        behind: impl FnOnce(B) -> Option<C>,
    ) -> Option<Blocked<V, C>> {
        let Self { who: old, wait, behind: old_behind } = self;
        Some(Blocked { who: who(old)?, wait, behind: old_behind.and_then(behind) })
    }
}

impl<W> Blocker<W> {
    /// With another name; `None` if they have none.
    pub fn renamed<V>(self, other: impl FnOnce(W) -> Option<V>) -> Option<Blocker<V>> {
        match self {
            Self::Other(name) => other(name).map(Blocker::Other),
            Self::Own(party) => Some(Blocker::Own(party)),
        }
    }
}
