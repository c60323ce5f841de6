//! A share of invalid pages that calls for a collection, however many blocks are free: what log-structured stores call
//! the garbage proportion (`ssd.gc.invalid_threshold`).

use crate::checkpoint::Checkpointed;
use crate::config::Config;

use super::{Frontier, Plane};

/// The largest share of a plane's written pages that may be invalid.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct InvalidShare {
    most: f64,
    blocks_per_plane: usize,
    pages_per_block: u64,
}

impl InvalidShare {
    /// That of a checked configuration, if it has one.
    pub fn new(config: &Config) -> Option<Self> {
        config.ssd.gc.invalid_threshold.map(|most| Self {
            most: most.0,
            blocks_per_plane: config.ssd.geometry.blocks_per_plane as usize,
            pages_per_block: config.ssd.data_pages_per_block(),
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
