//! Facts that the rest of the translation layer, an audit or a file may ask about a mapping.

use crate::ftl::spare::Role;

use super::BufferTally;

/// Kind of a mapping, and its tallies.
#[derive(Debug, Clone, Copy, Default)]
pub struct Facts {
    /// Whether it opens blocks by itself, for the pages that it binds to them: planes have no open blocks of streams,
    /// a write may call for a reclaim though blocks are free, and blocks that a loss of power leaves without valid pages
    /// are erased at once.
    pub opens_blocks: bool,
    /// Whether an operation may have to wait until it is known where its page lies.
    pub translates: bool,
    /// Role of blocks that pages are moved to, if it is not for the placement to say.
    pub role_of_moves: Option<Role>,
    /// Merges that have been deferred.
    pub deferred: u64,
    /// Tally of a buffer of writes, if there is one.
    pub buffer: Option<BufferTally>,
}

/// Planes of a die, a bit each.
#[derive(Debug, Clone, Copy, Default)]
pub struct Calls {
    /// Planes on which a write or a buffer waits for a reclaim.
    pub reclaim: u32,
    /// Planes on which what a write [wants](super::Mapping::want) may have changed since it was last noted.
    pub changed: u32,
}

/// Use of a block.
#[derive(Debug, Clone, Copy)]
pub struct BlockUse {
    /// Pages that have been programmed, if the tables of planes do not know that.
    pub programmed: Option<u32>,
    /// Valid pages as the victim policy has been told, if it knows the block; of mappings with merges, pages moved for
    /// each block that a merge gives back.
    pub listed: Option<u16>,
    /// Whether its data may be moved to level wear.
    pub may_level: bool,
    /// Role of the block for writes of the host, if it is not for the placement to say.
    pub role: Option<Role>,
}
