//! Outcomes of page operations, commands and requests.

use crate::checkpoint::Checkpointed;

/// Outcome, from best to worst.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Checkpointed)]
pub enum Outcome {
    /// Success.
    #[default]
    Done,
    /// Uncorrectable read error: data that were read for it are lost, as no retry could correct them, or had
    /// been lost before.
    Uncorrectable,
    /// A drive, which is read-only, has not done it, or not all of it.
    Rejected,
}

impl Outcome {
    /// A part has ended with `other`: the whole is no better than its worst part.
    #[inline(always)]
    pub fn worsen(&mut self, other: Self) {
        *self = (*self).max(other);
    }
}
