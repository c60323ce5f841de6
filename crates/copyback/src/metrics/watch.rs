//! Listeners to every operation of the flash.

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::drive::Drive;
use crate::host::Completion;
use crate::ids::{RequestNumber, SsdId};
use crate::ssd::{Blocked, Blocker, Entry};
use crate::units::Instant;

use super::{Slowest, Timeline};

/// Drawings from the journals of the drives.
#[derive(Debug, Checkpointed)]
pub struct Watch {
    /// Timeline of a window of time.
    pub timeline: Option<Timeline>,
    /// The slowest requests.
    pub slowest: Option<Slowest>,
}

impl Watch {
    /// Creates listeners that have seen nothing.
    pub fn new(config: &Resolved) -> Self {
        let timeline = config.metrics.timeline.map(|window| Timeline::new(window, config));
        let slowest = config.metrics.slowest.map(|most| Slowest::new(most, config));
        Self { timeline, slowest }
    }

    /// A drive did something, for these requests, or they waited in it: behind that one, if it is a request.
    pub fn observe(
        &mut self,
        device: SsdId,
        entry: Entry,
        requests: Vec<RequestNumber>,
        behind: Option<RequestNumber>,
    ) {
        if let Some(slowest) = &mut self.slowest {
            slowest.observe(device, &entry, &requests, behind);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.observe(device, entry, requests);
        }
    }

    /// A request has waited for others, outside the flash of `device`, or outside all drives.
    pub fn blocked(
        &mut self,
        device: Option<SsdId>,
        blocked: &Blocked<RequestNumber, Blocker<RequestNumber>>,
    ) {
        if let Some(slowest) = &mut self.slowest {
            slowest.blocked(device, blocked);
        }
    }

    /// A request has been completed at `now`.
    pub fn completed(&mut self, completion: &Completion, now: Instant) {
        if let Some(slowest) = &mut self.slowest {
            slowest.completed(completion, now);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.completed(completion, now);
        }
    }

    /// At the end of an instant, something has happened to `drive`.
    pub fn note_drive(&mut self, device: SsdId, drive: &Drive, now: Instant) {
        if let Some(timeline) = &mut self.timeline {
            timeline.note_drive(device, drive, now);
        }
    }

    /// At the end of an instant, so many requests are in the drive or array.
    pub fn note_outstanding(&mut self, requests: usize, now: Instant) {
        if let Some(timeline) = &mut self.timeline {
            timeline.note_outstanding(requests, now);
        }
    }

    /// The run has ended.
    pub fn finish(&mut self, now: Instant) {
        if let Some(timeline) = &mut self.timeline {
            timeline.finish(now);
        }
    }

    /// Whether so much waits to be taken that the run should pause.
    pub fn is_full(&self) -> bool {
        self.timeline.as_ref().is_some_and(Timeline::is_full)
    }
}
