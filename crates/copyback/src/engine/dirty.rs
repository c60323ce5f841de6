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
    #[inline]
    pub fn insert(&mut self, index: usize) {
        self.words[index / 64] |= 1 << (index % 64);
    }

    /// Removes and returns the lowest index.
    #[inline]
    pub fn pop(&mut self) -> Option<usize> {
        // Most sets are one word.
        let position = match &self.words[..] {
            [0] => return None,
            [only_or_first, ..] if *only_or_first != 0 => 0,
            words => words.iter().position(|word| *word != 0)?,
        };
        let word = &mut self.words[position];
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
        let drained: Vec<usize> = std::iter::from_fn(|| set.pop()).collect();
        assert_eq!(drained, [3, 63, 64, 130, 199]);
    }
}
