//! Breakdown of a response time. The parts of a request add up exactly to its response time.

use std::ops::{AddAssign, Index, IndexMut};

use crate::checkpoint::Checkpointed;
use crate::units::Duration;

/// A part of a response time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Service: own commands, array operations, transfers and controller overhead.
    Service,
    /// Waiting while the die collected the plane that the request needs.
    GcSamePlane,
    /// Waiting while the die collected another of its planes.
    GcOtherPlane,
    /// Waiting for other host operations, as it would have without collections.
    QueueBehindIo,
    /// Waiting for other host operations only because collections had delayed them.
    Late,
    /// Waiting for a channel or the host link.
    Bus,
    /// In the write buffer, or waiting for room there.
    Buffer,
    /// Waiting until the page's mapping is in RAM.
    Translation,
    /// Waiting outside the device, because its queue was full or it was off.
    HostQueue,
}

impl Part {
    /// Every part, in the order of the outputs.
    pub const ALL: [Self; 9] = [
        Self::Service,
        Self::GcSamePlane,
        Self::GcOtherPlane,
        Self::QueueBehindIo,
        Self::Late,
        Self::Bus,
        Self::Buffer,
        Self::Translation,
        Self::HostQueue,
    ];

    /// The name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Service => "service",
            Self::GcSamePlane => "gc_same_plane",
            Self::GcOtherPlane => "gc_other_plane",
            Self::QueueBehindIo => "queue_behind_io",
            Self::Late => "late",
            Self::Bus => "bus",
            Self::Buffer => "buffer",
            Self::Translation => "translation",
            Self::HostQueue => "host_queue",
        }
    }
}

/// A time for each part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Checkpointed)]
pub struct Parts([Duration; Part::ALL.len()]);

impl Parts {
    /// The sum of the parts.
    pub fn total(&self) -> Duration {
        self.0.iter().copied().sum()
    }

    /// Delay by collections so far: without them it would have come as far this much earlier.
    pub fn late(&self) -> Duration {
        self[Part::GcSamePlane] + self[Part::GcOtherPlane] + self[Part::Late]
    }

    /// Books a `wait` of which `late` is due to collections, and the rest to `part`.
    pub fn book_wait(&mut self, part: Part, wait: Duration, late: Duration) {
        let late = late.min(wait);
        self[Part::Late] += late;
        self[part] += wait - late;
    }
}

impl Index<Part> for Parts {
    type Output = Duration;
    fn index(&self, part: Part) -> &Duration {
        &self.0[part as usize]
    }
}

impl IndexMut<Part> for Parts {
    fn index_mut(&mut self, part: Part) -> &mut Duration {
        &mut self.0[part as usize]
    }
}

impl AddAssign for Parts {
    fn add_assign(&mut self, other: Self) {
        for part in Part::ALL {
            self[part] += other[part];
        }
    }
}
