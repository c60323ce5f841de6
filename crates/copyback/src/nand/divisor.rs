//! Division by a number that stays the same.

use crate::checkpoint::Checkpointed;

/// Divisor whose quotients take a multiplication in place of a division, which is several times as slow (Lemire,
/// Kaser, Kurz: Faster remainder by direct computation, Software: Practice and Experience 49, 2019).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct Divisor {
    value: u32,
    /// 2^64 divided by the value, rounded up; zero for a value of one, where it has no room.
    reciprocal: u64,
}

impl Divisor {
    /// Creates the divisor.
    ///
    /// # Panics
    ///
    /// If `value` is zero.
    pub const fn new(value: u32) -> Self {
        Self { value, reciprocal: (u64::MAX / value as u64).wrapping_add(1) }
    }

    /// The number that is divided by.
    #[inline(always)]
    pub const fn value(self) -> u32 {
        self.value
    }

    /// `number` divided by it, rounded down.
    #[inline(always)]
    pub const fn quotient(self, number: u32) -> u32 {
        if self.reciprocal == 0 {
            return number;
        }
        ((self.reciprocal as u128 * number as u128) >> 64) as u32
    }

    /// The remainder of `number` divided by it.
    #[inline(always)]
    pub const fn remainder(self, number: u32) -> u32 {
        number - self.quotient(number) * self.value
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quotients_and_remainders_are_those_of_a_division(
            value in prop_oneof![1..70_u32, 1..=u32::MAX],
            number in any::<u32>(),
            times in any::<u32>(),
        ) {
            let divisor = Divisor::new(value);
            let multiple = (times / value) * value;
            for number in [number, multiple, multiple.wrapping_sub(1), u32::MAX, 0] {
                prop_assert_eq!(divisor.quotient(number), number / value);
                prop_assert_eq!(divisor.remainder(number), number % value);
            }
        }
    }
}
