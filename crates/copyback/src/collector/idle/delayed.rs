//! Delayed collections (Jung, Prabhakar, Kandemir, Middleware 2012, section 5.2, DGC).
//!
//! A collection that a busy drive would begin on demand is put off: the write goes to a fresh block of
//! the reserve, which the paper calls the replaced update block, and the collection is owed. What is
//! owed is on a job list, and is caught up in idle time, oldest first.
//!
//! ```text
//!   plane short of space ──host can open a block──► owed ──drive idle──► collected
//!                        ──it cannot──► collected on demand
//! ```

use std::collections::VecDeque;
use std::ops::Range;

use crate::checkpoint::Checkpointed;
use crate::ids::PlaneId;

/// The planes that are owed a collection.
#[derive(Debug, Default, Checkpointed)]
pub struct JobList {
    planes: VecDeque<PlaneId>,
}

impl JobList {
    /// Puts off the collection of `plane`. Returns whether it was not owed already.
    pub fn owe(&mut self, plane: PlaneId) -> bool {
        let is_new = !self.planes.contains(&plane);
        if is_new {
            self.planes.push_back(plane);
        }
        is_new
    }

    /// The planes that are owed one, longest first, of those in a range of numbers (those of a die).
    pub fn owed(&self, of: Range<u32>) -> impl Iterator<Item = PlaneId> {
        self.planes.iter().copied().filter(move |plane| of.contains(&plane.0))
    }

    /// Removes those planes of a range from the list that are not `short` of space any more.
    pub fn settle(&mut self, of: &Range<u32>, short: impl Fn(PlaneId) -> bool) {
        self.planes.retain(|plane| !of.contains(&plane.0) || short(*plane));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debts_of_a_die_are_listed_oldest_first_until_settled() {
        let mut list = JobList::default();
        let owed = [5, 1, 4, 5].map(|plane| list.owe(PlaneId(plane)));
        assert_eq!(owed, [true, true, true, false]);
        let owed = |list: &JobList, of| list.owed(of).map(|plane| plane.0).collect::<Vec<_>>();
        assert_eq!(owed(&list, 4..8), [5, 4]);
        assert_eq!(owed(&list, 0..4), [1]);
        list.settle(&(4..8), |plane| plane == PlaneId(4));
        assert_eq!(owed(&list, 0..8), [1, 4]);
        assert!(list.owe(PlaneId(5)));
    }
}
