//! Chunks of pages that are written about as often, and the levels that a count of writes is on: each begins with some
//! times as many as the one below.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::config::{Counted, Logarithm};
use crate::ids::Lpn;

use super::Class;
use super::runs::Runs;

/// Powers of e, rounded up to whole numbers.
const POWERS_OF_E: [u32; 23] = [
    1,
    3,
    8,
    21,
    55,
    149,
    404,
    1_097,
    2_981,
    8_104,
    22_027,
    59_875,
    162_755,
    442_414,
    1_202_605,
    3_269_018,
    8_886_111,
    24_154_953,
    65_659_970,
    178_482_301,
    485_165_196,
    1_318_815_735,
    3_584_912_847,
];

/// The least count of each level.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize, Checkpointed)]
pub struct Levels(Vec<u32>);

impl Levels {
    /// Creates this number of levels, or as many as counts reach.
    pub fn new(levels: usize, logarithm: Logarithm) -> Self {
        let least: Vec<_> = match logarithm {
            Logarithm::Natural => POWERS_OF_E.to_vec(),
            Logarithm::Binary => (0..u32::BITS).map(|power| 1 << power).collect(),
        };
        Self(least.into_iter().take(levels).collect())
    }

    /// Number of levels.
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// The level of a count above 0.
    pub fn of(&self, writes: u32) -> Class {
        Class::new(self.0.partition_point(|least| *least <= writes) - 1)
    }

    /// The least count of a level.
    pub fn least(&self, level: usize) -> u32 {
        self.0[level]
    }
}

/// Maps pages to chunks, and tells whether a write of a page is a write of the chunk: a run is one of each
/// chunk that it touches, unless each page counts.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Chunks {
    pages: u32,
    counts_pages: bool,
    runs: Runs,
}

impl Chunks {
    /// Chunks of so many pages.
    pub fn new(pages: u32, counted: Counted) -> Self {
        Self { pages, counts_pages: counted == Counted::Pages, runs: Runs::default() }
    }

    /// Number of chunks for this number of pages.
    pub const fn count(&self, pages: usize) -> usize {
        pages.div_ceil(self.pages as usize)
    }

    /// The chunk of `lpn`.
    pub const fn of(&self, lpn: Lpn) -> usize {
        lpn.index() / self.pages as usize
    }

    /// Whether a write of `lpn` goes on with the last run.
    pub fn follows(&self, lpn: Lpn) -> bool {
        self.runs.follows(lpn)
    }

    /// Whether a write of `lpn` is another write of its chunk.
    pub fn counts(&self, lpn: Lpn) -> bool {
        self.counts_pages || !self.follows(lpn) || lpn.0.is_multiple_of(self.pages)
    }

    /// The host has written `lpn`.
    pub fn wrote(&mut self, lpn: Lpn) {
        self.runs.wrote(lpn);
    }

    /// Whether these are chunks of the size of `other`.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.pages, self.counts_pages) == (other.pages, other.counts_pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_begin_with_the_powers_of_e_or_of_two() {
        let of = |logarithm, levels| {
            let levels = Levels::new(levels, logarithm);
            [1, 2, 3, 4, 7, 8, 20, 21, 54, 55, u32::MAX].map(|writes| levels.of(writes).index())
        };
        assert_eq!(of(Logarithm::Natural, 5), [0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4]);
        assert_eq!(of(Logarithm::Binary, 5), [0, 1, 1, 2, 2, 3, 4, 4, 4, 4, 4]);
        assert_eq!(of(Logarithm::Natural, 63)[10], 22);
        assert_eq!(of(Logarithm::Binary, 63)[10], 31);
    }

    #[test]
    fn a_run_is_one_write_of_each_chunk_that_it_touches() {
        let mut chunks = Chunks::new(4, Counted::Runs);
        let pages = [2, 3, 4, 5, 5, 6, 0];
        let counts = pages.map(|page| {
            let counts = chunks.counts(Lpn(page));
            chunks.wrote(Lpn(page));
            counts
        });
        assert_eq!(counts, [true, false, true, false, true, false, true]);
        assert_eq!((chunks.of(Lpn(7)), chunks.of(Lpn(8)), chunks.count(9)), (1, 2, 3));
    }
}
