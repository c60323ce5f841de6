//! Random draws that are the same on every machine.

use rand_xoshiro::rand_core::Rng;

use crate::rng::Stream;

/// A number from 0 to `bound - 1`, each as likely (Lemire's multiplication, with rejection).
#[inline]
pub fn below(stream: &mut Stream, bound: u64) -> u64 {
    debug_assert!(bound > 0);
    let mut product = u128::from(stream.next_u64()) * u128::from(bound);
    if (product as u64) < bound {
        let unfair = bound.wrapping_neg() % bound;
        while (product as u64) < unfair {
            product = u128::from(stream.next_u64()) * u128::from(bound);
        }
    }
    (product >> 64) as u64
}

/// Bits of a random fraction: those that a double holds.
const BITS: u32 = 53;

/// A whole number from 0 to 2^53 - 1, each as likely.
#[inline]
pub fn whole(stream: &mut Stream) -> u64 {
    stream.next_u64() >> (u64::BITS - BITS)
}

/// The number below which [`whole`] lies with `probability`.
pub fn threshold(probability: f64) -> u64 {
    (probability.clamp(0.0, 1.0) * (1_u64 << BITS) as f64) as u64
}

/// A number from 0 to just below 1.
#[inline]
pub fn fraction(stream: &mut Stream) -> f64 {
    whole(stream) as f64 / (1_u64 << BITS) as f64
}

/// An event of a fixed probability.
#[derive(Debug, Clone, Copy)]
pub struct Chance {
    threshold: u64,
}

impl Chance {
    /// Happens with `probability`, from 0 (never) to 1 (always).
    pub fn new(probability: f64) -> Self {
        Self { threshold: threshold(probability) }
    }

    /// Whether it happens this time. Takes one number from the stream, whatever the probability.
    #[inline]
    pub fn draw(self, stream: &mut Stream) -> bool {
        whole(stream) < self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    #[test]
    fn below_reaches_every_number_alike() {
        let mut stream = stream(1, "below");
        let mut counts = [0_u32; 7];
        for _ in 0..70_000 {
            counts[below(&mut stream, 7) as usize] += 1;
        }
        // Five standard deviations of a binomial of mean 10,000.
        assert!(counts.iter().all(|count| count.abs_diff(10_000) < 465), "{counts:?}");
        assert_eq!(below(&mut stream, 1), 0);
        assert!(below(&mut stream, u64::MAX) < u64::MAX);
    }

    #[test]
    fn chance_is_never_always_or_between() {
        let mut stream = stream(2, "chance");
        let mut count = |p| (0..100_000).filter(|_| Chance::new(p).draw(&mut stream)).count();
        assert_eq!(count(0.0), 0);
        assert_eq!(count(1.0), 100_000);
        assert!(count(0.4).abs_diff(40_000) < 775);
    }
}
