//! Collections on the dies: carries out the steps of a job, one flash operation each.

use crate::config::GcStart;
use crate::ftl::ReclaimStep;
use crate::gc::job::{self, Job, Reason};
use crate::ids::{BlockId, DieId, Ppn};
use crate::nand::{Command, Operation};
use crate::units::{Duration, Instant};

use super::{Purpose, Ssd};

/// A collection under way on a die.
#[derive(Debug)]
pub struct Collection {
    job: Job,
    /// A page that has been read out and not been programmed yet.
    carried: Option<Ppn>,
}

/// The flash operation of a collection that is in a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepInFlight {
    /// Reads this page out, to be programmed elsewhere.
    ReadOut(Ppn),
    /// Moves a page inside the plane, or programs one that was read out.
    Write,
    /// Erases this block.
    Erase(BlockId),
}

impl Ssd {
    /// Whether a plane of `die` that is short of space is to be collected before anything else.
    pub(super) fn collection_is_due(&self, die: DieId) -> bool {
        self.ftl.hungry_planes(die) != 0
            && match self.options.gc_start {
                GcStart::AtOnce => true,
                GcStart::BeforeOperation => self.host_waits(die),
            }
    }

    /// Begins to collect an idle die. Returns whether the die has work now.
    pub(super) fn begin_collection(&mut self, die: DieId, now: Instant) -> bool {
        if self.options.zero_cost {
            self.collect_at_no_cost(die);
            return false;
        }
        let Some(job) = self.next_job(die) else { return false };
        self.put_on_die(die, job, now);
        self.start_collection_step(die, now)
    }

    /// The collection of the plane whose turn it is, of those that are short of space and have
    /// something to give.
    fn next_job(&mut self, die: DieId) -> Option<Job> {
        let mut hungry = self.ftl.hungry_planes(die);
        let first = self.geometry.first_plane(die);
        while let Some(plane) = self.schedule.plane_to_collect(die.index(), first, hungry) {
            for plane in self.width.planes(plane) {
                if let Some(job) = Job::on_demand(plane, &mut self.ftl) {
                    return Some(job);
                }
            }
            hungry &= !(1 << (plane.0 - first.0));
        }
        None
    }

    fn put_on_die(&mut self, die: DieId, job: Job, now: Instant) {
        self.die_clocks[die.index()].collection_runs(job.plane, now);
        self.device_clock.collection_runs(now);
        self.collections[die.index()] = Some(Collection { job, carried: None });
    }

    /// Carries out the next step of the die's collection, or ends it. Returns whether the die may
    /// have further work to start now.
    pub(super) fn start_collection_step(&mut self, die: DieId, now: Instant) -> bool {
        if !self.dies[die.index()].is_idle() {
            return false;
        }
        let Some(mut collection) = self.collections[die.index()].take() else { return false };
        if let Some(page) = collection.carried.take()
            && self.ftl.is_valid(page)
        {
            self.program_carried(die, page, now);
        } else if let Some(step) = collection.job.next_step(&self.ftl) {
            self.start_step(die, step, now);
        } else {
            self.end_collection(die, &collection, now);
            return true;
        }
        self.collections[die.index()] = Some(collection);
        true
    }

    fn start_step(&mut self, die: DieId, step: ReclaimStep, now: Instant) {
        match step {
            ReclaimStep::Move(page) if self.options.copyback => self.copy_back(die, page, now),
            ReclaimStep::Move(page) => {
                self.counters.reads += 1;
                let read = self.timing.read(self.geometry.page_offset(page));
                let times = [self.timing.command, read, self.timing.page_transfer];
                self.start_on_die(die, Command::Read, times, StepInFlight::ReadOut(page), now);
            }
            ReclaimStep::Erase(block) => {
                self.counters.erases += 1;
                let times = [Duration::ZERO, self.timing.erase, Duration::ZERO];
                self.start_on_die(die, Command::Erase, times, StepInFlight::Erase(block), now);
            }
        }
    }

    fn copy_back(&mut self, die: DieId, page: Ppn, now: Instant) {
        let placed = self.ftl.relocate(page);
        self.counters.copybacks += 1;
        self.counters.pages_moved += 1;
        let read = self.timing.read(self.geometry.page_offset(page));
        let offset = self.geometry.page_offset(placed.page);
        let array = read + self.program_time(offset, placed.closes_block);
        let times = [Duration::ZERO, array, Duration::ZERO];
        self.start_on_die(die, Command::Copyback, times, StepInFlight::Write, now);
    }

    fn program_carried(&mut self, die: DieId, page: Ppn, now: Instant) {
        let placed = self.ftl.relocate(page);
        self.counters.programs += 1;
        self.counters.pages_moved += 1;
        let offset = self.geometry.page_offset(placed.page);
        let times = [
            self.timing.command + self.timing.page_transfer,
            self.program_time(offset, placed.closes_block),
            Duration::ZERO,
        ];
        self.start_on_die(die, Command::Program, times, StepInFlight::Write, now);
    }

    fn start_on_die(
        &mut self,
        die: DieId,
        command: Command,
        times: [Duration; 3],
        step: StepInFlight,
        now: Instant,
    ) {
        let operation = Operation::new(command, times, Purpose::Collection(step), now);
        self.dies[die.index()].start(operation);
    }

    /// The flash operation of a step has ended.
    pub(super) fn finish_step(&mut self, die: DieId, step: StepInFlight) {
        match step {
            StepInFlight::ReadOut(page) => {
                if let Some(collection) = &mut self.collections[die.index()] {
                    collection.carried = Some(page);
                }
            }
            StepInFlight::Write => {}
            StepInFlight::Erase(block) => self.ftl.erase(block),
        }
    }

    fn end_collection(&mut self, die: DieId, collection: &Collection, now: Instant) {
        match collection.job.reason {
            Reason::OnDemand => self.counters.collections += 1,
            Reason::WearLevelling => self.counters.levelling_runs += 1,
        }
        self.die_clocks[die.index()].collection_rests(&mut self.plane_clocks, now);
        self.device_clock.collection_rests(now);
        if let Some(job) = Job::wear_levelling(collection.job.plane, &mut self.ftl) {
            self.put_on_die(die, job, now);
        }
    }

    /// Collects every plane of `die` that is short of space, with all its effects but time.
    fn collect_at_no_cost(&mut self, die: DieId) {
        let tally = job::collect_untimed(&mut self.ftl, die);
        self.counters.collections += tally.collections;
        self.counters.levelling_runs += tally.levelling_runs;
        self.counters.erases += tally.collections + tally.levelling_runs;
        self.counters.pages_moved += tally.pages_moved;
        if self.options.copyback {
            self.counters.copybacks += tally.pages_moved;
        } else {
            self.counters.reads += tally.pages_moved;
            self.counters.programs += tally.pages_moved;
        }
    }
}
