//! On demand, non-preemptive: a die that has begun to collect serves nobody until none of its planes is short of
//! space.

use crate::checkpoint::Checkpointed;
use crate::shortcut::Undisturbed;

use super::{Admitted, AtDie, When};

/// Collections never yield.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Never;

impl When for Never {
    fn admitted(&mut self, _at: &AtDie<'_>) -> Admitted {
        Admitted::NOTHING
    }

    fn undisturbed(&self) -> Undisturbed {
        Undisturbed::UntilCollectionEnds
    }
}
