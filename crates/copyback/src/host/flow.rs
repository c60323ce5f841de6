//! A flow of requests: when it begins and ends, and when its next request arrives.

use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::config::Flow as FlowConfig;
use crate::event::Arrivals;
use crate::ids::FlowId;
use crate::outcome::Outcome;
use crate::units::Instant;
use crate::workload::{InputError, Operation, Request, Source};

use super::free::FreePlaces;
use super::input::Input;
use super::span::Span;
use super::think::Thinking;

/// A flow of requests.
#[derive(Checkpointed)]
pub(super) struct Flow {
    source: Input,
    /// The next request, not yet in the device; its time counts from the start of the flow.
    next: Option<Request>,
    /// Requests behind the next one that have been announced.
    ahead: VecDeque<Request>,
    /// The submission queue that it goes through.
    pub queue: usize,
    process: ArrivalProcess,
    /// Pauses, if there are any.
    thinking: Option<Box<Thinking>>,
    /// Requests that have entered the array and not left it.
    outstanding: u32,
    pub span: Span,
    rounds: Rounds,
    /// Whether an arrival is on the agenda.
    pub announced: bool,
    /// Whether one of its requests has been rejected, in no time.
    rejected: bool,
}

/// Arrival process of a flow: what decides when its next request arrives.
#[derive(Checkpointed)]
enum ArrivalProcess {
    /// The request's own time.
    Open,
    /// The end of an earlier one, and its own time if it has one: the later of both.
    Closed { iodepth: u32, free: FreePlaces },
}

/// The times that a flow was started anew at one instant.
#[derive(Debug, Clone, Copy, Checkpointed)]
struct Rounds {
    known: u64,
    at: Instant,
    count: u64,
}

impl Flow {
    /// The flow of `config`, whose requests come from `source` and go through submission queue `queue`.
    ///
    /// # Errors
    /// If the source has a malformed first request.
    pub fn new(config: &FlowConfig, source: Source, queue: usize) -> Result<Self, InputError> {
        let mut source = Input::new(source);
        let process = match config.iodepth() {
            Some(iodepth) => ArrivalProcess::Closed { iodepth, free: FreePlaces::new(iodepth) },
            None => ArrivalProcess::Open,
        };
        let next = process.fetch(&mut source)?;
        // An open trace knows its own times, and where they end.
        let is_open_trace = source.trace().is_some() && matches!(process, ArrivalProcess::Open);
        Ok(Self {
            rounds: Rounds { known: source.rounds(), at: Instant::START, count: 0 },
            source,
            next,
            ahead: VecDeque::new(),
            queue,
            process,
            thinking: Thinking::new(config.thinktime()),
            outstanding: 0,
            span: Span::new(config, is_open_trace),
            announced: false,
            rejected: false,
        })
    }

    /// Whether all of its requests have left the array.
    pub const fn has_ended(&self) -> bool {
        self.span.has_begun() && self.next.is_none() && self.outstanding == 0
    }

    /// Whether no further request comes of it.
    pub const fn is_exhausted(&self) -> bool {
        self.next.is_none()
    }

    /// Ends it if it has lasted as long as it should, unless a request that arrived before waits.
    #[inline(always)]
    pub fn expire(&mut self, now: Instant) {
        if let Some(end) = self.span.end()
            && now >= end
            && self.next_arrival().is_none_or(|arrival| arrival >= end)
        {
            self.stop();
        }
    }

    /// The next request, which has not entered the array.
    pub const fn next(&self) -> Option<&Request> {
        self.next.as_ref()
    }

    /// No further request comes of it.
    fn stop(&mut self) {
        self.next = None;
        self.ahead.clear();
    }

    /// Ends it. Returns how many requests had arrived before `now` and wait to enter the array, which they never do.
    ///
    /// # Errors
    /// If the trace is malformed.
    pub fn stop_at(&mut self, now: Instant) -> Result<u64, InputError> {
        let mut waiting = 0;
        while let Some(arrival) = self.next_arrival()
            && arrival < now
            && self.span.end().is_none_or(|end| arrival < end)
        {
            self.take(arrival, now)?;
            self.outstanding -= 1;
            waiting += 1;
        }
        self.stop();
        Ok(waiting)
    }

    /// When the next request arrives or arrived, or when the flow ends if that comes first; `None` if
    /// there is none, or its arrival waits for an earlier one to end.
    #[inline(always)]
    pub fn arrival(&self) -> Option<Instant> {
        let arrival = self.next_arrival()?;
        Some(self.span.end().map_or(arrival, |end| arrival.min(end)))
    }

    /// When the next request arrives or arrived, however long the flow lasts. In a closed loop that is once a place is
    /// free and the request is due.
    #[inline(always)]
    fn next_arrival(&self) -> Option<Instant> {
        let (next, start) = (self.next.as_ref()?, self.span.start()?);
        let due = start + (next.arrival - Instant::START);
        match &self.process {
            ArrivalProcess::Open => Some(due),
            ArrivalProcess::Closed { free, .. } => {
                Some(due.max(free.first()?).max(self.resumes()?))
            }
        }
    }

    /// Since when it may issue requests; `None` if others have to end before.
    #[inline(always)]
    fn resumes(&self) -> Option<Instant> {
        self.thinking.as_ref().map_or(Some(Instant::START), |thinking| thinking.allows())
    }

    /// A request of a flow that pauses has ended at `now`. As many were under way as may be if all places are taken, be it
    /// by a request that waits outside the device.
    #[cold]
    fn think(&mut self, operation: Operation, now: Instant) {
        let is_taken =
            matches!(&self.process, ArrivalProcess::Closed { free, .. } if free.first().is_none());
        let is_full = is_taken || self.next_arrival().is_some_and(|arrival| arrival <= now);
        if let Some(thinking) = &mut self.thinking {
            thinking.end(operation, self.outstanding, is_full, now);
        }
    }

    /// Takes the next request, which has [arrived](Self::arrival) at `arrival`, at or before `now`.
    ///
    /// # Errors
    /// If the trace is malformed, or a closed loop gets nowhere.
    #[inline(always)]
    pub fn take(&mut self, arrival: Instant, now: Instant) -> Result<Request, InputError> {
        let mut request = self.next.expect("a flow that is ready has a next request");
        request.arrival = arrival;
        self.next = match self.ahead.pop_front() {
            Some(next) => Some(next),
            None => self.process.fetch(&mut self.source)?,
        };
        self.outstanding += 1;
        if let Some(thinking) = &mut self.thinking {
            thinking.issue(request.operation, arrival);
        }
        if let ArrivalProcess::Closed { iodepth, free } = &mut self.process {
            free.take();
            let most = self.source.most_rounds_at_once(*iodepth);
            match self.rounds.check(self.source.rounds(), now, most) {
                // Nothing will change: the drive takes no writes any more.
                Err(_) if self.rejected => self.next = None,
                checked => checked?,
            }
        }
        Ok(request)
    }

    /// A request of this `operation` leaves the array at `now`.
    pub fn leave(&mut self, operation: Operation, outcome: Outcome, now: Instant) {
        self.outstanding -= 1;
        if self.thinking.is_some() {
            self.think(operation, now);
        }
        if let ArrivalProcess::Closed { free, .. } = &mut self.process {
            free.give_back(now);
        }
        self.rejected |= outcome == Outcome::Rejected;
    }

    /// Adds the next requests that have times of their own: `most` of them at most, and none behind the first that
    /// arrives at `until` or later.
    ///
    /// # Errors
    /// If the trace is malformed.
    pub fn announce_to(
        &mut self,
        most: usize,
        until: Instant,
        into: &mut Vec<Request>,
    ) -> Result<(), InputError> {
        let (ArrivalProcess::Open, Some(next), Some(start)) =
            (&self.process, self.next, self.span.start())
        else {
            return Ok(());
        };
        let end = self.span.end();
        for place in 0..most {
            let request = if place == 0 { Some(next) } else { self.behind_next(place - 1)? };
            let Some(request) = request else { break };
            let arrival = start + (request.arrival - Instant::START);
            if end.is_none_or(|end| arrival < end) {
                into.push(Request { arrival, ..request });
            }
            if arrival >= until {
                break;
            }
        }
        Ok(())
    }

    /// The request at this place of those behind the next one.
    fn behind_next(&mut self, place: usize) -> Result<Option<Request>, InputError> {
        if place == self.ahead.len() {
            self.ahead.extend(self.source.next_request()?);
        }
        Ok(self.ahead.get(place).copied())
    }

    /// Puts its next arrival on the agenda, unless one of its arrivals is there.
    pub fn announce(&mut self, arrival: Instant, id: FlowId, arrivals: &mut Arrivals) {
        if !self.announced {
            self.announced = true;
            arrivals.schedule(arrival, 0, id);
        }
    }

    /// Share of the input that has been consumed.
    pub fn consumed(&self, now: Instant) -> f64 {
        match (self.source.trace(), self.span.passed(now)) {
            // A share of its present round.
            (Some(_), Some(passed)) => passed,
            (_, Some(passed)) => self.source.consumed().max(passed),
            (_, None) => self.source.consumed(),
        }
    }

    /// Reads up to `most` requests again, as [`Input::catch_up`].
    ///
    /// # Errors
    /// If the trace is malformed.
    pub fn catch_up(&mut self, most: u64) -> Result<u64, InputError> {
        self.source.catch_up(most)
    }

    /// Whether its requests may name placement handles, apart from its number.
    pub fn names_handles(&self) -> bool {
        self.source.names_handles()
    }

    /// Notes for the user about its input.
    pub fn notes(&self) -> Vec<String> {
        self.source.notes()
    }
}

impl ArrivalProcess {
    /// The next request of `source`. In a closed loop the times of a trace mean nothing.
    #[inline(always)]
    fn fetch(&self, source: &mut Input) -> Result<Option<Request>, InputError> {
        match (self, source.trace()) {
            (Self::Closed { .. }, Some(_)) => {
                let request = source.next_request()?;
                Ok(request.map(|request| Request { arrival: Instant::START, ..request }))
            }
            _ => source.next_request(),
        }
    }
}

impl Rounds {
    /// Checks that a closed loop gets somewhere: it does not after more than `most` rounds at one
    /// instant.
    fn check(&mut self, rounds: u64, now: Instant, most: u64) -> Result<(), InputError> {
        if rounds == self.known {
            return Ok(());
        }
        let count = if now == self.at { self.count + 1 } else { 1 };
        *self = Self { known: rounds, at: now, count };
        if count <= most {
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
