//! A collection as a resumable job: at every step boundary the mapping is consistent, and each
//! step looks again at what is still valid, since the host may have overwritten a page meanwhile.

use derive_more::AddAssign;

use crate::backend::{Backend, Merges, Outlook};
use crate::checkpoint::Checkpointed;
use crate::ftl::{Ftl, Occasion, ReclaimKind, ReclaimPlan, ReclaimStep};
use crate::ids::{BlockId, DieId, PlaneId, Ppn};
use crate::purpose::Reason;

/// The collection of one block.
#[derive(Debug, Checkpointed)]
pub struct Job {
    /// Reason of the collection.
    pub reason: Reason,
    /// The plane that is collected.
    pub plane: PlaneId,
    plan: ReclaimPlan,
}

impl Job {
    /// Begins to collect `plane`, if its policy finds a block that is worth it and for whose valid
    /// pages there is room.
    pub fn on_demand(plane: PlaneId, ftl: &mut Ftl) -> Option<Self> {
        Self::on(Occasion::Demand(plane), Reason::OnDemand, ftl)
    }

    /// Begins to reclaim a block on an occasion, for this reason, if one is worth it.
    pub fn on(occasion: Occasion<'_>, reason: Reason, ftl: &mut Ftl) -> Option<Self> {
        let victim = ftl.choose_victim(occasion)?;
        Some(Self::begin((reason, false), victim, ftl))
    }

    /// Begins to collect `plane` in step with `lead`, the block of another plane, if a block of the same cell mode is
    /// worth it.
    pub fn beside(lead: BlockId, plane: PlaneId, ftl: &mut Ftl) -> Option<Self> {
        let victim = ftl.choose_victim_beside(plane, lead)?;
        Some(Self::begin((Reason::OnDemand, true), victim, ftl))
    }

    /// Begins to level the wear of `plane`, if its erase counts have drifted apart.
    pub fn wear_levelling(plane: PlaneId, ftl: &mut Ftl) -> Option<Self> {
        let coldest = ftl.block_to_level(plane)?;
        Some(Self::begin((Reason::WearLevelling, false), coldest, ftl))
    }

    /// Begins to collect the block of `die` whose data are most in danger, if there is one and room for it.
    pub fn for_its_data(die: DieId, backend: &mut Backend) -> Option<Self> {
        let (block, reason) = backend.condition.ageing.as_ref()?.next_due(&backend.ftl, die)?;
        Some(Self::begin((reason, false), block, &mut backend.ftl))
    }

    /// Begins to collect `victim` for a reason, and perhaps as it joins the collection of another plane.
    fn begin((reason, joins): (Reason, bool), victim: BlockId, ftl: &mut Ftl) -> Self {
        ftl.tell_chosen(victim, reason, joins);
        let plane = ftl.geometry().plane_of_block(victim);
        Self { reason, plane, plan: ftl.begin_reclaim(victim) }
    }

    /// The block that is collected.
    pub const fn victim(&self) -> BlockId {
        self.plan.victim()
    }

    /// Kind of reclaiming.
    pub const fn kind(&self) -> ReclaimKind {
        self.plan.kind()
    }

    /// The page that is moved next, if one is before a block is erased.
    pub fn first_page(&self, ftl: &Ftl) -> Option<Ppn> {
        self.plan.first_page(ftl)
    }

    /// The page that is read next to be moved, if one is before a block is erased. Those before it have been.
    #[inline]
    pub fn next_read(&mut self, ftl: &Ftl) -> Option<Ppn> {
        self.plan.next_read(ftl)
    }

    /// A page that could not be read, has been made up and is to be programmed.
    pub fn made_up_page(&self, ftl: &Ftl) -> Option<Ppn> {
        self.plan.made_up_page(ftl)
    }

    /// The block that is erased next, where no page is left to be moved before it.
    pub fn next_erase(&self, ftl: &Ftl) -> Option<BlockId> {
        self.plan.next_erase(ftl)
    }

    /// Whether the block is still to be erased when all of it has been moved, by another job.
    pub const fn leaves_erase(&self) -> bool {
        self.plan.leaves_erase()
    }

    /// Notes that the block which is erased next is being erased.
    pub const fn begin_erase(&mut self) {
        self.plan.begin_erase();
    }

    /// Whether `page`, if it is valid, may be moved next, out of turn.
    pub fn may_move(&self, page: Ppn, ftl: &Ftl) -> bool {
        self.plan.may_move(page, ftl)
    }

    /// The page that is moved next, if one is before a block is erased. It counts as moved.
    #[inline]
    pub fn next_move(&mut self, ftl: &Ftl) -> Option<Ppn> {
        self.plan.next_move(ftl)
    }

    /// The next step, or `None` when the job is done. A step that has been returned is carried out
    /// before the next call.
    pub fn next_step(&mut self, ftl: &Ftl) -> Option<ReclaimStep> {
        self.plan.next_step(ftl)
    }
}

/// Counts of untimed collections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, AddAssign, Checkpointed)]
pub struct Tally {
    /// Blocks collected for space.
    pub collections: u64,
    /// Blocks emptied to level wear.
    pub levelling_runs: u64,
    /// Blocks emptied because they had been read too often.
    pub read_reclaims: u64,
    /// Blocks emptied because their data had become too old.
    pub refreshes: u64,
    /// Pages moved.
    pub pages_moved: u64,
    /// Blocks that they filled.
    pub filled: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Merges by kind, where logical pages are bound to blocks.
    pub merges: Merges,
}

/// Collects the planes of `die` until none is short of space or nothing more can be gained. All
/// state changes happen, and no time passes: for preconditioning and for the zero-cost bound.
pub fn collect_untimed(ftl: &mut Ftl, die: DieId) -> Tally {
    let mut tally = Tally::default();
    let planes_per_die = ftl.geometry().planes_per_die;
    for bit in 0..planes_per_die {
        let plane = PlaneId(die.0 * planes_per_die + bit);
        while ftl.planes_to_collect(die) & (1 << bit) != 0 {
            let Some(job) = Job::on_demand(plane, ftl) else { break };
            job.run_with_levelling(ftl, &mut tally);
            end_line(ftl, &mut tally);
        }
    }
    tally
}

/// The other planes do their share of a line of which one has been collected.
pub fn end_line(ftl: &mut Ftl, tally: &mut Tally) {
    while let Some(plane) = ftl.lines().and_then(|lines| lines.collected().first_unfinished())
        && let Some(job) = Job::on_demand(plane, ftl)
    {
        job.run_with_levelling(ftl, tally);
    }
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

    /// Outlook of the collection of this block as it begins.
    pub fn outlook(&self, ftl: &Ftl) -> Outlook {
        let block = u64::from(ftl.limits().data_pages());
        let valid = u64::from(ftl.blocks().valid_pages(self.victim()));
        let (moves, frees) = match self.kind() {
            ReclaimKind::Collection => (valid, block.saturating_sub(valid)),
            // A merge copies a block, and gives one back.
            _ => (block, block),
        };
        Outlook { moves, frees, erases: 1 }
    }

    /// Notes that the job is done: there is no next step.
    pub fn end(&self, ftl: &mut Ftl) {
        ftl.end_reclaim(self.plane);
    }

    fn run_untimed(mut self, ftl: &mut Ftl, tally: &mut Tally) {
        while let Some(step) = self.next_step(ftl) {
            match step {
                ReclaimStep::Move(page) => {
                    tally.filled += u64::from(ftl.relocate(page).closes_block);
                    tally.pages_moved += 1;
                }
                ReclaimStep::Erase(block) => {
                    ftl.erase(block);
                    tally.erases += 1;
                }
            }
        }
        self.end(ftl);
        if !self.leaves_erase() {
            self.count(tally);
        }
    }

    fn count(&self, tally: &mut Tally) {
        match self.reason {
            Reason::WearLevelling => tally.levelling_runs += 1,
            Reason::ReadReclaim => tally.read_reclaims += 1,
            Reason::Refresh => tally.refreshes += 1,
            _ => tally.collections += 1,
        }
        tally.merges.count(self.kind());
    }
}
