//! The event queue: a binary heap, the earliest event at its root.
//!
//! What happens next mostly follows from what has just happened, so that one event is scheduled for each
//! that is taken. An event that is taken therefore leaves its place open; the next one that is
//! scheduled sinks from there, which is half the work of filling the place and adding another. Where the
//! earliest event is meanwhile is known, as it is asked for several times at each instant.

use crate::checkpoint::Checkpointed;
use crate::units::Instant;

/// Events in order of time; those of one instant in the order of their class, then of scheduling.
#[derive(Debug, Checkpointed)]
pub struct EventQueue<E> {
    /// The children of the entry at a place are at twice that place plus one and plus two, and no earlier.
    heap: Vec<Entry<E>>,
    /// Index of the earliest event: the root, or, once that has been taken, one of its children.
    first: usize,
    scheduled: u64,
}

#[derive(Debug, Clone, Copy, Checkpointed)]
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

impl<E> Default for EventQueue<E> {
    fn default() -> Self {
        Self { heap: Vec::new(), first: 0, scheduled: 0 }
    }
}

impl<E> Entry<E> {
    const fn at(&self) -> Instant {
        Instant::from_ns((self.key >> BITS_BELOW_TIME) as u64)
    }
}

impl<E: Copy> EventQueue<E> {
    /// Schedules `event` at `at`. A lower `class` comes first among the events of one instant.
    #[inline]
    pub fn schedule(&mut self, at: Instant, class: u8, event: E) {
        let class_and_order = u64::from(class) << ORDER_BITS | self.scheduled;
        let key = u128::from(at.as_ns()) << BITS_BELOW_TIME | u128::from(class_and_order);
        self.scheduled += 1;
        if self.root_is_open() {
            self.first = 0;
            self.sink(Entry { key, event });
        } else {
            self.push(Entry { key, event });
        }
    }

    // Apart, as mostly an event has been taken before one is scheduled: that way then needs few registers.
    #[inline(never)]
    fn push(&mut self, entry: Entry<E>) {
        self.heap.push(entry);
        self.rise();
    }

    /// Forgets every event.
    pub fn clear(&mut self) {
        self.heap.clear();
        self.first = 0;
    }

    /// The time of the earliest event.
    #[inline]
    pub fn next_time(&self) -> Option<Instant> {
        self.earliest().map(Entry::at)
    }

    /// The earliest event.
    pub fn next_event(&self) -> Option<E> {
        self.earliest().map(|entry| entry.event)
    }

    /// Removes and returns the next event if it falls on `now`.
    #[inline]
    pub fn pop_at(&mut self, now: Instant) -> Option<E> {
        let Entry { event, .. } = *self.earliest().filter(|entry| entry.at() == now)?;
        self.take_earliest();
        Some(event)
    }

    /// Removes and returns the next event if it comes before `until`, and its time.
    #[inline]
    pub fn pop_before(&mut self, until: Instant) -> Option<(Instant, E)> {
        let entry = *self.earliest().filter(|entry| entry.at() < until)?;
        self.take_earliest();
        Some((entry.at(), entry.event))
    }

    /// Whether the event at the root has been taken.
    const fn root_is_open(&self) -> bool {
        self.first != 0
    }

    #[inline]
    fn take_earliest(&mut self) {
        if self.root_is_open()
            && let Some(last) = self.heap.pop()
        {
            self.sink(last);
        }
        let right_is_earlier =
            matches!(self.heap.get(1..3), Some([left, right]) if right.key < left.key);
        self.first = 1 + usize::from(right_is_earlier);
    }

    /// Events scheduled so far.
    pub const fn scheduled(&self) -> u64 {
        self.scheduled
    }

    #[inline]
    fn earliest(&self) -> Option<&Entry<E>> {
        self.heap.get(self.first)
    }

    /// Puts `entry` where it belongs, from the root, which is open, downwards.
    #[inline]
    fn sink(&mut self, entry: Entry<E>) {
        let heap = &mut self.heap[..];
        let (mut place, mut child) = (0, 1);
        while child < heap.len() {
            if child + 1 < heap.len() {
                child += usize::from(heap[child + 1].key < heap[child].key);
            }
            if entry.key < heap[child].key {
                break;
            }
            heap[place] = heap[child];
            (place, child) = (child, 2 * child + 1);
        }
        if let Some(open) = heap.get_mut(place) {
            *open = entry;
        }
    }

    /// Moves the last entry up to where it belongs.
    fn rise(&mut self) {
        let mut place = self.heap.len() - 1;
        while place > 0 && self.heap[place].key < self.heap[(place - 1) / 2].key {
            self.heap.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
    }
}

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

    #[test]
    fn what_comes_before_a_time_is_taken_with_its_time() {
        let mut queue = EventQueue::default();
        let at = Instant::from_ns;
        for (time, name) in [(7, "c"), (5, "a"), (6, "b")] {
            queue.schedule(at(time), 0, name);
        }
        assert_eq!(queue.pop_before(at(5)), None);
        assert_eq!(queue.pop_before(at(7)), Some((at(5), "a")));
        assert_eq!(queue.pop_before(at(7)), Some((at(6), "b")));
        assert_eq!(queue.pop_before(at(7)), None);
        assert_eq!(queue.next_time(), Some(at(7)));
    }

    #[test]
    fn events_come_in_order_however_taking_and_scheduling_alternate() {
        let mut queue = EventQueue::default();
        let mut all = Vec::new();
        let mut taken = Vec::new();
        // Times of a linear congruence, none before what has been taken.
        let mut random = 1_u64;
        for round in 0..2_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let now = taken.last().map_or(0, |(time, _)| *time);
            if (random >> 60) < 9 || queue.next_time().is_none() {
                let time = now + (random >> 33) % 50;
                queue.schedule(Instant::from_ns(time), 0, (time, round));
                all.push((time, round));
            } else if let Some(next) = queue.next_time() {
                taken.extend(queue.pop_at(next));
            }
        }
        while let Some(next) = queue.next_time() {
            taken.extend(queue.pop_at(next));
        }
        all.sort_unstable();
        assert_eq!(taken, all);
    }

    #[test]
    fn a_queue_that_was_cleared_takes_events_again() {
        let mut queue = EventQueue::default();
        let at = Instant::from_ns;
        queue.schedule(at(5), 0, "a");
        queue.schedule(at(6), 0, "b");
        assert_eq!(queue.pop_at(at(5)), Some("a"));
        queue.clear();
        assert_eq!(queue.next_time(), None);
        queue.schedule(at(7), 0, "c");
        assert_eq!((queue.next_time(), queue.pop_at(at(7))), (Some(at(7)), Some("c")));
        assert_eq!(queue.next_time(), None);
    }
}
