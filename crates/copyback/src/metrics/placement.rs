//! How well a placement has sorted pages: what became of the blocks of each class.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ftl::{ClassTally, OfClass, Tables};

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

/// What placements have done.
#[derive(Debug, Clone)]
pub struct PlacementWork {
    tally: ClassTally,
    state_bytes: u64,
    pages_per_block: u32,
}

impl PlacementWork {
    /// That of a drive with these tables, if its placement has more than two classes.
    pub fn of(tables: &Tables) -> Option<Self> {
        let tally = tables.class_tally();
        (tally.classes().len() > 2).then(|| Self {
            tally: tally.clone(),
            state_bytes: tables.placement_bytes() as u64,
            pages_per_block: tables.data_pages_per_block(),
        })
    }

    /// Adds what another drive's has done.
    pub fn add(&mut self, other: &Self) {
        self.tally += &other.tally;
        self.state_bytes += other.state_bytes;
    }

    /// What is told of it.
    pub fn summary(&self) -> PlacementSummary {
        let class = |class: &OfClass| {
            let of_each = |sum: u64| (class.victims > 0).then(|| sum as f64 / class.victims as f64);
            ClassSummary {
                blocks_filled: class.filled,
                victims: class.victims,
                valid_share: of_each(class.valid_pages)
                    .map(|pages| pages / f64::from(self.pages_per_block)),
                block_life_pages: of_each(class.lives),
            }
        };
        PlacementSummary {
            classes: self.tally.classes().iter().map(class).collect(),
            diverted_pages: self.tally.diverted,
            state_bytes: self.state_bytes,
        }
    }
}
