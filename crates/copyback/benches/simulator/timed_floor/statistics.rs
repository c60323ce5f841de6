//! What is known of the latencies of reads, or of writes.

use super::requests::Parts;

/// Bits of a latency that its bucket keeps.
const BUCKET_BITS: u32 = 11;

/// Exact sums and extremes, and a histogram whose buckets are a thousandth wide at most.
pub struct Statistics {
    pub count: u64,
    pub sum: u64,
    squares: u128,
    least: u64,
    most: u64,
    pub parts: Parts,
    buckets: Vec<u32>,
}

impl Statistics {
    pub fn new() -> Self {
        let buckets = vec![0; (64 - BUCKET_BITS as usize + 2) << (BUCKET_BITS - 1)];
        let (squares, parts) = (0, Parts::default());
        Self { count: 0, sum: 0, squares, least: u64::MAX, most: 0, parts, buckets }
    }

    /// Counts a latency in nanoseconds, and where it was spent.
    #[inline]
    pub fn record(&mut self, latency: u64, parts: Parts) {
        self.count += 1;
        self.sum += latency;
        self.squares += u128::from(latency) * u128::from(latency);
        self.least = self.least.min(latency);
        self.most = self.most.max(latency);
        self.buckets[bucket(latency)] += 1;
        self.parts.service += parts.service;
        self.parts.collections += parts.collections;
        self.parts.die += parts.die;
        self.parts.channel += parts.channel;
    }
}

#[inline]
fn bucket(latency: u64) -> usize {
    let bits = (latency | ((1 << BUCKET_BITS) - 1)).ilog2();
    let shift = bits + 1 - BUCKET_BITS;
    ((shift as usize) << (BUCKET_BITS - 1)) + (latency >> shift) as usize
}
