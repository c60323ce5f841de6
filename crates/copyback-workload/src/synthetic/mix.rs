//! Operations of generated requests, drawn by their shares.

use super::draw::{below, threshold, whole};
use crate::Operation;
use crate::rng::Stream;
use copyback_config::SyntheticWorkload;

/// Draws operations: reads, then trims, then flushes have their stretch of the unit interval; the rest
/// writes.
pub struct Mix {
    reads: u64,
    trims: u64,
    flushes: u64,
    stream: Stream,
}

impl Mix {
    /// Operations in the shares of `config`.
    pub fn new(config: &SyntheticWorkload, stream: Stream) -> Self {
        let reads = config.read_share.0;
        let trims = reads + config.trim_share.0;
        let flushes = trims + config.flush_share.0;
        let [reads, trims, flushes] = [reads, trims, flushes].map(threshold);
        Self { reads, trims, flushes, stream }
    }

    /// Draws from `stream` on.
    pub fn reseed(&mut self, stream: Stream) {
        self.stream = stream;
    }

    /// The next operation. Takes one number from the stream, whatever the shares.
    #[inline]
    pub fn draw(&mut self) -> Operation {
        let place = whole(&mut self.stream);
        self.operation_at(place)
    }

    /// Whether there are reads and others.
    pub fn is_mixed(&self) -> bool {
        (1..threshold(1.0)).contains(&self.reads)
    }

    /// The next operation that is no read.
    pub fn draw_other(&mut self) -> Operation {
        debug_assert!(self.reads < threshold(1.0));
        let others = threshold(1.0) - self.reads;
        let place = self.reads + below(&mut self.stream, others);
        self.operation_at(place)
    }

    fn operation_at(&self, place: u64) -> Operation {
        match place {
            place if place < self.reads => Operation::Read,
            place if place < self.trims => Operation::Trim,
            place if place < self.flushes => Operation::Flush,
            _ => Operation::Write,
        }
    }
}
