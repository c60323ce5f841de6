//! Whether predictions hold: what victims of each group had valid against what was predicted, and write amplification of
//! late against what is promised.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;

use super::amplification::Amplification;
use super::streak::Streak;

/// Largest share by which more of a victim may be valid than was predicted.
const MOST_WRONG: f64 = 0.1;

/// Doubt about a prediction: its part that was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// More is valid in the victims of this group.
    Group(usize),
    /// Collections free nothing. What the last of them moved goes to class `next`.
    Stuck {
        /// Class that gets the pages which the last one moved.
        next: usize,
    },
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, Checkpointed)]
struct ActualVictims {
    victims: u64,
    valid_pages: u64,
}

/// Predictions, and what has come of them.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Trust {
    /// Of each group, the share of valid pages that its victims should have.
    predicted: Vec<f64>,
    /// Groups when that was predicted.
    groups: usize,
    /// Whether a group has had a victim since.
    has_begun: Vec<bool>,
    is_checking: bool,
    /// Pages that the host has written since all have, or since the last check.
    written: u64,
    found: Vec<ActualVictims>,
    /// Predictions that failed early in the chain, in this window and in those before.
    errors: u32,
    windows_with_errors: u32,
    pub(super) amplification: Amplification,
    pub(super) streak: Streak,
    pages_per_block: u32,
}

impl Trust {
    /// Creates a check without a prediction.
    pub fn new(classes: usize, period: u64, pages_per_block: u32) -> Self {
        Self {
            predicted: vec![0.0; classes],
            groups: 0,
            has_begun: vec![false; classes],
            is_checking: false,
            written: 0,
            found: vec![ActualVictims::default(); classes],
            errors: 0,
            windows_with_errors: 0,
            amplification: Amplification::new(period),
            streak: Streak::default(),
            pages_per_block,
        }
    }

    /// Groups have been set, with so much to be valid of those after the hot one.
    pub fn begin(&mut self, valid: &[f64]) {
        self.predicted.fill(0.0);
        self.predicted[1..=valid.len()].copy_from_slice(valid);
        self.groups = valid.len() + 1;
        self.has_begun.fill(false);
        self.stop();
    }

    /// Stops checking.
    pub fn stop(&mut self) {
        self.is_checking = false;
        self.written = 0;
        self.found.fill(ActualVictims::default());
    }

    /// Whether all groups have had a victim since they were set.
    pub const fn is_checking(&self) -> bool {
        self.is_checking
    }

    /// Whether what is promised is no worse than what was of late.
    pub fn is_better(&self, promised: f64) -> bool {
        promised <= self.amplification.last()
    }

    /// New groups are set. Returns whether so many predictions have failed that the next window should be longer.
    pub const fn forgive(&mut self) -> bool {
        self.windows_with_errors = if self.errors > 0 { self.windows_with_errors + 1 } else { 0 };
        self.errors = 0;
        self.windows_with_errors >= 2
    }

    /// The groups stay.
    pub fn remember_errors(&mut self) {
        self.windows_with_errors += u32::from(self.errors > 0);
        self.errors = 0;
        self.stop_counting();
    }

    fn stop_counting(&mut self) {
        self.written = 0;
        self.found.fill(ActualVictims::default());
    }

    /// The prediction has failed at `place`.
    pub fn failed_at(&mut self, place: usize) {
        self.errors += u32::from(self.groups > 0 && place <= self.groups / 2);
    }

    /// The host has written a page, with the last group at `last`, spread or not. Returns the first group of which
    /// much more is valid than was predicted, if a third of a `window` has passed.
    pub fn host_wrote(&mut self, window: u64, (last, is_spread): (usize, bool)) -> Option<Doubt> {
        self.amplification.host_wrote();
        self.written += u64::from(self.is_checking);
        if self.written * 10 <= window * 3 {
            return None;
        }
        let end = if is_spread { last } else { last + 1 };
        let wrong = (1..end).find(|group| self.is_wrong(*group));
        self.stop_counting();
        let group = wrong?;
        self.failed_at(group);
        Some(Doubt::Group(group))
    }

    fn is_wrong(&self, group: usize) -> bool {
        let ActualVictims { victims, valid_pages } = self.found[group];
        let share = valid_pages as f64 / (victims * u64::from(self.pages_per_block)) as f64;
        victims > 0 && share - self.predicted[group] >= MOST_WRONG
    }

    /// A block of `group` with so many valid pages is collected; the last group is at `last`.
    pub fn chosen(&mut self, group: usize, valid: u16, last: usize) {
        if self.is_checking {
            self.found[group].victims += 1;
            self.found[group].valid_pages += u64::from(valid);
        }
        self.has_begun[group] = true;
        self.is_checking |= self.groups > 0 && self.has_begun[..=last].iter().all(|begun| *begun);
    }

    /// Whether this can be what has become of `new`, by `now`.
    pub fn is_sound(&self, new: &Self, now: u64) -> bool {
        let classes = new.predicted.len();
        [self.predicted.len(), self.has_begun.len(), self.found.len()] == [classes; 3]
            && self.groups <= classes
            && self.pages_per_block == new.pages_per_block
            && self.amplification.is_sound(&new.amplification)
            && self.streak.is_sound(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_with_more_valid_than_predicted_is_found_when_a_third_of_a_window_has_passed() {
        let mut trust = Trust::new(5, 1000, 10);
        trust.begin(&[0.5, 0.8]);
        [0, 1].iter().for_each(|group| trust.chosen(*group, 9, 2));
        assert!(!trust.is_checking(), "the last has had no victim");
        trust.chosen(2, 9, 2);
        [(1, 7), (2, 9)].iter().for_each(|(group, valid)| trust.chosen(*group, *valid, 2));
        let found: Vec<_> = (0..31).filter_map(|_| trust.host_wrote(100, (2, false))).collect();
        assert_eq!(found, [Doubt::Group(1)], "0.7 against 0.5");
        assert_eq!(trust.errors, 1);
        assert!(!trust.forgive());
    }
}
