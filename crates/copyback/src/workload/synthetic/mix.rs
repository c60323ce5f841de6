//! What requests ask for.

use super::draw::{threshold, whole};
use crate::config::SyntheticWorkload;
use crate::rng::Stream;
use crate::workload::Operation;

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

    /// The next operation. Takes one number from the stream, whatever the shares.
    #[inline]
    pub fn draw(&mut self) -> Operation {
        match whole(&mut self.stream) {
            draw if draw < self.reads => Operation::Read,
            draw if draw < self.trims => Operation::Trim,
            draw if draw < self.flushes => Operation::Flush,
            _ => Operation::Write,
        }
    }
}
