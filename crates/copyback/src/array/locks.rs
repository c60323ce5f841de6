//! Stripes whose parity must stand still: under parity two tasks may not read and write parts of a stripe at
//! once, or the parity of one would miss the data of the other. Tasks that only read may do so together. Of mirrors,
//! bytes of the array are locked that are copied; writes may do so together.

use std::collections::VecDeque;
use std::ops::Range;

use crate::checkpoint::Checkpointed;
use crate::ids::TaskId;
use crate::units::Instant;

/// Locks of stripes: their holders, and the tasks that wait.
#[derive(Debug, Default, Checkpointed)]
pub struct StripeLocks {
    held: Vec<(TaskId, Hold)>,
    /// In the order in which they asked; nobody overtakes another who is in the way.
    waiting: VecDeque<WaitingTask>,
    /// Number of waiting tasks that nothing blocks any more.
    free: usize,
}

/// Lock that a task asks for.
#[derive(Debug, Clone, PartialEq, Eq, Checkpointed)]
pub struct Hold {
    /// Range of stripes.
    pub stripes: Range<u64>,
    /// Whether others may hold them, too, who also share.
    pub is_shared: bool,
}

impl Hold {
    /// Whether the two must follow one another.
    const fn conflicts(&self, other: &Self) -> bool {
        let overlaps =
            self.stripes.start < other.stripes.end && other.stripes.start < self.stripes.end;
        overlaps && !(self.is_shared && other.is_shared)
    }
}

#[derive(Debug, Checkpointed)]
struct WaitingTask {
    task: TaskId,
    hold: Hold,
    /// Number of earlier tasks that block it: they hold some of its stripes, or wait for them, too.
    blockers: usize,
    /// When its stripes would have been free without collections, as far as others have given them back.
    undelayed: Instant,
}

/// A task whose stripes are free now.
#[derive(Debug, PartialEq, Eq)]
pub struct Unlocked {
    /// Task that gets its lock.
    pub task: TaskId,
    /// When they would have been free without collections.
    pub undelayed: Instant,
}

impl StripeLocks {
    /// Takes what `task` asks for. If others who are in the way hold some of it or wait for it, `task` waits and is
    /// named by [`next_unlocked`](Self::next_unlocked) later.
    pub fn take(&mut self, task: TaskId, hold: Hold) -> bool {
        let held = self.held.iter().map(|(_, other)| other);
        let others = held.chain(self.waiting.iter().map(|other| &other.hold));
        let blockers = others.filter(|other| other.conflicts(&hold)).count();
        if blockers > 0 {
            self.waiting.push_back(WaitingTask { task, hold, blockers, undelayed: Instant::START });
            return false;
        }
        self.held.push((task, hold));
        true
    }

    /// Gives back what `task` holds, which without collections it would have done at `undelayed`.
    pub fn release(&mut self, task: TaskId, undelayed: Instant) {
        let Some(place) = self.held.iter().position(|(holder, _)| *holder == task) else { return };
        let (_, hold) = self.held.swap_remove(place);
        for other in self.waiting.iter_mut().filter(|other| other.hold.conflicts(&hold)) {
            other.undelayed = other.undelayed.max(undelayed);
            other.blockers -= 1;
            self.free += usize::from(other.blockers == 0);
        }
    }

    /// The next of those that wait and have nobody in their way now; it holds what it asked for then.
    pub fn next_unlocked(&mut self) -> Option<Unlocked> {
        if self.free == 0 {
            return None;
        }
        let place = self.waiting.iter().position(|other| other.blockers == 0)?;
        let WaitingTask { task, hold, undelayed, .. } = self.waiting.remove(place)?;
        self.free -= 1;
        self.held.push((task, hold));
        Some(Unlocked { task, undelayed })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn writes(stripes: Range<u64>) -> Hold {
        Hold { stripes, is_shared: false }
    }

    fn reads(stripes: Range<u64>) -> Hold {
        Hold { stripes, is_shared: true }
    }

    #[test]
    fn overlapping_tasks_follow_one_another_in_order() {
        let mut locks = StripeLocks::default();
        let [a, b, c, d] = [0, 1, 2, 3].map(TaskId);
        assert!(locks.take(a, writes(0..4)));
        assert!(!locks.take(b, writes(3..6)));
        assert!(!locks.take(c, writes(5..8)), "it would overtake b");
        assert!(locks.take(d, writes(9..10)));
        let at = Instant::from_ns;
        assert_eq!(locks.next_unlocked(), None);
        locks.release(a, at(7));
        assert_eq!(locks.next_unlocked(), Some(Unlocked { task: b, undelayed: at(7) }));
        assert_eq!(locks.next_unlocked(), None);
        locks.release(b, at(5));
        assert_eq!(locks.next_unlocked(), Some(Unlocked { task: c, undelayed: at(5) }));
    }

    #[test]
    fn what_only_reads_shares_stripes_and_overtakes_no_write() {
        let mut locks = StripeLocks::default();
        let [a, b, write, late] = [0, 1, 2, 3].map(TaskId);
        assert!(locks.take(a, reads(0..2)));
        assert!(locks.take(b, reads(1..3)));
        assert!(!locks.take(write, writes(1..2)));
        assert!(!locks.take(late, reads(1..2)), "it would overtake the write");
        let at = Instant::from_ns;
        locks.release(a, at(4));
        assert_eq!(locks.next_unlocked(), None);
        locks.release(b, at(3));
        assert_eq!(locks.next_unlocked(), Some(Unlocked { task: write, undelayed: at(4) }));
        assert_eq!(locks.next_unlocked(), None);
        locks.release(write, at(9));
        assert_eq!(locks.next_unlocked(), Some(Unlocked { task: late, undelayed: at(9) }));
    }

    /// All who have asked and not given back, in the order in which they asked, and whether each has its stripes: by
    /// the rule alone.
    #[derive(Default)]
    struct ByTheRule(Vec<(TaskId, Hold, bool)>);

    impl ByTheRule {
        fn is_free(&self, place: usize) -> bool {
            let (_, hold, _) = &self.0[place];
            !self.0[..place].iter().any(|(_, before, _)| before.conflicts(hold))
        }

        fn take(&mut self, task: TaskId, hold: Hold) -> bool {
            self.0.push((task, hold, false));
            let last = self.0.len() - 1;
            self.0[last].2 = self.is_free(last);
            self.0[last].2
        }

        fn next_unlocked(&mut self) -> Option<TaskId> {
            let next = (0..self.0.len()).find(|place| !self.0[*place].2 && self.is_free(*place))?;
            self.0[next].2 = true;
            Some(self.0[next].0)
        }

        /// Gives back the stripes of one of those that have them.
        fn release(&mut self, which: usize) -> Option<TaskId> {
            let holders = (0..self.0.len()).filter(|place| self.0[*place].2).collect::<Vec<_>>();
            let place = holders.get(which % holders.len().max(1))?;
            Some(self.0.remove(*place).0)
        }
    }

    proptest! {
        #[test]
        fn whoever_has_nobody_in_the_way_is_next(
            asks in prop::collection::vec((0..20_u64, 1..4_u64, any::<bool>(), any::<Option<usize>>()), 1..100),
        ) {
            let (mut locks, mut rule) = (StripeLocks::default(), ByTheRule::default());
            for (task, (first, count, is_shared, gives_back)) in (0..).map(TaskId).zip(asks) {
                let hold = Hold { stripes: first..first + count, is_shared };
                prop_assert_eq!(locks.take(task, hold.clone()), rule.take(task, hold));
                if let Some(released) = gives_back.and_then(|which| rule.release(which)) {
                    locks.release(released, Instant::START);
                    loop {
                        let next = locks.next_unlocked().map(|unlocked| unlocked.task);
                        prop_assert_eq!(next, rule.next_unlocked());
                        if next.is_none() {
                            break;
                        }
                    }
                }
            }
        }
    }
}
