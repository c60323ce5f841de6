//! A set of indices that is drained in increasing order.

use crate::checkpoint::Checkpointed;

/// Indices that need attention at the current instant.
#[derive(Debug, Checkpointed)]
pub struct DirtySet {
    words: Vec<u64>,
    /// Whether there may be any.
    may_hold: bool,
}

impl DirtySet {
    /// An empty set of indices below `size`.
    pub fn new(size: usize) -> Self {
        Self { words: vec![0; size.div_ceil(64)], may_hold: false }
    }

    /// Adds `index`.
    #[inline]
    pub fn insert(&mut self, index: usize) {
        self.words[index / 64] |= 1 << (index % 64);
        self.may_hold = true;
    }

    /// Whether there may be an index in it: there is none once [`pop`](Self::pop) has found none.
    #[inline]
    pub const fn may_hold(&self) -> bool {
        self.may_hold
    }

    /// Takes `index` out of it.
    #[inline]
    pub fn remove(&mut self, index: usize) {
        self.words[index / 64] &= !(1 << (index % 64));
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
        let found = self.words.iter_mut().enumerate().find(|(_, word)| **word != 0);
        let Some((position, word)) = found else {
            self.may_hold = false;
            return None;
        };
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
        assert!(set.may_hold());
        let drained: Vec<usize> = std::iter::from_fn(|| set.pop()).collect();
        assert_eq!(drained, [3, 63, 64, 130, 199]);
        assert!(!set.may_hold());
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
        assert!(set.may_hold());
        assert_eq!((below(&mut set, 200), set.may_hold()), (1, false));
    }
}
