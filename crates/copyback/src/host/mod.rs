//! The host: when requests arrive, and how many the drive or the array takes at once.

mod flow;
mod request;

pub use request::{Active, Completion};

use flow::Flow;

use slab::Slab;

use crate::array::FinishedRequest;
use crate::config::{Config, Flow as FlowConfig};
use crate::event::Arrivals;
use crate::ids::{FlowId, RequestId, RequestNumber};
use crate::units::Instant;
use crate::workload::{AddressSpace, InputError, Request, Source};

/// The flows of requests and the submission queues they go through.
pub struct Host {
    flows: Vec<Flow>,
    queues: Vec<Queue>,
    /// The queue that is looked at first: the device fetches round robin.
    next_queue: usize,
    /// Requests that are in the array.
    requests: Slab<Active>,
    /// How many have entered it.
    entered: RequestNumber,
    /// Whether a flow has not begun because it waits for others.
    are_waiting: bool,
}

struct Queue {
    depth: u32,
    outstanding: u32,
}

impl Host {
    /// The host of a checked configuration, in front of its device.
    ///
    /// # Errors
    /// If a trace cannot be opened or its first line is malformed.
    pub fn new(config: &Config) -> Result<Self, InputError> {
        let depth = match config.array.devices {
            1 => config.host.depth(),
            // Each drive has its own queue behind the controller's.
            _ => config.array.queue_depth,
        };
        let queues = (0..config.host.queues).map(|_| Queue { depth, outstanding: 0 }).collect();
        let mut host = Self {
            flows: Vec::new(),
            queues,
            next_queue: 0,
            requests: Slab::new(),
            entered: RequestNumber::default(),
            are_waiting: false,
        };
        for (index, flow) in config.workload.flows().iter().enumerate() {
            host.add_flow(flow, index, config)?;
        }
        Ok(host)
    }

    fn add_flow(
        &mut self,
        flow: &FlowConfig,
        index: usize,
        config: &Config,
    ) -> Result<(), InputError> {
        let source = Source::open(flow, index, AddressSpace::of(config), config.seed)?;
        let flow = Flow::new(flow, source, index % self.queues.len())?;
        self.are_waiting |= !flow.has_begun();
        self.flows.push(flow);
        Ok(())
    }

    /// The next request that may enter the array now. Announces the next arrival if there is none.
    ///
    /// # Errors
    /// If the trace is malformed.
    pub fn admit(
        &mut self,
        now: Instant,
        arrivals: &mut Arrivals,
    ) -> Result<Option<(RequestId, Request)>, InputError> {
        if self.are_waiting {
            self.begin_flows(now);
        }
        let queues = self.queues.len();
        let mut queue = self.next_queue;
        for _ in 0..queues {
            let next = if queue + 1 < queues { queue + 1 } else { 0 };
            if self.queues[queue].has_room()
                && let Some(flow) = self.ready_flow(queue, now, arrivals)
            {
                self.next_queue = next;
                return self.enter(flow, now).map(Some);
            }
            queue = next;
        }
        Ok(None)
    }

    /// The flow of `queue` whose request has waited longest.
    fn ready_flow(&mut self, queue: usize, now: Instant, arrivals: &mut Arrivals) -> Option<usize> {
        let mut first: Option<(Instant, usize)> = None;
        for (index, flow) in self.flows.iter_mut().enumerate() {
            if flow.queue != queue {
                continue;
            }
            flow.expire(now);
            let Some(arrival) = flow.arrival(now) else { continue };
            if arrival > now {
                flow.announce(arrival, FlowId::from_index(index), arrivals);
            } else if first.is_none_or(|(earliest, _)| arrival < earliest) {
                first = Some((arrival, index));
            }
        }
        first.map(|(_, index)| index)
    }

    fn enter(&mut self, index: usize, now: Instant) -> Result<(RequestId, Request), InputError> {
        let flow = &mut self.flows[index];
        let request = flow.take(now)?;
        self.queues[flow.queue].outstanding += 1;
        let number = self.entered;
        self.entered.0 += 1;
        let active = Active { number, request, flow: FlowId::from_index(index), entered: now };
        Ok((RequestId::from_index(self.requests.insert(active)), request))
    }

    /// The next requests that have times of their own, `most` of them at most, in order of arrival.
    ///
    /// # Errors
    /// If the trace is malformed.
    pub fn announce(&mut self, most: usize, into: &mut Vec<Request>) -> Result<(), InputError> {
        into.clear();
        for flow in &mut self.flows {
            flow.announce_to(most, into)?;
        }
        into.sort_by_key(|request| request.arrival);
        into.truncate(most);
        Ok(())
    }

    /// The announced arrival of `flow` has come.
    pub fn arrived(&mut self, flow: FlowId) {
        self.flows[flow.index()].announced = false;
    }

    /// Begins the flows that wait for others which have ended.
    fn begin_flows(&mut self, now: Instant) {
        self.are_waiting = false;
        for index in 0..self.flows.len() {
            self.flows[index].expire(now);
            if self.flows[index].has_begun() {
                continue;
            }
            let awaited = self.flows[index].awaited();
            if awaited.iter().all(|awaited| self.flows[awaited.index()].has_ended()) {
                self.flows[index].begin(now);
            } else {
                self.are_waiting = true;
            }
        }
    }

    /// The first instant at which requests that arrive are measured, as far as is known.
    pub fn measures_from(&self) -> Option<Instant> {
        self.flows.iter().filter(|flow| !flow.has_ended()).filter_map(Flow::measured_from).min()
    }

    /// A request leaves the array.
    pub fn leave(&mut self, finished: &FinishedRequest, now: Instant) -> Completion {
        let active = self.requests.remove(finished.request.index());
        let flow = &mut self.flows[active.flow.index()];
        self.queues[flow.queue].outstanding -= 1;
        flow.leave(finished.rejected);
        let measured_from = flow.measured_from().unwrap_or(Instant::START);
        Completion::new(&active, finished, measured_from, now)
    }

    /// No further request enters the array.
    pub fn stop(&mut self) {
        self.flows.iter_mut().for_each(Flow::stop);
    }

    /// Whether every request has entered the array and left it.
    pub fn is_done(&self) -> bool {
        self.requests.is_empty() && self.flows.iter().all(Flow::is_exhausted)
    }

    /// Which request of the run `id` is, while it is in the array.
    pub fn number(&self, id: RequestId) -> RequestNumber {
        self.requests[id.index()].number
    }

    /// Requests in the array.
    pub fn outstanding(&self) -> usize {
        self.requests.len()
    }

    /// What the user should know of the input: times held back, addresses wrapped.
    pub fn notes(&self) -> Vec<String> {
        self.flows.iter().flat_map(|flow| flow.notes()).collect()
    }

    /// Share of the input that has been consumed.
    pub fn consumed(&self, now: Instant) -> f64 {
        let shares = self.flows.iter().map(|flow| flow.consumed(now));
        shares.sum::<f64>() / self.flows.len().max(1) as f64
    }
}

impl Queue {
    const fn has_room(&self) -> bool {
        self.outstanding < self.depth
    }
}
