//! Counts of lines, for the summary.

use schemars::JsonSchema;
use serde::Serialize;

use crate::ssd::LineTally;

use super::DriveWork;

/// Summary of lines for `summary.json` (`ssd.gc.unit = "line"`). Counted since the run began, ramp included.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct LinesSummary {
    /// Lines that were opened.
    #[schemars(extend("page" = "Lines opened"))]
    pub opened: u64,
    /// Lines that were collected, and are free. A collection (`gc.collections`) is that of one of its blocks.
    #[schemars(extend("page" = "Lines collected"))]
    pub collected: u64,
    /// Share of the pages of lines that was valid when they were chosen; null if none was.
    #[schemars(extend("page" = "Valid of a line collected", "if" = "valid_share"))]
    pub valid_share: Option<f64>,
    /// Pages of the host that were written to an open block of another class, as there was neither a free line for
    /// theirs nor one to collect.
    #[schemars(extend("page" = "Pages in a line of another class", "if" = "borrowed_pages > 0"))]
    pub borrowed_pages: u64,
    /// Parity, if lines have any (`ssd.ftl.rain`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parity: Option<ParitySummary>,
}

/// Parity of lines.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ParitySummary {
    /// Pages of parity that were programmed. They count in `write_amplification`.
    #[schemars(extend("page" = "Parity programmed: {} pages"))]
    pub programs: u64,
    /// Bytes programmed into flash for each that the host wrote, without those of parity; null if it wrote none.
    #[schemars(extend(
        "page" = "Write amplification without parity: {:.2f}",
        "if" = "write_amplification_without",
    ))]
    pub write_amplification_without: Option<f64>,
    /// Share of the flash that holds parity: one block of each die's.
    pub share: f64,
    /// Pages of parity that waited at once in the DRAM of a drive for their dies, at most.
    pub most_held_pages: u64,
    /// Pages that were read around a collection (`ssd.ftl.reads_around_gc`).
    #[schemars(extend("page" = "Read around collections: {} pages", "if" = "reads_around > 0"))]
    pub reads_around: u64,
    /// Pages whose read could not be corrected, and that were made up from the others of their stripe.
    #[schemars(extend(
        "page" = "Made up, as they could not be corrected: {} pages",
        "if" = "reads_rebuilt > 0",
    ))]
    pub reads_rebuilt: u64,
    /// Pages that could not be corrected and not be made up, as part of their stripe was gone or could not be
    /// corrected either, and those that had been lost. Only reads for the host count.
    #[schemars(extend(
        "page" = "Lost, as they could not be made up either: {} pages",
        "if" = "reads_lost > 0",
    ))]
    pub reads_lost: u64,
    /// Pages that a collection could not correct as it moved them, and that were made up from the others of their stripe. Those that
    /// could not be made up are `faults.pages_lost_in_moves`.
    #[schemars(extend(
        "page" = "Made up for a move, as they could not be corrected: {} pages",
        "if" = "moves_rebuilt > 0",
    ))]
    pub moves_rebuilt: u64,
    /// Pages read to make up those, of reads and of moves.
    pub pages_read_for_others: u64,
}

/// State of parity, from which its summary is made.
#[derive(Debug, Clone, Copy)]
pub struct ParityState {
    /// Dies of a stripe.
    pub dies: u64,
    /// Pages that waited at once, at most.
    pub most_held: u64,
}

impl LinesSummary {
    pub(super) fn of(tally: &LineTally, parity: Option<ParityState>, work: &DriveWork) -> Self {
        let share = tally.valid_pages as f64 / tally.victim_pages as f64;
        Self {
            opened: tally.opened,
            collected: tally.freed,
            valid_share: (tally.victim_pages > 0).then_some(share),
            borrowed_pages: tally.borrowed,
            parity: parity.map(|state| ParitySummary::of(state, work)),
        }
    }
}

impl ParitySummary {
    fn of(state: ParityState, work: &DriveWork) -> Self {
        let DriveWork { counters, written, page_bytes, .. } = work;
        Self {
            programs: counters.parity,
            write_amplification_without: written
                .amplification_without(counters.parity * page_bytes),
            share: 1.0 / state.dies as f64,
            most_held_pages: state.most_held,
            reads_around: counters.reads_around,
            reads_rebuilt: counters.reads_rebuilt,
            reads_lost: counters.reads_lost,
            moves_rebuilt: counters.moves_rebuilt,
            pages_read_for_others: counters.stripe_reads,
        }
    }
}
