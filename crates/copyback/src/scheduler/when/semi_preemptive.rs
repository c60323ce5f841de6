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

use smallvec::SmallVec;

use crate::collector::Collector;
use crate::config::PipelineOrder;
use crate::ids::{DieId, Ppn};
use crate::nand::{Command, Times};
use crate::placement::HostPage;
use crate::scheduler::dispatch::issue;
use crate::scheduler::{Next, WriteLevel, WriteQueue};
use crate::transaction::{Fifo, Transaction};
use crate::units::Duration;

use super::{Admitted, AtDie, Point, Situation, Turn, When};

/// The settings of the scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SemiPreemptive {
    /// What a look at the queue takes.
    pub poll: Duration,
    /// Whether a request for the page in the register is served from there.
    pub merge: bool,
    /// Whether the page that the oldest read asks for is moved next.
    pub reorder: bool,
    /// Whether the page that the oldest write supersedes is moved next.
    pub reorder_writes: bool,
    /// How operations of the collection and of the host of the same kind overlap.
    pub pipeline: Option<PipelineOrder>,
    /// Of each die, whether an operation of the host follows the one of the collection.
    pub host_follows: Vec<bool>,
    /// Whether a write that finds no free block keeps everybody from preempting.
    pub high_priority_writes: bool,
}

/// Who may preempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// 0: nothing is collected.
    Off,
    /// 1: every request.
    Open,
    /// 2: every request that takes no free block.
    Guarded,
    /// 3: none.
    Closed,
}

impl SemiPreemptive {
    /// The state of a die.
    pub const fn state(&self, situation: &Situation) -> State {
        if !situation.collecting {
            State::Off
        } else if !situation.below_hard {
            State::Open
        } else if self.high_priority_writes && situation.write_finds_no_block {
            State::Closed
        } else {
            State::Guarded
        }
    }

    /// Which requests may go before the collection's next operation.
    const fn at(&self, point: Point, situation: &Situation) -> Admitted {
        match (self.state(situation), point) {
            (State::Off, _) => Admitted::ALL,
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
        self.at(at.point(), &at.situation())
    }

    fn turn(&mut self, at: &mut AtDie<'_>) -> Turn {
        if self.merge && serve_from_register(at) {
            return Turn::Served;
        }
        let next = at.next_host_operation(self.admitted(at));
        if self.moves_next(at, next) {
            return at.turn_of_collection();
        }
        if self.lets_host_follow(at, next) {
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

    fn overlaps(&self) -> bool {
        self.pipeline.is_some()
    }

    /// Pipelining the other way round: an operation of the host behind one of the collection.
    fn beside(&mut self, at: &mut AtDie<'_>) -> Option<Next> {
        let may_follow = self.pipeline == Some(PipelineOrder::Joins)
            || (self.pipeline.is_some() && self.host_follows[at.die.index()]);
        if !may_follow {
            return None;
        }
        let next = at.next_host_operation(self.admitted(at))?;
        let die = at.backend.flash.die(at.die);
        (die.holds_only(next.command()) && die.accepts(next.command())).then_some(next)
    }

    fn host_begins(&mut self, die: DieId) {
        if let Some(host_follows) = self.host_follows.get_mut(die.index()) {
            *host_follows = false;
        }
    }
}

impl SemiPreemptive {
    const fn collection_follows(&self) -> bool {
        use PipelineOrder::{CollectionFollows, Either, Joins};
        matches!(self.pipeline, Some(CollectionFollows | Either | Joins))
    }

    /// Whether the collection's next operation begins before that of the host which is `next`, as both are of one
    /// kind, and has that follow [beside](When::beside) it.
    fn lets_host_follow(&mut self, at: &mut AtDie<'_>, next: Option<Next>) -> bool {
        use PipelineOrder::{Either, HostFollows, Joins};
        if !matches!(self.pipeline, Some(HostFollows | Either | Joins)) {
            return false;
        }
        let both = next.is_some_and(|next| at.next_step_of_move() == Some(next.command()));
        let follows = both && at.backend.flash.die(at.die).is_idle();
        self.host_follows[at.die.index()] = follows;
        follows
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
    let Some(collection) = at.collector.of(at.die) else { return false };
    if !at.backend.flash.die(at.die).is_idle() {
        return false;
    }
    let carried = collection.lanes.lanes.iter().filter_map(|lane| lane.carried);
    let valid = carried.filter(|page| at.backend.ftl.is_valid(*page));
    let valid: SmallVec<[Ppn; 2]> = valid.collect();
    valid.into_iter().any(|page| merge_reads(at, page) || merge_write(at, page))
}

/// Serves every read that waits for `page`. It is on its way out of the register, or already in the controller if
/// collections move pages over the channel.
fn merge_reads(at: &mut AtDie<'_>, page: Ppn) -> bool {
    let plane = at.backend.ftl.geometry.plane_of(page);
    let mut group = Fifo::default();
    let mut merged = 0;
    while let Some(id) = at
        .scheduler
        .queues
        .take_read(plane, |transaction| at.backend.ftl.lookup(transaction.lpn) == Some(page))
    {
        at.backend.ftl.check_read(at.scheduler.queues.transactions.get(id).lpn);
        at.backend.flash.note_page(page);
        at.scheduler.join(at.backend, id, &mut group, at.now);
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
    issue(at.backend, at.die, Command::Read, times, group, at.now);
    Collector::yield_to_host(at.backend, at.die, at.now);
    true
}

/// Serves the first write that waits for `page`, whose old data then need not be moved.
fn merge_write(at: &mut AtDie<'_>, page: Ppn) -> bool {
    let ftl = &at.backend.ftl;
    let plane = ftl.geometry.plane_of(page);
    let queue = match at.scheduler.queues.write_level() {
        WriteLevel::Plane => WriteQueue::Plane(plane),
        WriteLevel::Die => WriteQueue::Die(at.die),
        WriteLevel::Device => WriteQueue::Device,
    };
    let Some(offset) = ftl.next_host_offset(plane, HostPage::without_hint(ftl.logical(page)))
    else {
        return false;
    };
    let waits_for_it = |transaction: &Transaction| ftl.lookup(transaction.lpn) == Some(page);
    let Some(id) = at.scheduler.queues.take_write(queue, waits_for_it) else { return false };
    at.backend.counters.merged_writes += 1;
    Collector::yield_to_host(at.backend, at.die, at.now);
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

    fn situation(below_hard: bool, write_finds_no_block: bool) -> Situation {
        Situation { collecting: true, below_hard, write_finds_no_block }
    }

    fn scheme(high_priority_writes: bool) -> SemiPreemptive {
        SemiPreemptive {
            poll: Duration::from_ns(600),
            merge: false,
            reorder: false,
            reorder_writes: false,
            pipeline: None,
            host_follows: Vec::new(),
            high_priority_writes,
        }
    }

    #[test]
    fn the_four_states_of_figure_7() {
        let idle = Situation { collecting: false, ..situation(false, false) };
        assert_eq!(scheme(true).state(&idle), State::Off);
        assert_eq!(scheme(true).state(&situation(false, false)), State::Open);
        assert_eq!(scheme(true).state(&situation(true, false)), State::Guarded);
        assert_eq!(scheme(true).state(&situation(true, true)), State::Closed);
        assert_eq!(scheme(false).state(&situation(true, true)), State::Guarded);
    }

    #[test]
    fn a_page_in_the_register_keeps_reads_out() {
        let open = situation(false, false);
        assert_eq!(scheme(false).at(Point::BetweenMoves, &open), Admitted::ALL);
        let before_write = scheme(false).at(Point::BeforeWrite, &open);
        assert_eq!(before_write, Admitted { reads: false, writes: true });
        let closed = situation(true, true);
        assert_eq!(scheme(true).at(Point::BetweenMoves, &closed), Admitted::NOTHING);
    }
}
