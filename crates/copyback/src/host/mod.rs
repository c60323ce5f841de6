//! The host: when requests arrive, and how many the drive or the array takes at once.

mod request;

pub use request::{Active, Completion};

use std::collections::VecDeque;

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
}

struct Flow {
    source: Source,
    /// The next request, not yet in the device.
    next: Option<Request>,
    /// Those behind it that have been announced.
    ahead: VecDeque<Request>,
    queue: usize,
    pace: Pace,
    /// When a closed loop of unlimited requests ends.
    end: Option<Instant>,
    rounds: Rounds,
    /// Whether an [`Event::Arrival`] is on the agenda.
    announced: bool,
    /// Whether one of its requests has been rejected, in no time.
    rejected: bool,
}

/// What decides when a flow's next request arrives.
enum Pace {
    /// The request's own time.
    Open,
    /// The end of an earlier one.
    Closed { iodepth: u32, outstanding: u32 },
}

/// The times that a flow was started anew at one instant.
#[derive(Debug, Clone, Copy)]
struct Rounds {
    known: u64,
    at: Instant,
    count: u64,
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
        let flows = config.workload.flows();
        // A queue that no flow uses is never looked at.
        let queues = flows.len().min(config.host.queues as usize);
        let queues = (0..queues).map(|_| Queue { depth, outstanding: 0 }).collect();
        let mut host = Self {
            flows: Vec::new(),
            queues,
            next_queue: 0,
            requests: Slab::new(),
            entered: RequestNumber::default(),
        };
        for (index, flow) in flows.iter().enumerate() {
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
        let key = config.workload.flow_key(index);
        let mut source = Source::open(flow, index, &key, AddressSpace::of(config), config.seed)?;
        let pace = match flow.iodepth() {
            Some(iodepth) => Pace::Closed { iodepth, outstanding: 0 },
            None => Pace::Open,
        };
        let next = source.next_request()?;
        let queue = index % self.queues.len();
        let end = flow.duration().filter(|_| flow.iodepth().is_some());
        let end = end.map(|end| Instant::START + end.0);
        let rounds = Rounds { known: source.rounds(), at: Instant::START, count: 0 };
        let ahead = VecDeque::new();
        let (announced, rejected) = (false, false);
        let flow = Flow { source, next, ahead, queue, pace, end, rounds, announced, rejected };
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
        let mut index = queue;
        while let Some(flow) = self.flows.get_mut(index) {
            if flow.end.is_some_and(|end| now >= end) {
                flow.next = None;
            }
            match flow.arrival(now) {
                Some(arrival) if arrival > now => {
                    flow.announce(arrival, FlowId::from_index(index), arrivals);
                }
                Some(arrival) if first.is_none_or(|(earliest, _)| arrival < earliest) => {
                    first = Some((arrival, index));
                }
                Some(_) | None => {}
            }
            index += self.queues.len();
        }
        first.map(|(_, index)| index)
    }

    fn enter(&mut self, index: usize, now: Instant) -> Result<(RequestId, Request), InputError> {
        let flow = &mut self.flows[index];
        let next = match flow.ahead.pop_front() {
            Some(next) => Some(next),
            None => flow.source.next_request()?,
        };
        let request = std::mem::replace(&mut flow.next, next);
        let mut request = request.expect("a flow that is ready has a next request");
        if let Pace::Closed { outstanding, iodepth } = &mut flow.pace {
            *outstanding += 1;
            request.arrival = now;
            let gets_somewhere = flow.rounds.check(flow.source.rounds(), now, *iodepth);
            match gets_somewhere {
                // Nothing will change: the drive takes no writes any more.
                Err(_) if flow.rejected => flow.next = None,
                checked => checked?,
            }
        }
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
            if let (Pace::Open, Some(next)) = (&flow.pace, flow.next) {
                while 1 + flow.ahead.len() < most
                    && let Some(request) = flow.source.next_request()?
                {
                    flow.ahead.push_back(request);
                }
                into.push(next);
                into.extend(&flow.ahead);
            }
        }
        into.sort_by_key(|request| request.arrival);
        into.truncate(most);
        Ok(())
    }

    /// The announced arrival of `flow` has come.
    pub fn arrived(&mut self, flow: FlowId) {
        self.flows[flow.index()].announced = false;
    }

    /// A request leaves the array.
    pub fn leave(&mut self, finished: &FinishedRequest, now: Instant) -> Completion {
        let active = self.requests.remove(finished.request.index());
        let flow = &mut self.flows[active.flow.index()];
        self.queues[flow.queue].outstanding -= 1;
        if let Pace::Closed { outstanding, .. } = &mut flow.pace {
            *outstanding -= 1;
        }
        flow.rejected |= finished.rejected;
        Completion::new(&active, finished, now)
    }

    /// No further request enters the array.
    pub fn stop(&mut self) {
        for flow in &mut self.flows {
            flow.next = None;
            flow.ahead.clear();
        }
    }

    /// Whether every request has entered the array and left it.
    pub fn is_done(&self) -> bool {
        self.requests.is_empty() && self.flows.iter().all(|flow| flow.next.is_none())
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
        self.flows.iter().flat_map(|flow| flow.source.notes()).collect()
    }

    /// Share of the input that has been consumed.
    pub fn consumed(&self, now: Instant) -> f64 {
        let shares = self.flows.iter().map(|flow| flow.consumed(now));
        shares.sum::<f64>() / self.flows.len().max(1) as f64
    }
}

impl Flow {
    /// When the next request arrives or arrived; `None` if there is none, or it waits for an
    /// earlier one to end.
    fn arrival(&self, now: Instant) -> Option<Instant> {
        let next = self.next.as_ref()?;
        match self.pace {
            Pace::Open => Some(next.arrival),
            Pace::Closed { iodepth, outstanding } => (outstanding < iodepth).then_some(now),
        }
    }

    fn consumed(&self, now: Instant) -> f64 {
        match self.end {
            Some(end) => (now.as_secs_f64() / end.as_secs_f64()).min(1.0),
            None => self.source.consumed(),
        }
    }

    fn announce(&mut self, arrival: Instant, id: FlowId, arrivals: &mut Arrivals) {
        if !self.announced {
            self.announced = true;
            arrivals.schedule(arrival, 0, id);
        }
    }
}

impl Queue {
    const fn has_room(&self) -> bool {
        self.outstanding < self.depth
    }
}

impl Rounds {
    /// Checks that a closed loop gets somewhere: of more rounds at one instant than requests may be
    /// outstanding, one took no time.
    fn check(&mut self, rounds: u64, now: Instant, iodepth: u32) -> Result<(), InputError> {
        if rounds == self.known {
            return Ok(());
        }
        let count = if now == self.at { self.count + 1 } else { 1 };
        *self = Self { known: rounds, at: now, count };
        if count <= u64::from(iodepth) + 1 {
            return Ok(());
        }
        Err(InputError {
            place: "workload.duration".to_owned(),
            problem:
                "found requests that take no simulated time, such as reads of pages that were \
                      never written; expected some that do, so that time passes"
                    .to_owned(),
        })
    }
}
