//! The steps of collections: one flash operation each, issued to the die and booked when it ends.

use super::job::Job;
use super::lanes::{Erased, Lanes, Members, PageStep, Pages, Step};
use crate::backend::{Backend, Outlook, Purpose, StepInFlight};
use crate::checkpoint::Checkpointed;
use crate::config::GcEnd;
use crate::ftl::Ftl;
use crate::ids::{DieId, Ppn};
use crate::nand::{Command, Times};
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
        let (mask, reason) = (collection.mask, collection.reason());
        backend.collection_runs(die, mask, reason, now);
        let (command, times, in_flight) = self.begin_page_step(backend, step);
        issue(backend, die, command, times, in_flight, now);
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
            PageStep::Copy(page) => copy(backend, page),
            PageStep::CopyWithErrors(page) => copy_with_errors(backend, page),
            PageStep::Read(page) => (Command::Read, self.read(backend, page), StepInFlight::Read),
            PageStep::Program(page) => {
                let placed = backend.ftl.relocate(page);
                backend.flash.note_target(placed.page);
                backend.counters.moves.single_demanding += 1;
                let offset = backend.ftl.geometry().page_offset(placed.page);
                let times = self.program_times(backend, offset, placed.closes_block.into(), 1);
                (Command::Program, times, StepInFlight::Program)
            }
        }
    }

    /// Begins to read one page, to be programmed elsewhere.
    #[inline(always)]
    fn read(&self, backend: &mut Backend, page: Ppn) -> Times {
        backend.flash.note_page(page);
        if self.settings.copyback {
            backend.copy_unseen(page);
            return Times { array: self.read_time(backend, page), ..Times::default() };
        }
        backend.counters.reads += 1;
        // Where a page may wait for its stripe, it is not read here.
        _ = backend.sense_to_move(page);
        self.read_over_channel(backend, page, 1)
    }

    /// Goes on where planes are collected in step, or a page is not moved with one command.
    fn go_on_in_lanes(&mut self, backend: &mut Backend, die: DieId, now: Instant) -> Progress {
        if self.settings.holds_erases && self.erase_must_wait(backend, die) {
            return Progress::Waits;
        }
        let Some(mut collection) = self.collections[die.index()].take() else {
            return Progress::Waits;
        };
        let Some(step) = collection.lanes.next_step(&backend.ftl) else {
            self.end(backend, die, &collection, now);
            return Progress::Ended;
        };
        backend.collection_runs(die, collection.mask, collection.reason(), now);
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
    fn erase_must_wait(&self, backend: &mut Backend, die: DieId) -> bool {
        let (Some(collection), Some(audit)) = (self.of(die), backend.ftl.audit()) else {
            return false;
        };
        let blocks = collection.lanes.next_erased(&backend.ftl);
        let waited_for = blocks.iter().filter(|block| audit.is_superseded_by_programs(**block));
        let waited_for: Erased = waited_for.copied().collect();
        waited_for.iter().for_each(|block| backend.ask_for_programs(*block));
        !waited_for.is_empty()
    }

    /// Begins the next move of a page in place of one with copyback that has just ended and that nobody looks
    /// at. Returns what it takes, if there is one.
    #[inline]
    pub fn repeat_move(&mut self, backend: &mut Backend, die: DieId) -> Option<Duration> {
        let collection = self.collections[die.index()].as_mut()?;
        let page = collection.lanes.next_move(&backend.ftl)?;
        Some(place_copy(backend, page))
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
            return self.read_to_park(backend, die, page, now);
        }
        if lanes.makes_up() {
            return self.start_reading_of_stripe(backend, die, lanes, pages, now);
        }
        let count = pages.len() as u64;
        let times = match self.settings.copyback {
            true => {
                pages.iter().for_each(|(_, page)| backend.copy_unseen(*page));
                Times { array: self.read_time(backend, pages[0].1), ..Times::default() }
            }
            false => {
                backend.counters.reads += count;
                pages.iter().for_each(|(_, page)| _ = backend.sense_to_move(*page));
                self.read_over_channel(backend, pages[0].1, count)
            }
        };
        backend.counters.multi_plane_reads += u64::from(count > 1);
        pages.iter().for_each(|(_, page)| backend.flash.note_page(*page));
        lanes.begin(&Step::Read(pages));
        issue(backend, die, Command::Read, times, StepInFlight::Read, now);
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
        let (times, is_in_vain) = self.read_out(backend, page);
        lanes.begin(&Step::Read(pages));
        let step = match is_in_vain {
            true => {
                lanes.forget_carried();
                StepInFlight::ReadInVain(page)
            }
            false => StepInFlight::Read,
        };
        issue(backend, die, Command::Read, times, step, now);
    }

    fn read_to_park(&self, backend: &mut Backend, die: DieId, page: Ppn, now: Instant) {
        let (times, _) = self.read_out(backend, page);
        issue(backend, die, Command::Read, times, StepInFlight::Stage(page), now);
    }

    /// Begins to read one page over the channel. Returns what it takes, and whether it is in vain and the page is made up from
    /// others.
    fn read_out(&self, backend: &mut Backend, page: Ppn) -> (Times, bool) {
        backend.counters.reads += 1;
        backend.flash.note_page(page);
        let is_in_vain = backend.sense_to_move(page);
        (self.read_over_channel(backend, page, 1), is_in_vain)
    }

    /// Time of the array to read `page` for a move, with the look at the host's queue after it.
    #[inline(always)]
    fn read_time(&self, backend: &mut Backend, page: Ppn) -> Duration {
        backend.array_read(page, backend.ftl.geometry().page_offset(page)) + self.settings.poll
    }

    /// Times of reading `count` pages out like `page`, with the retries that they need.
    #[inline(always)]
    fn read_over_channel(&self, backend: &mut Backend, page: Ppn, count: u64) -> Times {
        let array = self.read_time(backend, page) + backend.take_extra();
        let timing = &backend.flash.timing;
        let transfer_out = timing.page_transfer * count;
        Times { transfer_in: timing.command, array, transfer_out }
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
            backend.flash.note_target(placed.page);
            offset = backend.ftl.geometry().page_offset(placed.page);
            filled += u64::from(placed.closes_block);
        }
        let count = members.len() as u64;
        backend.counters.moves.count(members, lanes.was_read_together());
        backend.counters.multi_plane_programs += u64::from(together);
        let times = self.program_times(backend, offset, filled, count);
        lanes.begin(&Step::Program(members.clone()));
        issue(backend, die, Command::Program, times, StepInFlight::Program, now);
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
                stage(backend, page);
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
        Self::note_end(backend, die, now);
        let gives_way = self.settings.end == GcEnd::OneVictim || collection.reason().is_for_data();
        if let Some(has_ended) = self.has_ended.as_mut().filter(|_| gives_way) {
            has_ended[die.index()] = true;
        }
        for plane in backend.planes_in(collection.to_level, die) {
            if let Some(job) = Job::wear_levelling(plane, &mut backend.ftl) {
                let lanes = Lanes::of(job, self.settings.how.read_out_if(in_idle_time));
                return self.put_on_die(
                    backend,
                    die,
                    lanes,
                    collection.to_level,
                    in_idle_time,
                    now,
                );
            }
        }
    }
}

/// Moves a page with copyback. Returns what that takes of the die.
#[inline(always)]
fn copy(backend: &mut Backend, page: Ppn) -> (Command, Times, StepInFlight) {
    let times = Times { array: place_copy(backend, page), ..Times::default() };
    (Command::Copyback, times, StepInFlight::Program)
}

/// Does so on a drive some of whose pages cannot be read. Apart, so that what other drives do at each move stays small.
#[inline(never)]
fn copy_with_errors(backend: &mut Backend, page: Ppn) -> (Command, Times, StepInFlight) {
    backend.copy_unseen(page);
    copy(backend, page)
}

/// Finds a page that is moved with copyback its new place. Returns what the command takes.
#[inline(always)]
fn place_copy(backend: &mut Backend, page: Ppn) -> Duration {
    let read = backend.array_read(page, backend.ftl.geometry().page_offset(page));
    let placed = backend.ftl.relocate(page);
    backend.flash.note_target(placed.page);
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
        backend.flash.note_page(backend.ftl.geometry().page(*block, 0));
    }
    // Blocks that are erased together are in one cell mode.
    let array = backend.array_erase(blocks[0]);
    lanes.begin(&Step::Erase(blocks));
    let times = Times { array, ..Times::default() };
    issue(backend, die, Command::Erase, times, StepInFlight::Erase, now);
}

/// Takes a page that has been read into the device's DRAM.
fn stage(backend: &mut Backend, page: Ppn) {
    if backend.ftl.is_valid(page) {
        backend.counters.moves.cached += 1;
        backend.ftl.stage(page, backend.ftl.geometry().plane_of(page));
    }
}

/// Gives `die` an operation of a collection.
#[inline(always)]
pub(super) fn issue(
    backend: &mut Backend,
    die: DieId,
    command: Command,
    times: Times,
    step: StepInFlight,
    now: Instant,
) {
    // What was in DRAM, or parity, is programmed when nothing is collected: the host may come beside it.
    let is_beside =
        matches!(step, StepInFlight::ProgramStaged | StepInFlight::Parity | StepInFlight::Rebuilt);
    let alone = !is_beside && !backend.flash.is_pipelined();
    backend.flash.issue(die, command, times, (Purpose::Collection(step), alone), now);
}
