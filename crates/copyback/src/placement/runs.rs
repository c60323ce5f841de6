//! Runs of pages that the host writes one behind the other, for placements that tell sequential writes from others. A
//! drive that is sent a request of several pages has them in one run if it writes them in order.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

/// The page that would go on with the last run.
#[derive(Debug, Default, Serialize, Deserialize, Checkpointed)]
pub struct Runs {
    next: Option<Lpn>,
}

impl Runs {
    /// Whether a write of `lpn` goes on with the last run.
    #[inline(always)]
    pub fn follows(&self, lpn: Lpn) -> bool {
        self.next == Some(lpn)
    }

    /// The page that would go on with the last run, if any page has been written.
    pub const fn next(&self) -> Option<Lpn> {
        self.next
    }

    /// The host has written `lpn`.
    #[inline(always)]
    pub fn wrote(&mut self, lpn: Lpn) {
        self.next = lpn.0.checked_add(1).map(Lpn);
    }
}
