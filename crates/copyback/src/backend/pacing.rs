//! Charges to writes where collections are paced.

use derive_more::AddAssign;

use crate::checkpoint::Checkpointed;
use crate::less::Less;

/// Charges to writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, AddAssign, Less, Checkpointed)]
pub struct PacingTally {
    /// Steps of collections that pages of the host were charged, in thousandths.
    pub charged: u64,
    /// Writes that began behind steps which they had waited for.
    pub throttled: u64,
}

impl PacingTally {
    /// Both together.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self += other;
        self
    }

    /// A write has begun that is charged so much, and was `held` before.
    pub fn count(&mut self, charge: u64, held: bool) {
        self.charged += charge;
        self.throttled += u64::from(held);
    }

    /// Steps that were charged.
    pub fn steps(&self) -> f64 {
        self.charged as f64 / 1000.0
    }
}
