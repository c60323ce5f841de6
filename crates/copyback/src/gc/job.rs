//! A collection as a resumable job: at every step boundary the mapping is consistent, and each
//! step looks again at what is still valid, since the host may have overwritten a page meanwhile.

use crate::ftl::{Ftl, ReclaimPlan, ReclaimStep};
use crate::ids::{BlockId, DieId, PlaneId, Ppn};

/// Why a block is collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Its plane was short of space.
    OnDemand,
    /// The controller of an array asked for it.
    Forced,
    /// The same, because nothing else was to be done.
    Idle,
    /// Its data have lain still for long: static wear levelling.
    WearLevelling,
}

/// The collection of one block.
#[derive(Debug)]
pub struct Job {
    /// Why.
    pub reason: Reason,
    /// The plane that is collected.
    pub plane: PlaneId,
    plan: ReclaimPlan,
}

impl Job {
    /// Begins to collect `plane`, if its policy finds a block that is worth it and for whose valid
    /// pages there is room.
    pub fn on_demand(plane: PlaneId, ftl: &mut Ftl) -> Option<Self> {
        Self::for_space(Reason::OnDemand, plane, ftl)
    }

    /// The same, for another reason.
    pub fn for_space(reason: Reason, plane: PlaneId, ftl: &mut Ftl) -> Option<Self> {
        let victim = ftl.choose_victim(plane)?;
        Some(Self::begin(reason, plane, victim, ftl))
    }

    /// Begins to level the wear of `plane`, if its erase counts have drifted apart.
    pub fn wear_levelling(plane: PlaneId, ftl: &mut Ftl) -> Option<Self> {
        let coldest = ftl.block_to_level(plane)?;
        Some(Self::begin(Reason::WearLevelling, plane, coldest, ftl))
    }

    fn begin(reason: Reason, plane: PlaneId, victim: BlockId, ftl: &mut Ftl) -> Self {
        Self { reason, plane, plan: ftl.begin_reclaim(victim) }
    }

    /// The block that is collected.
    pub const fn victim(&self) -> BlockId {
        self.plan.block()
    }

    /// The first page that is left to be moved.
    pub fn first_page(&self, ftl: &Ftl) -> Option<Ppn> {
        self.plan.first_page(ftl)
    }

    /// The next step, or `None` when the job is done. A step that has been returned is carried out
    /// before the next call.
    pub fn next_step(&mut self, ftl: &Ftl) -> Option<ReclaimStep> {
        self.plan.next_step(ftl)
    }
}

/// What untimed collections have done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Blocks collected for space.
    pub collections: u64,
    /// Blocks emptied to level wear.
    pub levelling_runs: u64,
    /// Pages moved.
    pub pages_moved: u64,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.collections += other.collections;
        self.levelling_runs += other.levelling_runs;
        self.pages_moved += other.pages_moved;
    }
}

/// Collects the planes of `die` until none is short of space or nothing more can be gained. All
/// state changes happen, and no time passes: for preconditioning and for the zero-cost bound.
pub fn collect_untimed(ftl: &mut Ftl, die: DieId) -> Tally {
    let mut tally = Tally::default();
    let planes_per_die = ftl.geometry.planes_per_die;
    for bit in 0..planes_per_die {
        let plane = PlaneId(die.0 * planes_per_die + bit);
        while ftl.hungry_planes(die) & (1 << bit) != 0 {
            let Some(job) = Job::on_demand(plane, ftl) else { break };
            job.run_with_levelling(ftl, &mut tally);
        }
    }
    tally
}

impl Job {
    /// Collects the block, and levels the wear of its plane if that calls for it, in no time.
    pub fn run_with_levelling(self, ftl: &mut Ftl, tally: &mut Tally) {
        let plane = self.plane;
        self.run_untimed(ftl, tally);
        while let Some(job) = Self::wear_levelling(plane, ftl) {
            job.run_untimed(ftl, tally);
        }
    }

    fn run_untimed(mut self, ftl: &mut Ftl, tally: &mut Tally) {
        match self.reason {
            Reason::OnDemand | Reason::Forced | Reason::Idle => tally.collections += 1,
            Reason::WearLevelling => tally.levelling_runs += 1,
        }
        while let Some(step) = self.next_step(ftl) {
            match step {
                ReclaimStep::Move(page) => {
                    ftl.relocate(page);
                    tally.pages_moved += 1;
                }
                ReclaimStep::Erase(block) => ftl.erase(block),
            }
        }
    }
}
