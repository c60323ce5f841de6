//! Pace of the steps that a controller makes by itself, rebuilds and scrubs: one after the other, as Linux md does slower
//! while requests come (`md.c`: `md_do_sync`, `speed_min` and `speed_max`).

use crate::checkpoint::Checkpointed;
use crate::config::quantity::Rate;
use crate::nand::transfer_time;
use crate::units::{Duration, Instant};

/// Pace of steps.
#[derive(Debug, Checkpointed)]
pub(super) struct Pacer {
    /// Times from the start of a step to that of the next, at least: while no requests come, and while some do.
    idle: Duration,
    loaded: Duration,
    step: StepState,
    /// Whether a request has come since the last step ended.
    has_requests: bool,
    began: Instant,
}

/// Stage of the step that is next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
enum StepState {
    /// Due at this instant, or later.
    Due(Instant),
    /// Under way.
    UnderWay,
    /// Behind one that is under way, but counts for nothing any more.
    GivenUp,
}

impl Pacer {
    /// A pace of steps of `unit` bytes, at rates for a controller without and with requests.
    pub(super) fn new(unit: u64, idle: Rate, loaded: Rate) -> Self {
        Self {
            idle: transfer_time(unit, idle),
            loaded: transfer_time(unit, loaded),
            step: StepState::Due(Instant::START),
            has_requests: false,
            began: Instant::START,
        }
    }

    /// Forgets the requests that have come before a pause.
    pub(super) const fn forget_requests(&mut self) {
        self.has_requests = false;
    }

    /// Notes that a request has come.
    pub(super) const fn note_request(&mut self) {
        self.has_requests = true;
    }

    /// When the next step may start, if none is under way.
    pub(super) const fn next_time(&self) -> Option<Instant> {
        match self.step {
            StepState::Due(due) => Some(due),
            StepState::UnderWay | StepState::GivenUp => None,
        }
    }

    /// Lets the next step wait until `earliest`, if none is under way.
    pub(super) fn wait_until(&mut self, earliest: Instant) {
        if let StepState::Due(due) = &mut self.step {
            *due = (*due).max(earliest);
        }
    }

    /// A step starts.
    pub(super) const fn begin(&mut self, now: Instant) {
        self.step = StepState::UnderWay;
        self.began = now;
    }

    /// The step under way, if one is, counts for nothing any more.
    pub(super) fn give_up(&mut self) {
        if self.step == StepState::UnderWay {
            self.step = StepState::GivenUp;
        }
    }

    /// The step under way has ended; requests are in the array if `is_loaded`. Returns whether it counts.
    pub(super) fn ended(&mut self, now: Instant, is_loaded: bool) -> bool {
        let counts = self.step == StepState::UnderWay;
        let had_requests = std::mem::take(&mut self.has_requests);
        let interval = if is_loaded || had_requests { self.loaded } else { self.idle };
        self.step = StepState::Due(now.max(self.began + interval));
        counts
    }
}
