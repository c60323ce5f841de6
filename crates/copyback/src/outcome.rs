//! What becomes of page operations, commands and requests.

use crate::checkpoint::Checkpointed;

/// What has become of one, from best to worst.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Checkpointed)]
pub enum Outcome {
    /// It was done.
    #[default]
    Done,
    /// Something that was read for it is not to be had: no retry could correct it, or it had been lost.
    Unread,
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
