//! Full blocks that the victim policy has refused and will not choose any more.

use crate::ftl::space::Space;
use crate::ids::PlaneId;
use crate::victim::{VictimSelector, Victims};

/// Victims that the policy has refused, if it does such a thing.
#[derive(Debug, Clone, Copy)]
pub struct Refused<'a> {
    pub(super) space: &'a Space,
    pub(super) victims: &'a VictimSelector,
}

impl Refused<'_> {
    /// Whether the policy may refuse any: a plane can run out of victims though it has invalid pages.
    pub fn are_possible(&self) -> bool {
        self.victims.refuses()
    }

    /// Number of them, if there may be any.
    pub fn blocks(&self) -> Option<u64> {
        let lost = |plane| self.victims.lost(plane).map(|lost| lost as u64);
        self.space.planes().map(lost).sum()
    }

    /// Whether the host can open no block on `plane`, some of whose victims are refused.
    pub fn block_writes(&self, plane: PlaneId) -> bool {
        !self.space.may_open_for_host(plane)
            && self.victims.lost(plane).is_some_and(|lost| lost > 0)
    }

    /// Says which plane of `drive` the host can open no block on for them, if there is one.
    pub fn problem(&self, drive: usize) -> Option<String> {
        let plane = self.space.planes().find(|plane| self.block_writes(*plane))?;
        let (plane, lost) = (plane.0, self.victims.lost(plane)?);
        Some(format!(
            "ssd.gc.victim: \"fifo\" with ineligible = \"drop\" has lost {lost} full blocks of plane {plane} of \
             drive {drive}, and finds no other to collect; allowed: ineligible = \"collect\", a lower \
             precondition.fill or more ssd.ftl.over_provisioning"
        ))
    }
}
