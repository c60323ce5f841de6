//! A table whose places are used again, the one that came free last first.

use std::ops::{Index, IndexMut};

use crate::checkpoint::Checkpointed;

/// A table of what comes and goes. Which place is next is part of it, as places are names: `slab` does the same, but
/// does not tell.
#[derive(Debug, Checkpointed)]
pub struct Slots<T> {
    slots: Vec<Slot<T>>,
    used: usize,
    /// The place that is used next; the end of the table, if none is free.
    next: usize,
}

#[derive(Debug, Checkpointed)]
enum Slot<T> {
    Used(T),
    /// Free slot, with the index of the one that is used after this.
    Free(usize),
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Slots<T> {
    /// An empty table.
    pub const fn new() -> Self {
        Self { slots: Vec::new(), used: 0, next: 0 }
    }

    /// Number of used slots.
    pub const fn len(&self) -> usize {
        self.used
    }

    /// Whether none is.
    pub const fn is_empty(&self) -> bool {
        self.used == 0
    }

    /// The place that the next value gets.
    pub const fn next_place(&self) -> usize {
        self.next
    }

    /// Puts a value in the next place, and returns which that is.
    #[inline(always)]
    pub fn insert(&mut self, value: T) -> usize {
        let place = self.next;
        match self.slots.get_mut(place) {
            Some(slot) => {
                let Slot::Free(after) = *slot else { used(place) };
                self.next = after;
                *slot = Slot::Used(value);
            }
            None => {
                self.slots.push(Slot::Used(value));
                self.next = self.slots.len();
            }
        }
        self.used += 1;
        place
    }

    /// Takes the value out of its place.
    ///
    /// # Panics
    /// If the place is not used.
    #[inline]
    pub fn remove(&mut self, place: usize) -> T {
        match std::mem::replace(&mut self.slots[place], Slot::Free(self.next)) {
            Slot::Used(value) => {
                self.next = place;
                self.used -= 1;
                value
            }
            Slot::Free(_) => free(place),
        }
    }

    /// The value in a place, if it is used.
    #[inline]
    pub fn get(&self, place: usize) -> Option<&T> {
        match self.slots.get(place)? {
            Slot::Used(value) => Some(value),
            Slot::Free(_) => None,
        }
    }

    /// The places that are used, in order.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        (0..self.slots.len()).filter_map(|place| Some((place, self.get(place)?)))
    }

    /// Takes all values out, in the order of their places, and forgets which were free.
    pub fn drain(&mut self) -> impl Iterator<Item = T> {
        let slots = std::mem::take(self).slots;
        slots.into_iter().filter_map(|slot| match slot {
            Slot::Used(value) => Some(value),
            Slot::Free(_) => None,
        })
    }
}

#[cold]
fn used(place: usize) -> ! {
    panic!("place {place} is used")
}

#[cold]
fn free(place: usize) -> ! {
    panic!("place {place} is not used")
}

impl<T> Index<usize> for Slots<T> {
    type Output = T;

    #[inline]
    fn index(&self, place: usize) -> &T {
        match &self.slots[place] {
            Slot::Used(value) => value,
            Slot::Free(_) => free(place),
        }
    }
}

impl<T> IndexMut<usize> for Slots<T> {
    #[inline]
    fn index_mut(&mut self, place: usize) -> &mut T {
        match &mut self.slots[place] {
            Slot::Used(value) => value,
            Slot::Free(_) => free(place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_that_came_free_last_is_used_first() {
        let mut slots = Slots::new();
        assert_eq!([(); 4].map(|()| slots.insert('a')), [0, 1, 2, 3]);
        assert_eq!((slots.remove(1), slots.remove(3), slots.remove(0)), ('a', 'a', 'a'));
        assert_eq!((slots.len(), slots.next_place()), (1, 0));
        assert_eq!(slots.get(3), None);
        assert_eq!([(); 4].map(|()| slots.insert('b')), [0, 3, 1, 4]);
        slots[4] = 'c';
        let used: Vec<_> = slots.iter().map(|(place, value)| (place, *value)).collect();
        assert_eq!(used, [(0, 'b'), (1, 'b'), (2, 'a'), (3, 'b'), (4, 'c')]);
        assert_eq!(slots.drain().collect::<String>(), "bbabc");
        assert!(slots.is_empty());
        assert_eq!(slots.insert('d'), 0);
    }

    #[test]
    #[should_panic(expected = "place 0 is not used")]
    fn what_is_not_there_is_not_taken_out() {
        let mut slots = Slots::new();
        slots.insert(7);
        slots.remove(0);
        slots.remove(0);
    }
}
