//! Requests while they are in the array.

use crate::array::FinishedRequest;
use crate::checkpoint::Checkpointed;
use crate::ids::{FlowId, RequestId, RequestNumber, SsdId};
use crate::outcome::Outcome;
use crate::ssd::{Part, Parts};
use crate::units::{Duration, Instant};
use crate::workload::Request;

/// A request in the array.
#[derive(Debug, Checkpointed)]
pub struct ActiveRequest {
    /// Number of the request in the run.
    pub number: RequestNumber,
    /// Request as the host sent it.
    pub request: Request,
    /// By whom.
    pub flow: FlowId,
    /// When it entered the array.
    pub entered: Instant,
    /// Part of its wait before that that was due to collections.
    pub entered_late: Duration,
}

impl ActiveRequest {
    /// Wait outside the array, in parts.
    fn waited(&self) -> Parts {
        waited_outside(self.request.arrival, self.entered, self.entered_late)
    }
}

/// Wait outside the array from `arrival` until it `entered`, of which `late` is due to collections.
pub fn waited_outside(arrival: Instant, entered: Instant, late: Duration) -> Parts {
    let mut parts = Parts::default();
    parts.book_wait(Part::HostQueue, entered - arrival, late);
    parts
}

/// A request that may enter the array.
#[derive(Debug)]
pub struct Admitted {
    /// Identifier of the request in the array.
    pub id: RequestId,
    /// Request as the host sent it.
    pub request: Request,
    /// Part of its wait outside that was due to collections.
    pub late: Duration,
    /// Request whose queue slot it got, if it has waited.
    pub behind: Option<RequestNumber>,
}

/// A request that has left the array.
#[derive(Debug, Clone, Checkpointed)]
pub struct Completion {
    /// Number of the request in the run.
    pub number: RequestNumber,
    /// Request as the host sent it.
    pub request: Request,
    /// By whom.
    pub flow: FlowId,
    /// The drive that ended last.
    pub device: SsdId,
    /// Arrival to completion, the wait before the array included.
    pub response: Duration,
    /// Parts of the response time; they add up to `response`.
    pub parts: Parts,
    /// Requests of its flow that arrived before are not measured.
    pub measured_from: Instant,
    /// Outcome: done, or an error.
    pub outcome: Outcome,
}

impl Completion {
    /// The completion at `now` of `active`, which has left the array as `finished`; what arrived before
    /// `measured_from` is of its flow's ramp.
    pub fn new(
        active: &ActiveRequest,
        finished: &FinishedRequest,
        measured_from: Instant,
        now: Instant,
    ) -> Self {
        let ActiveRequest { number, request, flow, .. } = *active;
        let FinishedRequest { mut parts, device, outcome, .. } = *finished;
        let response = now - request.arrival;
        if active.entered > request.arrival {
            parts += active.waited();
        }
        Self { number, request, flow, device, response, parts, measured_from, outcome }
    }

    /// Whether it is simulated but not measured.
    pub fn is_of_ramp(&self) -> bool {
        self.request.arrival < self.measured_from
    }
}
