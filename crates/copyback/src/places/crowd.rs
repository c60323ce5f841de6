//! Crowd of a queue that is followed now and then. Who holds places is known all the time, so that to begin to follow
//! takes no longer the more there are.

use std::ops::Range;

use crate::checkpoint::Checkpointed;
use crate::roll::Roll;
use crate::units::{Duration, Instant};

/// Holders of places by number, in the order in which they took their places.
#[derive(Debug, Default, Checkpointed)]
pub(super) struct Crowd {
    /// Since when each holds a place.
    members: Roll<Instant>,
    /// Numbers of members who still have their place in the second queue.
    followed: Range<u64>,
    /// For how long they are expected to keep it.
    usual: Duration,
}

/// Member whose place in the second queue is expected to come free before that of every other.
#[derive(Debug, Clone, Copy)]
pub(super) struct FirstOfCrowd {
    pub number: u64,
    pub since: Instant,
    /// When its place is expected to come free.
    pub free: Instant,
}

impl Crowd {
    /// Adds a member, whose number is above that of every other, `now`.
    #[inline]
    pub fn join(&mut self, number: u64, now: Instant) {
        self.members.join(number, now);
    }

    /// Gives all whose number is below `end` a place in the second queue too, which each is expected to keep for as
    /// long as is `usual`.
    pub fn follow(&mut self, end: u64, usual: Duration) {
        (self.followed, self.usual) = (0..end, usual);
    }

    /// Takes the places in the second queue away.
    pub fn forget(&mut self) {
        self.followed = 0..0;
    }

    /// The member whose place in the second queue is expected to come free first.
    pub fn first(&self) -> Option<FirstOfCrowd> {
        let (number, since) = self.members.first_in(&self.followed)?;
        Some(FirstOfCrowd { number, since, free: since + self.usual })
    }

    /// Takes the place of this member, the [first](Self::first), in the second queue away.
    pub fn take(&mut self, first: FirstOfCrowd) {
        self.followed.start = first.number + 1;
    }

    /// Takes a member off. Returns since when it has its place in the second queue, if it still has.
    #[inline]
    pub fn leave(&mut self, number: u64) -> Option<Instant> {
        let since = self.members.leave(number)?;
        self.followed.contains(&number).then_some(since)
    }

    /// Takes everybody off.
    pub fn clear(&mut self) {
        self.members.clear();
        self.forget();
    }
}
