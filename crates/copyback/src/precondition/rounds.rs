//! Rounds of overwrites, until the write amplification of the last ones is steady.

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::steady::{Detector, SteadyRule, WindowSpread};

/// Rounds of overwrites that prepared a device. The spread is that of the last rounds; null if they were too few.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RoundsSummary {
    /// Whether write amplification was steady at the end.
    pub reached: bool,
    /// Rounds that were written.
    pub rounds: usize,
    /// Logical pages that they overwrote.
    pub overwritten_pages: u64,
    /// Mean write amplification of the last rounds.
    pub write_amplification: Option<f64>,
    /// From the least of them to the greatest, as a share of the mean.
    pub excursion: Option<f64>,
    /// Rise of their best-fit line, as a share of the mean.
    pub slope: Option<f64>,
    /// From the mean to the one that lies farthest from it, as a share of the mean.
    pub deviation: Option<f64>,
    /// Write amplification of each round.
    pub values: Vec<f64>,
}

/// The rounds of a device.
#[derive(Debug, Clone, Checkpointed)]
pub struct Rounds {
    /// Pages of a round.
    length: u64,
    most: usize,
    detector: Detector,
    /// Write amplification of each round.
    values: Vec<f64>,
    is_steady: bool,
    /// Pages written to flash before the round under way.
    written: u64,
}

impl Rounds {
    /// No round yet; rounds of `length` pages, and `most` at most.
    pub const fn new(rule: SteadyRule, length: u64, most: u32) -> Self {
        Self {
            length,
            most: most as usize,
            detector: Detector::new(rule),
            values: Vec::new(),
            is_steady: false,
            written: 0,
        }
    }

    /// The first round begins when so many pages have been written to flash.
    pub const fn begin(&mut self, written: u64) {
        self.written = written;
    }

    /// A round has ended when so many pages have been written to flash.
    pub fn end(&mut self, written: u64) {
        let pages = written - self.written;
        self.written = written;
        self.push(pages as f64 / self.length as f64);
    }

    /// A round has ended with this write amplification.
    pub fn push(&mut self, write_amplification: f64) {
        self.values.push(write_amplification);
        self.is_steady = self.detector.push(Some(write_amplification));
    }

    /// Whether there is no further round.
    pub const fn have_ended(&self) -> bool {
        self.is_steady || self.values.len() >= self.most
    }

    /// Pages of a round.
    pub const fn length(&self) -> u64 {
        self.length
    }

    /// Pages of all rounds that there may be.
    pub const fn most_pages(&self) -> u64 {
        self.length * self.most as u64
    }

    /// Write amplification of each round.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Summary of the rounds for `summary.json`.
    pub fn summary(&self) -> RoundsSummary {
        let of = |member: fn(&WindowSpread) -> f64| self.detector.spread().as_ref().map(member);
        RoundsSummary {
            reached: self.is_steady,
            rounds: self.values.len(),
            overwritten_pages: self.length * self.values.len() as u64,
            write_amplification: of(|spread| spread.mean),
            excursion: of(|spread| spread.excursion),
            slope: of(|spread| spread.slope),
            deviation: of(|spread| spread.deviation),
            values: self.values.clone(),
        }
    }
}
