//! Purposes of flash operations: the owner of a page operation, and the reason of a collection.

use crate::checkpoint::Checkpointed;
use crate::ids::CommandId;

/// Owner of a page operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Owner {
    /// A command of the host.
    Host(CommandId),
    /// The write buffer, which makes room.
    Destage,
    /// The mapping, of which a page is read or written.
    Translation,
    /// The rebuild of a die that is lost.
    Rebuild,
}

/// Reason why a block is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Reason {
    /// Plane short of space.
    OnDemand,
    /// The controller of an array asked for it.
    Forced,
    /// The controller of an array asked for it, because nothing else was to be done.
    Idle,
    /// The next commands would have called for it, and there was time before them.
    LookAhead,
    /// Plane soon short of space, of a drive that had been idle for long.
    Compaction,
    /// Plane that was short of space when the drive was busy: the collection was deferred.
    Delayed,
    /// Data that have lain still for long: static wear levelling.
    WearLevelling,
    /// Data in danger because the block has been read often.
    ReadReclaim,
    /// Data in danger because they have been kept for long.
    Refresh,
}

impl Reason {
    /// Whether the block is collected for the sake of its data, not for space.
    pub const fn is_for_data(self) -> bool {
        matches!(self, Self::ReadReclaim | Self::Refresh)
    }

    /// Whether the block is collected for space, and not for its data or for wear.
    pub const fn is_for_space(self) -> bool {
        !self.is_for_data() && !matches!(self, Self::WearLevelling)
    }
}
