//! Requests put back in the order in which they arrived, where a trace has them in the order in which
//! they completed.
//!
//! A request is held until the trace is so far on that no earlier one can follow, unless it took
//! longer than [`LONGEST`]; or until too many are held.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::record::Record;
use copyback_config::units::Duration;

/// Requests that took longer may be handed out too late.
const LONGEST: Duration = Duration::from_us(60_000_000);
/// Requests that are held at most, 64 MiB or so.
const MOST: usize = 1 << 20;

/// The requests that are held.
#[derive(Debug, Default)]
pub struct Completed {
    held: BinaryHeap<Reverse<Held>>,
    /// The latest completion, in nanoseconds since whatever the trace counts from.
    latest_ns: u64,
    is_over: bool,
}

/// A request and the place of its row in the file.
#[derive(Debug, Clone, Copy)]
pub struct Held {
    /// Record of the row.
    pub record: Record,
    /// The row's line or byte.
    pub place: u64,
}

impl Held {
    /// Requests that arrive together stay in the order of the file.
    fn key(&self) -> (u64, u64) {
        (self.record.time_ns, self.place)
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Held {}

impl Completed {
    /// Takes the request of the next row.
    pub fn add(&mut self, held: Held) {
        let took_ns = held.record.measured.unwrap_or_default().as_ns();
        self.latest_ns = self.latest_ns.max(held.record.time_ns.saturating_add(took_ns));
        self.held.push(Reverse(held));
    }

    /// Says that no row follows.
    pub fn end(&mut self) {
        self.is_over = true;
    }

    /// Whether no row follows.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// The next request in order of arrival; `None` if that takes another row, or at the end.
    pub fn next(&mut self) -> Option<Held> {
        let Reverse(first) = self.held.peek()?;
        let is_due = first.record.time_ns.saturating_add(LONGEST.as_ns()) <= self.latest_ns;
        if !(is_due || self.is_over || self.held.len() >= MOST) {
            return None;
        }
        self.held.pop().map(|Reverse(held)| held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    /// A request that arrives and ends at these seconds.
    fn held(arrives: u64, ends: u64, place: u64) -> Held {
        const S: u64 = 1_000_000_000;
        let took = Duration::from_ns((ends - arrives) * S);
        let record = Record::new(arrives * S, Operation::Read, 0, 512).took(Some(took));
        Held { record, place }
    }

    fn places(completed: &mut Completed) -> Vec<u64> {
        std::iter::from_fn(|| completed.next()).map(|held| held.place).collect()
    }

    #[test]
    fn requests_come_in_order_of_arrival() {
        let mut completed = Completed::default();
        for (place, (arrives, ends)) in [(5, 6), (1, 7), (5, 8)].into_iter().enumerate() {
            completed.add(held(arrives, ends, place as u64));
        }
        assert_eq!(places(&mut completed), [0; 0]);
        completed.add(held(60, 65, 3));
        assert_eq!(places(&mut completed), [1, 0, 2], "those a minute ago, ties as in the file");
        completed.end();
        assert_eq!(places(&mut completed), [3]);
    }

    #[test]
    fn holds_only_so_many() {
        let mut completed = Completed::default();
        for place in 0..MOST as u64 + 1 {
            completed.add(held(1, 2, place));
        }
        assert_eq!(places(&mut completed), [0, 1]);
        assert_eq!(completed.held.len(), MOST - 1);
    }
}
