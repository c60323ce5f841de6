//! Quality of a placement's sorting: what happened to the blocks of each class.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ssd::{HandleTally, OfClass, SortingReport, Takes, UnitReport};

use super::Written;

/// Summary of a placement with several classes for `summary.json`. Counted since the run began, ramp included.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(extend("line" = "Classes: {label}: {}"))]
pub struct PlacementSummary {
    /// Blocks of each class.
    pub classes: Vec<ClassSummary>,
    /// RAM in which the placement keeps what it knows of pages, in bytes.
    #[schemars(extend("page" = "Kept about pages", "if" = "state_bytes > 0"))]
    pub state_bytes: u64,
    /// Pages that collections moved to another class, as theirs had no open block and none was free.
    #[schemars(extend("page" = "Pages put elsewhere", "if" = "diverted_pages > 0"))]
    pub diverted_pages: u64,
    /// Log of a drive with flexible data placement, if the placement goes by handles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fdp: Option<FdpSummary>,
}

/// The counts of the log pages of NVMe 2.1's flexible data placement, since the run began. Bytes of handles are those of
/// pages that hold data: a page that is written in part counts whole, and what a write buffer absorbs does not count.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FdpSummary {
    /// Bytes that the host wrote through each placement handle, counted from handle 0.
    pub handle_host_bytes: Vec<u64>,
    /// Units that each placement handle filled, so that it went on with another.
    pub handle_units_filled: Vec<u64>,
    /// Bytes that the units which each placement handle writes to still took at the end, over all reclaim groups (Reclaim
    /// Unit Handle Status, RUAMW).
    pub handle_available_bytes: Vec<u64>,
    /// Reclaim groups, each with units of its own: planes, or, where units are made of lines, drives.
    pub reclaim_groups: u64,
    /// Bytes that a reclaim unit holds (FDP Configurations, RUNS).
    pub reclaim_unit_bytes: u64,
    /// Bytes that the host wrote (FDP Statistics, HBMW); those of `host_bytes_written` of the drive.
    pub host_bytes_written: u64,
    /// Bytes programmed into flash (MBMW); those of `media_bytes_written` of the drive.
    pub media_bytes_written: u64,
    /// Bytes of the blocks, or lines, that were collected and so are erased (MBE).
    pub media_bytes_erased: u64,
    /// Events that the host may want to know of (FDP Events).
    pub events: FdpEvents,
}

/// Events of flexible data placement.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FdpEvents {
    /// Pages that were written with handle 0 because the host named a handle that there is not (Invalid Placement
    /// Identifier).
    pub invalid_placement_identifier_pages: u64,
    /// Reclaim units whose valid pages were moved (Media Reallocated).
    pub media_reallocated: u64,
    /// Bytes of these pages.
    pub media_reallocated_bytes: u64,
}

impl FdpSummary {
    fn of(tally: &HandleTally, units: &UnitReport, written: Written, page_bytes: u64) -> Self {
        let bytes = |pages: u64| pages * page_bytes;
        Self {
            handle_host_bytes: tally.host_pages.iter().map(|pages| bytes(*pages)).collect(),
            handle_units_filled: units.filled.clone(),
            handle_available_bytes: units.room.iter().map(|pages| bytes(*pages)).collect(),
            reclaim_groups: units.groups,
            reclaim_unit_bytes: bytes(units.pages),
            host_bytes_written: written.host,
            media_bytes_written: written.media,
            media_bytes_erased: bytes(tally.erased_pages),
            events: FdpEvents {
                invalid_placement_identifier_pages: tally.invalid_pages,
                media_reallocated: tally.reallocations,
                media_reallocated_bytes: bytes(tally.moved_pages),
            },
        }
    }
}

/// Blocks of one class; lines, where these are collected (`ssd.gc.unit = "line"`).
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ClassSummary {
    /// Whether they take pages that the host writes.
    pub takes_host: bool,
    /// Whether they take pages that collections move.
    pub takes_moved: bool,
    /// Blocks that were filled.
    #[schemars(extend("column" = "filled: {:rate}", "meaning" = "blocks filled"))]
    pub blocks_filled: u64,
    /// Blocks that were collected.
    #[schemars(extend("column" = "victims: {:rate}", "meaning" = "blocks collected"))]
    pub victims: u64,
    /// Share of their pages that were valid when they were chosen; null if there were none.
    #[schemars(extend(
        "column" = "valid: {}",
        "meaning" = "share of their pages that was valid when they were chosen",
    ))]
    pub valid_share: Option<f64>,
    /// Part that collecting them has in `page_write_amplification`: those valid pages for each page that the host wrote to
    /// the drive; null if it wrote none.
    #[schemars(extend(
        "column" = "adds: {:factor}",
        "meaning" = "pages of these that were moved, for each page that the host wrote",
    ))]
    pub added_page_write_amplification: Option<f64>,
    /// Mean time for which they had been in use by then, in pages that the host wrote to the drive; null if
    /// there were none.
    #[schemars(extend(
        "column" = "block life: {:rate}",
        "meaning" = "pages that the host wrote while a block was in use, until it was chosen",
    ))]
    pub block_life_pages: Option<f64>,
    /// Mean life of the pages that the host overwrote or trimmed in blocks of this class, in pages that the
    /// host wrote to the drive, as if blocks were filled evenly; null if there were none, or if the placement
    /// looks at who writes alone.
    #[schemars(extend(
        "column" = "page life: {:rate}",
        "meaning" = "pages that the host wrote while a page that it overwrote or trimmed was there",
    ))]
    pub page_life_pages: Option<f64>,
}

impl PlacementSummary {
    pub(super) fn of(report: &SortingReport, written: Written) -> Self {
        let classes = report.tally.classes().iter().zip(&report.takes);
        let fdp = report.handles.as_ref().zip(report.units.as_ref());
        Self {
            classes: classes.map(|(of, takes)| ClassSummary::of(report, of, *takes)).collect(),
            diverted_pages: report.tally.diverted,
            state_bytes: report.state_bytes,
            fdp: fdp
                .map(|(handles, units)| FdpSummary::of(handles, units, written, report.page_bytes)),
        }
    }
}

impl ClassSummary {
    fn of(report: &SortingReport, of: &OfClass, takes: Takes) -> Self {
        let ratio = |sum: u64, of: u64| (of > 0).then(|| sum as f64 / of as f64);
        Self {
            takes_host: takes.host,
            takes_moved: takes.moved,
            blocks_filled: of.filled,
            victims: of.victims,
            valid_share: ratio(of.valid_pages, of.victim_pages),
            added_page_write_amplification: ratio(of.valid_pages, report.host_pages),
            block_life_pages: ratio(of.lives, of.victims),
            page_life_pages: ratio(of.page_lives, of.dead_pages),
        }
    }
}
