//! What a line of a trace says, before it is fitted to the device and the clock of the run.

use crate::workload::Operation;

/// One request as a line states it, in bytes and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record {
    /// Nanoseconds since whatever the trace counts from.
    pub time_ns: u64,
    /// What it asks for.
    pub operation: Operation,
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
    /// Disk, volume or application storage unit; zero where the format has none.
    pub device: u64,
}

/// Bytes in a sector, the unit of addresses in most formats.
pub const SECTOR: u64 = 512;
