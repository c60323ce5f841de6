//! What flash operations are for: whose a page operation is, and why a block is collected.

use crate::checkpoint::Checkpointed;
use crate::ids::CommandId;

/// Who a page operation is for.
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

/// Why a block is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Reason {
    /// Its plane was short of space.
    OnDemand,
    /// The controller of an array asked for it.
    Forced,
    /// The controller of an array asked for it, because nothing else was to be done.
    Idle,
    /// The next commands would have called for it, and there was time before them.
    LookAhead,
    /// Its plane would soon have been short of space, and the drive had been idle for long.
    Compaction,
    /// Its plane was short of space when the drive was busy, and it was put off.
    Delayed,
    /// Its data have lain still for long: static wear levelling.
    WearLevelling,
    /// It has been read so often that its data are in danger.
    ReadReclaim,
    /// Its data have been kept for so long that they are in danger.
    Refresh,
}

impl Reason {
    /// Whether the block is collected for the sake of its data, not for space.
    pub const fn is_for_data(self) -> bool {
        matches!(self, Self::ReadReclaim | Self::Refresh)
    }
}
