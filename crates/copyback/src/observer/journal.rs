//! Journal of dies and channels, for whoever draws or explains a run. Nothing depends on it.

use smallvec::SmallVec;

use crate::checkpoint::Checkpointed;
use crate::ftl::ReclaimKind;
use crate::ids::{BlockId, ChannelId, DieId, Lpn, Ppn};
use crate::nand::Command;
use crate::purpose::{Owner, Reason};
use crate::units::{Duration, Instant};

use super::waits::Blocked;

/// Entry of the journal: something that a drive did, or began to do.
#[derive(Debug, Clone, Checkpointed)]
pub enum Entry {
    /// The array of a die begins to work for `time`, unless it is suspended.
    Array {
        /// Die of the entry.
        die: DieId,
        /// When.
        at: Instant,
        /// Duration of the operation.
        time: Duration,
        /// Purpose of the operation.
        work: Work,
    },
    /// Cut: the array operation of this die is suspended, or left by the end of the run.
    Cut {
        /// Die of the entry.
        die: DieId,
        /// When.
        at: Instant,
    },
    /// A channel carries commands and data for a die.
    Transfer {
        /// Channel of the transfer.
        channel: ChannelId,
        /// For which die.
        die: DieId,
        /// When it begins.
        at: Instant,
        /// Duration of the transfer.
        time: Duration,
        /// Purpose of the transfer.
        work: Work,
    },
    /// A page operation has waited.
    Waited(Blocked<Party, Party>),
    /// A collection begins, though it may wait for its first operation.
    Begins {
        /// Die of the entry.
        die: DieId,
        /// When.
        at: Instant,
        /// Object of the collection.
        collected: Collected,
    },
    /// The collection of a die has its first operation, or goes on.
    Runs {
        /// Die of the entry.
        die: DieId,
        /// When.
        at: Instant,
    },
    /// The collection of a die rests: the host is served instead.
    Rests {
        /// Die of the entry.
        die: DieId,
        /// When.
        at: Instant,
    },
    /// The collection of a die has ended.
    Ends {
        /// Die of the entry.
        die: DieId,
        /// When.
        at: Instant,
    },
}

/// A page operation that waits or is waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct Party {
    /// Owner of the page operation.
    pub owner: Owner,
    /// The page.
    pub lpn: Lpn,
}

/// Class of a flash operation: its purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Class {
    /// A read of the host.
    HostRead,
    /// A write of the host, with the read of the old page if it covers only part of one.
    HostWrite,
    /// The write buffer makes room.
    Destage,
    /// The mapping table lies in flash.
    Mapping,
    /// A block is collected.
    Collection(Reason),
    /// A collection left a page in DRAM, which is written back.
    CachedPages,
    /// Parity of lines is programmed.
    Parity,
    /// A page of a lost die is made up, or programmed elsewhere.
    Rebuild,
    /// The array is taken from a program or an erase.
    Suspend,
}

/// A flash operation.
#[derive(Debug, Clone, Checkpointed)]
pub struct Work {
    /// Command of the die.
    pub command: Command,
    /// Class of the work: its purpose.
    pub class: Class,
    /// Pages that are read or programmed, or the first page of each block that is erased.
    pub pages: SmallVec<[Ppn; 2]>,
    /// Whether it goes on after it was suspended.
    pub resumed: bool,
    /// Owners of the page operations, if they are not a collection's.
    pub owners: SmallVec<[Owner; 2]>,
}

/// Object of a collection: what it reclaims.
#[derive(Debug, Clone, Checkpointed)]
pub struct Collected {
    /// Reason of the collection.
    pub reason: Reason,
    /// Kind of reclaiming.
    pub kind: ReclaimKind,
    /// The victim of each plane, and its valid pages when it was chosen.
    pub victims: SmallVec<[(BlockId, u16); 2]>,
}

impl Class {
    /// The name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HostRead => "host_read",
            Self::HostWrite => "host_write",
            Self::Destage => "destage",
            Self::Mapping => "mapping",
            Self::Collection(Reason::WearLevelling) => "wear_levelling",
            Self::Collection(Reason::ReadReclaim) => "read_reclaim",
            Self::Collection(Reason::Refresh) => "refresh",
            Self::Collection(_) => "gc",
            Self::CachedPages => "cached_pages",
            Self::Parity => "parity",
            Self::Rebuild => "rebuild",
            Self::Suspend => "suspend",
        }
    }
}

impl Entry {
    /// Owners of the page operations of this entry.
    pub fn owners(&self) -> &[Owner] {
        match self {
            Self::Array { work, .. } | Self::Transfer { work, .. } => &work.owners,
            Self::Waited(Blocked { who, .. }) => std::slice::from_ref(&who.owner),
            _ => &[],
        }
    }

    /// Whom what has waited waited for, if it tells of such and that is known.
    pub const fn behind(&self) -> Option<Party> {
        match self {
            Self::Waited(Blocked { behind, .. }) => *behind,
            _ => None,
        }
    }
}
