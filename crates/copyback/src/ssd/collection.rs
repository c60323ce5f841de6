//! Collections on the dies: carries out their steps, one flash operation each.

use crate::config::GcStart;
use crate::gc::job::{self, Job, Reason, Tally};
use crate::gc::lanes::{Erased, Lanes, Members, Pages, Step};
use crate::ids::{DieId, PlaneId, Ppn};
use crate::nand::{Command, Operation};
use crate::units::{Duration, Instant};

use super::idle_account::Activity;
use super::queues::planes_in;
use super::{Purpose, Ssd};

/// A collection under way on a die.
#[derive(Debug)]
pub struct Collection {
    pub(super) lanes: Lanes,
    /// A bit for each plane that is collected.
    pub(super) mask: u32,
    /// A bit for each plane whose wear is looked at when the collection ends.
    to_level: u32,
    /// Whether one of its flash operations is in the die.
    pub(super) in_flight: bool,
    /// Whether it was begun in idle time, and stops for commands.
    pub(super) in_idle_time: bool,
}

/// The flash operation of a collection that is in a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepInFlight {
    /// Reads pages out, to be programmed elsewhere.
    Read,
    /// Reads this page into the device's DRAM.
    Park(Ppn),
    /// Programs pages that were read out, or moves one inside its plane.
    Program,
    /// Erases the victims.
    Erase,
    /// Programs pages that were in the device's DRAM, when nothing is collected.
    Unpark,
}

impl Collection {
    /// Why the plane that called for it is collected.
    pub(super) fn reason(&self) -> Reason {
        self.lanes.lanes[0].job.reason
    }
}

impl Ssd {
    /// Whether a plane of `die` that is short of space, or asked for, is to be collected before
    /// anything else.
    pub(super) fn collection_is_due(&self, die: DieId) -> bool {
        let is_short = self.planes_due(die) != 0
            && match self.options.gc_start {
                GcStart::AtOnce => true,
                GcStart::BeforeOperation => self.host_waits(die),
            };
        (is_short || self.permits.planes_of(die) != 0) && !self.is_read_only()
    }

    /// Begins to collect an idle die. Returns whether the die has work now.
    pub(super) fn begin_collection(&mut self, die: DieId, now: Instant) -> bool {
        if self.options.zero_cost {
            self.collect_at_no_cost(die);
            self.replace_at_no_cost(die, now);
            self.write_back_outdated(die, now);
            return false;
        }
        let Some(lanes) = self.next_collection(die) else { return false };
        self.put_on_die(die, lanes, 0, false, now);
        self.start_collection_step(die, now)
    }

    /// The collection of the plane whose turn it is, of those that are short of space or asked for and
    /// have something to give, and of the planes that join it.
    fn next_collection(&mut self, die: DieId) -> Option<Lanes> {
        let due = self.planes_due(die);
        let mut candidates = due | self.permits.planes_of(die);
        let first = self.geometry.first_plane(die);
        while let Some(plane) = self.schedule.plane_to_collect(die.index(), first, candidates) {
            let bit = 1 << (plane.0 - first.0);
            let reason = if due & bit != 0 { Reason::OnDemand } else { self.permits.reason() };
            if let Some(job) = Job::for_space(reason, plane, &mut self.ftl) {
                let mut lanes = Lanes::of(job, self.one_command());
                if self.width.is_parallel() {
                    self.let_planes_join(&mut lanes);
                }
                return Some(lanes);
            }
            self.permits.give_up(plane);
            candidates &= !bit;
        }
        None
    }

    /// Whether a lone plane's pages are moved with one command each: nobody looks at them between
    /// the read and the program.
    fn one_command(&self) -> bool {
        self.options.copyback && !self.schedule.splits_moves()
    }

    pub(super) fn let_planes_join(&mut self, lanes: &mut Lanes) {
        let demanding = lanes.demanding();
        for plane in self.rules.group_of(demanding) {
            if plane != demanding
                && self.width.joins(self.ftl.free_blocks(plane))
                && let Some(job) = Job::on_demand(plane, &mut self.ftl)
            {
                lanes.join(job, &self.ftl);
            }
        }
    }

    pub(super) fn put_on_die(
        &mut self,
        die: DieId,
        lanes: Lanes,
        to_level: u32,
        in_idle_time: bool,
        now: Instant,
    ) {
        let mask = lanes.planes().fold(0, |mask, plane| mask | self.bit(plane));
        let to_level = mask | to_level;
        let collection = Collection { lanes, mask, to_level, in_flight: false, in_idle_time };
        self.tell_begins(die, &collection, now);
        self.collections[die.index()] = Some(Box::new(collection));
    }

    /// Carries out the next step of the die's collection, or ends it. Returns whether the die may
    /// have further work to start now.
    pub(super) fn start_collection_step(&mut self, die: DieId, now: Instant) -> bool {
        let Some(collection) = &mut self.collections[die.index()] else { return false };
        let Some(page) = collection.lanes.next_move(&self.ftl) else {
            return self.start_step_of_lanes(die, now);
        };
        collection.in_flight = true;
        let (mask, reason) = (collection.mask, collection.reason());
        self.collection_runs(die, mask, reason, now);
        self.schedule.begin_step(die.index());
        self.copy_back(die, page, now);
        true
    }

    /// The same where planes are collected in step, or a page is not moved with one command.
    fn start_step_of_lanes(&mut self, die: DieId, now: Instant) -> bool {
        if self.options.holds_erases && self.erase_must_wait(die) {
            return false;
        }
        let Some(mut collection) = self.collections[die.index()].take() else { return false };
        let Some(step) = collection.lanes.next_step(&self.ftl) else {
            self.end_collection(die, &collection, now);
            return true;
        };
        self.collection_runs(die, collection.mask, collection.reason(), now);
        if !collection.lanes.carries() {
            self.schedule.begin_step(die.index());
        }
        match step {
            Step::Read(pages) => self.start_reading(die, &mut collection.lanes, pages, now),
            Step::Program(members) => {
                self.start_programming(die, &mut collection.lanes, &members, now);
            }
            Step::Erase(blocks) => self.start_erasing(die, &mut collection.lanes, blocks, now),
        }
        collection.in_flight = true;
        self.collections[die.index()] = Some(collection);
        true
    }

    /// The die begins, or goes on, to collect.
    #[inline]
    pub(super) fn collection_runs(&mut self, die: DieId, mask: u32, reason: Reason, now: Instant) {
        if !self.die_clocks[die.index()].is_collecting() {
            self.collection_starts_to_run(die, mask, reason, now);
        }
    }

    fn collection_starts_to_run(&mut self, die: DieId, mask: u32, reason: Reason, now: Instant) {
        self.die_clocks[die.index()].collection_runs(mask, now);
        self.device_clock.collection_runs(now);
        self.die_does(die, reason.into(), now);
        self.tell_runs(die, now);
    }

    /// The die stops collecting, at the end of a collection or to serve the host.
    pub(super) fn collection_rests(&mut self, die: DieId, now: Instant) {
        let clocks = &mut self.die_clocks[die.index()];
        if clocks.is_collecting() {
            clocks.collection_rests(die, &mut self.plane_clocks, now);
            self.device_clock.collection_rests(now);
            self.die_does(die, Activity::Nothing, now);
            self.tell_rests(die, now);
        }
    }

    fn start_reading(&mut self, die: DieId, lanes: &mut Lanes, pages: Pages, now: Instant) {
        if let [(lane, page)] = pages[..]
            && self.ftl.parked_pages() < self.options.cache_pages
            && lanes.is_surplus(lane, &self.ftl)
        {
            return self.read_to_park(die, page, now);
        }
        let count = pages.len() as u64;
        let array = self.timing.read(self.geometry.page_offset(pages[0].1)) + self.schedule.poll();
        let times = if self.options.copyback {
            [Duration::ZERO, array, Duration::ZERO]
        } else {
            self.counters.reads += count;
            pages.iter().for_each(|(_, page)| self.sense(*page));
            let array = array + self.take_extra();
            [self.timing.command, array, self.timing.page_transfer * count]
        };
        self.counters.multi_plane_reads += u64::from(count > 1);
        pages.iter().for_each(|(_, page)| self.note_page(*page));
        lanes.begin(&Step::Read(pages));
        self.start_on_die(die, Command::Read, times, StepInFlight::Read, now);
    }

    /// Moves a page inside its plane with one command.
    fn copy_back(&mut self, die: DieId, page: Ppn, now: Instant) {
        let array = self.place_copy(die, page, now);
        let times = [Duration::ZERO, array, Duration::ZERO];
        self.start_on_die(die, Command::Copyback, times, StepInFlight::Program, now);
    }

    /// Finds a moved page its new place. Returns what the command takes.
    #[inline(always)]
    pub(super) fn place_copy(&mut self, die: DieId, page: Ppn, now: Instant) -> Duration {
        let placed = self.ftl.relocate(page);
        self.note_target(placed.page);
        self.counters.copybacks += 1;
        self.counters.pages_moved += 1;
        self.counters.moves.single_demanding += 1;
        let read = self.timing.read(self.geometry.page_offset(page));
        let offset = self.geometry.page_offset(placed.page);
        read + self.program_time(die, offset, placed.closes_block, now)
    }

    fn read_to_park(&mut self, die: DieId, page: Ppn, now: Instant) {
        self.counters.reads += 1;
        self.note_page(page);
        self.sense(page);
        let array = self.timing.read(self.geometry.page_offset(page)) + self.schedule.poll();
        let array = array + self.take_extra();
        let times = [self.timing.command, array, self.timing.page_transfer];
        self.start_on_die(die, Command::Read, times, StepInFlight::Park(page), now);
    }

    fn start_programming(
        &mut self,
        die: DieId,
        lanes: &mut Lanes,
        members: &Members,
        now: Instant,
    ) {
        let together = members.len() > 1;
        let (mut offset, mut closes_block) = (0, false);
        for lane in members {
            let Some(page) = lanes.lanes[*lane].carried else { continue };
            let placed =
                if together { self.ftl.relocate_aligned(page) } else { self.ftl.relocate(page) };
            self.note_target(placed.page);
            offset = self.geometry.page_offset(placed.page);
            closes_block |= placed.closes_block;
        }
        let count = members.len() as u64;
        self.counters.moves.count(members, lanes.was_read_together());
        self.counters.pages_moved += count;
        self.counters.multi_plane_programs += u64::from(together);
        let transfer = if self.options.copyback {
            self.counters.copybacks += count;
            Duration::ZERO
        } else {
            self.counters.programs += count;
            self.timing.command + self.timing.page_transfer * count
        };
        let array = self.program_time(die, offset, closes_block, now) + self.schedule.poll();
        lanes.begin(&Step::Program(members.clone()));
        let times = [transfer, array, Duration::ZERO];
        self.start_on_die(die, Command::Program, times, StepInFlight::Program, now);
    }

    fn start_erasing(&mut self, die: DieId, lanes: &mut Lanes, blocks: Erased, now: Instant) {
        let count = blocks.len() as u64;
        self.counters.erases += count;
        self.counters.multi_plane_erases += u64::from(count > 1);
        for block in &blocks {
            self.note_page(self.geometry.page(*block, 0));
        }
        lanes.begin(&Step::Erase(blocks));
        let times = [Duration::ZERO, self.timing.erase, Duration::ZERO];
        self.start_on_die(die, Command::Erase, times, StepInFlight::Erase, now);
    }

    // Inlined, the times stay in registers: read back from memory right after they were written, they
    // would wait for every cache miss before them.
    #[inline(always)]
    pub(super) fn start_on_die(
        &mut self,
        die: DieId,
        command: Command,
        times: [Duration; 3],
        step: StepInFlight,
        now: Instant,
    ) {
        let mut operation = Operation::new(command, times, Purpose::Collection(step), now);
        operation.pages = self.take_pages();
        self.dies[die.index()].start(operation);
    }

    /// The flash operation of a step has ended.
    pub(super) fn finish_step(&mut self, die: DieId, step: StepInFlight, now: Instant) {
        if let Some(collection) = &mut self.collections[die.index()] {
            collection.in_flight = false;
        }
        match step {
            StepInFlight::Read | StepInFlight::Program => {}
            StepInFlight::Park(page) => self.park(page),
            StepInFlight::Erase => {
                self.finish_erasing(die);
                self.write_back_outdated(die, now);
            }
            StepInFlight::Unpark => {
                self.die_does(die, Activity::Nothing, now);
                self.write_back_outdated(die, now);
            }
        }
        if self.is_read_only() {
            self.lay_down_collection(die, now);
        }
    }

    fn park(&mut self, page: Ppn) {
        if self.ftl.is_valid(page) {
            self.counters.moves.cached += 1;
            self.ftl.park(page);
        }
    }

    fn finish_erasing(&mut self, die: DieId) {
        let Some(collection) = &mut self.collections[die.index()] else { return };
        let erased = collection.lanes.take_erased();
        erased.iter().for_each(|block| self.ftl.erase(*block));
        for block in erased {
            self.note_collected(self.geometry.plane_of_block(block));
        }
    }

    fn end_collection(&mut self, die: DieId, collection: &Collection, now: Instant) {
        collection.lanes.lanes.iter().for_each(|lane| lane.job.end(&mut self.ftl));
        let lanes = collection.lanes.lanes.len() as u64;
        match collection.reason() {
            Reason::WearLevelling => self.counters.levelling_runs += 1,
            reason => {
                self.counters.count_collections(reason, 1);
                self.counters.collections += lanes - 1;
                self.counters.joined += lanes - 1;
            }
        }
        self.counters.merges.count(collection.lanes.lanes[0].job.kind());
        self.collection_rests(die, now);
        self.tell_ends(die, now);
        for plane in planes_in(collection.to_level, die, self.geometry.planes_per_die) {
            if let Some(job) = Job::wear_levelling(plane, &mut self.ftl) {
                let in_idle_time = collection.in_idle_time;
                let lanes = Lanes::of(job, self.one_command() && !in_idle_time);
                return self.put_on_die(die, lanes, collection.to_level, in_idle_time, now);
            }
        }
    }

    /// The bit of `plane` in the masks of its die.
    pub(super) fn bit(&self, plane: PlaneId) -> u32 {
        1 << (plane.0 % self.geometry.planes_per_die)
    }

    /// Collects every plane of `die` that is short of space or asked for, with all its effects but
    /// time.
    fn collect_at_no_cost(&mut self, die: DieId) {
        let tally = job::collect_untimed(&mut self.ftl, die);
        self.count_untimed(Reason::OnDemand, &tally);
        let asked = self.permits.planes_of(die);
        let mut tally = Tally::default();
        for plane in planes_in(asked, die, self.geometry.planes_per_die) {
            while self.permits.planes_of(die) & self.bit(plane) != 0 {
                match Job::for_space(self.permits.reason(), plane, &mut self.ftl) {
                    Some(job) => {
                        job.run_with_levelling(&mut self.ftl, &mut tally);
                        self.permits.block_collected(plane, self.ftl.free_blocks(plane));
                    }
                    None => self.permits.give_up(plane),
                }
            }
        }
        self.count_untimed(self.permits.reason(), &tally);
    }

    fn count_untimed(&mut self, reason: Reason, tally: &Tally) {
        self.counters.count_collections(reason, tally.collections);
        self.counters.levelling_runs += tally.levelling_runs;
        self.counters.erases += tally.erases;
        self.counters.merges += tally.merges;
        self.counters.pages_moved += tally.pages_moved;
        self.counters.moves.single_demanding += tally.pages_moved;
        if self.options.copyback {
            self.counters.copybacks += tally.pages_moved;
        } else {
            self.counters.reads += tally.pages_moved;
            self.counters.programs += tally.pages_moved;
        }
    }
}
