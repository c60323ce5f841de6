//! Facts for the use of idle time: which blocks the writes to come will call for, what reclaiming them takes,
//! and which merges are owed.

use crate::checkpoint::Checkpointed;
use crate::ids::{Lpn, PlaneId};

use super::Ftl;
use super::mapping::Change;

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
}
