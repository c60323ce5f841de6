//! How well a placement has sorted pages: what became of the blocks of each class.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ssd::SortingReport;

/// What `summary.json` says of a placement with more than two classes. Counted since the run began, ramp included.
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
    /// Blocks that were filled.
    pub blocks_filled: u64,
    /// Blocks that were collected.
    pub victims: u64,
    /// Share of their pages that were valid when they were chosen; null if there were none.
    pub valid_share: Option<f64>,
    /// How long they had been in use by then, in pages that the host wrote to the drive, on average; null if there
    /// were none.
    pub block_life_pages: Option<f64>,
}

impl PlacementSummary {
    pub(super) fn of(report: &SortingReport) -> Self {
        let pages_per_block = f64::from(report.pages_per_block);
        let classes = report.tally.classes().iter().map(|class| {
            let of_each = |sum: u64| (class.victims > 0).then(|| sum as f64 / class.victims as f64);
            ClassSummary {
                blocks_filled: class.filled,
                victims: class.victims,
                valid_share: of_each(class.valid_pages).map(|pages| pages / pages_per_block),
                block_life_pages: of_each(class.lives),
            }
        });
        Self {
            classes: classes.collect(),
            diverted_pages: report.tally.diverted,
            state_bytes: report.state_bytes,
        }
    }
}
