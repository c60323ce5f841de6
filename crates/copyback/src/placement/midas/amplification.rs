//! Write amplification of late.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;

/// Write amplification over the last whole period.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Amplification {
    /// Pages of the host in a period.
    period: u64,
    /// Pages that the host has written in the period under way.
    host: u64,
    /// Pages that collections have moved in it.
    moved: u64,
    last: f64,
}

impl Amplification {
    /// Begins the first period.
    pub const fn new(period: u64) -> Self {
        Self { period, host: 0, moved: 0, last: 0.0 }
    }

    /// Of the last whole period; 0 before that has ended.
    pub const fn last(&self) -> f64 {
        self.last
    }

    /// Counts a page of the host.
    pub fn host_wrote(&mut self) {
        self.host += 1;
        if self.host == self.period {
            self.last = (self.host + self.moved) as f64 / self.host as f64;
            (self.host, self.moved) = (0, 0);
        }
    }

    /// Counts a page that a collection has moved.
    pub const fn moved(&mut self) {
        self.moved += 1;
    }

    /// Whether this can be what has become of `new`.
    pub const fn is_sound(&self, new: &Self) -> bool {
        self.period == new.period && self.host < self.period
    }
}
