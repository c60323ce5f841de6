//! Room for requests in the drive: of each submission queue, or of all together.

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::RequestId;
use crate::places::Places;
use crate::units::{Duration, Instant};

/// Places for requests that are in the drive.
#[derive(Checkpointed)]
pub(super) struct Room {
    depth: u32,
    taken: u32,
    /// Waits for its places, and what collections added to them.
    places: Places<RequestId>,
    /// Places of the closed loops whose requests come through it; of an open loop, as many as can be.
    asked_for: u64,
}

/// The rooms of a checked configuration with so many queues in use: one for all of them if the drive has command slots
/// (`host.command_slots`), else one for each.
pub(super) fn of_queues(config: &Resolved, queues: usize) -> Vec<Room> {
    match (config.array.devices, config.host.command_slots) {
        (1, Some(slots)) => vec![Room::new(slots)],
        (1, None) => (0..queues).map(|_| Room::new(config.host.depth())).collect(),
        // Each drive has its own queue behind the controller's.
        _ => (0..queues).map(|_| Room::new(config.array.queue_depth)).collect(),
    }
}

impl Room {
    fn new(depth: u32) -> Self {
        Self { depth, taken: 0, places: Places::new(depth as usize), asked_for: 0 }
    }

    /// Counts a flow that has up to so many requests under way.
    pub const fn ask_for(&mut self, most: u64) {
        self.asked_for = self.asked_for.saturating_add(most);
    }

    /// Whether a place is free.
    pub const fn has_place(&self) -> bool {
        self.taken < self.depth
    }

    /// Number of free places.
    pub const fn free(&self) -> usize {
        (self.depth - self.taken) as usize
    }

    /// Whether it has just become full, and somebody may wait for a place.
    pub const fn is_to_be_followed(&self) -> bool {
        self.asked_for > self.depth as u64 && !self.has_place() && !self.places.is_followed()
    }

    /// Follows from now on who has a place, and since when.
    pub fn follow(&mut self, holders: impl IntoIterator<Item = (RequestId, Instant)>) {
        self.places.follow(holders);
    }

    /// The request whose place would have been free by `now` without collections.
    pub fn blocker(&self, now: Instant) -> Option<RequestId> {
        self.places.blocker(now)
    }

    /// Gives a place at `now` to a request that has waited since `since`. Returns how much of the wait is due to
    /// collections.
    #[inline(always)]
    pub fn enter(&mut self, request: RequestId, since: Instant, now: Instant) -> Duration {
        self.taken += 1;
        self.places.enter(request, since, now)
    }

    /// Frees the place of a request that kept it for `kept`, of which `late` is due to collections.
    #[inline(always)]
    pub fn leave(&mut self, request: RequestId, kept: Duration, late: Duration) {
        self.taken -= 1;
        self.places.leave(request, kept, late);
    }
}
