//! Places in the drive: who has one, and what collections add to the wait for one.

use crate::checkpoint::Checkpointed;
use crate::gate::Gate;
use crate::places::Places;
use crate::units::{Duration, Instant};

/// Admission of commands through a gate. `K` names who has a place.
#[derive(Debug, Checkpointed)]
pub struct Admission<K> {
    gate: Gate,
    places: Places<K>,
    /// Longest part of a wait that may be due to collections. Where the gate opens for several at once: how much later it
    /// last did because of them.
    most_late: Duration,
}

impl<K: Ord + Copy> Admission<K> {
    /// Creates the admission through a gate that no command has come through.
    pub fn new(gate: Gate) -> Self {
        let places = Places::new(gate.places());
        Self { gate, places, most_late: Duration::LONGEST }
    }

    /// The gate.
    pub const fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Whether the holders of places are followed.
    pub const fn is_followed(&self) -> bool {
        self.places.is_followed()
    }

    /// Follows from now on who has a place, and since when.
    pub fn follow(&mut self, holders: impl IntoIterator<Item = (K, Instant)>) {
        self.places.follow(holders);
    }

    /// Holder of the place that would have been the first to be free by `now` without collections.
    pub fn blocker(&self, now: Instant) -> Option<K> {
        self.places.blocker(now)
    }

    /// Gives a place at `now` to `who`, which has waited since `since`. Returns how much of the wait is due to
    /// collections.
    #[inline(always)]
    pub fn enter(&mut self, who: K, since: Instant, now: Instant) -> Duration {
        self.gate.enter();
        self.places.enter(who, since, now, self.most_late)
    }

    /// Frees a place that was kept from one instant until another, `late` of it due to collections.
    #[inline(always)]
    pub fn leave(&mut self, who: K, (entered, now): (Instant, Instant), late: Duration) {
        let was_open = self.gate.is_open();
        self.gate.leave();
        self.places.leave(who, now - entered, late);
        if !was_open && self.gate.is_open() && self.gate.turn() > 1 {
            self.most_late = self.places.late_for(self.gate.turn(), now);
        }
    }

    /// Takes all places away. Their holders come again.
    pub fn clear(&mut self) {
        self.gate.clear();
        self.places.forget();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{self, quantity::Share};

    fn at(us: u64) -> Instant {
        Instant::START + Duration::from_us(us)
    }

    #[test]
    fn who_waits_for_a_turn_waits_for_collections_as_far_as_they_put_it_off() {
        let host = config::Host { low_watermark: Share(0.0), ..config::Host::default() };
        let mut admission = Admission::new(Gate::with_watermark(&host, 2));
        admission.enter('a', at(0), at(0));
        admission.enter('b', at(0), at(0));
        admission.follow([('a', at(0)), ('b', at(0))]);
        admission.leave('a', (at(0), at(10)), Duration::ZERO);
        assert!(!admission.gate().is_open());
        // Without collections `b` would have left at 20, and the next turn had come then.
        admission.leave('b', (at(0), at(100)), Duration::from_us(80));
        assert_eq!(admission.enter('c', at(5), at(100)), Duration::from_us(80));
        assert_eq!(admission.enter('d', at(50), at(100)), Duration::from_us(50));
    }
}
