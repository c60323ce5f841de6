//! Victims in a row, while the host has hardly written anything.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;

/// Victims in a row, of a plane, that free too little.
const STUCK: u64 = 25;

/// Victims in a row, and when the first was chosen.
#[derive(Debug, Default, Serialize, Deserialize, Checkpointed)]
pub struct Streak {
    victims: u64,
    from: u64,
}

impl Streak {
    /// Counts a victim at `now`. Returns whether it was one of so many that collections free nothing.
    pub fn is_stuck(&mut self, now: u64, planes: u64) -> bool {
        if now >= self.from + planes {
            (self.victims, self.from) = (0, now);
        }
        self.victims += 1;
        self.victims.is_multiple_of(STUCK * planes)
    }

    /// Whether it began by `now`.
    pub const fn is_sound(&self, now: u64) -> bool {
        self.from <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn victims_in_a_row_on_one_plane_are_stuck_unless_the_host_writes() {
        let mut streak = Streak::default();
        assert!((0..24).all(|_| !streak.is_stuck(7, 1)));
        assert!(streak.is_stuck(7, 1));
        assert!((0..100).all(|now| !streak.is_stuck(8 + now, 1)));
    }
}
