//! Victim policies from outside of this crate: what they are told, and what they choose.

use crate::ids::{BlockId, PlaneId};
use crate::outside::{Device, Failed, Kind, Policy};

use super::Shape;

/// Chooses victims. Made for a device that has no closed block yet.
pub trait ExternalVictims: Policy {
    /// The block of `plane` to collect, which must be closed. `changed` are the plane's blocks that are
    /// not what they were when this was last asked; `clock` is the plane's time, in changes.
    ///
    /// # Errors
    /// If it cannot say; it is not asked again.
    fn choose(
        &mut self,
        plane: PlaneId,
        clock: u64,
        changed: &[BlockState],
    ) -> Result<BlockId, Failed>;
}

impl Kind for dyn ExternalVictims {
    const KEY: &'static str = "ssd.gc.victim";
    type Facts<'a> = (Device, Shape);
}

/// State of a block, as an external victim policy is given it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockState {
    /// Identifier of the block.
    pub block: BlockId,
    /// If it is closed, what is known.
    pub closed: Option<ClosedBlock>,
}

/// A block that may be chosen. Times are counted in changes of the plane's blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClosedBlock {
    /// Pages to be moved.
    pub valid_pages: u16,
    /// Number of its erases.
    pub erase_count: u32,
    /// When it was closed.
    pub closed_at: u64,
    /// When its number of valid pages last changed.
    pub changed_at: u64,
}
