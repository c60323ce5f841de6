//! Facts for the use of idle time: which blocks the writes to come will call for, what reclaiming them takes,
//! and which merges are owed.

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, DieId, Lpn, PlaneId};

use super::Ftl;
use super::mapping::{Change, Cost, Occasion};

/// Pages that are to be written to a plane.
#[derive(Debug, Clone, PartialEq, Eq, Checkpointed)]
pub struct Expected {
    /// Plane of the writes.
    pub plane: PlaneId,
    /// The pages, in order.
    pub pages: Vec<Lpn>,
}

impl Ftl {
    /// Lists from now on merges that idle time is good for. If the drive `delays` merges, a group that
    /// is used up gets a fresh block instead, as long as the host may open one.
    pub fn list_idle_jobs(&mut self, delays: bool) {
        self.note(Change::IdleTimeUsed { delays });
    }

    /// Merges that have been deferred.
    pub fn merges_put_off(&self) -> u64 {
        self.facts().deferred
    }

    /// The block whose reclaim merges the group of `die` that has been owed a merge longest.
    pub fn owed_victim(&mut self, die: DieId) -> Option<BlockId> {
        self.victim_on(Occasion::Owed(die))
    }

    /// The block of `plane` that is reclaimed when it would soon be short of free blocks: any that is
    /// worth it, or one of the group that has been used up longest.
    pub fn victim_in_advance(&mut self, plane: PlaneId) -> Option<BlockId> {
        self.victim_on(Occasion::Advance(plane))
    }

    /// The first block whose reclaim the `expected` writes call for, of those whose cost `fits`.
    pub fn victim_called_for(
        &mut self,
        expected: &Expected,
        fits: impl Fn(Cost) -> bool,
    ) -> Option<BlockId> {
        self.victim_on(Occasion::Writes { expected, fits: &fits })
    }
}
