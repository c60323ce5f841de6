//! Requests while they are in the array.

use crate::array::FinishedRequest;
use crate::checkpoint::Checkpointed;
use crate::ids::{FlowId, RequestId, RequestNumber, SsdId};
use crate::ssd::Parts;
use crate::units::{Duration, Instant};
use crate::workload::Request;

/// A request in the array.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Active {
    /// Which it is.
    pub number: RequestNumber,
    /// What was asked.
    pub request: Request,
    /// By whom.
    pub flow: FlowId,
    /// When it entered the array.
    pub entered: Instant,
    /// How much of its wait before that was due to collections.
    pub entered_late: Duration,
}

/// A request that may enter the array.
#[derive(Debug, Clone, Copy)]
pub struct Admitted {
    /// Its name in the array.
    pub id: RequestId,
    /// What is asked.
    pub request: Request,
    /// What it has waited for outside.
    pub waited: Parts,
    /// Whose place it might have had, if it has waited.
    pub behind: Option<RequestNumber>,
}

/// A request that has left the array.
#[derive(Debug, Clone, Checkpointed)]
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
    /// Requests of its flow that arrived before are not measured.
    pub measured_from: Instant,
    /// Whether a drive, which is read-only, has rejected it or a part of it.
    pub rejected: bool,
}

impl Completion {
    /// The completion at `now` of `active`, which has left the array as `finished`; what arrived before
    /// `measured_from` is of its flow's ramp.
    pub fn new(
        active: &Active,
        finished: &FinishedRequest,
        measured_from: Instant,
        now: Instant,
    ) -> Self {
        let Active { number, request, flow, .. } = *active;
        let FinishedRequest { parts, device, rejected, .. } = *finished;
        let response = now - request.arrival;
        Self { number, request, flow, device, response, parts, measured_from, rejected }
    }

    /// Whether it is simulated but not measured.
    pub fn is_of_ramp(&self) -> bool {
        self.request.arrival < self.measured_from
    }
}
