//! Facts of the drives from before a run, which its summary needs.

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::SsdId;
use crate::metrics::{Endurance, Rating};
use crate::precondition::{Preconditioner, Rounds};
use crate::units::Duration;

use super::summary::PreconditionSummary;

/// Drives as they were before the run.
#[derive(Checkpointed)]
pub(super) struct Before {
    pub capacity: Capacity,
    /// Rating of each drive's flash, if that is known.
    rating: Option<Rating>,
    /// Preparation of each drive, if it was in rounds.
    preparation: Vec<Option<Rounds>>,
    /// Bytes written to each drive.
    written: Vec<u64>,
}

/// Bytes that are offered.
#[derive(Checkpointed)]
pub(super) struct Capacity {
    /// By the array.
    pub array_bytes: u64,
    /// By each drive.
    pub device_bytes: u64,
    /// By a page, as pages are counted.
    pub page_bytes: u64,
}

impl Before {
    /// Of prepared `devices`.
    pub fn new(config: &Resolved, devices: &[Preconditioner]) -> Self {
        Self {
            capacity: Capacity {
                array_bytes: config.bytes,
                device_bytes: config.drive.capacity.bytes,
                page_bytes: config.drive.pages.counted_size.0,
            },
            rating: Rating::of(config),
            preparation: devices.iter().map(|device| device.rounds().cloned()).collect(),
            written: devices.iter().map(Preconditioner::bytes_written).collect(),
        }
    }

    /// Summary of the preparation, if any was in rounds.
    pub fn summary(&self) -> Option<PreconditionSummary> {
        let devices: Vec<_> = self.preparation.iter().flatten().map(Rounds::summary).collect();
        (!devices.is_empty()).then_some(PreconditionSummary { devices })
    }

    /// Bytes written to a drive.
    pub fn written(&self, id: SsdId) -> u64 {
        self.written[id.index()]
    }

    /// Whether more was written to each drive than it offers.
    pub fn overwritten(&self) -> impl Iterator<Item = bool> {
        self.written.iter().map(|bytes| *bytes > self.capacity.device_bytes)
    }

    /// Endurance that this number of drives, which offer so many bytes, has used together in a `time`, if their rating is
    /// known.
    pub fn endurance(&self, drives: usize, capacity: u64, time: Duration) -> Option<Endurance> {
        self.rating.map(|rating| Endurance {
            rating: rating.of_drives(drives),
            capacity_bytes: capacity,
            time,
            life_bytes: None,
        })
    }
}
