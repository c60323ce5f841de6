//! Record of a trace's line, before it is fitted to the device and the clock of the run.

use crate::{Handle, Operation};
use copyback_config::units::Duration;

/// One request as a line states it, in bytes and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Nanoseconds since whatever the trace counts from.
    pub time_ns: u64,
    /// Operation that the record asks for.
    pub operation: Operation,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// Disk, volume or application storage unit; zero where the format has none.
    pub device: u64,
    /// Arrival to completion, where the trace holds what was measured.
    pub measured: Option<Duration>,
    /// The placement handle that it names.
    pub handle: Option<Handle>,
}

impl Record {
    /// A request to the only device, of which nothing was measured.
    #[inline]
    pub const fn new(time_ns: u64, operation: Operation, offset: u64, length: u64) -> Self {
        Self { time_ns, operation, offset, length, device: 0, measured: None, handle: None }
    }

    /// This record, of `device`.
    #[inline]
    pub const fn on(self, device: u64) -> Self {
        Self { device, ..self }
    }

    /// This record, with a measured response time.
    #[inline]
    pub const fn took(self, measured: Option<Duration>) -> Self {
        Self { measured, ..self }
    }

    /// This record, with a placement handle.
    #[inline]
    pub const fn with(self, handle: Option<Handle>) -> Self {
        Self { handle, ..self }
    }
}

/// Bytes in a sector, the unit of addresses in most formats.
pub const SECTOR: u64 = 512;
