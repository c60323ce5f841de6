//! Paced: each page that the host writes to a plane short of space pays for a share of the collection there, so that
//! a full drive goes on at an even pace instead of stopping for a whole block.
//!
//! ```text
//!     soft ───────────────── set point ────────────── floor     steps a page =
//!       │◄──── missing ────►│◄────────── left ─────────►│          what the victim costs   (steps to move and erase it,
//!     0 steps     what the victim costs       most_times                                 by pages that come free)
//!                                               of that          × missing / left        (1 at the set point)
//!
//!  a die      │ write │ move │ move │ write │ move │ move │ move │ write │     a page costs 2.4 steps
//! ```
//!
//! The floor is where the host can open no further block; where writes go to any plane of a die, its planes count
//! together. A write waits while the steps that were charged before it
//! are not done, and no longer; what is done while nobody waits counts as well, and reads of the host go first, but
//! no more than `reads_ahead` before a step that is due. A page that has been read is written before anybody is served.
//! Where planes are collected together, a step that moves several pages pays for as many: what it does beyond what was owed is
//! taken off the next charges.
//!
//! The rate is what the work ahead costs, corrected by how far free space is from a target: what SPDK does where it
//! throttles writes to its cache (ftl/ftl_nv_cache.h: compaction bandwidth x (1 + gain x error), bounded), and pblk in
//! Linux where it divides its buffer between users and collections (Bjørling et al., FAST 2017; pblk-rl.c). They are
//! linear in free space. This is its ratio, so that free space settles above the floor though a victim turns out to
//! cost more than it seemed.

use crate::checkpoint::Checkpointed;
use crate::ids::DieId;
use crate::nand::Command;
use crate::scheduler::{Next, WriteLevel};
use crate::shortcut::Undisturbed;

use super::{Admitted, AtDie, Begun, Point, When};

/// Debts and charges are in thousandths of a step.
const STEP: i64 = 1000;

/// The settings of the scheme, and how each die stands.
#[derive(Debug, Checkpointed)]
pub struct Paced {
    /// Factor of `missing / left`, in thousandths: its inverse at the set point.
    gain: u64,
    /// Most that a page is charged, in multiples of what the victim costs.
    most_times: u64,
    reads_ahead: u32,
    dies: Vec<Account>,
}

/// Account of a die: steps that are due.
#[derive(Debug, Clone, Checkpointed)]
struct Account {
    /// Steps that are owed; below none, what was done of those that are charged next.
    debt: i64,
    /// Whether the step that began last was owed.
    is_owed: bool,
    /// Steps of the collection last begun, and pages that come free by it.
    steps: u64,
    pages: u64,
    /// Reads that have gone before the step that is due.
    reads: u32,
    /// Whether a write waits for steps.
    holds_write: bool,
}

impl Account {
    /// Takes what the step that began last moves or erases, in pages or blocks, off what is owed. What is done while nobody
    /// waits pays for what is owed, and not for what comes.
    fn pay(&mut self, parts: u64) {
        let least = if self.is_owed { i64::MIN } else { self.debt.min(0) };
        self.debt = self.debt.saturating_sub_unsigned(parts * STEP.unsigned_abs()).max(least);
    }
}

impl Paced {
    /// Free space settles at the `set_point`, a share of the way from the floor to the soft threshold.
    pub(super) fn new(set_point: f64, most_times: u32, reads_ahead: u32, dies: usize) -> Self {
        let account =
            Account { debt: 0, is_owed: false, steps: 1, pages: 1, reads: 0, holds_write: false };
        Self {
            gain: (1000.0 * set_point / (1.0 - set_point)).round() as u64,
            most_times: most_times.into(),
            reads_ahead,
            dies: vec![account; dies],
        }
    }

    /// Charge to a page where `missing` pages are missing to the soft threshold and `left` to the floor.
    fn charge(&self, account: &Account, missing: u64, left: u64) -> u64 {
        let ratio = u128::from(missing) * u128::from(self.gain) / u128::from(left.max(1));
        let bounded = ratio.min(u128::from(self.most_times * STEP.unsigned_abs())) as u64;
        bounded * account.steps / account.pages
    }

    /// The pages that are missing, and left, on these `planes` of the die together.
    fn space(at: &AtDie<'_>, planes: u32) -> (u64, u64) {
        let (ftl, thresholds) = (&at.backend.ftl, at.backend.ftl.space().thresholds());
        let free = |plane| ftl.rooms().free_pages_for_host(plane);
        let free: u64 = at.backend.ftl.geometry().planes_in(planes, at.die).map(free).sum();
        let block = u64::from(planes.count_ones() * ftl.limits().data_pages());
        let floor = thresholds.hard.max(thresholds.kept_for_collections + 1) - 1;
        let missing = (thresholds.soft as u64 * block).saturating_sub(free);
        (missing, free.saturating_sub(floor as u64 * block))
    }
}

impl When for Paced {
    fn admitted(&mut self, at: &AtDie<'_>) -> Admitted {
        if at.point() == Point::BeforeWrite {
            return Admitted::NOTHING;
        }
        let account = &mut self.dies[at.die.index()];
        let in_debt = account.debt >= STEP;
        if !in_debt && !at.write_finds_no_block(|_| true) {
            return Admitted::ALL;
        }
        // While what is in the die keeps a write out, the debt does not: another die may take it meanwhile.
        let writes = Admitted { reads: false, writes: true };
        account.holds_write |= in_debt
            && at.backend.flash.takes_from_host(at.die, Command::Program)
            && at.next_host_operation(writes).is_some();
        Admitted { reads: account.reads < self.reads_ahead, writes: false }
    }

    fn charges_writes(&self) -> bool {
        true
    }

    fn undisturbed(&self) -> Undisturbed {
        Undisturbed::UntilOperationEnds
    }

    fn collection_begins(&mut self, at: &AtDie<'_>) {
        let Some(collection) = at.collector.of(at.die) else { return };
        let account = &mut self.dies[at.die.index()];
        let outlook = collection.outlook(&at.backend.ftl);
        account.steps = outlook.moves + outlook.erases;
        account.pages = outlook.frees.max(1);
    }

    fn step_begins(&mut self, die: DieId, parts: u64) {
        let account = &mut self.dies[die.index()];
        account.is_owed = account.debt >= STEP;
        account.reads = 0;
        account.pay(parts);
    }

    fn step_goes_on(&mut self, die: DieId, parts: u64) {
        self.dies[die.index()].pay(parts);
    }

    fn host_begins(&mut self, at: &mut AtDie<'_>, begun: Begun) {
        let Next::Write(write) = begun.next else {
            let account = &mut self.dies[at.die.index()];
            account.reads = account.reads.saturating_add(1);
            return;
        };
        let planes_due = at.collector.planes_due(at.backend, at.die);
        let planes = match at.scheduler.queues.write_level() {
            WriteLevel::Plane => at.backend.ftl.geometry().bit(write.plane),
            WriteLevel::Die | WriteLevel::Device => at.scheduler.queues.all_planes(),
        };
        let is_due = planes_due & planes != 0;
        let (missing, left) = if is_due { Self::space(at, planes) } else { (0, 1) };
        let account = &self.dies[at.die.index()];
        let charge = begun.pages_written * self.charge(account, missing, left);
        let account = &mut self.dies[at.die.index()];
        // Who owes more goes only where nothing is left to collect: that is forgotten then.
        let debt = if account.debt < STEP { account.debt } else { 0 };
        account.debt = debt.saturating_add_unsigned(charge);
        let held = std::mem::take(&mut account.holds_write);
        at.backend.counters.pacing.count(charge, held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_the_set_point_a_page_is_charged_what_the_victim_costs() {
        // 0.75 of the way from the floor to the soft threshold, which is 400 pages.
        let paced = Paced::new(0.75, 4, 0, 1);
        let account = Account { steps: 25, pages: 10, ..paced.dies[0].clone() };
        let charge = |missing| paced.charge(&account, missing, 400 - missing);
        assert_eq!(charge(100), 2_500);
        assert_eq!([charge(0), charge(50), charge(125)], [0, 1_070, 3_407]);
        assert_eq!([charge(300), charge(400)], [10_000; 2], "no more than four times that");
    }
}
