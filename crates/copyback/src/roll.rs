//! A roll: members in the order in which they joined, each with a number, who leave in any order.

use std::collections::VecDeque;
use std::ops::Range;

use crate::checkpoint::Checkpointed;

/// Members by number. To join and to look for the first takes no longer the more there are, to leave hardly so.
#[derive(Debug, Checkpointed)]
pub struct Roll<T> {
    /// In the order of their numbers; `None` for who has left. The first has not.
    members: VecDeque<(u64, Option<T>)>,
    /// Number of those who have not left.
    here: usize,
}

/// Places of those who have left that are kept at least, before the roll is written anew.
const KEPT: usize = 64;

impl<T> Default for Roll<T> {
    fn default() -> Self {
        Self { members: VecDeque::new(), here: 0 }
    }
}

impl<T: Copy> Roll<T> {
    /// Whether nobody is on it.
    pub const fn is_empty(&self) -> bool {
        self.here == 0
    }

    /// Adds a member, whose number is above that of every other.
    #[inline]
    pub fn join(&mut self, number: u64, value: T) {
        debug_assert!(self.members.back().is_none_or(|(last, _)| *last < number), "numbers grow");
        self.members.push_back((number, Some(value)));
        self.here += 1;
    }

    /// Takes a member off, if it is on the roll.
    #[inline]
    pub fn leave(&mut self, number: u64) -> Option<T> {
        let place = self.place(number);
        let (_, value) = self.members.get_mut(place).filter(|(found, _)| *found == number)?;
        let value = value.take()?;
        self.here -= 1;
        while let Some((_, None)) = self.members.front() {
            self.members.pop_front();
        }
        if self.members.len() > 2 * self.here + KEPT {
            self.members.retain(|(_, value)| value.is_some());
        }
        Some(value)
    }

    /// The first member.
    #[inline]
    pub fn first(&self) -> Option<(u64, T)> {
        let (number, value) = self.members.front()?;
        value.map(|value| (*number, value))
    }

    /// The first member whose number is in `numbers`.
    pub fn first_in(&self, numbers: &Range<u64>) -> Option<(u64, T)> {
        let behind = self.members.range(self.place(numbers.start)..);
        let here = behind.take_while(|(number, _)| *number < numbers.end);
        here.filter_map(|(number, value)| Some((*number, (*value)?))).next()
    }

    /// Takes everybody off.
    pub fn clear(&mut self) {
        self.members.clear();
        self.here = 0;
    }

    /// Place of this number, or of the next above it.
    #[inline]
    fn place(&self, number: u64) -> usize {
        let Some((first, _)) = self.members.front() else { return 0 };
        if number <= *first {
            return 0;
        }
        // Where no number is left out, it tells the place.
        let told = (number - first) as usize;
        match self.members.get(told) {
            Some((found, _)) if *found == number => told,
            _ => self.members.partition_point(|(other, _)| *other < number),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn members_leave_in_any_order_as_from_a_sorted_map() {
        let (mut roll, mut map) = (Roll::default(), BTreeMap::new());
        // Numbers of a linear congruence.
        let (mut random, mut number) = (3_u64, 0);
        for round in 0..20_000_u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            if random >> 62 == 0 || map.is_empty() {
                number += 1 + (random >> 40) % 3;
                roll.join(number, round);
                map.insert(number, round);
            } else {
                let from = number.saturating_sub((random >> 33) % 300);
                let next = map.range(from..).next().map(|(number, _)| *number);
                assert_eq!(roll.leave(from), map.remove(&from));
                if let Some(next) = next.filter(|_| random >> 61 & 1 == 0) {
                    assert_eq!(roll.leave(next), map.remove(&next));
                }
                let numbers = from..number.saturating_sub(2).max(from);
                let first = map.range(numbers.clone()).next();
                assert_eq!(roll.first_in(&numbers), first.map(|(number, value)| (*number, *value)));
            }
            let first = map.first_key_value().map(|(number, value)| (*number, *value));
            assert_eq!((roll.first(), roll.is_empty()), (first, map.is_empty()));
            assert!(roll.members.len() <= 2 * map.len() + KEPT + 1);
        }
        roll.clear();
        assert_eq!((roll.first(), roll.is_empty()), (None, true));
    }
}
