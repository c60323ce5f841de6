//! Room for requests in the drive: of each submission queue, or of all together.

use crate::admission::Admission;
use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::gate::Gate;
use crate::ids::RequestId;
use crate::units::{Duration, Instant};

/// Places for requests that are in the drive.
#[derive(Checkpointed)]
pub(super) struct Room {
    /// Waits for its places, and what collections added to them.
    admission: Admission<RequestId>,
    /// Places of the closed loops whose requests come through it; of an open loop, as many as can be.
    asked_for: u64,
}

/// The rooms of a checked configuration with so many queues in use: one for all of them if the drive has command slots
/// (`host.command_slots`), else one for each.
pub(super) fn of_queues(config: &Resolved, queues: usize) -> Vec<Room> {
    // In an array each drive has its own queue, and slots, behind the controller's.
    let is_shared = config.array.devices == 1 && config.host.command_slots.is_some();
    let rooms = if is_shared { 1 } else { queues };
    let gate = Gate::from_outside(config);
    (0..rooms).map(|_| Room { admission: Admission::new(gate.clone()), asked_for: 0 }).collect()
}

impl Room {
    /// Counts a flow that has up to so many requests under way.
    pub const fn ask_for(&mut self, most: u64) {
        self.asked_for = self.asked_for.saturating_add(most);
    }

    /// Whether a request may enter.
    pub const fn has_place(&self) -> bool {
        self.admission.gate().is_open()
    }

    /// Number of requests that may enter before one leaves.
    pub const fn free(&self) -> usize {
        self.admission.gate().room()
    }

    /// Whether it has just become full, and somebody may wait for a place.
    pub const fn is_to_be_followed(&self) -> bool {
        self.asked_for > self.admission.gate().places() as u64
            && !self.has_place()
            && !self.admission.is_followed()
    }

    /// Follows from now on who has a place, and since when.
    pub fn follow(&mut self, holders: impl IntoIterator<Item = (RequestId, Instant)>) {
        self.admission.follow(holders);
    }

    /// The request whose place would have been free by `now` without collections.
    pub fn blocker(&self, now: Instant) -> Option<RequestId> {
        self.admission.blocker(now)
    }

    /// Gives a place at `now` to a request that has waited since `since`. Returns how much of the wait is due to
    /// collections.
    #[inline(always)]
    pub fn enter(&mut self, request: RequestId, since: Instant, now: Instant) -> Duration {
        self.admission.enter(request, since, now)
    }

    /// Frees the place of a request that kept it from one instant until another, `late` of it due to collections.
    #[inline(always)]
    pub fn leave(&mut self, request: RequestId, kept: (Instant, Instant), late: Duration) {
        self.admission.leave(request, kept, late);
    }
}
