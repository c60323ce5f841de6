//! Changes of pages and blocks, as a mapping with tables of its own is notified of them.

use crate::ftl::image::Image;
use crate::ftl::recovery::Survey;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};

/// Change of a page or a block.
#[derive(Debug, Clone, Copy)]
pub enum Change<'a> {
    /// A page of a block that is not closed is out of date.
    Lost {
        /// The page.
        page: Ppn,
        /// Block of the page.
        block: BlockId,
        /// Valid pages that are left in the block.
        valid: u16,
    },
    /// The page has been trimmed or taken into DRAM.
    Unmapped(Lpn),
    /// A page has been moved, other than by [`put`](super::Mapping::put).
    Moved {
        /// The page.
        lpn: Lpn,
        /// Plane on which the page lies now.
        plane: PlaneId,
    },
    /// A spare block has taken the place of an open one.
    Replaced {
        /// Plane of both.
        plane: PlaneId,
        /// The one that is retired.
        block: BlockId,
        /// The one that is used from now on.
        spare: BlockId,
    },
    /// A block has been erased, and is to be freed.
    Erased {
        /// Plane of the block.
        plane: PlaneId,
        /// The block.
        block: BlockId,
    },
    /// The reclaim on this plane has ended.
    ReclaimEnded(PlaneId),
    /// Idle time is used from now on.
    IdleTimeUsed {
        /// Whether merges are deferred.
        delays: bool,
    },
    /// A run begins: tallies start at zero.
    RunBegins,
    /// An audit begins: it is to be told what of the mapping is in flash.
    AuditBegins,
    /// Power is back: the written blocks of a plane have been found.
    PlaneFound {
        /// The plane.
        plane: PlaneId,
        /// Written blocks of the plane, the one that was written last at the end.
        blocks: &'a [BlockId],
        /// Contents of all blocks.
        survey: &'a Survey<'a>,
    },
    /// Power is back: the blocks of all planes have been found.
    AllFound(&'a Survey<'a>),
    /// Power is back: a table in flash is to be compared with what has been found.
    TableFound(&'a Image),
}
