//! Requests while they are in the device.

use crate::ids::{FlowId, RequestId};
use crate::ssd::{Part, Parts};
use crate::units::{Duration, Instant};
use crate::workload::Request;

/// A request in the device.
#[derive(Debug, Clone)]
pub struct Active {
    /// What was asked.
    pub request: Request,
    /// By whom.
    pub flow: FlowId,
    /// Page operations that have not ended.
    pub pages_left: u32,
    /// Where its time went so far.
    pub parts: Parts,
    /// Whether the write buffer serves it, or it waits for room there.
    pub in_buffer: bool,
    /// Until when `parts` accounts for its time.
    accounted: Instant,
}

impl Active {
    /// A request that enters the device at `now`.
    pub fn new(request: Request, flow: FlowId, now: Instant) -> Self {
        let mut active = Self {
            request,
            flow,
            pages_left: 0,
            parts: Parts::default(),
            in_buffer: false,
            accounted: request.arrival,
        };
        active.spend(Part::HostQueue, now);
        active
    }

    /// Books the time since the last booking, until `now`.
    pub fn spend(&mut self, part: Part, now: Instant) {
        self.parts[part] += now - self.accounted;
        self.accounted = now;
    }

    /// Books the parts of its last page operation, which ends now.
    pub fn spend_parts(&mut self, parts: &Parts, now: Instant) {
        self.parts += *parts;
        self.accounted = now;
    }
}

/// A request that has left the device.
#[derive(Debug, Clone)]
pub struct Completion {
    /// What was asked.
    pub request: Request,
    /// By whom.
    pub flow: FlowId,
    /// Arrival to completion, the wait before the device included.
    pub response: Duration,
    /// Where the time went; adds up to `response`.
    pub parts: Parts,
}

impl Completion {
    /// The completion of `active` at `now`.
    pub fn new(active: &Active, now: Instant) -> Self {
        Self {
            request: active.request,
            flow: active.flow,
            response: now - active.request.arrival,
            parts: active.parts,
        }
    }
}

/// The requests in the device. Places are reused, so its size is that of the greatest crowd.
#[derive(Debug, Default)]
pub struct Requests {
    table: Vec<Active>,
    free: Vec<RequestId>,
}

impl Requests {
    /// Adds a request.
    pub fn insert(&mut self, active: Active) -> RequestId {
        match self.free.pop() {
            Some(id) => {
                self.table[id.index()] = active;
                id
            }
            None => {
                self.table.push(active);
                RequestId::from_index(self.table.len() - 1)
            }
        }
    }

    /// Takes a request out.
    pub fn remove(&mut self, id: RequestId) -> Active {
        self.free.push(id);
        self.table[id.index()].clone()
    }

    /// The request called `id`.
    pub fn get_mut(&mut self, id: RequestId) -> &mut Active {
        &mut self.table[id.index()]
    }

    /// Requests in the device.
    pub fn len(&self) -> usize {
        self.table.len() - self.free.len()
    }

    /// Whether the device is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
