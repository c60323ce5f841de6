//! MAY I: the controller of an array and its drives agree on when to collect (Kim, Lee, Oral, Dillow,
//! Wang, Shipman: Harmonia, IEEE TC).
//!
//! ```text
//!   drive ── status ──► agent ── RunsShort, MustCollect, Done, State ──► coordinator
//!     ▲                   ▲                                                   │
//!     └── asks to collect ┴────────────── Collect, Stop, Report ◄─────────────┘
//! ```
//!
//! Pure state machines: they are told what has arrived and what time it is, and say what is sent. How
//! long a message takes is not theirs to know. Whatever they say or don't, a drive collects by itself
//! when a plane falls below `ssd.gc.soft_threshold`.
//!
//! | scheme | who asks | who collects | when |
//! | --- | --- | --- | --- |
//! | uncoordinated | nobody | each drive for itself | when it must |
//! | [reactive inclusive](reactive_inclusive) | a drive that runs short | all | at once, or after a [delay](delay) |
//! | [reactive selective](reactive_selective) | the first drive that must collect | those that run short | at once |
//! | [proactive idle](proactive_idle) | and the controller | those that run short | and when the array is idle |
//! | [proactive soft limit](proactive_soft_limit) | the controller, which asks for states | those that run short | enough do, and few requests are there |
//! | [staggered](staggered) | the clock | one after the other | in its window |
//! | [external](external) | a class in Python | as it says | as it says |

mod agent;
mod delay;
mod external;
mod members;
mod proactive_idle;
mod proactive_soft_limit;
mod reactive_inclusive;
mod reactive_selective;
mod staggered;
pub mod supply;

pub use agent::Agent;
pub(super) use staggered::whose_window;

use std::fmt::Debug;
use std::ops::{Deref, DerefMut};

use crate::checkpoint::Checkpointed;
use crate::collector::permit::{Asked, Until};
use crate::config::{self, Resolved};
use crate::idle::IdleDetector;
use crate::ids::SsdId;
use crate::one_of::one_of;
use crate::outside::Failed;
use crate::units::Instant;

use delay::Delay;
use external::External;
use members::Members;
use proactive_idle::ProactiveIdle;
use proactive_soft_limit::{Moment, ProactiveSoftLimit};
use reactive_inclusive::ReactiveInclusive;
use reactive_selective::ReactiveSelective;
use staggered::Staggered;
use supply::ExternalCoordinator;

/// Message of a drive to the controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Message {
    /// A plane has fallen below the register threshold, T_soft of the paper: PARTICIPATE GGC.
    RunsShort {
        /// Bytes that the drive can still be sent to write, by its estimate, before it must collect.
        writable: u64,
    },
    /// A plane has fallen below the soft threshold, T_hard of the paper, and is being collected. The
    /// first drive to say so coordinates the others.
    MustCollect,
    /// Collection that was ordered is complete, or has been stopped.
    Done {
        /// Whether a plane is still below the register threshold.
        runs_short: bool,
    },
    /// Report of the drive's state, because the controller asked.
    State(Report),
}

/// State of a drive, as reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct Report {
    /// Planes below the register threshold.
    pub below_register: u32,
    /// Fewest free blocks of a plane.
    pub free_blocks_min: u32,
}

/// Order of the controller to a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Order {
    /// FORCE GC: collect, as far as is said.
    Collect(Asked),
    /// Collect no more than must be.
    Stop,
    /// Tell how you stand.
    Report,
}

/// Orders and whom they go to, in the order of sending.
pub type Orders = Vec<(SsdId, Order)>;

/// View of the array that the controller has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// The time.
    pub now: Instant,
    /// Requests in the array.
    pub outstanding: u32,
}

/// The controller's side: a scheme, told what has arrived and what time it is. Each is in a file of its
/// own and says only what it does at the occasions that matter to it.
pub trait Coordinator: Debug + Send {
    /// A message of `device` has arrived. What is to be sent is added to `orders`.
    fn received(&mut self, device: SsdId, message: Message, view: &View, orders: &mut Orders);

    /// When it wants to be woken. May change with each call to it; to be woken too early, or when it
    /// no longer wants to be, does no harm.
    fn next_wake(&self) -> Option<Instant> {
        None
    }

    /// The time that [`next_wake`](Self::next_wake) named has come.
    fn wake(&mut self, _now: Instant, _view: &View, _orders: &mut Orders) {}

    /// The first request is in an array that had none.
    fn became_busy(&mut self, _now: Instant, _view: &View, _orders: &mut Orders) {}

    /// The last request has left the array.
    fn became_quiet(&mut self, _now: Instant, _view: &View, _orders: &mut Orders) {}

    /// Records that `bytes` have been sent to `device` to be written.
    fn sent(&mut self, _device: SsdId, _bytes: u64, _view: &View) {}

    /// The end of an instant: requests may have come and gone, and data have been sent.
    fn instant_ends(&mut self, _view: &View, _orders: &mut Orders) {}

    /// Takes the scheme that decides, if this one comes from outside.
    ///
    /// # Errors
    /// If it can't begin, or go on with what a checkpoint told of it.
    fn supply(&mut self, _policy: Box<dyn ExternalCoordinator>) -> Result<(), Failed> {
        Ok(())
    }

    /// Reason why an external scheme is no longer called, if it has failed.
    fn failed(&self) -> Option<Failed> {
        None
    }
}

one_of! { $
    /// The scheme of an array.
    #[derive(Debug, Checkpointed)]
    pub enum Scheme {
        /// No coordination.
        Uncoordinated(Uncoordinated),
        /// See [`reactive_inclusive`].
        ReactiveInclusive(ReactiveInclusive),
        /// See [`reactive_selective`].
        ReactiveSelective(ReactiveSelective),
        /// See [`proactive_idle`].
        ProactiveIdle(ProactiveIdle),
        /// See [`proactive_soft_limit`].
        ProactiveSoftLimit(ProactiveSoftLimit),
        /// See [`staggered`].
        Staggered(Staggered),
        /// See [`external`].
        External(External),
    }
}

impl Deref for Scheme {
    type Target = dyn Coordinator;

    fn deref(&self) -> &Self::Target {
        each!(self, scheme => scheme)
    }
}

impl DerefMut for Scheme {
    fn deref_mut(&mut self) -> &mut Self::Target {
        each!(self, scheme => scheme)
    }
}

/// The coordinator that a checked configuration describes.
pub fn coordinator(config: &Resolved) -> Scheme {
    let members = Members::new(config);
    let asked = Asked {
        at_most: config.protocol.most_blocks,
        ..Asked::until(Until::Target(config.protocol.target))
    };
    match &config.array.coordination {
        config::Coordination::Uncoordinated => Scheme::Uncoordinated(Uncoordinated),
        config::Coordination::ReactiveInclusive { regardless, delay } => {
            let delay = Delay::new(*delay, members.count());
            let asked = Asked { regardless: *regardless, ..asked };
            Scheme::ReactiveInclusive(ReactiveInclusive::new(members, asked, delay))
        }
        config::Coordination::ReactiveSelective => {
            Scheme::ReactiveSelective(ReactiveSelective::new(members, asked))
        }
        config::Coordination::ProactiveIdle { check, idle } => {
            Scheme::ProactiveIdle(ProactiveIdle::new(
                ReactiveSelective::new(members, asked),
                IdleDetector::new(check.0, idle.0),
            ))
        }
        config::Coordination::ProactiveSoftLimit { period, quorum, outstanding } => {
            let moment = Moment { quorum: quorum.0, outstanding: *outstanding };
            Scheme::ProactiveSoftLimit(ProactiveSoftLimit::new(members, asked, period.0, moment))
        }
        config::Coordination::Staggered { guard, .. } => {
            let window = config.window_length().expect("the configuration has been checked");
            Scheme::Staggered(Staggered::new(members, asked, (window.0, guard.0)))
        }
        config::Coordination::Python { policy, .. } => {
            Scheme::External(External::new(policy, members.count()))
        }
    }
}

/// Says nothing: each drive collects when it must.
#[derive(Debug, Checkpointed)]
pub struct Uncoordinated;

impl Coordinator for Uncoordinated {
    fn received(&mut self, _: SsdId, _: Message, _: &View, _: &mut Orders) {}
}
