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
//! | [reactive inclusive](reactive_inclusive) | a drive that runs short | all | at once |
//! | [reactive selective](reactive_selective) | the first drive that must collect | those that run short | at once |
//! | [proactive idle](proactive_idle) | and the controller | those that run short | and when the array is idle |
//! | [proactive soft limit](proactive_soft_limit) | the controller, which asks for states | those that run short | enough do, and few requests are there |
//! | [staggered](staggered) | the clock | one after the other | in its window |

mod agent;
mod members;
mod proactive_idle;
mod proactive_soft_limit;
mod reactive_inclusive;
mod reactive_selective;
mod staggered;

pub use agent::Agent;

use crate::config::{self, Config};
use crate::gc::permit::{Asked, Until};
use crate::idle::IdleDetector;
use crate::ids::SsdId;
use crate::units::Instant;

use members::Members;
use proactive_idle::ProactiveIdle;
use proactive_soft_limit::ProactiveSoftLimit;
use reactive_inclusive::ReactiveInclusive;
use reactive_selective::ReactiveSelective;
use staggered::Staggered;

/// What a drive tells the controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Message {
    /// A plane has fallen below the register threshold, T_soft of the paper: PARTICIPATE GGC.
    RunsShort,
    /// A plane has fallen below the soft threshold, T_hard of the paper, and is being collected. The
    /// first drive to say so coordinates the others.
    MustCollect,
    /// What it was told to collect is collected, or it has been stopped.
    Done {
        /// Whether a plane is still below the register threshold.
        runs_short: bool,
    },
    /// How it stands, because it was asked.
    State(Report),
}

/// How a drive stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Planes below the register threshold.
    pub below_register: u32,
    /// Fewest free blocks of a plane.
    pub free_blocks_min: u32,
}

/// What the controller tells a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// What the controller sees of the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// Requests in the array.
    pub outstanding: u32,
}

/// The controller's side.
#[derive(Debug)]
pub enum Coordinator {
    /// Says nothing.
    Uncoordinated,
    /// All collect when one runs short.
    ReactiveInclusive(ReactiveInclusive),
    /// Those that run short collect when one must.
    ReactiveSelective(ReactiveSelective),
    /// And when the array is idle.
    ProactiveIdle(ProactiveIdle),
    /// At a moment of the controller's choice.
    ProactiveSoftLimit(ProactiveSoftLimit),
    /// In turn.
    Staggered(Staggered),
}

impl Coordinator {
    /// The coordinator that a checked configuration describes.
    pub fn new(config: &Config) -> Self {
        let members = Members::new(config);
        let target = Until::Target(config.collection_target());
        let selective =
            |members| ReactiveSelective::new(members, Asked { until: target, regardless: false });
        match config.array.coordination {
            config::Coordination::Uncoordinated => Self::Uncoordinated,
            config::Coordination::ReactiveInclusive { regardless } => Self::ReactiveInclusive(
                ReactiveInclusive::new(members, Asked { until: target, regardless }),
            ),
            config::Coordination::ReactiveSelective => Self::ReactiveSelective(selective(members)),
            config::Coordination::ProactiveIdle { check, idle } => Self::ProactiveIdle(
                ProactiveIdle::new(selective(members), IdleDetector::new(check.0, idle.0)),
            ),
            config::Coordination::ProactiveSoftLimit { period, quorum, outstanding } => {
                let asked = Asked { until: target, regardless: false };
                let moment = proactive_soft_limit::Moment { quorum: quorum.0, outstanding };
                Self::ProactiveSoftLimit(ProactiveSoftLimit::new(members, asked, period.0, moment))
            }
            config::Coordination::Staggered { window } => {
                let asked = Asked { until: target, regardless: false };
                Self::Staggered(Staggered::new(members, asked, window.0))
            }
        }
    }

    /// A message of `device` has arrived. What is to be sent is added to `orders`.
    pub fn heard(&mut self, device: SsdId, message: Message, view: &View, orders: &mut Orders) {
        match self {
            Self::Uncoordinated => {}
            Self::ReactiveInclusive(scheme) => scheme.heard(device, message, orders),
            Self::ReactiveSelective(scheme) => scheme.heard(device, message, orders),
            Self::ProactiveIdle(scheme) => scheme.selective.heard(device, message, orders),
            Self::ProactiveSoftLimit(scheme) => scheme.heard(device, message, view, orders),
            Self::Staggered(scheme) => scheme.heard(device, message),
        }
    }

    /// When it wants to be woken. May change with each call to it; to be woken too early, or when it
    /// no longer wants to be, does no harm.
    pub fn next_wake(&self) -> Option<Instant> {
        match self {
            Self::Uncoordinated | Self::ReactiveInclusive(_) | Self::ReactiveSelective(_) => None,
            Self::ProactiveIdle(scheme) => scheme.idle.next_check(),
            Self::ProactiveSoftLimit(scheme) => scheme.next_wake(),
            Self::Staggered(scheme) => scheme.next_wake(),
        }
    }

    /// The time that [`next_wake`](Self::next_wake) named has come.
    pub fn wake(&mut self, now: Instant, view: &View, orders: &mut Orders) {
        match self {
            Self::Uncoordinated | Self::ReactiveInclusive(_) | Self::ReactiveSelective(_) => {}
            Self::ProactiveIdle(scheme) => scheme.wake(now, orders),
            Self::ProactiveSoftLimit(scheme) => scheme.wake(now, view, orders),
            Self::Staggered(scheme) => scheme.wake(now, orders),
        }
    }

    /// The first request is in an array that had none.
    pub fn became_busy(&mut self, now: Instant) {
        match self {
            Self::Uncoordinated | Self::ReactiveInclusive(_) | Self::ReactiveSelective(_) => {}
            Self::ProactiveIdle(scheme) => scheme.idle.became_busy(),
            Self::ProactiveSoftLimit(scheme) => scheme.became_busy(now),
            Self::Staggered(scheme) => scheme.became_busy(now),
        }
    }

    /// The last request has left the array.
    pub fn became_quiet(&mut self, now: Instant, view: &View, orders: &mut Orders) {
        match self {
            Self::Uncoordinated | Self::ReactiveInclusive(_) | Self::ReactiveSelective(_) => {}
            Self::ProactiveIdle(scheme) => scheme.idle.became_quiet(now),
            Self::ProactiveSoftLimit(scheme) => scheme.became_quiet(view, orders),
            Self::Staggered(scheme) => scheme.became_quiet(now),
        }
    }
}
