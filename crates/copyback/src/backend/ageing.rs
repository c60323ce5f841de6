//! Ageing of data by reads and time: blocks are collected before their data become unreadable (read reclaim,
//! and refresh of what has been kept for long).
//!
//! Reads are counted by block since it was erased. Data are as old as the first page of their block. What the
//! preparation has written counts as written at an even pace before the run, so that in each plane one block after the other
//! becomes due.

use std::cmp::Reverse;
use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ftl::Ftl;
use crate::ids::{BlockId, DieId, Ppn};
use crate::nand::Strain;
use crate::purpose::Reason;
use crate::units::{Duration, Instant};

/// The reads and ages of a drive's blocks.
#[derive(Debug, Checkpointed)]
pub struct Ageing {
    /// A block is collected after so many reads.
    most_reads: Option<u32>,
    /// A block is collected when it is so old.
    greatest_age: Option<Duration>,
    now: Instant,
    /// When the drive next looks for blocks that have become too old.
    planned: Option<Instant>,
    blocks: Vec<Kept>,
    dies: Vec<Due>,
}

/// A block, and what its data have been through.
#[derive(Debug, Clone, Copy, Default, Checkpointed)]
struct Kept {
    /// Number of its erases when that was last noted. After another erase nothing of this counts.
    erases: u32,
    reads: u32,
    /// Age when the run begins, if it is older than that.
    age_before: Duration,
    /// When its first page was programmed, if that was in the run.
    opened: Instant,
}

/// Blocks of a die that are due, or will be, and how often they had been erased. Those that have been since are not.
#[derive(Debug, Clone, Default, Checkpointed)]
struct Due {
    read_out: VecDeque<Marked>,
    /// The oldest first.
    by_age: VecDeque<Marked>,
}

#[derive(Debug, Clone, Copy, Checkpointed)]
struct Marked {
    block: BlockId,
    erases: u32,
}

impl Marked {
    fn is_stale(&self, ftl: &Ftl) -> bool {
        ftl.blocks().erase_count(self.block) != self.erases
    }
}

/// Share `parts / all` of `time`.
fn part(time: Duration, parts: u64, all: u64) -> Duration {
    Duration::from_wide_ns(u128::from(time.as_ns()) * u128::from(parts) / u128::from(all))
}

fn die_of(ftl: &Ftl, block: BlockId) -> DieId {
    ftl.geometry().die_of_plane(ftl.geometry().plane_of_block(block))
}

impl Kept {
    fn age(&self, now: Instant) -> Duration {
        self.age_before + (now - self.opened)
    }
}

impl Ageing {
    /// Of the blocks of a prepared drive of a checked configuration, if reads or time make any difference.
    pub fn new(config: &Resolved, ftl: &Ftl) -> Option<Box<Self>> {
        let (refresh, faults) = (&config.ssd.refresh, &config.ssd.faults);
        let errors_grow =
            faults.disturbed_read_errors.is_some() || faults.aged_read_errors.is_some();
        if refresh.is_none() && !errors_grow {
            return None;
        }
        let mut ageing = Self {
            most_reads: refresh.reads,
            greatest_age: refresh.age.map(|age| age.0),
            now: Instant::START,
            planned: None,
            blocks: vec![Kept::default(); ftl.geometry().blocks()],
            dies: vec![Due::default(); ftl.geometry().dies()],
        };
        ageing.take_over(ftl);
        Some(Box::new(ageing))
    }

    /// Gives the blocks that are filled at the start their ages: the n-th block of m in a plane is n m-ths of
    /// the greatest age old.
    fn take_over(&mut self, ftl: &Ftl) {
        let greatest = self.greatest_age.unwrap_or_default();
        for die in (0..self.dies.len()).map(DieId::from_index) {
            let mut due = Vec::new();
            for plane in ftl.geometry().planes_of_die(die) {
                let of_plane = ftl.geometry().blocks_of_plane(plane);
                let written: Vec<_> =
                    of_plane.filter(|block| ftl.blocks().is_in_use(*block)).collect();
                let all = written.len() as u64;
                for (place, block) in written.into_iter().enumerate() {
                    let age_before = part(greatest, all - place as u64 - 1, all);
                    let erases = ftl.blocks().erase_count(block);
                    let kept = Kept { erases, age_before, ..Kept::default() };
                    self.blocks[block.index()] = kept;
                    due.push(Marked { block, erases });
                }
            }
            due.sort_by_key(|marked| Reverse(self.blocks[marked.block.index()].age_before));
            self.dies[die.index()].by_age = due.into();
        }
    }

    /// Notes the present time: the blocks that have been `opened` since the last call are as old as that.
    pub fn note(&mut self, opened: &[BlockId], ftl: &Ftl, now: Instant) {
        self.now = now;
        for &block in opened {
            let (erases, die) = (ftl.blocks().erase_count(block), die_of(ftl, block));
            self.blocks[block.index()] = Kept { erases, opened: now, ..Kept::default() };
            self.prune(ftl, die);
            if self.greatest_age.is_some() {
                self.dies[die.index()].by_age.push_back(Marked { block, erases });
            }
        }
    }

    /// A page is read.
    pub fn read(&mut self, ftl: &Ftl, page: Ppn) {
        let block = ftl.geometry().block_of(page);
        let erases = ftl.blocks().erase_count(block);
        let kept = &mut self.blocks[block.index()];
        if kept.erases != erases {
            *kept = Kept { erases, opened: self.now, ..Kept::default() };
        }
        kept.reads = kept.reads.saturating_add(1);
        if Some(kept.reads) == self.most_reads {
            let die = die_of(ftl, block);
            self.dies[die.index()].read_out.push_back(Marked { block, erases });
        }
    }

    /// Stress on the data of `block`: erases, reads, time.
    pub fn strain(&self, block: BlockId) -> Strain {
        let kept = &self.blocks[block.index()];
        Strain { reads: kept.reads, age: kept.age(self.now) }
    }

    /// The block of `die` that is to be collected next, and why. Open blocks, and those for whose pages there is no room,
    /// wait.
    pub fn next_due(&self, ftl: &Ftl, die: DieId) -> Option<(BlockId, Reason)> {
        let due = &self.dies[die.index()];
        let is_there = |marked: &&Marked| !marked.is_stale(ftl);
        let may_move = |marked: &&Marked| ftl.may_refresh(marked.block);
        let reclaim = due.read_out.iter().filter(is_there).find(may_move);
        reclaim.map(|marked| (marked.block, Reason::ReadReclaim)).or_else(|| {
            let greatest = self.greatest_age?;
            let is_old = |marked: &&Marked| self.strain(marked.block).age >= greatest;
            // A block that was erased may be there again, and be young.
            let old = due.by_age.iter().filter(is_there).take_while(is_old);
            let refreshed = old.into_iter().find(may_move)?;
            Some((refreshed.block, Reason::Refresh))
        })
    }

    /// Forgets what has been erased of what is due on `die`.
    fn prune(&mut self, ftl: &Ftl, die: DieId) {
        let dies = self.dies.len();
        let due = &mut self.dies[die.index()];
        due.read_out.retain(|marked| !marked.is_stale(ftl));
        while due.by_age.front().is_some_and(|marked| marked.is_stale(ftl)) {
            due.by_age.pop_front();
        }
        // Behind a block that stays, all others may come and go: of each that is there one is left.
        if due.by_age.len() > 2 * self.blocks.len() / dies {
            due.by_age.retain(|marked| !marked.is_stale(ftl));
        }
    }

    /// When the drive is to look for the next block that has become too old, if that was not said before.
    pub fn plan_look(&mut self, ftl: &Ftl) -> Option<Instant> {
        let next = self.next_look(ftl)?;
        let is_new = self.planned.is_none_or(|planned| next < planned);
        is_new.then(|| *self.planned.insert(next))
    }

    /// The look that was planned.
    pub fn look(&mut self) {
        self.planned = None;
    }

    fn next_look(&self, ftl: &Ftl) -> Option<Instant> {
        let greatest = self.greatest_age?;
        let left = |marked: &Marked| greatest.saturating_sub(self.strain(marked.block).age);
        let is_ahead = |marked: &&Marked| !marked.is_stale(ftl) && !left(marked).is_zero();
        let next = self.dies.iter().filter_map(|die| die.by_age.iter().find(is_ahead));
        next.map(left).min().map(|left| self.now + left)
    }

    /// After a loss of power: blocks are as old as they were `before`, which their pages tell; reads are
    /// counted anew, as that is told nowhere.
    pub fn goes_on(&mut self, before: &Self, ftl: &Ftl) {
        self.now = before.now;
        for (kept, before) in self.blocks.iter_mut().zip(&before.blocks) {
            *kept = Kept { reads: 0, ..*before };
        }
        for (die, due) in self.dies.iter_mut().enumerate() {
            *due = Due { by_age: before.dies[die].by_age.clone(), ..Due::default() };
            due.by_age.retain(|marked| !marked.is_stale(ftl));
        }
    }
}
