//! Watermarks of a write buffer: how full it is when pages begin to leave, and when they stop.

use crate::checkpoint::Checkpointed;
use crate::config;

/// Watermarks, and whether pages leave between them.
#[derive(Debug, Checkpointed)]
pub struct Watermarks {
    high: usize,
    low: usize,
    leaves: bool,
}

impl Watermarks {
    /// Watermarks of an empty buffer of `capacity` pages.
    pub fn new(config: &config::Buffer, capacity: usize) -> Self {
        let pages = |share: f64| share * capacity as f64;
        Self {
            // Rounded apart, so that even a tiny buffer starts above where it stops.
            high: pages(config.high_watermark.0).ceil() as usize,
            low: pages(config.low_watermark.0).floor() as usize,
            leaves: false,
        }
    }

    /// Looks at whether `dirty` pages are enough to begin.
    pub const fn look(&mut self, dirty: usize) {
        if dirty >= self.high {
            self.leaves = true;
        }
    }

    /// Whether pages leave, of `dirty` ones: they stop at the low watermark.
    pub const fn leaves(&mut self, dirty: usize) -> bool {
        self.leaves &= dirty > self.low;
        self.leaves
    }

    /// Stops, wherever it is.
    pub const fn stop(&mut self) {
        self.leaves = false;
    }
}
