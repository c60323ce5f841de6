//! Policies from outside of this crate, such as classes written in Python. A configuration names
//! them; a [`Supplier`] makes them, for each device its own.
//!
//! They are asked seldom and told little: a victim policy gets what has changed of a plane's blocks
//! when it is to choose ([`crate::victim::supply`]), a schedule what it needs to know of a die. What is broken in
//! them is the user's to mend, so it ends the run with a message and is no panic: the first [`Failed`] is kept
//! until the loop that advances the run looks, and until then a policy of ours stands in.

use std::fmt;

use crate::ids::DieId;
use crate::placement::supply::{BlockState, ExternalPlacement, PlacementSupplier};
use crate::rng::Stream;
use crate::units::Instant;
use crate::victim::Shape;
use crate::victim::supply::{Device, ExternalVictims, Failed, VictimSupplier};

use super::{Admitted, Point, Situation};

/// Makes the schedules that a configuration names and this crate does not have, beside its victim policies and
/// placements.
pub trait Supplier: VictimSupplier + PlacementSupplier {
    /// The schedule of `device`.
    ///
    /// # Errors
    /// If there is none.
    fn schedule(&self, device: Device, random: Stream)
    -> Result<Box<dyn ExternalSchedule>, Failed>;
}

/// Says when collections yield.
pub trait ExternalSchedule: fmt::Debug + Send + Sync {
    /// Picks the plane of `die` that is collected now among those short of space; `to_collect` has a bit for
    /// each. `None` if that is not its concern: they take turns then.
    ///
    /// # Errors
    /// If it cannot say; it is not asked again.
    fn plane_to_collect(&mut self, die: DieId, to_collect: u32) -> Result<Option<u32>, Failed>;

    /// Operations that go before the next one of a collection. Asked when requests of the host wait.
    ///
    /// # Errors
    /// If it cannot say; it is not asked again.
    fn admitted(&mut self, view: &DieView) -> Result<Admitted, Failed>;

    /// Memory of the schedule, for a file.
    ///
    /// # Errors
    /// If that can't be written down.
    fn memory(&self) -> Result<Vec<u8>, Failed> {
        Err(Failed(NO_MEMORY.to_owned()))
    }

    /// Remembers, newly made, what a file tells.
    ///
    /// # Errors
    /// If no schedule like this can have told it.
    fn remember(&mut self, _memory: &[u8]) -> Result<(), Failed> {
        Err(Failed(NO_MEMORY.to_owned()))
    }
}

const NO_MEMORY: &str = "ssd.gc.preemption: found a policy from outside that does not say what it remembers; allowed \
                         for checkpoints: one that does";

/// A die at the moment at which a collection could yield.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DieView {
    /// Die that is meant.
    pub die: DieId,
    /// Point that its collection has reached.
    pub point: Point,
    /// Steps that collections have begun since the last operation of the host did.
    pub steps: u32,
    /// Situation that every schedule knows.
    pub situation: Situation,
    /// More of it.
    pub outlook: Outlook,
}

/// Outlook of a die for external schedules alone: it takes time to find out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outlook {
    /// The simulated time.
    pub now: Instant,
    /// Page reads of the host that wait for the die.
    pub waiting_reads: u32,
    /// Page writes that do, or that wait for any die.
    pub waiting_writes: u32,
    /// Free blocks of the plane of the die that has the fewest.
    pub free_blocks: u32,
    /// Valid pages that the collection under way has still to move; 0 before it begins.
    pub pages_left: u32,
}

/// Has no policies: what a program without Python supplies.
#[derive(Debug, Clone, Copy)]
pub struct NoSupplier;

impl VictimSupplier for NoSupplier {
    fn victims(&self, _: Device, _: Shape, _: Stream) -> Result<Box<dyn ExternalVictims>, Failed> {
        Err(Failed::not_supplied("ssd.gc.victim"))
    }
}

impl PlacementSupplier for NoSupplier {
    fn placement(
        &self,
        _: Device,
        _: &[BlockState],
        _: Stream,
    ) -> Result<Box<dyn ExternalPlacement>, Failed> {
        Err(Failed::not_supplied("ssd.ftl.placement"))
    }
}

impl Supplier for NoSupplier {
    fn schedule(&self, _: Device, _: Stream) -> Result<Box<dyn ExternalSchedule>, Failed> {
        Err(Failed::not_supplied("ssd.gc.preemption"))
    }
}
