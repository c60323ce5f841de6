//! Stripes that are being written: under parity two tasks may not read and write parts of a stripe at
//! once, or the parity of one would miss the data of the other.

use std::collections::VecDeque;
use std::ops::Range;

use crate::checkpoint::Checkpointed;
use crate::ids::TaskId;
use crate::units::Instant;

/// Who writes which stripes, and who waits for them.
#[derive(Debug, Default, Checkpointed)]
pub struct StripeLocks {
    held: Vec<(TaskId, Range<u64>)>,
    /// In the order in which they asked; nobody overtakes another who wants the same stripe.
    waiting: VecDeque<Waiting>,
}

#[derive(Debug, Checkpointed)]
struct Waiting {
    task: TaskId,
    stripes: Range<u64>,
    /// When its stripes would have been free without collections, as far as others have given them back.
    undelayed: Instant,
}

/// A task whose stripes are free now.
#[derive(Debug, PartialEq, Eq)]
pub struct Unlocked {
    /// Which.
    pub task: TaskId,
    /// When they would have been free without collections.
    pub undelayed: Instant,
}

impl StripeLocks {
    /// Takes `stripes` for `task`. If others hold some of them or wait for them, `task` waits and is
    /// named by [`next_unlocked`](Self::next_unlocked) later.
    pub fn take(&mut self, task: TaskId, stripes: Range<u64>) -> bool {
        let held = self.held.iter().map(|(_, taken)| taken);
        let mut taken = held.chain(self.waiting.iter().map(|other| &other.stripes));
        if taken.any(|taken| overlap(taken, &stripes)) {
            self.waiting.push_back(Waiting { task, stripes, undelayed: Instant::START });
            return false;
        }
        self.held.push((task, stripes));
        true
    }

    /// Gives back what `task` holds, which without collections it would have done at `undelayed`.
    pub fn release(&mut self, task: TaskId, undelayed: Instant) {
        let Some(place) = self.held.iter().position(|(holder, _)| *holder == task) else { return };
        let (_, stripes) = self.held.remove(place);
        for other in self.waiting.iter_mut().filter(|other| overlap(&other.stripes, &stripes)) {
            other.undelayed = other.undelayed.max(undelayed);
        }
    }

    /// The next of those that wait whose stripes are free now; it holds them then.
    pub fn next_unlocked(&mut self) -> Option<Unlocked> {
        let is_free = |(place, other): &(usize, &Waiting)| {
            let held = self.held.iter().map(|(_, taken)| taken);
            let before = self.waiting.iter().take(*place).map(|before| &before.stripes);
            !held.chain(before).any(|taken| overlap(taken, &other.stripes))
        };
        let (place, _) = self.waiting.iter().enumerate().find(is_free)?;
        let Waiting { task, stripes, undelayed } = self.waiting.remove(place)?;
        self.held.push((task, stripes));
        Some(Unlocked { task, undelayed })
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
        let at = Instant::from_ns;
        assert_eq!(locks.next_unlocked(), None);
        locks.release(a, at(7));
        assert_eq!(locks.next_unlocked(), Some(Unlocked { task: b, undelayed: at(7) }));
        assert_eq!(locks.next_unlocked(), None);
        locks.release(b, at(5));
        assert_eq!(locks.next_unlocked(), Some(Unlocked { task: c, undelayed: at(5) }));
    }
}
