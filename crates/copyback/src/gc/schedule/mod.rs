//! WHEN: what starts a collection on a die, and whether one that has begun yields to the host.

mod on_demand;

use crate::config;
use crate::ids::PlaneId;

pub use on_demand::OnDemand;

/// The schedule of a device's collections.
#[derive(Debug)]
pub enum Schedule {
    /// When space is short, and then without yielding.
    OnDemand(OnDemand),
}

impl Schedule {
    /// The schedule that a checked configuration describes, for a device of this many dies.
    pub fn new(config: &config::Gc, dies: usize, planes_per_die: u32) -> Self {
        match (config.preemption, config.idle) {
            (config::Preemption::None, config::Idle::None) => {
                Self::OnDemand(OnDemand::new(dies, planes_per_die))
            }
        }
    }

    /// The plane of a free die that is to be collected now. `hungry` has a bit for each plane of
    /// the die that is short of space.
    pub fn plane_to_collect(
        &mut self,
        die: usize,
        first_plane: PlaneId,
        hungry: u32,
    ) -> Option<PlaneId> {
        match self {
            Self::OnDemand(on_demand) => on_demand.plane_to_collect(die, first_plane, hungry),
        }
    }
}
