//! Which free block is opened, and whether one may be.

use copyback::config::{
    Allocation, Config, FreeBlockOrder, GcEnd, Idle, Placement, Preemption, Protection, Width,
};

use crate::state::State;

#[derive(Debug)]
pub struct Opening {
    order: FreeBlockOrder,
    /// The host opens no block of a plane that has fewer free ones than this.
    hard_threshold: usize,
    /// Free blocks that are kept for collections.
    kept: usize,
}

impl Opening {
    pub fn new(config: &Config) -> Self {
        let (ssd, drive) = (&config.ssd, config.resolve().drive);
        let keeps_none = ssd.ftl.placement == Placement::OneClass
            && matches!(ssd.ftl.allocation, Allocation::Order(_))
            && ssd.gc.preemption == Preemption::None
            && (ssd.gc.end == GcEnd::Enough || drive.shape.planes_per_die == 1)
            && ssd.gc.idle == Idle::None
            && matches!(ssd.gc.width, Width::Serial | Width::Superblock)
            && ssd.power.protection == Protection::Capacitors;
        Self {
            order: ssd.ftl.free_blocks,
            hard_threshold: drive.thresholds.hard as usize,
            kept: usize::from(!keeps_none),
        }
    }

    /// The next block that is opened on `plane`: the one that was erased first, or of those that have been erased least
    /// the one that was erased first.
    pub fn next(&self, state: &State, plane: u32) -> Option<u32> {
        let free = state.plane(plane).free.iter().copied();
        match self.order {
            FreeBlockOrder::Fifo => free.min_by_key(|_| 0),
            FreeBlockOrder::LeastWorn => free.min_by_key(|block| state.block(*block).erases),
        }
    }

    /// Whether a block of `plane` that a collection had to open is not the host's yet.
    pub fn guards_lent(&self, state: &State, plane: u32) -> bool {
        state.plane(plane).is_lent && state.plane(plane).free.len() < self.hard_threshold
    }

    /// Whether the host may open a block of `plane`.
    pub fn host_may_open(&self, state: &State, plane: u32) -> bool {
        let free = state.plane(plane).free.len();
        free >= self.hard_threshold && free > self.kept
    }
}
