//! The event queue.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::units::Instant;

/// Events in order of time; those of one instant in the order of their class, then of scheduling.
#[derive(Debug)]
pub struct EventQueue<E> {
    heap: BinaryHeap<Entry<E>>,
    scheduled: u64,
}

#[derive(Debug)]
struct Entry<E> {
    /// Time, class and order of scheduling, from the highest bits to the lowest: to compare one number
    /// takes no branch.
    key: u128,
    event: E,
}

/// Bits of the key that hold the order of scheduling.
const ORDER_BITS: u32 = 56;
/// Bits of the key below the time: class and order.
const BITS_BELOW_TIME: u32 = 64;

impl<E> Entry<E> {
    const fn at(&self) -> Instant {
        Instant::from_ns((self.key >> BITS_BELOW_TIME) as u64)
    }
}

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), scheduled: 0 }
    }
}

impl<E> EventQueue<E> {
    /// Schedules `event` at `at`. A lower `class` comes first among the events of one instant.
    pub fn schedule(&mut self, at: Instant, class: u8, event: E) {
        let class_and_order = u64::from(class) << ORDER_BITS | self.scheduled;
        let key = u128::from(at.as_ns()) << BITS_BELOW_TIME | u128::from(class_and_order);
        self.heap.push(Entry { key, event });
        self.scheduled += 1;
    }

    /// The time of the earliest event.
    pub fn next_time(&self) -> Option<Instant> {
        self.heap.peek().map(Entry::at)
    }

    /// Removes and returns the next event if it falls on `now`.
    pub fn pop_at(&mut self, now: Instant) -> Option<E> {
        match self.heap.peek() {
            Some(entry) if entry.at() == now => self.heap.pop().map(|entry| entry.event),
            _ => None,
        }
    }

    /// Events scheduled so far.
    pub const fn scheduled(&self) -> u64 {
        self.scheduled
    }
}

impl<E> Ord for Entry<E> {
    /// The greatest entry is the earliest, since the heap gives its greatest first.
    fn cmp(&self, other: &Self) -> Ordering {
        other.key.cmp(&self.key)
    }
}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<E> Eq for Entry<E> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_then_class_then_order_of_scheduling() {
        let mut queue = EventQueue::default();
        let at = Instant::from_ns;
        for (time, class, name) in [(5, 1, "c"), (5, 0, "a"), (7, 0, "e"), (5, 0, "b"), (5, 1, "d")]
        {
            queue.schedule(at(time), class, name);
        }
        assert_eq!(queue.next_time(), Some(at(5)));
        assert_eq!(queue.pop_at(at(4)), None);
        let first: Vec<_> = std::iter::from_fn(|| queue.pop_at(at(5))).collect();
        assert_eq!(first, ["a", "b", "c", "d"]);
        assert_eq!(queue.pop_at(at(7)), Some("e"));
    }
}
