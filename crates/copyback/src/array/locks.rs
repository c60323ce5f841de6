//! Stripes that are being written: under parity two tasks may not read and write parts of a stripe at
//! once, or the parity of one would miss the data of the other.

use std::collections::VecDeque;
use std::ops::Range;

use crate::ids::TaskId;

/// Who writes which stripes, and who waits for them.
#[derive(Debug, Default)]
pub struct StripeLocks {
    held: Vec<(TaskId, Range<u64>)>,
    /// In the order in which they asked; nobody overtakes another who wants the same stripe.
    waiting: VecDeque<(TaskId, Range<u64>)>,
}

impl StripeLocks {
    /// Takes `stripes` for `task`. If others hold some of them or wait for them, `task` waits and is
    /// named by [`next_unlocked`](Self::next_unlocked) later.
    pub fn take(&mut self, task: TaskId, stripes: Range<u64>) -> bool {
        let mut others = self.held.iter().chain(&self.waiting);
        if others.any(|(_, taken)| overlap(taken, &stripes)) {
            self.waiting.push_back((task, stripes));
            return false;
        }
        self.held.push((task, stripes));
        true
    }

    /// Gives back what `task` holds.
    pub fn release(&mut self, task: TaskId) {
        self.held.retain(|(holder, _)| *holder != task);
    }

    /// The next of those that wait whose stripes are free now; it holds them then.
    pub fn next_unlocked(&mut self) -> Option<TaskId> {
        let is_free = |(place, (_, stripes)): &(usize, &(TaskId, Range<u64>))| {
            let before = self.waiting.iter().take(*place);
            !self.held.iter().chain(before).any(|(_, taken)| overlap(taken, stripes))
        };
        let (place, _) = self.waiting.iter().enumerate().find(is_free)?;
        let (task, stripes) = self.waiting.remove(place)?;
        self.held.push((task, stripes));
        Some(task)
    }
}

fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_tasks_follow_one_another_in_order() {
        let mut locks = StripeLocks::default();
        let [a, b, c, d] = [0, 1, 2, 3].map(TaskId);
        assert!(locks.take(a, 0..4));
        assert!(!locks.take(b, 3..6));
        assert!(!locks.take(c, 5..8), "it would overtake b");
        assert!(locks.take(d, 9..10));
        assert_eq!(locks.next_unlocked(), None);
        locks.release(a);
        assert_eq!(locks.next_unlocked(), Some(b));
        assert_eq!(locks.next_unlocked(), None);
        locks.release(b);
        assert_eq!(locks.next_unlocked(), Some(c));
    }
}
