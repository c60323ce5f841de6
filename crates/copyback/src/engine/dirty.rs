//! A set of indices that is drained in increasing order.

/// Indices that need attention at the current instant.
#[derive(Debug)]
pub struct DirtySet {
    words: Vec<u64>,
}

impl DirtySet {
    /// An empty set of indices below `size`.
    pub fn new(size: usize) -> Self {
        Self { words: vec![0; size.div_ceil(64)] }
    }

    /// Adds `index`.
    pub fn insert(&mut self, index: usize) {
        self.words[index / 64] |= 1 << (index % 64);
    }

    /// Removes and returns the lowest index at or above `from`.
    pub fn pop_from(&mut self, from: usize) -> Option<usize> {
        let first = from / 64;
        let mut mask = u64::MAX << (from % 64);
        for (word_index, word) in self.words.iter_mut().enumerate().skip(first) {
            let hits = *word & mask;
            if hits != 0 {
                *word &= !(hits & hits.wrapping_neg());
                return Some(word_index * 64 + hits.trailing_zeros() as usize);
            }
            mask = u64::MAX;
        }
        None
    }

    /// Whether nothing needs attention.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
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
        let mut drained = Vec::new();
        let mut from = 0;
        while let Some(index) = set.pop_from(from) {
            drained.push(index);
            from = index;
        }
        assert_eq!(drained, [3, 63, 64, 130, 199]);
        assert!(set.is_empty());
    }
}
