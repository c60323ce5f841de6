//! Work of a controller that no request asks for: rebuilds and scrubs.

use crate::checkpoint::Checkpointed;
use crate::config;
use crate::units::{Instant, earlier};

use super::rebuild::Rebuilder;
use super::scrub::{Scrubber, ScrubsSummary};
use super::tasks::TaskPurpose;

/// Rebuilds and scrubs of an array.
#[derive(Debug, Checkpointed)]
pub(super) struct Upkeep {
    /// Rebuilds, if lost drives are replaced.
    pub(super) rebuilder: Option<Rebuilder>,
    /// Scrubs, if there are any, until they end.
    pub(super) scrubber: Option<Scrubber>,
    /// Scrubs that were made, once they have ended.
    scrubbed: Option<ScrubsSummary>,
    /// Bytes of lost drives that were rebuilt.
    pub(super) rebuilt_bytes: u64,
}

impl Upkeep {
    /// The upkeep that a checked configuration asks for, of the first `device_bytes` of each drive.
    pub(super) fn new(config: &config::Array, device_bytes: u64) -> Self {
        Self {
            rebuilder: Rebuilder::new(config, device_bytes),
            scrubber: Scrubber::new(config, device_bytes),
            scrubbed: None,
            rebuilt_bytes: 0,
        }
    }

    /// Whether there is none, now or later.
    pub(super) const fn is_none(&self) -> bool {
        self.rebuilder.is_none() && self.scrubber.is_none()
    }

    /// Ends with the steps that are under way.
    pub(super) fn stop(&mut self) {
        self.rebuilder = None;
        self.scrubbed = self.scrubs();
        self.scrubber = None;
    }

    /// Scrubs so far, if there are any.
    pub(super) fn scrubs(&self) -> Option<ScrubsSummary> {
        self.scrubber.as_ref().map(Scrubber::summary).or(self.scrubbed)
    }

    /// When the next step starts, of a rebuild and of a scrub.
    pub(super) fn next_times(&self) -> [Option<Instant>; 2] {
        let rebuild = self.rebuilder.as_ref().and_then(Rebuilder::next_time);
        [rebuild, self.scrubber.as_ref().and_then(Scrubber::next_time)]
    }

    /// When the next step starts, if none is under way.
    pub(super) fn next_time(&self) -> Option<Instant> {
        let [rebuild, scrub] = self.next_times();
        earlier(rebuild, scrub)
    }

    /// The steps that start at `now`. A scrub's do where no drive is missing.
    pub(super) fn begin(&mut self, now: Instant, is_whole: bool) -> [Option<TaskPurpose>; 2] {
        let rebuild = self.rebuilder.as_mut().and_then(|rebuilder| rebuilder.begin(now));
        let scrub = self.scrubber.as_mut().and_then(|scrubber| scrubber.begin(now, is_whole));
        [rebuild.map(TaskPurpose::Rebuild), scrub.map(TaskPurpose::Scrub)]
    }

    /// Notes that a request has come.
    pub(super) fn note_request(&mut self) {
        self.rebuilder.iter_mut().for_each(Rebuilder::note_request);
        self.scrubber.iter_mut().for_each(Scrubber::note_request);
    }
}
