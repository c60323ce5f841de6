//! How well a placement has sorted pages: what became of the blocks of each class.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ssd::{OfClass, SortingReport, Takes};

/// What `summary.json` says of a placement with several classes. Counted since the run began, ramp included.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlacementSummary {
    /// Blocks of each class.
    pub classes: Vec<ClassSummary>,
    /// Pages that collections moved to another class, as theirs had no open block and none was free.
    pub diverted_pages: u64,
    /// RAM in which the placement keeps what it knows of pages, in bytes.
    pub state_bytes: u64,
}

/// Blocks of one class.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClassSummary {
    /// Whether they take pages that the host writes.
    pub takes_host: bool,
    /// Whether they take pages that collections move.
    pub takes_moved: bool,
    /// Blocks that were filled.
    pub blocks_filled: u64,
    /// Blocks that were collected.
    pub victims: u64,
    /// Share of their pages that were valid when they were chosen; null if there were none.
    pub valid_share: Option<f64>,
    /// What collecting them added to the write amplification: those valid pages for each page that the host wrote to
    /// the drive; null if it wrote none.
    pub added_write_amplification: Option<f64>,
    /// How long they had been in use by then, in pages that the host wrote to the drive, on average; null if there
    /// were none.
    pub block_life_pages: Option<f64>,
    /// How long the pages that the host overwrote or trimmed in blocks of this class had been there, in pages that the
    /// host wrote to the drive, on average, as if blocks were filled evenly; null if there were none, or if the placement
    /// looks at who writes alone.
    pub page_life_pages: Option<f64>,
}

impl PlacementSummary {
    pub(super) fn of(report: &SortingReport) -> Self {
        let classes = report.tally.classes().iter().zip(&report.takes);
        Self {
            classes: classes.map(|(of, takes)| ClassSummary::of(report, of, *takes)).collect(),
            diverted_pages: report.tally.diverted,
            state_bytes: report.state_bytes,
        }
    }
}

impl ClassSummary {
    fn of(report: &SortingReport, of: &OfClass, takes: Takes) -> Self {
        let ratio = |sum: u64, of: u64| (of > 0).then(|| sum as f64 / of as f64);
        let valid = ratio(of.valid_pages, of.victims);
        Self {
            takes_host: takes.host,
            takes_moved: takes.moved,
            blocks_filled: of.filled,
            victims: of.victims,
            valid_share: valid.map(|pages| pages / f64::from(report.pages_per_block)),
            added_write_amplification: ratio(of.valid_pages, report.host_pages),
            block_life_pages: ratio(of.lives, of.victims),
            page_life_pages: ratio(of.page_lives, of.dead_pages),
        }
    }
}
