//! A share of invalid pages that calls for a collection, however many blocks are free: what log-structured stores call
//! the garbage proportion (`ssd.gc.invalid_threshold`).

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;

use super::{Frontier, Plane};

/// The largest share of a plane's written pages that may be invalid.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct InvalidShare {
    most: f64,
    blocks_per_plane: usize,
    pages_per_block: u64,
}

impl InvalidShare {
    /// Reads the share of a checked configuration, if it has one.
    pub fn new(config: &Resolved) -> Option<Self> {
        config.ssd.gc.invalid_threshold.map(|most| Self {
            most: most.0,
            blocks_per_plane: config.ssd.geometry.blocks_per_plane as usize,
            pages_per_block: config.drive.pages.data_per_block,
        })
    }

    /// Whether more of `plane` is invalid. What is invalid in open blocks is only counted once they are full.
    pub fn is_exceeded_on(self, plane: &Plane) -> bool {
        let used = (self.blocks_per_plane - plane.free.len()) as u64 * self.pages_per_block;
        let rest = |open: Frontier| self.pages_per_block - u64::from(open.next_page);
        let written = used - plane.frontiers().map(rest).sum::<u64>();
        f64::from(plane.closed_invalid) > self.most * written as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ftl::space::Stream;
    use crate::ids::BlockId;
    use crate::test_config;

    #[test]
    fn more_than_a_quarter_of_what_is_written_may_not_be_invalid() {
        let config = test_config::changed(&[]);
        let share = InvalidShare { most: 0.25, blocks_per_plane: 5, pages_per_block: 8 };
        // Three blocks of eight pages are in use, and none of them is open: 24 pages are written.
        let mut plane = Plane::new(&config, [3, 4].into_iter().map(BlockId));
        let exceeds = |plane: &mut Plane, invalid| {
            plane.closed_invalid = invalid;
            share.is_exceeded_on(plane)
        };
        assert_eq!(
            [0, 6, 7, 24].map(|pages| exceeds(&mut plane, pages)),
            [false, false, true, true]
        );
        // Of one that is open, five pages are not: 19 are written.
        *plane.frontier_mut(Stream::Translation) =
            Some(Frontier { block: BlockId(0), next_page: 3 });
        assert_eq!([4, 5].map(|pages| exceeds(&mut plane, pages)), [false, true]);
    }
}
