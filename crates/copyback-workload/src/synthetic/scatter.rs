//! A permutation that looks random, computed for each number: no table, whatever the size.

use rand_xoshiro::rand_core::Rng;

use crate::rng::Stream;

/// Rounds of the network; three make it pseudorandom if the mixing is (Luby and Rackoff 1988).
const ROUNDS: usize = 4;

/// Scatters the numbers below a bound: a Feistel network over the next even number of bits, applied
/// again while it leads beyond the bound (Black and Rogaway 2002), which is seldom more than thrice.
pub struct Scatter {
    bound: u64,
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Scatter {
    /// A permutation of the numbers from 0 to `bound - 1`, chosen by `stream`.
    pub fn new(bound: u64, stream: &mut Stream) -> Self {
        let bits = u64::BITS - bound.saturating_sub(1).leading_zeros();
        let keys = std::array::from_fn(|_| stream.next_u64());
        Self { bound, half_bits: bits.div_ceil(2).max(1), keys }
    }

    /// Maps `number` to its scattered place.
    #[inline]
    pub fn place(&self, number: u64) -> u64 {
        debug_assert!(number < self.bound);
        let mut place = self.permute(number);
        while place >= self.bound {
            place = self.permute(place);
        }
        place
    }

    /// The network, a permutation of all numbers of twice `half_bits` bits.
    fn permute(&self, number: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (number >> self.half_bits, number & mask);
        for key in self.keys {
            (left, right) = (right, left ^ mix(right ^ key) & mask);
        }
        left << self.half_bits | right
    }
}

/// The finisher of SplitMix64 (Steele, Lea and Flood 2014): every bit depends on every other.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    #[test]
    fn every_number_has_one_place() {
        for bound in [1, 2, 3, 5, 16, 17, 1000, 4097] {
            let scatter = Scatter::new(bound, &mut stream(bound, "scatter"));
            let mut places: Vec<_> = (0..bound).map(|number| scatter.place(number)).collect();
            places.sort_unstable();
            assert_eq!(places, (0..bound).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_largest_bounds_work() {
        for bound in [1 << 32, u64::MAX] {
            let scatter = Scatter::new(bound, &mut stream(7, "scatter"));
            assert!(
                [0, 1, bound / 2, bound - 1].map(|n| scatter.place(n)).iter().all(|&p| p < bound)
            );
        }
    }

    /// Neighbours land anywhere: distances between them are uniform enough for their mean to be a
    /// third of the bound.
    #[test]
    fn neighbours_part() {
        let bound = 1_000_000;
        let scatter = Scatter::new(bound, &mut stream(1, "scatter"));
        let distance = |n| scatter.place(n).abs_diff(scatter.place(n + 1)) as f64;
        let mean = (0..10_000).map(distance).sum::<f64>() / 10_000.0;
        // The distance of two uniform numbers has a standard deviation of bound / sqrt(18).
        assert!((mean - 1e6 / 3.0).abs() < 5.0 * 1e6 / 18_f64.sqrt() / 100.0, "{mean}");
    }
}
