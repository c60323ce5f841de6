//! What went wrong in the flash, as it is written to `summary.json`.

use serde_json::{Value, json};

use crate::drive::Rejected;
use crate::ssd::FaultReport;
use crate::units::Instant;

/// The key `faults`.
pub(super) fn summary(report: &FaultReport, rejected: &Rejected) -> Value {
    json!({
        "program_failures": report.program_failures,
        "erase_failures": report.erase_failures,
        "factory_bad_blocks": report.factory_bad_blocks,
        "grown_bad_blocks": report.grown_bad_blocks(),
        "pages_copied": report.pages_copied,
        "read_retries": report.retried,
        "uncorrectable_reads": report.uncorrectable,
        "rejected_writes": rejected.writes,
        "rejected_trims": rejected.trims,
        "rejected_flushes": rejected.flushes,
        "read_only_since_s": report.read_only_since.map(Instant::as_secs_f64),
    })
}
