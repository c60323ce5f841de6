//! Coordinators from outside of this crate: what they are told, and what they order.

use crate::config::{self, Resolved};
use crate::ids::SsdId;
use crate::outside::{Failed, Kind, Policy, Supply};
use crate::rng;
use crate::scheduler::when::supply::Supplier;
use crate::units::{Duration, Instant};

use super::members::Members;
use super::{Message, Orders, View};

/// Makes the policies of an array and its drives that a configuration names and this crate does not have.
pub trait ArraySupplier: Supplier + Supply<dyn ExternalCoordinator> {}

impl<T: Supplier + Supply<dyn ExternalCoordinator>> ArraySupplier for T {}

/// Decides which drives collect, and when.
pub trait ExternalCoordinator: Policy {
    /// Events that the coordinator wants to be notified of.
    fn hooks(&self) -> Hooks;

    /// Is told something. What is to be sent is added to `orders`; they go to drives that
    /// [speak](Facts::speaking).
    ///
    /// # Errors
    /// If it can't go on; it is not told anything again.
    fn notify(&mut self, news: News, view: &View, orders: &mut Orders) -> Result<(), Failed>;

    /// When it wants to be [woken](News::Wake): later than what it was told last.
    ///
    /// # Errors
    /// If it can't say.
    fn wake_at(&mut self) -> Result<Option<Instant>, Failed>;
}

impl Kind for dyn ExternalCoordinator {
    const KEY: &'static str = "array.coordination";
    type Facts<'a> = &'a Facts;
}

/// Events that a coordinator wants to be notified of, beside messages and wake-ups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hooks {
    /// [`News::BecameBusy`].
    pub became_busy: bool,
    /// [`News::BecameQuiet`].
    pub became_quiet: bool,
    /// [`News::Sent`].
    pub sent: bool,
    /// [`News::InstantEnds`].
    pub instant_ends: bool,
}

/// Notification for a coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    /// A message of a drive has arrived.
    Received(SsdId, Message),
    /// The time has come that it wanted to be woken at.
    Wake,
    /// The first request is in an array that had none.
    BecameBusy,
    /// The last request has left the array.
    BecameQuiet,
    /// Bytes have been sent to a drive to be written.
    Sent(SsdId, u64),
    /// An instant ends, in which requests may have come and gone.
    InstantEnds,
}

/// Facts that a coordinator is given about its array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Drives.
    pub drives: usize,
    /// Drives that speak the protocol.
    pub speaking: Vec<SsdId>,
    /// Free blocks of a plane below which a drive says that it runs short.
    pub register_threshold: u32,
    /// Free blocks of a plane at which a drive that was told to collect is done with it, as configured.
    pub target: u32,
    /// Most blocks of a plane that are collected in a round, if there is a limit.
    pub most_blocks: Option<u32>,
    /// Free blocks of a plane that is full of data.
    pub reserve: u32,
    /// Time that a message takes.
    pub latency: Duration,
}

impl Facts {
    fn of(config: &Resolved) -> Self {
        let members = Members::new(config);
        Self {
            drives: members.count(),
            speaking: members.speaking(),
            register_threshold: config.protocol.register,
            target: config.protocol.target,
            most_blocks: config.protocol.most_blocks,
            reserve: config.drive.blocks.reserve,
            latency: config.array.protocol.latency.0,
        }
    }
}

/// The coordinator that `supplier` makes for a checked configuration, if that names one from outside.
///
/// # Errors
/// If the supplier has none.
pub fn coordinator(
    config: &Resolved,
    supplier: &dyn ArraySupplier,
) -> Result<Option<Box<dyn ExternalCoordinator>>, Failed> {
    let config::Coordination::Python { .. } = config.array.coordination else { return Ok(None) };
    let random = rng::stream(config.seed, "array/coordination");
    supplier.supply(&Facts::of(config), random).map(Some)
}
