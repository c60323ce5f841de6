//! A set of indices that is drained in increasing order.

use crate::checkpoint::Checkpointed;

/// Indices that need attention at the current instant.
#[derive(Debug, Checkpointed)]
pub struct DirtySet {
    words: Vec<u64>,
    /// Number of members.
    held: usize,
}

impl DirtySet {
    /// An empty set of indices below `size`.
    pub fn new(size: usize) -> Self {
        Self { words: vec![0; size.div_ceil(64)], held: 0 }
    }

    /// Adds `index`.
    #[inline]
    pub fn insert(&mut self, index: usize) {
        let (word, bit) = (&mut self.words[index / 64], 1 << (index % 64));
        self.held += usize::from(*word & bit == 0);
        *word |= bit;
    }

    /// Whether `index` is in it.
    pub fn contains(&self, index: usize) -> bool {
        self.words[index / 64] & (1 << (index % 64)) != 0
    }

    /// Whether no index is in it.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Takes `index` out of it.
    #[inline]
    pub fn remove(&mut self, index: usize) {
        let (word, bit) = (&mut self.words[index / 64], 1 << (index % 64));
        self.held -= usize::from(*word & bit != 0);
        *word &= !bit;
    }

    /// Removes and returns the lowest index if it is below `bound`.
    #[inline]
    pub fn pop_below(&mut self, bound: usize) -> Option<usize> {
        let lowest = self.pop()?;
        if lowest >= bound {
            self.insert(lowest);
            return None;
        }
        Some(lowest)
    }

    /// Removes and returns the lowest index.
    #[inline]
    pub fn pop(&mut self) -> Option<usize> {
        if self.held == 0 {
            return None;
        }
        let (position, word) = self.words.iter_mut().enumerate().find(|(_, word)| **word != 0)?;
        self.held -= 1;
        let bit = word.trailing_zeros() as usize;
        *word &= *word - 1;
        Some(position * 64 + bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_come_out_in_order_and_once() {
        let mut set = DirtySet::new(200);
        for index in [130, 3, 64, 63, 3, 199] {
            set.insert(index);
        }
        assert!(!set.is_empty());
        let drained: Vec<usize> = std::iter::from_fn(|| set.pop()).collect();
        assert_eq!(drained, [3, 63, 64, 130, 199]);
        assert!(set.is_empty());
    }

    #[test]
    fn what_is_not_below_a_bound_stays() {
        let mut set = DirtySet::new(200);
        for index in [130, 3, 64, 70] {
            set.insert(index);
        }
        set.remove(64);
        let below = |set: &mut DirtySet, bound| std::iter::from_fn(|| set.pop_below(bound)).count();
        assert_eq!([below(&mut set, 3), below(&mut set, 70), below(&mut set, 71)], [0, 1, 1]);
        assert!(!set.is_empty());
        assert_eq!((below(&mut set, 200), set.is_empty()), (1, true));
    }
}
