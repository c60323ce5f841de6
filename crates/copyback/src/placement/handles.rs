//! Counts of a drive's reclaim units by placement handle: what the host wrote through each handle, what the
//! flash took and lost for it, and what the host did not ask for.

use std::ops::AddAssign;

use crate::checkpoint::Checkpointed;

/// Counted since the run began, in pages that hold data.
#[derive(Debug, Clone, PartialEq, Eq, Checkpointed)]
pub struct HandleTally {
    /// Written by the host, by the handle that they were written with in the end.
    pub host_pages: Vec<u64>,
    /// Pages of these that were written with handle 0 because the host named one that does not exist.
    pub invalid_pages: u64,
    /// Moved by collections.
    pub moved_pages: u64,
    /// Of blocks that were collected, and so are erased.
    pub erased_pages: u64,
    /// Blocks that were collected with valid pages in them.
    pub reallocations: u64,
}

impl HandleTally {
    /// Creates a tally of zeroes for this number of handles.
    pub fn new(handles: usize) -> Self {
        Self {
            host_pages: vec![0; handles],
            invalid_pages: 0,
            moved_pages: 0,
            erased_pages: 0,
            reallocations: 0,
        }
    }

    /// Counts from now on.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.host_pages.len());
    }
}

impl AddAssign<&Self> for HandleTally {
    fn add_assign(&mut self, other: &Self) {
        for (pages, other) in self.host_pages.iter_mut().zip(&other.host_pages) {
            *pages += other;
        }
        self.invalid_pages += other.invalid_pages;
        self.moved_pages += other.moved_pages;
        self.erased_pages += other.erased_pages;
        self.reallocations += other.reallocations;
    }
}
