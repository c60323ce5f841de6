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

use crate::gc::permit::{Asked, Until};
use crate::idle::IdleDetector;
use crate::units::Instant;

use super::Orders;
use super::reactive_selective::ReactiveSelective;

const ALL_THERE_IS: Asked = Asked { until: Until::ReserveFull, regardless: false };

/// The scheme.
#[derive(Debug)]
pub struct ProactiveIdle {
    pub(super) selective: ReactiveSelective,
    pub(super) idle: IdleDetector,
}

impl ProactiveIdle {
    pub(super) const fn new(selective: ReactiveSelective, idle: IdleDetector) -> Self {
        Self { selective, idle }
    }

    /// A check is due.
    pub(super) fn wake(&mut self, now: Instant, orders: &mut Orders) {
        if self.idle.check(now) {
            self.selective.force_enrolled(ALL_THERE_IS, orders);
        }
    }
}
