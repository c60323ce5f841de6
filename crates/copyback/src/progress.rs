//! Progress of a simulation.

use crate::units::Instant;

/// Phase of a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Preparing the device.
    Precondition,
    /// Serving the requests.
    Run,
}

/// Progress of a simulation.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// Phase that it is in.
    pub phase: Phase,
    /// Share of the phase that is done.
    pub fraction: f64,
    /// Simulated time of the run.
    pub simulated: Instant,
    /// Requests completed.
    pub requests: u64,
    /// Page operations in flash so far; while preparing, host pages written.
    pub page_operations: u64,
}
