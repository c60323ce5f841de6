//! Settings of a drive with which it needs arbitration at each instant, so that no shortcut is taken.

use crate::config::{Idle, Resolved, Suspend, ThresholdScope, ThresholdUnit};

/// Whether a checked configuration asks for arbitration at each instant of the flash. A new feature that has to be asked
/// there adds its line.
pub fn is_needed(config: &Resolved) -> bool {
    let (ssd, metrics) = (&config.ssd, &config.metrics);
    ssd.gc.idle != Idle::None
        || ssd.gc.threshold_scope != ThresholdScope::Plane
        || ssd.gc.threshold_unit != ThresholdUnit::FreeBlocks
        || ssd.gc.invalid_threshold.is_some()
        || ssd.commands.suspend != Suspend::None
        || !ssd.faults.are_none()
        || config.drive.slc.is_some()
        || ssd.gc.has_lines()
        || !ssd.refresh.is_none()
        || ssd.power.is_watched()
        || metrics.idle_time
        || metrics.needs_journal()
}
