//! Semi-preemptive (Lee, Kim, Shipman, Oral, Wang, Kim: A semi-preemptive garbage collector for
//! solid state drives, ISPASS 2011).
//!
//! A page move is a read into the register and a write from there. A flash operation is never
//! broken off; between two of them the collection looks at the queue, which takes `poll`, and lets
//! requests go first:
//!
//! ```text
//!            (2)        (1)         (2)        (1)         (2)
//!  collection │ read x   │ write x   │ read y   │ write y   │ erase
//! ```
//!
//! At point (2) it serves anything. At point (1) the register holds a page, so that no other page can
//! be read. Four states say who may preempt (figure 7 of the paper):
//!
//! ```text
//!  0 no collection ──free < T_soft──► 1 all may ──free < T_hard──► 2 nobody who takes a free block
//!                  ◄─free ≥ T_soft──            ◄─free ≥ T_hard──   │ high-priority write finds no
//!                                                                   ▼ free block
//!                                                                   3 nobody
//! ```
//!
//! What takes a free block in state 2 is for the translation layer to say: a plane with fewer than
//! `hard_threshold` free blocks opens none for the host.

use std::cell::Cell;

use smallvec::SmallVec;

use crate::checkpoint::Checkpointed;
use crate::config::PipelineOrder;
use crate::ids::Ppn;
use crate::nand::{Command, Times};
use crate::placement::HostPage;
use crate::scheduler::dispatch::issue;
use crate::scheduler::{Next, WriteLevel, WriteQueue};
use crate::shortcut::Undisturbed;
use crate::transaction::{Fifo, Kind, Transaction};
use crate::units::Duration;

use super::{Admitted, AtDie, Begun, Point, Turn, When};

/// The settings of the scheme.
#[derive(Debug, Clone, PartialEq, Eq, Checkpointed)]
pub struct SemiPreemptive {
    /// Time of a look at the queue.
    pub poll: Duration,
    /// Whether a request for the page in the register is served from there.
    pub merge: bool,
    /// Whether the page that the oldest read asks for is moved next.
    pub reorder: bool,
    /// Whether the page that the oldest write supersedes is moved next.
    pub reorder_writes: bool,
    /// Order in which operations of the collection and of the host of the same kind overlap.
    pub pipeline: Option<PipelineOrder>,
    /// Kind of the operation of the host that is to follow the one of the collection, for each die.
    pub host_follows: Vec<Option<Command>>,
    /// Whether a write that finds no free block keeps everybody from preempting.
    pub high_priority_writes: bool,
    /// Flows whose writes do so; those of every flow if empty.
    pub priority_flows: Vec<u16>,
}

/// State that says who may preempt. State 0, in which nothing is collected, is no scheme's concern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// 1: every request.
    Open,
    /// 2: every request that takes no free block.
    Guarded,
    /// 3: none.
    Closed,
}

impl SemiPreemptive {
    /// The state of a die that is being collected or due. Both are asked only where it turns on them.
    fn state(
        &self,
        below_hard: impl FnOnce() -> bool,
        write_finds_no_block: impl FnOnce() -> bool,
    ) -> State {
        if !below_hard() {
            State::Open
        } else if self.high_priority_writes && write_finds_no_block() {
            State::Closed
        } else {
            State::Guarded
        }
    }

    /// Whether a write of this page is one of a flow that has priority.
    fn has_priority(&self, page: HostPage) -> bool {
        page.hint.is_some_and(|hint| {
            self.priority_flows.iter().any(|flow| usize::from(*flow) == hint.flow())
        })
    }

    /// Requests that may go before the collection's next operation.
    const fn at(state: State, point: Point) -> Admitted {
        match (state, point) {
            (State::Open | State::Guarded, Point::BetweenMoves) => Admitted::ALL,
            (State::Open | State::Guarded, Point::BeforeWrite) => {
                Admitted { reads: false, writes: true }
            }
            (State::Closed, _) => Admitted::NOTHING,
        }
    }
}

impl When for SemiPreemptive {
    fn admitted(&mut self, at: &AtDie<'_>) -> Admitted {
        let counts = |page| self.priority_flows.is_empty() || self.has_priority(page);
        let state = self.state(|| at.is_below_hard(), || at.write_finds_no_block(counts));
        Self::at(state, at.point())
    }

    fn turn(&mut self, at: &mut AtDie<'_>) -> Turn {
        if self.merge && serve_from_register(at) {
            return Turn::Served;
        }
        self.host_follows[at.die.index()] = None;
        let admitted = self.admitted(at);
        let next = at.next_host_operation(admitted);
        if self.moves_next(at, next) {
            return at.turn_of_collection();
        }
        if let Some(next) = next.filter(|next| self.host_may_follow(at, *next, admitted)) {
            self.host_follows[at.die.index()] = Some(next.command());
            return Turn::Collect;
        }
        let collection_follows = self.collection_follows() && next.is_none();
        match at.turn_of(next) {
            Turn::Wait if collection_follows && fits_beside_host(at) => {
                at.backend.counters.pipelined += 1;
                Turn::Overlap
            }
            turn => turn,
        }
    }

    fn poll(&self) -> Duration {
        self.poll
    }

    fn splits_moves(&self) -> bool {
        true
    }

    /// Reordering says what is to be moved next while the die is busy.
    fn undisturbed(&self) -> Undisturbed {
        match self.reorder || self.reorder_writes {
            true => Undisturbed::UntilNextInstant,
            false => Undisturbed::UntilOperationEnds,
        }
    }

    fn overlaps(&self) -> bool {
        self.pipeline.is_some()
    }

    /// Pipelining the other way round: an operation of the host behind one of the collection. The point at which the
    /// collection's began says who may: the operation that was next there, or one that joins and overtakes nobody.
    fn beside(&mut self, at: &mut AtDie<'_>) -> Option<Next> {
        let follows = self.host_follows[at.die.index()];
        if follows.is_none() && self.pipeline != Some(PipelineOrder::Joins) {
            return None;
        }
        let admitted = self.admitted(at);
        let next = match follows {
            Some(command) => at.next_host_operation(admitted.only(command)),
            None => {
                at.next_host_operation(Admitted::ALL).filter(|next| admitted.admit(next.command()))
            }
        }?;
        let die = at.backend.flash.die(at.die);
        let fits = die.holds_only(next.command()) && die.accepts(next.command());
        (fits && !self.will_be_merged(at, next)).then_some(next)
    }

    fn host_begins(&mut self, at: &mut AtDie<'_>, _: Begun) {
        if let Some(host_follows) = self.host_follows.get_mut(at.die.index()) {
            *host_follows = None;
        }
    }
}

impl SemiPreemptive {
    const fn collection_follows(&self) -> bool {
        use PipelineOrder::{CollectionFollows, Either, Joins};
        matches!(self.pipeline, Some(CollectionFollows | Either | Joins))
    }

    /// Whether the collection's next operation begins before that of the host which is `next`, and has that follow
    /// [beside](When::beside) it: both are of one kind, and no other operation of the host waits, which the point behind
    /// the collection's might keep out.
    fn host_may_follow(&self, at: &mut AtDie<'_>, next: Next, admitted: Admitted) -> bool {
        use PipelineOrder::{Either, HostFollows, Joins};
        let command = next.command();
        matches!(self.pipeline, Some(HostFollows | Either | Joins))
            && at.backend.flash.die(at.die).is_idle()
            && at.can_be_followed(command)
            && at.next_step_of_move() == Some(command)
            && at.waits_alone(next, admitted)
    }

    /// Whether `next` reads a page that the collection reads, and will be [served](serve_from_register) from the register.
    fn will_be_merged(&self, at: &AtDie<'_>, next: Next) -> bool {
        let page = match next {
            Next::Read(plane) if self.merge => {
                at.scheduler.queues.page_of_first_read(&at.backend.ftl, plane)
            }
            _ => None,
        };
        page.is_some_and(|page| at.carried().any(|carried| carried == page))
    }

    /// Reordering (section III.B): if the host's next operation asks for a page of a victim, has the collection move
    /// that page next, to be served from the register. Returns whether it will.
    fn moves_next(&self, at: &mut AtDie<'_>, next: Option<Next>) -> bool {
        let page = match next {
            Some(Next::Read(plane)) if self.reorder => {
                at.scheduler.queues.page_of_first_read(&at.backend.ftl, plane)
            }
            Some(Next::Write(next)) if self.reorder_writes => {
                at.scheduler.queues.page_superseded_by(&at.backend.ftl, next)
            }
            _ => None,
        };
        let Some(page) = page else { return false };
        let collection = at.collector.of_mut(at.die);
        collection.is_some_and(|collection| collection.lanes.prefer(page, &at.backend.ftl))
    }
}

/// Merging (section III.B): serves requests for a page in the register from there. Returns whether there were
/// any.
fn serve_from_register(at: &mut AtDie<'_>) -> bool {
    if !at.backend.flash.die(at.die).is_idle() {
        return false;
    }
    let valid: SmallVec<[Ppn; 2]> =
        at.carried().filter(|page| at.backend.ftl.is_valid(*page)).collect();
    valid.into_iter().any(|page| merge_reads(at, page) || merge_write(at, page))
}

/// Serves every read that waits for `page`. It is on its way out of the register, or already in the controller if
/// collections move pages over the channel.
fn merge_reads(at: &mut AtDie<'_>, page: Ppn) -> bool {
    let plane = at.backend.ftl.geometry().plane_of(page);
    let mut group = Fifo::default();
    let mut merged = 0;
    while let Some(id) = at.scheduler.queues.take_read(plane, |read| {
        read.kind != Kind::OfStripe && at.backend.ftl.lookup(read.lpn) == Some(page)
    }) {
        let read = at.scheduler.queues.transactions.get_mut(id);
        at.backend.ftl.check_read(read.lpn, read.reader());
        let ftl = &at.backend.ftl;
        at.backend.counters.mapping.reads += u64::from(ftl.limits().is_translation_page(read.lpn));
        if at.backend.ftl.lost_pages().is_illegible(page) {
            read.cannot_be_corrected();
        }
        at.backend.flash.pages.note(page);
        at.scheduler.queues.join(&mut at.backend.observer, id, &mut group, at.now);
        merged += 1;
    }
    if merged == 0 {
        return false;
    }
    at.backend.counters.merged_reads += merged;
    let timing = &at.backend.flash.timing;
    let times = match at.collector.moves_by_copyback() {
        true => Times {
            transfer_in: timing.command,
            transfer_out: timing.page_transfer,
            ..Times::default()
        },
        false => Times::default(),
    };
    issue(
        &mut at.backend.observer,
        &mut at.backend.flash,
        at.die,
        Command::Read,
        times,
        group,
        at.now,
    );
    at.yield_to_host();
    true
}

/// Serves the first write that waits for `page`, whose old data then need not be moved.
fn merge_write(at: &mut AtDie<'_>, page: Ppn) -> bool {
    let ftl = &at.backend.ftl;
    let plane = ftl.geometry().plane_of(page);
    let queue = match at.scheduler.queues.write_level() {
        WriteLevel::Plane => WriteQueue::Plane(plane),
        WriteLevel::Die => WriteQueue::Die(at.die),
        WriteLevel::Device => WriteQueue::Device,
    };
    // The first one decides: those behind it write the same page, and do not overtake it. It goes to a block of its own
    // class, which may have none.
    let is_first = Cell::new(true);
    let waits_for_it = |transaction: &Transaction| {
        ftl.lookup(transaction.lpn) == Some(page)
            && is_first.replace(false)
            && ftl.accepts(plane, transaction.page())
    };
    let Some(id) = at.scheduler.queues.take_write(queue, waits_for_it) else { return false };
    let written = at.scheduler.queues.transactions.get(id).page();
    let offset = at.backend.ftl.next_host_offset(plane, written);
    let offset = offset.expect("the plane accepts the write");
    at.backend.counters.merged_writes += 1;
    at.yield_to_host();
    at.scheduler.start_taken_write(at.backend, id, queue, (plane, offset), at.now);
    true
}

/// Pipelining (section III.C): whether the collection's next operation may begin while the last operation of the
/// host is still in the die, as both are of one kind: one is in the array while the other is on the channel.
fn fits_beside_host(at: &mut AtDie<'_>) -> bool {
    let Some(command) = at.next_step_of_move() else { return false };
    let die = at.backend.flash.die(at.die);
    die.holds_only(command) && die.accepts(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheme(high_priority_writes: bool) -> SemiPreemptive {
        SemiPreemptive {
            poll: Duration::from_ns(600),
            merge: false,
            reorder: false,
            reorder_writes: false,
            pipeline: None,
            host_follows: Vec::new(),
            high_priority_writes,
            priority_flows: Vec::new(),
        }
    }

    #[test]
    fn the_states_of_figure_7_in_which_something_is_collected() {
        let state = |priority, hard, block| scheme(priority).state(|| hard, || block);
        assert_eq!(state(true, false, false), State::Open);
        assert_eq!(state(true, false, true), State::Open);
        assert_eq!(state(true, true, false), State::Guarded);
        assert_eq!(state(true, true, true), State::Closed);
        assert_eq!(state(false, true, true), State::Guarded);
    }

    #[test]
    fn a_page_in_the_register_keeps_reads_out() {
        assert_eq!(SemiPreemptive::at(State::Open, Point::BetweenMoves), Admitted::ALL);
        let before_write = SemiPreemptive::at(State::Open, Point::BeforeWrite);
        assert_eq!(before_write, Admitted { reads: false, writes: true });
        let closed = SemiPreemptive::at(State::Closed, Point::BetweenMoves);
        assert_eq!(closed, Admitted::NOTHING);
    }
}
