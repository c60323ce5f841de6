//! Counts less a part of them: what came since an earlier look, or what a total holds beside one of its parts.

pub use copyback_derive::Less;

use crate::units::TotalTime;

/// Counts that are subtracted with a check, in a release as well: a part that is greater than its whole is a bug of ours, and its
/// difference would be a number near 2^64.
pub trait Less {
    /// The count without `part`.
    ///
    /// # Panics
    /// If the part is greater than the count.
    #[must_use]
    fn less(self, part: Self) -> Self;
}

impl Less for u64 {
    #[track_caller]
    fn less(self, part: Self) -> Self {
        let rest = self.checked_sub(part);
        rest.unwrap_or_else(|| panic!("a part of a count is greater than it: {part} of {self}"))
    }
}

impl Less for TotalTime {
    fn less(self, part: Self) -> Self {
        self - part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Less)]
    struct Counted {
        reads: u64,
        time: TotalTime,
    }

    fn counted(reads: u64, ns: u128) -> Counted {
        Counted { reads, time: TotalTime::from_ns(ns) }
    }

    #[test]
    fn each_field_is_less_by_its_part() {
        assert_eq!(counted(7, 50).less(counted(3, 20)), counted(4, 30));
    }

    #[test]
    #[should_panic(expected = "a part of a count is greater than it: 4 of 3")]
    fn a_part_is_never_greater_than_its_count() {
        let _ = counted(3, 50).less(counted(4, 20));
    }

    #[test]
    #[should_panic(expected = "a part of a time is longer than it")]
    fn a_part_is_never_longer_than_its_time() {
        let _ = counted(3, 50).less(counted(3, 51));
    }
}
