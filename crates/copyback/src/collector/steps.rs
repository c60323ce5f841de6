//! The steps of collections: one flash operation each, issued to the die and booked when it ends.

use std::iter;

use super::job::Job;
use super::lanes::{Erased, Lanes, Members, PageStep, Pages, Step};
use crate::backend::{Backend, Condition, Found, Held, Outlook, Purpose, StepInFlight};
use crate::checkpoint::Checkpointed;
use crate::config::GcEnd;
use crate::flash::Flash;
use crate::ftl::Ftl;
use crate::ids::{DieId, Ppn};
use crate::nand::{Command, Geometry, Times, Timing};
use crate::observer::Activity;
use crate::purpose::Reason;
use crate::units::{Duration, Instant};

use super::Collector;

/// A collection under way on a die.
#[derive(Debug, Checkpointed)]
pub struct Collection {
    /// Planes that are collected.
    pub lanes: Lanes,
    /// A bit for each plane that is collected.
    pub mask: u32,
    /// A bit for each plane whose wear is looked at when the collection ends.
    pub(super) to_level: u32,
    /// The point at which its flash operation began that is in the die; `None` if none is.
    pub in_flight: Option<Point>,
}

/// A place between two flash operations of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Point {
    /// Before a page is read or a block erased: nothing is in the registers.
    BetweenMoves,
    /// Before a page is written: it is in the register.
    BeforeWrite,
}

impl Point {
    const fn new(carries: bool) -> Self {
        if carries { Self::BeforeWrite } else { Self::BetweenMoves }
    }
}

impl Collection {
    /// A collection in these lanes, after which the wear of the planes of `to_level` is looked at, too.
    pub(super) fn new(lanes: Lanes, to_level: u32, geometry: &Geometry) -> Self {
        let mask = lanes.planes().fold(0, |mask, plane| mask | geometry.bit(plane));
        Self { lanes, mask, to_level: mask | to_level, in_flight: None }
    }

    /// The point at which the collection stands. While an operation of it is in the die, the point at which that began.
    pub fn point(&self) -> Point {
        self.in_flight.unwrap_or_else(|| Point::new(self.lanes.carries()))
    }

    /// Reason why the plane that called for it is collected.
    pub fn reason(&self) -> Reason {
        self.lanes.lanes[0].job.reason
    }

    /// Outlook of the collection as it begins: that of all its lanes.
    pub fn outlook(&self, ftl: &Ftl) -> Outlook {
        let mut outlook = Outlook::default();
        self.lanes.lanes.iter().for_each(|lane| outlook += lane.job.outlook(ftl));
        outlook
    }
}

/// Progress of a collection that was to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// The move of so many pages together has begun, or the erase of so many blocks.
    Begun(u64),
    /// Of a step that has begun, so many pages more are being read; none if what was read is being programmed.
    Continued(u64),
    /// End of the collection; perhaps another has taken its place.
    Ended,
    /// Wait: it cannot go on yet.
    Waits,
}

impl Collector {
    /// Carries out the next step of the die's collection, or ends it.
    pub fn go_on(&mut self, backend: &mut Backend, die: DieId, now: Instant) -> Progress {
        let Some(collection) = &mut self.collections[die.index()] else { return Progress::Waits };
        let Some(step) = collection.lanes.next_of_one_page(&backend.ftl) else {
            return self.go_on_in_lanes(backend, die, now);
        };
        collection.in_flight = Some(Point::new(step.programs_what_was_read()));
        let work = (collection.mask, collection.reason());
        backend.collecting.run(&mut backend.observer, die, work, now);
        let (command, times, in_flight) = self.begin_page_step(backend, step);
        issue(&mut backend.flash, die, command, times, in_flight, now);
        match command {
            Command::Program => Progress::Continued(0),
            _ => Progress::Begun(1),
        }
    }

    /// A step of the die's collection has just ended, which concerned one page of a lone plane. Begins the next one,
    /// if it does so too, and nobody is to be asked before. Returns what it takes of the die.
    #[inline]
    pub fn next_page_step(
        &mut self,
        backend: &mut Backend,
        die: DieId,
    ) -> Option<(Command, Times, StepInFlight)> {
        let collection = self.collections[die.index()].as_mut()?;
        let step = collection.lanes.next_of_one_page(&backend.ftl)?;
        collection.in_flight = Some(Point::new(step.programs_what_was_read()));
        Some(self.begin_page_step(backend, step))
    }

    /// Does to the mapping what a step begins with. Returns what it takes of the die.
    #[inline(always)]
    fn begin_page_step(
        &self,
        backend: &mut Backend,
        step: PageStep,
    ) -> (Command, Times, StepInFlight) {
        match step {
            PageStep::Copy(page) | PageStep::CopyWithErrors(page) => {
                if matches!(step, PageStep::CopyWithErrors(_)) {
                    backend.copy_unseen(page);
                }
                let times = Times { array: place_copy(backend, page), ..Times::default() };
                (Command::Copyback, times, StepInFlight::Program)
            }
            PageStep::Read(page) => {
                let times = self.read(backend, iter::once(page));
                (Command::Read, times, StepInFlight::Read)
            }
            PageStep::Program(page) => {
                let placed = backend.ftl.relocate(page);
                backend.flash.pages.note_target(placed.page);
                backend.counters.moves.single_demanding += 1;
                let offset = backend.ftl.geometry().page_offset(placed.page);
                let times = self.program_times(backend, offset, placed.closes_block.into(), 1);
                (Command::Program, times, StepInFlight::Program)
            }
        }
    }

    /// Goes on where planes are collected in step, or a page is not moved with one command.
    fn go_on_in_lanes(&mut self, backend: &mut Backend, die: DieId, now: Instant) -> Progress {
        if self.settings.holds_erases {
            let Backend { held, ftl, flash, .. } = &mut *backend;
            if self.erase_must_wait(held.as_deref_mut(), ftl, flash, die) {
                return Progress::Waits;
            }
        }
        let Some(mut collection) = self.collections[die.index()].take() else {
            return Progress::Waits;
        };
        let Some(step) = collection.lanes.next_step(&backend.ftl) else {
            self.end(backend, die, &collection, now);
            return Progress::Ended;
        };
        let work = (collection.mask, collection.reason());
        backend.collecting.run(&mut backend.observer, die, work, now);
        let point = Point::new(collection.lanes.carries());
        let (lanes, parts) = (&mut collection.lanes, step.parts());
        match step {
            Step::Read(pages) => self.start_reading(backend, die, lanes, pages, now),
            Step::Program(members) => self.start_programming(backend, die, lanes, &members, now),
            Step::Erase(blocks) => start_erasing(backend, die, lanes, blocks, now),
        }
        collection.in_flight = Some(point);
        self.collections[die.index()] = Some(collection);
        match point {
            Point::BeforeWrite => Progress::Continued(parts),
            Point::BetweenMoves => Progress::Begun(parts),
        }
    }

    /// Whether the collection of `die` erases next, and programs that are not over supersede pages of what it erases. Asks
    /// for those that wait for others.
    fn erase_must_wait(
        &self,
        held: Option<&mut Held>,
        ftl: &Ftl,
        flash: &mut Flash<Purpose>,
        die: DieId,
    ) -> bool {
        let (Some(collection), Some(audit)) = (self.of(die), ftl.audit()) else {
            return false;
        };
        let blocks = collection.lanes.next_erased(ftl);
        let waited_for = blocks.iter().filter(|block| audit.is_superseded_by_programs(**block));
        let waited_for: Erased = waited_for.copied().collect();
        if let Some(held) = held {
            waited_for.iter().for_each(|block| held.ask_for_programs(ftl, flash, *block));
        }
        !waited_for.is_empty()
    }

    /// The page that is moved next in place of one with copyback that has just ended and that nobody looks at.
    #[inline]
    pub fn next_move(&mut self, ftl: &Ftl, die: DieId) -> Option<Ppn> {
        self.collections[die.index()].as_mut()?.lanes.next_move(ftl)
    }

    fn start_reading(
        &self,
        backend: &mut Backend,
        die: DieId,
        lanes: &mut Lanes,
        pages: Pages,
        now: Instant,
    ) {
        if let [(lane, page)] = pages[..]
            && backend.ftl.staged().len() < self.settings.cache_pages
            && lanes.is_surplus(lane, &backend.ftl)
        {
            let (times, _) = self.read_out(backend, iter::once(page));
            let step = StepInFlight::Stage(page);
            return issue(&mut backend.flash, die, Command::Read, times, step, now);
        }
        if lanes.makes_up() {
            return self.start_reading_of_stripe(backend, die, lanes, pages, now);
        }
        backend.counters.multi_plane_reads += u64::from(pages.len() > 1);
        let times = self.read(backend, pages.iter().map(|(_, page)| *page));
        lanes.begin(&Step::Read(pages));
        issue(&mut backend.flash, die, Command::Read, times, StepInFlight::Read, now);
    }

    /// Reads a page of a line whose pages are made up if they cannot be read: then the collection goes on with others
    /// meanwhile.
    fn start_reading_of_stripe(
        &self,
        backend: &mut Backend,
        die: DieId,
        lanes: &mut Lanes,
        pages: Pages,
        now: Instant,
    ) {
        let [(_, page)] = pages[..] else {
            unreachable!("planes of a line are not collected in step")
        };
        let (times, is_in_vain) = self.read_out(backend, iter::once(page));
        lanes.begin(&Step::Read(pages));
        let step = match is_in_vain {
            true => {
                lanes.forget_carried();
                StepInFlight::ReadInVain(page)
            }
            false => StepInFlight::Read,
        };
        issue(&mut backend.flash, die, Command::Read, times, step, now);
    }

    /// Begins to read `pages` of planes that are collected in step, to be programmed elsewhere. Returns what it takes.
    #[inline(always)]
    fn read(
        &self,
        backend: &mut Backend,
        pages: impl ExactSizeIterator<Item = Ppn> + Clone,
    ) -> Times {
        if !self.settings.copyback {
            // Where a page may wait for its stripe, it is not read here.
            return self.read_out(backend, pages).0;
        }
        for page in pages.clone() {
            backend.flash.pages.note(page);
            backend.copy_unseen(page);
        }
        let Backend { condition, ftl, flash, .. } = backend;
        let array = self.read_time(condition, ftl, &flash.timing, pages);
        Times { array, ..Times::default() }
    }

    /// Begins to read `pages` over the channel. Returns what it takes, with the retries that they need, and whether that is in
    /// vain and a page is made up from others.
    #[inline(always)]
    fn read_out(
        &self,
        backend: &mut Backend,
        pages: impl ExactSizeIterator<Item = Ppn> + Clone,
    ) -> (Times, bool) {
        let count = pages.len() as u64;
        backend.counters.reads += count;
        let Backend { condition, ftl, flash, .. } = backend;
        let mut is_in_vain = false;
        for page in pages.clone() {
            flash.pages.note(page);
            is_in_vain |= condition.sense(ftl, &flash.timing, page) == Found::Nothing
                && ftl.reads_in_vain_to_move(page);
        }
        let timing = &flash.timing;
        let array = self.read_time(condition, ftl, timing, pages) + condition.take_extra();
        let transfer_out = timing.page_transfer * count;
        (Times { transfer_in: timing.command, array, transfer_out }, is_in_vain)
    }

    /// Time of the array to read `pages`, which are alike, for a move, with the look at the host's queue after it.
    #[inline(always)]
    fn read_time(
        &self,
        condition: &mut Condition,
        ftl: &Ftl,
        timing: &Timing,
        mut pages: impl Iterator<Item = Ppn>,
    ) -> Duration {
        let first = pages.next().expect("a step reads some page");
        let offset = ftl.geometry().page_offset(first);
        condition.array_read(ftl, timing, (first, offset)) + self.settings.poll
    }

    fn start_programming(
        &self,
        backend: &mut Backend,
        die: DieId,
        lanes: &mut Lanes,
        members: &Members,
        now: Instant,
    ) {
        let together = members.len() > 1;
        let (mut offset, mut filled) = (0, 0);
        for lane in members {
            let Some(page) = lanes.lanes[*lane].carried else { continue };
            let placed = match together {
                true => backend.ftl.relocate_aligned(page),
                false => backend.ftl.relocate(page),
            };
            backend.flash.pages.note_target(placed.page);
            offset = backend.ftl.geometry().page_offset(placed.page);
            filled += u64::from(placed.closes_block);
        }
        let count = members.len() as u64;
        backend.counters.moves.count(members, lanes.was_read_together());
        backend.counters.multi_plane_programs += u64::from(together);
        let times = self.program_times(backend, offset, filled, count);
        lanes.begin(&Step::Program(members.clone()));
        issue(&mut backend.flash, die, Command::Program, times, StepInFlight::Program, now);
    }

    /// Times of programming `count` pages that were read out, with which `filled` blocks are filled; counts
    /// them.
    #[inline]
    fn program_times(&self, backend: &mut Backend, offset: u32, filled: u64, count: u64) -> Times {
        backend.counters.pages_moved += count;
        let transfer_in = if self.settings.copyback {
            backend.counters.copybacks += count;
            Duration::ZERO
        } else {
            backend.counters.programs += count;
            backend.flash.timing.command + backend.flash.timing.page_transfer * count
        };
        let array = backend.program_time(offset, filled) + self.settings.poll;
        Times { transfer_in, array, transfer_out: Duration::ZERO }
    }

    /// The flash operation of a step has ended. Returns whether the places of pages in flash have changed for
    /// good, so that a mapping table in flash is to be brought up to date.
    pub fn finish_step(
        &mut self,
        backend: &mut Backend,
        die: DieId,
        step: StepInFlight,
        now: Instant,
    ) -> bool {
        if let Some(collection) = &mut self.collections[die.index()] {
            collection.in_flight = None;
        }
        match step {
            StepInFlight::Read | StepInFlight::ReadInVain(_) | StepInFlight::Program => {
                return false;
            }
            StepInFlight::Parity | StepInFlight::Rebuilt => {
                backend.observer.die_does(die, Activity::Nothing, now);
                return false;
            }
            StepInFlight::Stage(page) => {
                if backend.ftl.is_valid(page) {
                    backend.counters.moves.cached += 1;
                    backend.ftl.stage(page, backend.ftl.geometry().plane_of(page));
                }
                return false;
            }
            StepInFlight::Erase => self.finish_erasing(backend, die),
            StepInFlight::ProgramStaged => backend.observer.die_does(die, Activity::Nothing, now),
        }
        true
    }

    fn finish_erasing(&mut self, backend: &mut Backend, die: DieId) {
        let Some(collection) = &mut self.collections[die.index()] else { return };
        let erased = collection.lanes.take_erased();
        erased.iter().for_each(|block| backend.ftl.erase(*block));
        for block in erased {
            let plane = backend.ftl.geometry().plane_of_block(block);
            self.note_collected(plane, &backend.ftl);
        }
    }

    fn end(&mut self, backend: &mut Backend, die: DieId, collection: &Collection, now: Instant) {
        collection.lanes.lanes.iter().for_each(|lane| lane.job.end(&mut backend.ftl));
        let lanes = collection.lanes.lanes.len() as u64;
        match collection.reason() {
            _ if collection.lanes.lanes[0].job.leaves_erase() => {}
            Reason::WearLevelling => backend.counters.levelling_runs += 1,
            Reason::ReadReclaim => backend.counters.read_reclaims += 1,
            Reason::Refresh => backend.counters.refreshes += 1,
            reason => {
                backend.counters.count_collections(reason, 1);
                backend.counters.collections += lanes - 1;
                backend.counters.joined += lanes - 1;
            }
        }
        backend.counters.merges.count(collection.lanes.lanes[0].job.kind());
        let in_idle_time = backend.collecting.is_in_idle_time(die);
        backend.collecting.end(&mut backend.observer, die, now);
        let gives_way = self.settings.end == GcEnd::OneVictim || collection.reason().is_for_data();
        if let Some(has_ended) = self.has_ended.as_mut().filter(|_| gives_way) {
            has_ended[die.index()] = true;
        }
        for plane in backend.ftl.geometry().planes_in(collection.to_level, die) {
            if let Some(job) = Job::wear_levelling(plane, &mut backend.ftl) {
                let lanes = Lanes::of(job, self.settings.how.read_out_if(in_idle_time));
                let Backend { ftl, collecting, observer, .. } = backend;
                let collection = Collection::new(lanes, collection.to_level, ftl.geometry());
                let place = (die, in_idle_time);
                return self.put_on_die(ftl, collecting, observer, place, collection, now);
            }
        }
    }
}

/// Finds a page that is moved with copyback its new place. Returns what the command takes.
#[inline(always)]
pub fn place_copy(backend: &mut Backend, page: Ppn) -> Duration {
    let Backend { condition, ftl, flash, .. } = &mut *backend;
    let offset = ftl.geometry().page_offset(page);
    let read = condition.array_read(ftl, &flash.timing, (page, offset));
    let placed = backend.ftl.relocate(page);
    backend.flash.pages.note_target(placed.page);
    backend.counters.copybacks += 1;
    backend.counters.pages_moved += 1;
    backend.counters.moves.single_demanding += 1;
    let offset = backend.ftl.geometry().page_offset(placed.page);
    read + backend.program_time(offset, placed.closes_block.into())
}

fn start_erasing(
    backend: &mut Backend,
    die: DieId,
    lanes: &mut Lanes,
    blocks: Erased,
    now: Instant,
) {
    let count = blocks.len() as u64;
    backend.counters.erases += count;
    backend.counters.multi_plane_erases += u64::from(count > 1);
    for block in &blocks {
        backend.ftl.erase_begins(*block);
        backend.flash.pages.note(backend.ftl.geometry().page(*block, 0));
    }
    // Blocks that are erased together are in one cell mode.
    let Backend { condition, ftl, flash, .. } = &mut *backend;
    let array = condition.array_erase(ftl, &flash.timing, blocks[0]);
    lanes.begin(&Step::Erase(blocks));
    let times = Times { array, ..Times::default() };
    issue(&mut backend.flash, die, Command::Erase, times, StepInFlight::Erase, now);
}

/// Gives `die` an operation of a collection.
#[inline(always)]
pub(super) fn issue(
    flash: &mut Flash<Purpose>,
    die: DieId,
    command: Command,
    times: Times,
    step: StepInFlight,
    now: Instant,
) {
    // What was in DRAM, or parity, is programmed when nothing is collected: the host may come beside it.
    let is_beside =
        matches!(step, StepInFlight::ProgramStaged | StepInFlight::Parity | StepInFlight::Rebuilt);
    let alone = !is_beside && !flash.overlap.pipelined;
    flash.issue(die, command, times, (Purpose::Collection(step), alone), now);
}
