//! The places of a closed loop (`iodepth`): when each came free for a further request.

use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::units::Instant;

/// Places that no request has taken, in the order in which they came free.
#[derive(Debug, Checkpointed)]
pub(super) struct FreePlaces {
    /// Instants, and how many places came free at each.
    since: VecDeque<(Instant, u32)>,
}

impl FreePlaces {
    /// Creates `places` places, all free.
    pub fn new(places: u32) -> Self {
        Self { since: VecDeque::from([(Instant::START, places)]) }
    }

    /// Since when the next place has been free, if one is.
    #[inline(always)]
    pub fn first(&self) -> Option<Instant> {
        self.since.front().map(|(since, _)| *since)
    }

    /// A request takes the place that has been free longest.
    #[inline(always)]
    pub fn take(&mut self) {
        let (_, count) = self.since.front_mut().expect("a request takes a place that is free");
        *count -= 1;
        if *count == 0 {
            self.since.pop_front();
        }
    }

    /// A request has ended at `now` and gives its place back.
    #[inline(always)]
    pub fn give_back(&mut self, now: Instant) {
        match self.since.back_mut() {
            Some((since, count)) if *since == now => *count += 1,
            _ => self.since.push_back((now, 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_taken_in_the_order_in_which_they_came_free() {
        let [start, one, two] = [0, 1, 2].map(Instant::from_ns);
        let mut places = FreePlaces::new(2);
        places.take();
        places.give_back(one);
        assert_eq!(places.first(), Some(start));
        places.take();
        places.give_back(one);
        places.give_back(two);
        for since in [Some(one), Some(one), Some(two), None] {
            assert_eq!(places.first(), since);
            if since.is_some() {
                places.take();
            }
        }
    }
}
