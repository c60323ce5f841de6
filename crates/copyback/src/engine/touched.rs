//! The few of many that something has happened to, in increasing order.

use crate::checkpoint::Checkpointed;

/// Indices that something has happened to at the current instant: hardly ever more than one, so a
/// sorted list is faster than a set of bits.
#[derive(Debug, Default, Checkpointed)]
pub struct Touched(Vec<usize>);

impl Touched {
    /// Adds `index`.
    pub fn insert(&mut self, index: usize) {
        match self.0.last() {
            Some(last) if *last >= index => {
                if let Err(place) = self.0.binary_search(&index) {
                    self.0.insert(place, index);
                }
            }
            _ => self.0.push(index),
        }
    }

    /// The indices, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().copied()
    }

    /// The only index, if there is but one.
    #[inline]
    pub fn only(&self) -> Option<usize> {
        match self.0[..] {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_in_order_and_once() {
        let mut touched = Touched::default();
        [4, 4, 9, 1, 9, 6, 1].into_iter().for_each(|index| touched.insert(index));
        assert_eq!(touched.iter().collect::<Vec<_>>(), [1, 4, 6, 9]);
        assert_eq!(touched.only(), None);
        touched.clear();
        assert_eq!(touched.iter().next(), None);
        touched.insert(3);
        assert_eq!(touched.only(), Some(3));
    }
}
