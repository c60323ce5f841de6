//! The host: when requests arrive, and how many the drive or the array takes at once.

mod flow;
mod free;
mod input;
mod request;
mod room;
mod span;
mod think;

pub use request::{ActiveRequest, Admitted, Completion, waited_outside};

use flow::Flow;
use room::Room;

use crate::array::FinishedRequest;
use crate::checkpoint::Checkpointed;
use crate::config::{Flow as FlowConfig, Resolved};
use crate::event::Arrivals;
use crate::ids::{FlowId, RequestId, RequestNumber};
use crate::slots::Slots;
use crate::units::Instant;
use crate::workload::{AddressSpace, Draws, InputError, Request, Source};

/// The flows of requests and the submission queues they go through.
#[derive(Checkpointed)]
pub struct Host {
    flows: Vec<Flow>,
    queues: Vec<Queue>,
    /// One for each queue, or one for all.
    rooms: Vec<Room>,
    /// The queue that is looked at first: the device fetches round robin.
    next_queue: usize,
    /// Requests that are in the array.
    requests: Slots<ActiveRequest>,
    /// Number of requests that have entered the array.
    entered: RequestNumber,
    /// The one that has left it last.
    last_left: Option<RequestNumber>,
    /// Whether a flow has not begun because it waits for others.
    are_waiting: bool,
    arrivals: Arrivals,
    /// Whether a request may have become able to enter the array since that was last asked.
    may_go_on: bool,
}

#[derive(Checkpointed)]
struct Queue {
    /// The room that its requests need.
    room: usize,
    /// The flow that is looked at first: of equal arrivals none is preferred.
    next_flow: usize,
}

impl Host {
    /// The host of a checked configuration, in front of its device.
    ///
    /// # Errors
    /// If a trace cannot be opened or its first line is malformed.
    pub fn new(config: &Resolved) -> Result<Self, InputError> {
        let flows = config.workload.flows();
        // A queue that no flow uses is never looked at.
        let count = flows.len().min(config.host.queues as usize);
        let rooms = room::of_queues(config, count);
        let queue = |index: usize| Queue { room: index % rooms.len(), next_flow: index };
        let queues = (0..count).map(queue).collect();
        let mut host = Self {
            flows: Vec::new(),
            queues,
            rooms,
            next_queue: 0,
            requests: Slots::new(),
            entered: RequestNumber::default(),
            last_left: None,
            are_waiting: false,
            arrivals: Arrivals::default(),
            may_go_on: true,
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
        config: &Resolved,
    ) -> Result<(), InputError> {
        let source = source(flow, index, config)?;
        let queue = index % self.queues.len();
        let asked_for = flow.iodepth().map_or(u64::MAX, u64::from);
        self.rooms[self.queues[queue].room].ask_for(asked_for);
        let flow = Flow::new(flow, source, queue)?;
        self.are_waiting |= !flow.span.has_begun();
        self.flows.push(flow);
        Ok(())
    }

    /// The next request that may enter the array now. Announces the next arrival if there is none.
    ///
    /// # Errors
    /// If the trace is malformed.
    #[inline(always)]
    pub fn admit(&mut self, now: Instant) -> Result<Option<Admitted>, InputError> {
        if self.are_waiting {
            self.begin_flows(now);
        }
        let queues = self.queues.len();
        let mut queue = self.next_queue;
        for _ in 0..queues {
            let next = if queue + 1 < queues { queue + 1 } else { 0 };
            if self.rooms[self.queues[queue].room].has_place()
                && let Some((arrival, flow)) = self.ready_flow(queue, now)
            {
                self.next_queue = next;
                return self.enter(flow, arrival, now).map(Some);
            }
            queue = next;
        }
        self.may_go_on = false;
        Ok(None)
    }

    /// The flow of `queue` whose request has waited longest, and since when. Of requests that arrived at the same time
    /// that of the flow is first which has waited longest for its turn.
    #[inline(always)]
    fn ready_flow(&mut self, queue: usize, now: Instant) -> Option<(Instant, usize)> {
        let mut first: Option<(Instant, usize)> = None;
        let own = self.queues[queue].next_flow;
        let turns = [own..self.flows.len(), queue..own];
        for index in turns.into_iter().flat_map(|turn| turn.step_by(self.queues.len())) {
            let flow = &mut self.flows[index];
            flow.expire(now);
            match flow.arrival() {
                Some(arrival) if arrival > now => {
                    flow.announce(arrival, FlowId::from_index(index), &mut self.arrivals);
                }
                Some(arrival) if first.is_none_or(|(earliest, _)| arrival < earliest) => {
                    first = Some((arrival, index));
                }
                Some(_) | None => {}
            }
        }
        first
    }

    #[inline(always)]
    fn enter(
        &mut self,
        index: usize,
        arrival: Instant,
        now: Instant,
    ) -> Result<Admitted, InputError> {
        let flow = &mut self.flows[index];
        let request = flow.take(arrival, now)?;
        let number = self.entered;
        self.entered.0 += 1;
        let id = RequestId::from_index(self.requests.next_place());
        let queue_index = flow.queue;
        let next_flow = Some(index + self.queues.len()).filter(|next| *next < self.flows.len());
        let queue = &mut self.queues[queue_index];
        queue.next_flow = next_flow.unwrap_or(queue_index);
        let room_index = queue.room;
        let room = &mut self.rooms[room_index];
        let has_waited = request.arrival < now;
        let behind = if has_waited { room.blocker(now) } else { None };
        let entered_late = room.enter(id, request.arrival, now);
        let flow = FlowId::from_index(index);
        self.requests.insert(ActiveRequest { number, request, flow, entered: now, entered_late });
        if self.rooms[room_index].is_to_be_followed() {
            self.follow(room_index);
        }
        let late = entered_late.min(now - request.arrival);
        if !has_waited {
            return Ok(Admitted { id, request, late, behind: None });
        }
        let blocker = behind.map(|id: RequestId| self.requests[id.index()].number);
        Ok(Admitted { id, request, late, behind: blocker.or(self.last_left) })
    }

    /// A room is full: who comes next waits for those in it.
    fn follow(&mut self, index: usize) {
        let room_of =
            |active: &ActiveRequest| self.queues[self.flows[active.flow.index()].queue].room;
        let inside = self.requests.iter().filter(|(_, active)| room_of(active) == index);
        let holders = inside.map(|(id, active)| (RequestId::from_index(id), active.entered));
        self.rooms[index].follow(holders);
    }

    /// Number of requests that may enter the array before one leaves it.
    pub fn room(&self) -> usize {
        self.rooms.iter().map(Room::free).sum()
    }

    /// The next requests that have times of their own, in order of arrival: `most` of them at most, and of each flow
    /// none behind the first that arrives at `until` or later.
    ///
    /// # Errors
    /// If the trace is malformed.
    pub fn announce(
        &mut self,
        most: usize,
        until: Instant,
        into: &mut Vec<Request>,
    ) -> Result<(), InputError> {
        into.clear();
        for flow in &mut self.flows {
            flow.announce_to(most, until, into)?;
        }
        into.sort_by_key(|request| request.arrival);
        into.truncate(most);
        Ok(())
    }

    /// Whether a request may have become able to enter the array since one was last [asked for](Self::admit).
    #[inline]
    pub const fn may_go_on(&self) -> bool {
        self.may_go_on
    }

    /// When the next request arrives whose time is known, of those that have not.
    #[inline]
    pub fn next_arrival(&self) -> Option<Instant> {
        self.arrivals.next_time()
    }

    /// Arrivals whose times were known beforehand, so far.
    pub const fn scheduled(&self) -> u64 {
        self.arrivals.scheduled()
    }

    /// Requests arrive whose time is `now`.
    #[inline]
    pub fn arrive(&mut self, now: Instant) {
        while let Some(flow) = self.arrivals.pop_at(now) {
            self.flows[flow.index()].announced = false;
            self.may_go_on = true;
        }
    }

    /// Begins the flows that wait for others which have ended.
    fn begin_flows(&mut self, now: Instant) {
        self.are_waiting = false;
        for index in 0..self.flows.len() {
            self.flows[index].expire(now);
            if self.flows[index].span.has_begun() {
                continue;
            }
            let awaited = self.flows[index].span.awaited();
            if awaited.iter().all(|awaited| self.flows[awaited.index()].has_ended()) {
                self.flows[index].span.begin(now);
            } else {
                self.are_waiting = true;
            }
        }
    }

    /// The first instant at which requests that arrive are measured, as far as is known.
    pub fn measures_from(&self) -> Option<Instant> {
        self.flows
            .iter()
            .filter(|flow| !flow.has_ended())
            .filter_map(|flow| flow.span.measured_from())
            .min()
    }

    /// A request leaves the array.
    #[inline(always)]
    pub fn leave(&mut self, finished: &FinishedRequest, now: Instant) -> Completion {
        let active = &self.requests[finished.request.index()];
        self.last_left = Some(active.number);
        let flow = &mut self.flows[active.flow.index()];
        let room = &mut self.rooms[self.queues[flow.queue].room];
        room.leave(finished.request, (active.entered, now), finished.parts.late());
        flow.leave(active.request.operation, finished.outcome, now);
        let measured_from = flow.span.measured_from().unwrap_or(Instant::START);
        let completion = Completion::new(active, finished, measured_from, now);
        self.requests.remove(finished.request.index());
        self.may_go_on = true;
        completion
    }

    /// No further request enters the array. Returns how many had arrived before `now` and wait to.
    ///
    /// # Errors
    /// If a trace is malformed.
    pub fn stop_at(&mut self, now: Instant) -> Result<u64, InputError> {
        // What was announced does not come.
        self.may_go_on = true;
        self.flows.iter_mut().map(|flow| flow.stop_at(now)).sum()
    }

    /// Reads up to `most` requests again that had been read before the run was interrupted. Returns whether there are
    /// more of them.
    ///
    /// # Errors
    /// If a trace is malformed.
    pub fn catch_up(&mut self, most: u64) -> Result<bool, InputError> {
        let mut left = most;
        for flow in &mut self.flows {
            left -= flow.catch_up(left)?;
        }
        Ok(left == 0)
    }

    /// Whether every request has entered the array and left it.
    pub fn is_done(&self) -> bool {
        self.requests.is_empty() && self.flows.iter().all(Flow::is_exhausted)
    }

    /// The next request of the flow whose request `id` is in the array.
    #[inline]
    pub fn next_behind(&self, id: RequestId) -> Option<&Request> {
        self.flows[self.requests[id.index()].flow.index()].next()
    }

    /// Number in the run of the request `id`, while it is in the array.
    pub fn number(&self, id: RequestId) -> RequestNumber {
        self.requests[id.index()].number
    }

    /// Requests in the array.
    pub fn outstanding(&self) -> usize {
        self.requests.len()
    }

    /// Whether the workload names placement handles, apart from the numbers of flows.
    pub fn names_handles(&self) -> bool {
        self.flows.iter().any(Flow::names_handles)
    }

    /// Notes for the user about the input: times held back, addresses wrapped.
    pub fn notes(&self) -> Vec<String> {
        self.flows.iter().flat_map(|flow| flow.notes()).collect()
    }

    /// Share of the input that has been consumed.
    pub fn consumed(&self, now: Instant) -> f64 {
        let shares = self.flows.iter().map(|flow| flow.consumed(now));
        shares.sum::<f64>() / self.flows.len().max(1) as f64
    }
}

/// The sources of a workload's flows, in order, of which nothing has been read.
///
/// # Errors
/// If a trace cannot be opened or its first line is malformed.
pub fn sources(config: &Resolved) -> Result<Vec<Source>, InputError> {
    let flows = config.workload.flows();
    flows.iter().enumerate().map(|(index, flow)| source(flow, index, config)).collect()
}

fn source(flow: &FlowConfig, index: usize, config: &Resolved) -> Result<Source, InputError> {
    let key = config.workload.flow_key(index);
    Source::open(flow, index, &key, AddressSpace::of(config), config.seed, Draws::OfRun)
}

#[cfg(test)]
mod tests;
