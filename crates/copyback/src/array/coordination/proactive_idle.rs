//! Proactive idle (section 4.3.2 of the paper): as [reactive selective](super::reactive_selective);
//! and when no request has been in the array for a while, those enrolled collect until their whole
//! reserve is free or a request comes, which each drive sees for itself.
//!
//! ```text
//!                    last request       checks            Collect(ReserveFull)
//!  requests ──────────────┤    ·    ·    ·    · ──► drives that are enrolled
//!                         └── idle for longer ┘
//!                             than a threshold
//! ```

use crate::checkpoint::Checkpointed;
use crate::collector::permit::{Asked, Until};
use crate::idle::IdleDetector;
use crate::ids::SsdId;
use crate::units::Instant;

use super::reactive_selective::ReactiveSelective;
use super::{Coordinator, Message, Orders, View};

const ALL_THERE_IS: Asked = Asked::until(Until::ReserveFull);

/// The scheme.
#[derive(Debug, Checkpointed)]
pub struct ProactiveIdle {
    selective: ReactiveSelective,
    idle: IdleDetector,
}

impl ProactiveIdle {
    pub(super) const fn new(selective: ReactiveSelective, idle: IdleDetector) -> Self {
        Self { selective, idle }
    }
}

impl Coordinator for ProactiveIdle {
    fn received(&mut self, device: SsdId, message: Message, view: &View, orders: &mut Orders) {
        self.selective.received(device, message, view, orders);
    }

    fn next_wake(&self) -> Option<Instant> {
        self.idle.next_check()
    }

    /// A check is due.
    fn wake(&mut self, now: Instant, _: &View, orders: &mut Orders) {
        if self.idle.check(now) {
            self.selective.force_enrolled(ALL_THERE_IS, orders);
        }
    }

    fn became_busy(&mut self, _: Instant, _: &View, _: &mut Orders) {
        self.idle.became_busy();
    }

    fn became_quiet(&mut self, now: Instant, _: &View, _: &mut Orders) {
        self.idle.became_quiet(now);
    }
}
