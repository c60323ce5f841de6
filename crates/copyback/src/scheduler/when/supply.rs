//! Schedules from outside of this crate: what they are told of a die, and what they choose.

use crate::ids::DieId;
use crate::outside::{Device, Failed, Kind, Policy, Supply};
use crate::placement::supply::ExternalPlacement;
use crate::units::Instant;
use crate::victim::supply::ExternalVictims;

use super::{Admitted, Point, Situation};

/// Makes the policies of a drive that a configuration names and this crate does not have.
pub trait Supplier:
    Supply<dyn ExternalVictims> + Supply<dyn ExternalPlacement> + Supply<dyn ExternalSchedule>
{
}

impl<T> Supplier for T where
    T: Supply<dyn ExternalVictims> + Supply<dyn ExternalPlacement> + Supply<dyn ExternalSchedule>
{
}

/// Says when collections yield.
pub trait ExternalSchedule: Policy {
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
}

impl Kind for dyn ExternalSchedule {
    const KEY: &'static str = "ssd.gc.preemption";
    type Facts<'a> = Device;
}

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
