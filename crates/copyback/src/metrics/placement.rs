//! How well a placement has sorted pages: what became of the blocks of each class.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ssd::{HandleTally, SortingReport};

/// What `summary.json` says of a placement with more than two classes, or with handles. Counted since the run began, ramp included.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PlacementSummary {
    /// Blocks of each class.
    pub classes: Vec<ClassSummary>,
    /// Pages that collections moved to another class, as theirs had no open block and none was free.
    pub diverted_pages: u64,
    /// RAM in which the placement keeps what it knows of pages, in bytes.
    pub state_bytes: u64,
    /// What a drive with flexible data placement logs, if the placement goes by handles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fdp: Option<FdpSummary>,
}

/// The counts of the log pages of NVMe 2.1's flexible data placement, since the run began. Bytes are those of pages
/// that hold data: a page that is written in part counts whole, and what a write buffer absorbs does not count.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FdpSummary {
    /// Bytes that the host wrote through each placement handle, counted from handle 0.
    pub handle_host_bytes: Vec<u64>,
    /// Bytes that the host wrote (FDP Statistics, HBMW).
    pub host_bytes_written: u64,
    /// Bytes that were written to flash, for the host and by collections (MBMW).
    pub media_bytes_written: u64,
    /// Bytes of the blocks that were collected and so are erased (MBE).
    pub media_bytes_erased: u64,
    /// What happened that the host may want to know (FDP Events).
    pub events: FdpEvents,
}

/// Events of flexible data placement.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FdpEvents {
    /// Pages that were written with handle 0 because the host named a handle that there is not (Invalid Placement
    /// Identifier).
    pub invalid_placement_identifier_pages: u64,
    /// Blocks whose valid pages were moved (Media Reallocated).
    pub media_reallocated: u64,
    /// Bytes of these pages.
    pub media_reallocated_bytes: u64,
}

impl FdpSummary {
    fn of(tally: &HandleTally) -> Self {
        let host_pages: u64 = tally.host_pages.iter().sum();
        Self {
            handle_host_bytes: tally.host_pages.iter().map(|pages| tally.bytes(*pages)).collect(),
            host_bytes_written: tally.bytes(host_pages),
            media_bytes_written: tally.bytes(host_pages + tally.moved_pages),
            media_bytes_erased: tally.bytes(tally.erased_pages),
            events: FdpEvents {
                invalid_placement_identifier_pages: tally.invalid_pages,
                media_reallocated: tally.reallocations,
                media_reallocated_bytes: tally.bytes(tally.moved_pages),
            },
        }
    }
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
            fdp: report.handles.as_ref().map(FdpSummary::of),
        }
    }
}
