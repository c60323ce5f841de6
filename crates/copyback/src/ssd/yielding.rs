//! A collection stands between two of its flash operations: who goes next, and what the host's
//! requests share with it. The schedule decides; this carries it out.

use smallvec::SmallVec;

use crate::gc::external::Outlook;
use crate::gc::lanes::Step;
use crate::gc::schedule::{Admitted, Point, Situation};
use crate::ids::{DieId, PlaneId, Ppn};
use crate::nand::{Command, Operation};
use crate::units::{Duration, Instant};

use super::dispatch::Next;
use super::queues::{WriteLevel, WriteQueue, planes_in};
use super::transaction::Fifo;
use super::{Purpose, Ssd};

impl Ssd {
    /// Serves the host if the schedule lets it go first, else carries the collection on. Returns
    /// whether the die may have further work to start now.
    pub(super) fn go_on_collecting(&mut self, die: DieId, now: Instant) -> bool {
        if self.is_put_off(die, now) {
            return self.serve_instead(die, now);
        }
        if self.schedule.yields() {
            if self.schedule.merges() && self.merge(die, now) {
                return true;
            }
            let admitted = self.admitted(die, now);
            let next = self.next_host_operation(die, admitted);
            if !self.move_what_is_asked_for(die, next) {
                if self.start_if_ready(die, next, now) {
                    self.yield_to_host(die, now);
                    return true;
                }
                if !self.dies[die.index()].is_idle() {
                    return next.is_none() && self.pipeline(die, now);
                }
            }
        }
        if !self.dies[die.index()].is_idle() {
            return false;
        }
        let is_interrupted = self.is_interrupted(die);
        let more = self.start_collection_step(die, now);
        if is_interrupted {
            self.wake_for_waiting_writes();
        }
        more
    }

    /// Whether the collection of `die` was begun in idle time and rests.
    pub(super) fn is_interrupted(&self, die: DieId) -> bool {
        let collection = self.collections[die.index()].as_ref();
        collection.is_some_and(|collection| collection.in_idle_time)
            && !self.die_clocks[die.index()].is_collecting()
    }

    /// The requests that may go before the next operation of the die's collection.
    pub(super) fn admitted(&mut self, die: DieId, now: Instant) -> Admitted {
        let collection = self.collections[die.index()].as_ref();
        let carries = collection.is_some_and(|collection| collection.lanes.carries());
        let point = if carries { Point::BeforeWrite } else { Point::BetweenMoves };
        let situation = Situation {
            collecting: true,
            below_hard: self.ftl.has_plane_below_hard_threshold(die),
            write_finds_no_block: self.write_finds_no_block(die),
        };
        if self.schedule.wants_outlook() && self.host_waits(die) {
            let outlook = self.outlook(die, now);
            return self.schedule.admitted_with(die.index(), point, &situation, outlook);
        }
        self.schedule.admitted(die.index(), point, &situation)
    }

    fn outlook(&self, die: DieId, now: Instant) -> Outlook {
        let planes = self.geometry.planes_of_die(die);
        let free_blocks = planes.map(|plane| self.ftl.free_blocks(plane)).min().unwrap_or(0);
        let lanes = self.collections[die.index()].iter().flat_map(|c| c.lanes.lanes.iter());
        let left = lanes.map(|lane| u32::from(self.ftl.valid_pages(lane.job.victim())));
        Outlook {
            now,
            waiting_reads: self.queues.reads_waiting(die, &self.transactions) as u32,
            waiting_writes: self.queues.writes_waiting(die, &self.transactions) as u32,
            free_blocks: free_blocks as u32,
            pages_left: left.sum(),
        }
    }

    /// The host has been served in the middle of a collection.
    pub(super) fn yield_to_host(&mut self, die: DieId, now: Instant) {
        if self.die_clocks[die.index()].is_collecting() {
            self.counters.preemptions += 1;
            self.collection_rests(die, now);
        }
    }

    /// Whether a write waits for a plane of `die` that can take none.
    fn write_finds_no_block(&self, die: DieId) -> bool {
        match self.queues.write_level() {
            WriteLevel::Plane => {
                let mask = self.queues.planes_with_writes(die);
                planes_in(mask, die, self.geometry.planes_per_die).any(|plane| {
                    let first = self.queues.first_write(WriteQueue::Plane(plane));
                    first.is_some_and(|id| !self.ftl.accepts(plane, self.transactions.get(id).lpn))
                })
            }
            WriteLevel::Die => self.finds_no_block(WriteQueue::Die(die), die),
            WriteLevel::Device => self.finds_no_block(WriteQueue::Device, die),
        }
    }

    /// Whether a write waits in `queue`, and no plane of `die` can take the first.
    fn finds_no_block(&self, queue: WriteQueue, die: DieId) -> bool {
        let first = self.queues.first_write(queue);
        first.is_some_and(|id| self.ftl.next_plane(die, self.transactions.get(id).lpn).is_none())
    }

    /// Keeps account of the time in which writes wait for a free block although collections yield, or for
    /// room in a full buffer. Where they don't yield, writes wait for the collections themselves.
    pub(super) fn note_stall(&mut self, die: DieId, now: Instant) {
        let since = &self.stalled[die.index()];
        if since.is_none() && self.ftl.hungry_planes(die) == 0 {
            return;
        }
        match (*since, self.write_finds_no_block(die)) {
            (None, true) => self.stalled[die.index()] = Some(now),
            (Some(since), false) => {
                self.counters.stalled += now - since;
                self.stalled[die.index()] = None;
            }
            _ => {}
        }
    }

    /// Starts the collection's next operation while the last operation of the host is still in the
    /// die, if both are of one kind: one is in the array while the other is on the channel.
    fn pipeline(&mut self, die: DieId, now: Instant) -> bool {
        if !self.schedule.pipelines() {
            return false;
        }
        let Some(collection) = &mut self.collections[die.index()] else { return false };
        let command = match collection.lanes.next_step(&self.ftl) {
            Some(Step::Read(_)) => Command::Read,
            Some(Step::Program(_)) => Command::Program,
            Some(Step::Erase(_)) | None => return false,
        };
        let state = &self.dies[die.index()];
        if !state.holds_only(command) || !state.accepts(command) {
            return false;
        }
        self.counters.pipelined += 1;
        self.start_collection_step(die, now)
    }

    /// If the host's next operation reads a page of a victim, has the collection move that page next,
    /// to be served from the register. Returns whether it will.
    fn move_what_is_asked_for(&mut self, die: DieId, next: Option<Next>) -> bool {
        if !self.schedule.reorders() {
            return false;
        }
        let Some(Next::Read(plane)) = next else { return false };
        let Some(page) = self.page_of_first_read(plane) else { return false };
        let Some(collection) = &mut self.collections[die.index()] else { return false };
        collection.lanes.prefer(page, &self.ftl)
    }

    pub(super) fn page_of_first_read(&self, plane: PlaneId) -> Option<Ppn> {
        let first = self.queues.first_read(plane)?;
        self.ftl.lookup(self.transactions.get(first).lpn)
    }

    /// Serves requests for a page in the register from there.
    fn merge(&mut self, die: DieId, now: Instant) -> bool {
        let Some(collection) = &self.collections[die.index()] else { return false };
        if !self.dies[die.index()].is_idle() {
            return false;
        }
        let carried = collection.lanes.lanes.iter().filter_map(|lane| lane.carried);
        let carried: SmallVec<[Ppn; 2]> = carried.filter(|page| self.ftl.is_valid(*page)).collect();
        carried
            .into_iter()
            .any(|page| self.merge_reads(die, page, now) || self.merge_write(die, page, now))
    }

    /// Serves every read that waits for `page`. It is on its way out of the register, or already in
    /// the controller if collections move pages over the channel.
    fn merge_reads(&mut self, die: DieId, page: Ppn, now: Instant) -> bool {
        let plane = self.geometry.plane_of(page);
        let mut group = Fifo::default();
        let mut merged = 0;
        while let Some(id) = self.queues.take_read(plane, &mut self.transactions, |transaction| {
            self.ftl.lookup(transaction.lpn) == Some(page)
        }) {
            self.ftl.check_read(self.transactions.get(id).lpn);
            self.note_page(page);
            self.join(id, &mut group, now);
            merged += 1;
        }
        if merged == 0 {
            return false;
        }
        self.counters.merged_reads += merged;
        let transfers = match self.options.copyback {
            true => [self.timing.command, self.timing.page_transfer],
            false => [Duration::ZERO; 2],
        };
        let times = [transfers[0], Duration::ZERO, transfers[1]];
        let mut operation = Operation::new(Command::Read, times, Purpose::Host(group), now);
        operation.pages = self.take_pages();
        self.die_clocks[die.index()].serve_begins(now);
        self.dies[die.index()].start(operation);
        self.yield_to_host(die, now);
        true
    }

    /// Serves the first write that waits for the page, whose old data then need not be moved.
    fn merge_write(&mut self, die: DieId, page: Ppn, now: Instant) -> bool {
        let plane = self.geometry.plane_of(page);
        if self.queues.write_level() != WriteLevel::Plane {
            return false;
        }
        let lpn = self.ftl.logical(page);
        let Some(offset) = self.ftl.next_host_offset(plane, lpn) else { return false };
        let queue = WriteQueue::Plane(plane);
        let found = self.queues.take_write(queue, &mut self.transactions, |transaction| {
            self.ftl.lookup(transaction.lpn) == Some(page)
        });
        let Some(id) = found else { return false };
        self.counters.merged_writes += 1;
        self.yield_to_host(die, now);
        self.start_taken_write(id, queue, (plane, offset), now);
        true
    }
}
