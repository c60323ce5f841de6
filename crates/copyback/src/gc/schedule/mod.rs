//! WHEN: what starts a collection on a die, and whether one that has begun yields to the host.
//!
//! A schedule is asked two things. [`plane_to_collect`](Schedule::plane_to_collect): a die is free
//! and some of its planes are short of space; which is collected now?
//! [`admitted`](Schedule::admitted): the collection stands between two of its flash operations; who
//! goes before the next? It decides, and changes nothing in the flash. Beside it an [`IdleSchedule`] says
//! what is put off while the drive is busy, and what is done in advance or caught up while it is not.

mod advanced;
mod advanced_delayed;
mod delayed;
mod external;
mod partial;
mod semi_preemptive;
mod turns;

use crate::config;
use crate::gc::external::{ExternalSchedule, Outlook};
use crate::ids::PlaneId;
use crate::units::Duration;
use crate::victim::supply::Failed;

use external::External;
use partial::Partial;

pub use advanced::{Entry, LookAhead, StepTimes, short_idle};
pub use advanced_delayed::{IdleKind, IdleSchedule};
pub use delayed::JobList;
pub use semi_preemptive::SemiPreemptive;
use turns::Turns;

/// The schedule of a device's collections.
#[derive(Debug)]
pub struct Schedule {
    turns: Turns,
    yielding: Yielding,
}

/// Whether a collection yields.
#[derive(Debug)]
enum Yielding {
    /// On demand, non-preemptive: the die serves nobody until none of its planes is short of space.
    Never,
    /// Between its flash operations.
    SemiPreemptive(SemiPreemptive),
    /// After so many of its steps.
    Partial(Partial),
    /// As somebody else says.
    External(Box<External>),
}

/// Where a collection stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// Before a page is read or a block erased: nothing is in the registers.
    BetweenMoves,
    /// Before a page is written: it is in the register.
    BeforeWrite,
}

/// What a schedule knows of a die.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Situation {
    /// A plane is being collected or is due.
    pub collecting: bool,
    /// A plane that is short of space has fewer free blocks than the hard threshold.
    pub below_hard: bool,
    /// A write waits that no plane can take.
    pub write_finds_no_block: bool,
}

/// Who goes before the next operation of a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admitted {
    /// Reads of the host.
    pub reads: bool,
    /// Writes of the host, to planes that can take them.
    pub writes: bool,
}

impl Admitted {
    /// Everybody.
    pub const ALL: Self = Self { reads: true, writes: true };
    /// Nobody.
    pub const NOTHING: Self = Self { reads: false, writes: false };
}

impl Schedule {
    /// The schedule that a checked configuration describes, for a device of this many dies.
    pub fn new(config: &config::Gc, dies: usize, planes_per_die: u32) -> Self {
        let yielding = match &config.preemption {
            config::Preemption::None => Yielding::Never,
            config::Preemption::SemiPreemptive {
                poll,
                merge,
                reorder,
                pipeline,
                high_priority_writes,
            } => Yielding::SemiPreemptive(SemiPreemptive {
                poll: poll.0,
                merge: *merge,
                reorder: *reorder,
                pipeline: *pipeline,
                high_priority_writes: *high_priority_writes,
            }),
            config::Preemption::Partial { steps } => Yielding::Partial(Partial::new(*steps, dies)),
            config::Preemption::Python { poll, inside_moves, .. } => {
                Yielding::External(Box::new(External::new(poll.0, *inside_moves, dies)))
            }
        };
        Self { turns: Turns::new(dies, planes_per_die), yielding }
    }

    /// Takes a policy from outside, which the configuration asks for.
    pub fn supply(&mut self, policy: Box<dyn ExternalSchedule>) {
        if let Yielding::External(scheme) = &mut self.yielding {
            scheme.supply(policy);
        }
    }

    /// Why a policy from outside is no longer asked, if it has failed.
    pub fn failed(&self) -> Option<&Failed> {
        match &self.yielding {
            Yielding::External(scheme) => scheme.failed(),
            _ => None,
        }
    }

    /// The plane of a free die that is to be collected now. `hungry` has a bit for each plane of
    /// the die that is short of space.
    pub fn plane_to_collect(
        &mut self,
        die: usize,
        first_plane: PlaneId,
        hungry: u32,
    ) -> Option<PlaneId> {
        let chosen = match &mut self.yielding {
            Yielding::External(scheme) if hungry != 0 => {
                scheme.plane_to_collect(die, first_plane, hungry)
            }
            _ => None,
        };
        chosen.or_else(|| self.turns.next(die, first_plane, hungry))
    }

    /// Whether a collection that has begun ever yields.
    pub const fn yields(&self) -> bool {
        !matches!(self.yielding, Yielding::Never)
    }

    /// Whether it may yield between the read and the write of a page that it moves.
    pub const fn splits_moves(&self) -> bool {
        match &self.yielding {
            Yielding::SemiPreemptive(_) => true,
            Yielding::External(scheme) => scheme.inside_moves,
            _ => false,
        }
    }

    /// Whether it is to be told more of a die than its situation.
    pub const fn wants_outlook(&self) -> bool {
        matches!(self.yielding, Yielding::External(_))
    }

    /// Which requests go before the next operation of the die's collection. Who
    /// [wants an outlook](Self::wants_outlook) is asked with [one](Self::admitted_with) instead.
    pub fn admitted(&mut self, die: usize, point: Point, situation: &Situation) -> Admitted {
        match &mut self.yielding {
            Yielding::Never | Yielding::External(_) => Admitted::NOTHING,
            Yielding::SemiPreemptive(scheme) => scheme.admitted(point, situation),
            Yielding::Partial(scheme) => scheme.admitted(die, point, situation),
        }
    }

    /// The same, by who wants an outlook. It is not asked when nothing waits.
    pub fn admitted_with(
        &mut self,
        die: usize,
        point: Point,
        situation: &Situation,
        outlook: Outlook,
    ) -> Admitted {
        match &mut self.yielding {
            Yielding::External(scheme) => scheme.admitted(die, point, *situation, outlook),
            _ => self.admitted(die, point, situation),
        }
    }

    /// A collection begins to move a page of the die, or to erase a block.
    pub fn begin_step(&mut self, die: usize) {
        match &mut self.yielding {
            Yielding::Partial(scheme) => scheme.begin_step(die),
            Yielding::External(scheme) => scheme.begin_step(die),
            _ => {}
        }
    }

    /// An operation of the host begins on the die.
    pub fn serve_host(&mut self, die: usize) {
        match &mut self.yielding {
            Yielding::Partial(scheme) => scheme.serve_host(die),
            Yielding::External(scheme) => scheme.serve_host(die),
            _ => {}
        }
    }

    /// What a look at the queue takes after each operation of a collection.
    pub const fn poll(&self) -> Duration {
        match &self.yielding {
            Yielding::Never | Yielding::Partial(_) => Duration::ZERO,
            Yielding::SemiPreemptive(scheme) => scheme.poll,
            Yielding::External(scheme) => scheme.poll,
        }
    }

    /// Whether a request for the page in the register is served from there.
    pub const fn merges(&self) -> bool {
        matches!(&self.yielding, Yielding::SemiPreemptive(scheme) if scheme.merge)
    }

    /// Whether the page that the oldest request asks for is moved next.
    pub const fn reorders(&self) -> bool {
        matches!(&self.yielding, Yielding::SemiPreemptive(scheme) if scheme.reorder)
    }

    /// Whether an operation of a collection overlaps one of the host of the same kind.
    pub const fn pipelines(&self) -> bool {
        matches!(&self.yielding, Yielding::SemiPreemptive(scheme) if scheme.pipeline)
    }
}
