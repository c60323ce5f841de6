//! A set of numbers with a bit each, in which the next number that is not there is found at once.

use crate::InputError;
use copyback_config::AddressDistribution;

/// Most numbers that may be marked: 4 GiB of bits.
const MOST: u64 = 1 << 35;

/// Bits of a word.
const BITS: u64 = u64::BITS as u64;

/// Refuses a map at `key` of more `units` than can be marked.
pub fn check(address: &AddressDistribution, key: &str, units: u64) -> Result<(), InputError> {
    if units <= MOST || !matches!(address, AddressDistribution::RandomMap { .. }) {
        return Ok(());
    }
    Err(InputError {
        place: format!("{key}.address"),
        problem: format!(
            "found a map of {units} blocks for requests that differ in size; expected at most {MOST} blocks: a larger \
             alignment, or a smaller footprint"
        ),
    })
}

/// Numbers below a bound that are marked, with a bit for each 64 of them that all are, and so on upwards.
pub struct Marks {
    bound: u64,
    /// Bits of the numbers themselves first; the last level is one word.
    levels: Vec<Vec<u64>>,
}

impl Marks {
    /// No marks on the numbers below `bound`.
    pub fn new(bound: u64) -> Self {
        let words = |bits: u64| bits.div_ceil(BITS);
        let sizes = std::iter::successors(Some(words(bound)), |n| (*n > 1).then(|| words(*n)));
        let levels = sizes.map(|words| vec![0; words as usize]).collect();
        Self { bound, levels }
    }

    /// Takes all marks away.
    pub fn clear(&mut self) {
        self.levels.iter_mut().for_each(|level| level.fill(0));
    }

    /// The first number from `from` on that is not marked.
    pub fn next_free(&self, from: u64) -> Option<u64> {
        let (mut level, mut bit) = (0, from);
        loop {
            let word = self.levels.get(level)?.get((bit / BITS) as usize)?;
            let free = !word >> (bit % BITS);
            if free != 0 {
                bit += u64::from(free.trailing_zeros());
                break;
            }
            (level, bit) = (level + 1, bit / BITS + 1);
        }
        while level > 0 {
            level -= 1;
            let word = self.levels[level].get(bit as usize)?;
            bit = bit * BITS + u64::from(word.trailing_ones());
        }
        (bit < self.bound).then_some(bit)
    }

    /// Marks numbers from `first` on, `most` of them at most, until one that is marked or the bound. Returns how many.
    pub fn mark(&mut self, first: u64, most: u64) -> u64 {
        let end = self.bound.min(first.saturating_add(most));
        let marked = (first..end).take_while(|number| self.mark_one(*number)).count();
        marked as u64
    }

    /// Whether the number was not marked before.
    fn mark_one(&mut self, number: u64) -> bool {
        let mut bit = number;
        for (level, words) in self.levels.iter_mut().enumerate() {
            let word = &mut words[(bit / BITS) as usize];
            let mask = 1 << (bit % BITS);
            if level == 0 && *word & mask != 0 {
                return false;
            }
            *word |= mask;
            if *word != u64::MAX {
                break;
            }
            bit /= BITS;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against a plain list of flags.
    #[test]
    fn the_next_free_number_is_found_at_each_bound() {
        for bound in [1, 63, 64, 65, 4095, 4096, 4097, 300_000] {
            let mut marks = Marks::new(bound);
            let mut marked = vec![false; bound as usize];
            // A stride that reaches each number once.
            let stride = (1..).map(|n| 7919 * n + 1).find(|n| gcd(*n, bound) == 1).unwrap();
            for step in 0..bound {
                let number = step * stride % bound;
                let expected = marked[number as usize..].iter().position(|is_marked| !is_marked);
                if step % (bound / 50 + 1) == 0 {
                    assert_eq!(marks.next_free(number), expected.map(|n| number + n as u64));
                }
                assert_eq!(marks.mark(number, 1), 1, "{number} of {bound}");
                assert_eq!(marks.mark(number, 1), 0, "{number} of {bound}");
                marked[number as usize] = true;
            }
            assert_eq!(marks.next_free(0), None);
            marks.clear();
            assert_eq!(marks.next_free(bound - 1), Some(bound - 1));
        }
    }

    #[test]
    fn a_run_ends_before_a_mark_and_at_the_bound() {
        let mut marks = Marks::new(100);
        assert_eq!(marks.mark(70, 4), 4);
        assert_eq!(marks.mark(60, 20), 10);
        assert_eq!(marks.mark(95, 20), 5);
        assert_eq!(marks.next_free(60), Some(74));
        assert_eq!(marks.next_free(95), None);
    }

    fn gcd(a: u64, b: u64) -> u64 {
        if b == 0 { a } else { gcd(b, a % b) }
    }
}
