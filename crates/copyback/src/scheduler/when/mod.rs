//! WHEN: whether a collection that is due, or has begun, yields to the host.
//!
//! A scheme is a type that is [`When`]. Each time that a die could take work and a collection is due or under way
//! on it, the scheme says whose [turn](Turn) it is; it sees the die as [`AtDie`] shows it. It is told when steps
//! of collections and operations of the host begin.

mod at_die;
mod external;
mod never;
mod paced;
mod partial;
mod semi_preemptive;
pub mod supply;
mod turns;

pub use crate::collector::Point;
pub use at_die::AtDie;
pub use semi_preemptive::SemiPreemptive;

use std::fmt::Debug;
use std::ops::{Deref, DerefMut};

use crate::checkpoint::Checkpointed;
use crate::config::{self, Preemption};
use crate::ids::{DieId, PlaneId};
use crate::nand::Command;
use crate::one_of::one_of;
use crate::outside::Failed;
use crate::shortcut::Undisturbed;
use crate::units::Duration;
use supply::ExternalSchedule;

use super::Next;
use external::External;
use never::Never;
use paced::Paced;
use partial::Partial;
use turns::Turns;

/// Situation of a die, as far as a scheme knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Situation {
    /// A plane is being collected or is due.
    pub collecting: bool,
    /// A plane that is short of space has fewer free blocks than the hard threshold.
    pub below_hard: bool,
    /// A write waits that no plane can take.
    pub write_finds_no_block: bool,
}

/// Operations that go before the next one of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admitted {
    /// Reads of the host.
    pub reads: bool,
    /// Writes of the host, to planes that can take them.
    pub writes: bool,
}

impl Admitted {
    /// Reads and writes.
    pub const ALL: Self = Self { reads: true, writes: true };
    /// Neither reads nor writes.
    pub const NOTHING: Self = Self { reads: false, writes: false };

    /// Requests among these whose operation is a `command`.
    const fn only(self, command: Command) -> Self {
        Self {
            reads: self.reads && matches!(command, Command::Read),
            writes: self.writes && matches!(command, Command::Program),
        }
    }

    /// Requests among these whose operation is no `command`.
    const fn except(self, command: Command) -> Self {
        Self {
            reads: self.reads && !matches!(command, Command::Read),
            writes: self.writes && !matches!(command, Command::Program),
        }
    }

    /// Whether operations that are a `command` may go.
    fn admit(self, command: Command) -> bool {
        self.only(command) != Self::NOTHING
    }
}

/// Next work of a die.
#[derive(Debug, Clone, Copy)]
pub enum Turn {
    /// This operation of the host, which the die can take.
    Serve(Next),
    /// The host has been served by the scheme itself.
    Served,
    /// The collection goes on in the idle die.
    Collect,
    /// The collection goes on beside an operation of the host.
    Overlap,
    /// No work: the die waits for what is in it.
    Wait,
}

/// Work that has begun for the host on a die.
#[derive(Debug, Clone, Copy)]
pub struct Begun {
    /// The operation that it was begun with.
    pub next: Next,
    /// Pages that the host writes with it, on several planes perhaps.
    pub pages_written: u64,
}

/// A scheme.
pub trait When: Debug + Send + Sync {
    /// Requests that may go before the next operation of the die's collection, which is due or under way.
    fn admitted(&mut self, at: &AtDie<'_>) -> Admitted;

    /// Arbitrates a die whose collection is under way, and of which no operation is in the die.
    fn turn(&mut self, at: &mut AtDie<'_>) -> Turn {
        let admitted = self.admitted(at);
        at.turn_of(at.next_host_operation(admitted))
    }

    /// Picks the plane of `die` that is collected now among those short of space, counted inside the die;
    /// `to_collect` has a bit for each. `None` if they take turns.
    fn plane_to_collect(&mut self, _die: DieId, _to_collect: u32) -> Option<u32> {
        None
    }

    /// A collection that was due has been put on the die.
    fn collection_begins(&mut self, _at: &AtDie<'_>) {}

    /// A collection begins to move a page of `die`, or to erase a block, on `parts` planes together.
    fn step_begins(&mut self, _die: DieId, _parts: u64) {}

    /// The step of `die` that began last moves `parts` pages more.
    fn step_goes_on(&mut self, _die: DieId, _parts: u64) {}

    /// An operation of the host begins on the die.
    fn host_begins(&mut self, _at: &mut AtDie<'_>, _begun: Begun) {}

    /// Time of a look at the queue after each operation of a collection.
    fn poll(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether a collection may yield between the read and the program of a page that it moves.
    fn splits_moves(&self) -> bool {
        false
    }

    /// Whether operations of a collection may [overlap](Turn::Overlap) those of the host in a die.
    fn overlaps(&self) -> bool {
        false
    }

    /// The operation of the host that begins beside the one of the collection which is in the die, and which the die
    /// can take.
    fn beside(&mut self, _at: &mut AtDie<'_>) -> Option<Next> {
        None
    }

    /// Until when a die is undisturbed for the scheme, whose collection is due or under way: the scheme need not be asked
    /// before. Answered once, when the drive is built. The first answer is right for each scheme. The others make a run
    /// faster, and change none of its results:
    ///
    /// - `Never`: the scheme is asked wherever it may be.
    /// - `UntilNextInstant`: the scheme is asked but where a collection ends a step and no operation of the host waits for
    ///   the die.
    /// - `UntilOperationEnds`: the scheme is asked only where an operation of the host could begin. Right for a scheme that
    ///   neither learns from being asked nor does anything but let the host go first.
    /// - `UntilCollectionEnds`: collections do not yield. The scheme is asked nothing, and no write counts as stalled.
    fn undisturbed(&self) -> Undisturbed {
        Undisturbed::Never
    }

    /// Whether writes are charged steps of collections.
    fn charges_writes(&self) -> bool {
        false
    }

    /// Takes a policy from outside, if the scheme asks one.
    fn supply(&mut self, _policy: Box<dyn ExternalSchedule>) {}

    /// Reason why an external policy is no longer called, if it has failed.
    fn failed(&self) -> Option<Failed> {
        None
    }
}

one_of! { $
    /// The scheme of a drive.
    #[derive(Debug, Checkpointed)]
    pub enum Scheme {
        /// Collections never yield.
        Never(Never),
        /// Collections in steps.
        Partial(Partial),
        /// Collections yield between two operations.
        SemiPreemptive(SemiPreemptive),
        /// Writes are charged steps of collections.
        Paced(Paced),
        /// Choice of an external policy.
        External(External),
    }
}

impl Deref for Scheme {
    type Target = dyn When;

    fn deref(&self) -> &Self::Target {
        each!(self, scheme => scheme)
    }
}

impl DerefMut for Scheme {
    fn deref_mut(&mut self) -> &mut Self::Target {
        each!(self, scheme => scheme)
    }
}

/// The scheme of a drive's collections, and whose turn it is among the planes of a die.
#[derive(Debug, Checkpointed)]
pub struct Schedule {
    turns: Turns,
    /// Until when a die is undisturbed for the scheme.
    pub undisturbed: Undisturbed,
    /// Whether the scheme ever yields: it need not be asked else.
    pub yields: bool,
    /// Whether operations of the host and of collections overlap in a die.
    pub overlaps: bool,
    /// The scheme.
    pub scheme: Scheme,
}

impl Schedule {
    /// The scheme that a checked configuration describes, for a device of this many dies.
    pub fn new(config: &config::Gc, dies: usize, planes_per_die: u32) -> Self {
        let scheme = match &config.preemption {
            Preemption::None => Scheme::Never(Never),
            Preemption::SemiPreemptive {
                poll,
                merge,
                reorder,
                reorder_writes,
                pipeline,
                pipeline_order,
                high_priority_writes,
                priority_flows,
            } => Scheme::SemiPreemptive(SemiPreemptive {
                poll: poll.0,
                merge: *merge,
                reorder: *reorder,
                reorder_writes: *reorder_writes,
                pipeline: pipeline.then_some(*pipeline_order),
                host_follows: vec![None; dies],
                high_priority_writes: *high_priority_writes,
                priority_flows: priority_flows.clone(),
            }),
            Preemption::Partial { steps } => Scheme::Partial(Partial::new(*steps, dies)),
            // What takes no time needs no pace.
            Preemption::Paced { .. } if config.zero_cost => Scheme::Never(Never),
            Preemption::Paced { set_point, most_times, reads_ahead } => {
                Scheme::Paced(Paced::new(set_point.0, *most_times, *reads_ahead, dies))
            }
            Preemption::Python { poll, inside_moves, .. } => {
                Scheme::External(External::new(poll.0, *inside_moves, dies))
            }
        };
        let overlaps = scheme.overlaps();
        // What begins beside an operation begins while the die is busy.
        let most = if overlaps { Undisturbed::UntilNextInstant } else { scheme.undisturbed() };
        let undisturbed = scheme.undisturbed().min(most);
        let yields = undisturbed != Undisturbed::UntilCollectionEnds;
        let turns = Turns::new(dies, planes_per_die);
        Self { turns, undisturbed, yields, overlaps, scheme }
    }

    /// The plane of `die`, which is free, that is to be collected now. `to_collect` has a bit for each plane that may
    /// be.
    pub fn plane_to_collect(
        &mut self,
        die: DieId,
        first_plane: PlaneId,
        to_collect: u32,
    ) -> Option<PlaneId> {
        if self.yields
            && to_collect != 0
            && let Some(chosen) = self.scheme.plane_to_collect(die, to_collect)
        {
            return Some(PlaneId(first_plane.0 + chosen));
        }
        self.turns.next(die.index(), first_plane, to_collect)
    }

    /// Arbitrates a die whose collection is under way, and of which no operation is in the die.
    #[inline]
    pub fn turn(&mut self, at: &mut AtDie<'_>) -> Turn {
        if self.yields { self.scheme.turn(at) } else { at.turn_of_collection() }
    }

    /// Starts an operation of the host beside the one of the collection that is in the die, if the scheme says so.
    /// Returns whether it has.
    pub fn serve_beside(&mut self, at: &mut AtDie<'_>) -> bool {
        if !self.overlaps {
            return false;
        }
        let Some(next) = self.scheme.beside(at) else { return false };
        let written_before = at.backend.counters.host_programs;
        let has_started = at.scheduler.start(at.backend, next, at.now);
        self.host_begins(at, next, written_before);
        at.backend.counters.pipelined += u64::from(has_started);
        has_started
    }

    /// A collection begins to move so many pages of `die` together, or to erase so many blocks.
    #[inline]
    pub fn step_begins(&mut self, die: DieId, parts: u64) {
        if self.yields {
            self.scheme.step_begins(die, parts);
        }
    }

    /// Says that `parts` pages more are read, to be moved together with those that the step of `die` has begun with.
    #[inline]
    pub fn step_goes_on(&mut self, die: DieId, parts: u64) {
        if self.yields && parts > 0 {
            self.scheme.step_goes_on(die, parts);
        }
    }

    /// A collection that was due has been put on the die.
    pub fn collection_begins(&mut self, at: &AtDie<'_>) {
        if self.yields {
            self.scheme.collection_begins(at);
        }
    }

    /// An operation of the host begins on the die, before which so many pages of the host had been written.
    #[inline]
    pub fn host_begins(&mut self, at: &mut AtDie<'_>, next: Next, written_before: u64) {
        if self.yields {
            let pages_written = at.backend.counters.host_programs - written_before;
            self.scheme.host_begins(at, Begun { next, pages_written });
        }
    }
}
