//! Blocks in random order, each once a pass: fio's random map. Units are those of [`Addresses`](super::address).

use super::draw::below;
use super::marks::Marks;
use super::scatter::Scatter;
use crate::rng::Stream;

/// Blocks that a pass has yet to cover, and their order.
pub struct RandomMap {
    units: u64,
    /// Units that the pass has yet to cover.
    left: u64,
    order: Order,
}

enum Order {
    /// Each request is of one unit: a permutation needs no table of them.
    Permuted(Scatter),
    /// Requests differ in size: as fio does it, one starts at a random unit, or at the next that is free, and ends before one
    /// that is not.
    Marked(Marks),
}

impl RandomMap {
    /// A map of `units`, drawn from `stream`; requests are all of one unit, or differ.
    pub fn new(units: u64, is_of_units: bool, stream: &mut Stream) -> Self {
        let order = match is_of_units {
            true => Order::Permuted(Scatter::new(units, stream)),
            false => Order::Marked(Marks::new(units)),
        };
        Self { units, left: units, order }
    }

    /// Whether the pass has covered every unit.
    #[inline]
    pub const fn is_covered(&self) -> bool {
        self.left == 0
    }

    /// Begins a pass, drawn from `stream`.
    pub fn begin(&mut self, stream: &mut Stream) {
        self.left = self.units;
        match &mut self.order {
            Order::Permuted(scatter) => *scatter = Scatter::new(self.units, stream),
            Order::Marked(marks) => marks.clear(),
        }
    }

    /// First unit and length of a request of `length` units at most.
    #[inline]
    pub fn draw(&mut self, length: u64, stream: &mut Stream) -> (u64, u64) {
        debug_assert!(!self.is_covered(), "a pass begins when one has ended");
        let (start, length) = match &mut self.order {
            Order::Permuted(scatter) => (scatter.place(self.units - self.left), 1),
            Order::Marked(marks) => {
                let from = below(stream, self.units);
                let start = marks.next_free(from).or_else(|| marks.next_free(0));
                let start = start.expect("a pass that has units left");
                (start, marks.mark(start, length))
            }
        };
        self.left -= length;
        (start, length)
    }
}
