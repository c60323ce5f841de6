//! Sizes of the requests of one kind.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::distribution::{Curve, Distribution, DistributionStatistics};

/// Different sizes that are counted one by one; of more, only the distribution is known.
const MOST: usize = 4096;
/// Sizes that are told.
const LISTED: usize = 12;

/// A size and how often it occurs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CommonSize {
    /// The size.
    pub bytes: u64,
    /// Requests that have it.
    pub count: u64,
}

/// Counts the sizes of requests.
#[derive(Debug, Default)]
pub struct Sizes {
    all: Distribution,
    counts: BTreeMap<u64, u64>,
}

impl Sizes {
    /// Adds a request of `bytes`.
    pub fn add(&mut self, bytes: u64) {
        self.all.record(bytes);
        if let Some(count) = self.counts.get_mut(&bytes) {
            *count += 1;
        } else if self.counts.len() < MOST {
            self.counts.insert(bytes, 1);
        }
    }

    /// Requests in all.
    pub fn count(&self) -> u64 {
        self.all.count()
    }

    /// Bytes in all.
    pub fn bytes(&self) -> u128 {
        self.all.sum()
    }

    /// The distribution, in bytes.
    pub fn statistics(&self) -> Option<DistributionStatistics> {
        self.all.statistics(1.0)
    }

    /// The curve of [`statistics`](Self::statistics).
    pub fn curve(&self) -> Curve {
        self.all.curve(1.0)
    }

    /// The most common sizes, most common first.
    pub fn common(&self) -> Vec<CommonSize> {
        let sizes = self.counts.iter().map(|(&bytes, &count)| CommonSize { bytes, count });
        let mut sizes: Vec<_> = sizes.collect();
        sizes.sort_by_key(|size| (std::cmp::Reverse(size.count), size.bytes));
        sizes.truncate(LISTED);
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_common_come_first() {
        let mut sizes = Sizes::default();
        [4096, 8192, 4096, 512].into_iter().for_each(|bytes| sizes.add(bytes));
        assert_eq!(sizes.count(), 4);
        assert_eq!(sizes.bytes(), 16_896);
        let common = sizes.common();
        assert_eq!(common[0], CommonSize { bytes: 4096, count: 2 });
        assert_eq!(common[1], CommonSize { bytes: 512, count: 1 });
    }

    #[test]
    fn many_sizes_take_bounded_memory() {
        let mut sizes = Sizes::default();
        (1..=10_000).for_each(|bytes| sizes.add(bytes));
        assert_eq!(sizes.counts.len(), MOST);
        assert_eq!(sizes.count(), 10_000);
    }
}
