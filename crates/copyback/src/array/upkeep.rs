//! Work of a controller that no request asks for: rebuilds, scrubs, and what follows a cut of power.

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::TaskId;
use crate::layout::{Layout, Missing, Piece};
use crate::units::{Instant, earlier};

use super::consistency::Consistency;
use super::rebuild::Rebuilder;
use super::scrub::{Scrubber, ScrubsSummary};
use super::tasks::{Task, TaskPurpose};

/// Rebuilds and scrubs of an array, and its care for the day its power fails.
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
    /// Care for stripes that a cut of power leaves half written, if there is any.
    pub(super) consistency: Option<Box<Consistency>>,
}

impl Upkeep {
    /// The upkeep that a checked configuration asks for, of drives with this layout.
    pub(super) fn new(config: &Resolved, layout: &Layout) -> Self {
        let device_bytes = layout.used_device_bytes();
        Self {
            rebuilder: Rebuilder::new(&config.array, device_bytes),
            scrubber: Scrubber::new(&config.array, device_bytes),
            scrubbed: None,
            rebuilt_bytes: 0,
            consistency: Consistency::new(config, layout),
        }
    }

    /// Whether there is none, now or later.
    pub(super) const fn is_none(&self) -> bool {
        self.rebuilder.is_none() && self.scrubber.is_none() && self.consistency.is_none()
    }

    /// Ends with the steps that are under way.
    pub(super) fn stop(&mut self) {
        self.rebuilder = None;
        self.scrubbed = self.scrubs();
        self.scrubber = None;
        self.consistency.iter_mut().for_each(|consistency| consistency.stop());
    }

    /// Scrubs so far, if there are any.
    pub(super) fn scrubs(&self) -> Option<ScrubsSummary> {
        self.scrubber.as_ref().map(Scrubber::summary).or(self.scrubbed)
    }

    /// When the next step starts, of a rebuild, of a scrub, and of what follows a cut of power.
    pub(super) fn next_times(&self) -> [Option<Instant>; 3] {
        let rebuild = self.rebuilder.as_ref().and_then(Rebuilder::next_time);
        let scrub = self.scrubber.as_ref().and_then(Scrubber::next_time);
        [rebuild, scrub, self.consistency.as_ref().and_then(|consistency| consistency.next_time())]
    }

    /// When the next step starts, if none is under way.
    pub(super) fn next_time(&self) -> Option<Instant> {
        self.next_times().into_iter().fold(None, earlier)
    }

    /// The next step that starts at `now`, if one does. A scrub's do where no drive is missing, a resync's where something
    /// may disagree.
    pub(super) fn begin(
        &mut self,
        now: Instant,
        (layout, missing): (&Layout, &Missing),
    ) -> Option<TaskPurpose> {
        let Self { rebuilder, scrubber, consistency, .. } = self;
        let rebuild = rebuilder.as_mut().and_then(|rebuilder| rebuilder.begin(now));
        let scrub = || scrubber.as_mut()?.begin(now, missing.is_empty()).map(TaskPurpose::Scrub);
        let after_cut = || consistency.as_mut()?.begin(now, layout.may_disagree(missing));
        rebuild.map(TaskPurpose::Rebuild).or_else(scrub).or_else(after_cut)
    }

    /// Says that a planned task makes `writes`, if it does and somebody cares. Returns what must be on the drives before.
    pub(super) fn declare_intent(
        &mut self,
        task: &mut Task,
        layout: (&Layout, &Missing),
        writes: &[Piece],
    ) -> Vec<Piece> {
        let Some(consistency) = &mut self.consistency else { return Vec::new() };
        let Some(bytes) = task.written_bytes(layout.0) else { return Vec::new() };
        task.has_intent = true;
        consistency.ahead_of(bytes, layout, writes)
    }

    /// Counts `pieces` of a log or a bitmap that go to the drives.
    pub(super) fn count_log(&mut self, pieces: &[Piece]) {
        self.consistency.iter_mut().for_each(|consistency| consistency.count_log(pieces));
    }

    /// Notes that what had to be on the drives before a task writes is there.
    pub(super) fn note_logged(&mut self, task: &Task, layout: &Layout) {
        if task.has_intent
            && let (Some(consistency), Some(bytes)) =
                (&mut self.consistency, task.written_bytes(layout))
        {
            consistency.note_logged(bytes, layout);
        }
    }

    /// Takes back that a task writes, which has ended or is to be planned again.
    pub(super) fn take_back_intent(
        &mut self,
        (id, task): (TaskId, &mut Task),
        layout: &Layout,
        is_done: bool,
        now: Instant,
    ) {
        if std::mem::take(&mut task.has_intent)
            && let (Some(consistency), Some(bytes)) =
                (&mut self.consistency, task.written_bytes(layout))
        {
            consistency.write_ended(id, bytes, (layout, is_done), now);
        }
    }

    /// Notes that a request has come.
    pub(super) fn note_request(&mut self) {
        self.rebuilder.iter_mut().for_each(Rebuilder::note_request);
        self.scrubber.iter_mut().for_each(Scrubber::note_request);
        self.consistency.iter_mut().for_each(|consistency| consistency.note_request());
    }
}
