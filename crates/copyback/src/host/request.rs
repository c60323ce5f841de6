//! Requests while they are in the array.

use crate::ids::{FlowId, RequestNumber, SsdId};
use crate::ssd::{Part, Parts};
use crate::units::{Duration, Instant};
use crate::workload::Request;

/// A request in the array.
#[derive(Debug, Clone, Copy)]
pub struct Active {
    /// Which it is.
    pub number: RequestNumber,
    /// What was asked.
    pub request: Request,
    /// By whom.
    pub flow: FlowId,
    /// When it entered the array.
    pub entered: Instant,
}

/// A request that has left the array.
#[derive(Debug, Clone)]
pub struct Completion {
    /// Which it is.
    pub number: RequestNumber,
    /// What was asked.
    pub request: Request,
    /// By whom.
    pub flow: FlowId,
    /// The drive that ended last.
    pub device: SsdId,
    /// Arrival to completion, the wait before the array included.
    pub response: Duration,
    /// Where the time went; adds up to `response`.
    pub parts: Parts,
}

impl Completion {
    /// The completion at `now` of `active`, whose time in the array went to `parts`.
    pub fn new(active: &Active, mut parts: Parts, device: SsdId, now: Instant) -> Self {
        let Active { number, request, flow, entered } = *active;
        parts[Part::HostQueue] += entered - request.arrival;
        Self { number, request, flow, device, response: now - request.arrival, parts }
    }
}
