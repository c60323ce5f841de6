//! Drives that are slow for a while (`array.slow`).

use std::cmp::Reverse;

use crate::checkpoint::Checkpointed;
use crate::config::{Resolved, SlowDrive};
use crate::drive::Drive;
use crate::ids::SsdId;
use crate::nand::Timing;
use crate::units::Instant;

/// Changes of how fast drives are.
#[derive(Debug, Checkpointed)]
pub(super) struct SlowDrives {
    /// Durations of operations of a drive that is not slow.
    usual: Timing,
    /// The next one last.
    changes: Vec<Change>,
}

/// Change of how fast a drive is.
#[derive(Debug, Checkpointed)]
struct Change {
    at: Instant,
    drive: SsdId,
    /// Factor by which operations take longer from then on, if they do.
    factor: Option<f64>,
}

impl SlowDrives {
    /// The slow drives of a checked configuration, if it has any.
    pub(super) fn new(config: &Resolved) -> Option<Box<Self>> {
        let both = |slow: &SlowDrive| {
            let (drive, at) = (SsdId(slow.drive as u16), Instant::START + slow.at.0);
            let begins = Change { at, drive, factor: Some(slow.factor) };
            [begins, Change { at: at + slow.lasts.0, drive, factor: None }]
        };
        let mut changes: Vec<_> = config.array.slow.iter().flat_map(both).collect();
        // A period may begin as the one before ends.
        changes.sort_by_key(|change| Reverse((change.at, change.drive, change.factor.is_some())));
        let has_any = !changes.is_empty();
        has_any.then(|| Box::new(Self { usual: Timing::new(config), changes }))
    }

    /// When a drive becomes slow or ceases to be so.
    pub(super) fn next_time(&self) -> Option<Instant> {
        self.changes.last().map(|change| change.at)
    }

    /// Makes the changes at `now`. Operations that have begun go on as they began.
    pub(super) fn change(&mut self, drives: &mut [Drive], now: Instant) {
        while let Some(Change { drive, factor, .. }) = self.changes.pop_if(|next| next.at <= now) {
            let timing = factor.map_or_else(|| self.usual.clone(), |by| self.usual.slowed(by));
            drives[drive.index()].ssd.backend_mut().flash.timing = timing;
        }
    }
}
