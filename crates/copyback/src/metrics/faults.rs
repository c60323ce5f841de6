//! Faults of the flash, as they are written to `summary.json`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::drive::Rejected;
use crate::ssd::FaultReport;
use crate::units::Instant;

/// Faults of the flash, and commands that were rejected for them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct FaultsSummary {
    /// Blocks that were bad from the start.
    pub factory_bad_blocks: u64,
    /// Blocks that have become bad.
    #[schemars(extend("page" = "Bad blocks: {} grown bad blocks, {factory_bad_blocks} when new"))]
    pub grown_bad_blocks: u64,
    /// Page programs that failed.
    #[schemars(extend(
        "page" = "Failures: {} programs failed ({pages_copied} pages copied), {erase_failures} erases",
    ))]
    pub program_failures: u64,
    /// Block erases that failed.
    pub erase_failures: u64,
    /// Pages copied to spare blocks because a program failed.
    pub pages_copied: u64,
    /// Pages read at last after one retry, two and so on.
    pub read_retries: Vec<u64>,
    /// Pages that could not be corrected after all retries.
    pub uncorrectable_reads: u64,
    /// Pages that a move (of a collection, a fold, wear levelling or a refresh) could not correct, and that are lost with that. A
    /// read of such a page fails until the host has written all of it again, or trimmed it.
    pub pages_lost_in_moves: u64,
    /// Pages that the host read in vain, parts of pages that it wrote included: they could not be corrected, and not be made up from
    /// parity either, or had been lost.
    pub failed_reads: u64,
    /// Writes that a read-only drive rejected.
    pub rejected_writes: u64,
    /// Trims that a read-only drive rejected.
    pub rejected_trims: u64,
    /// Flushes that a read-only drive rejected.
    pub rejected_flushes: u64,
    /// When the first drive became read-only, in seconds of simulated time; null if none did.
    pub read_only_since_s: Option<f64>,
}

impl FaultsSummary {
    /// Of a report, and of what was rejected.
    pub(super) fn of(report: &FaultReport, rejected: &Rejected) -> Self {
        Self {
            program_failures: report.program_failures,
            erase_failures: report.erase_failures,
            factory_bad_blocks: report.factory_bad_blocks,
            grown_bad_blocks: report.grown_bad_blocks(),
            pages_copied: report.pages_copied,
            read_retries: report.retried.clone(),
            uncorrectable_reads: report.uncorrectable,
            pages_lost_in_moves: report.lost_in_moves,
            failed_reads: report.failed_reads,
            rejected_writes: rejected.writes,
            rejected_trims: rejected.trims,
            rejected_flushes: rejected.flushes,
            read_only_since_s: report.read_only_since.map(Instant::as_secs_f64),
        }
    }
}
