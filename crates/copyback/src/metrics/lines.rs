//! What became of lines, as the summary tells it.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ssd::LineTally;

/// What `summary.json` says of lines (`ssd.gc.unit = "line"`). Counted since the run began, ramp included.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LinesSummary {
    /// Lines that were opened.
    pub opened: u64,
    /// Lines that were collected, and are free. A collection (`gc.collections`) is that of one of its blocks.
    pub collected: u64,
    /// Share of the pages of lines that was valid when they were chosen; null if none was.
    pub valid_share: Option<f64>,
    /// Pages of the host that were written to an open block of another class, as there was neither a free line for
    /// theirs nor one to collect.
    pub borrowed_pages: u64,
}

impl LinesSummary {
    pub(super) fn of(tally: &LineTally) -> Self {
        let share = tally.valid_pages as f64 / tally.victim_pages as f64;
        Self {
            opened: tally.opened,
            collected: tally.freed,
            valid_share: (tally.victim_pages > 0).then_some(share),
            borrowed_pages: tally.borrowed,
        }
    }
}
