//! Waits of requests for dies that collect.

use crate::checkpoint::Checkpointed;
use crate::ssd::{Part, Parts};
use crate::units::Duration;

/// Waits of requests for collections.
#[derive(Debug, Clone, Copy, Default, Checkpointed)]
pub struct Holds {
    /// Requests that waited for any.
    pub requests: u64,
    /// The longest that one of them waited.
    pub longest: Duration,
}

impl Holds {
    /// A request has been completed whose response time has these parts.
    #[inline]
    pub fn completed(&mut self, parts: &Parts) {
        let held = parts[Part::GcSamePlane] + parts[Part::GcOtherPlane];
        self.requests += u64::from(!held.is_zero());
        self.longest = self.longest.max(held);
    }
}
