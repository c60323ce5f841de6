//! The requests of a whole workload, its flows merged in order of arrival, without a device.

use super::trace::TraceSource;
use super::{AddressSpace, Draws, InputError, Request, Source};
use copyback_config::units::{Duration, Instant};
use copyback_config::{Config, Flow};

/// The requests of a workload in order of arrival; of those that arrive together, the flow that has
/// issued fewest comes first. So do the flows of closed loops take turns, whose times mean nothing.
pub struct Stream {
    flows: Vec<Merged>,
    timed: bool,
    /// Notes on flows of which only a simulation tells how long they are.
    bounded: Vec<String>,
}

/// One request, and what it says beside what a device is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issued {
    /// The request.
    pub request: Request,
    /// The disk or volume that the trace names; zero if it names none.
    pub device: u64,
}

struct Merged {
    source: Source,
    next: Option<Issued>,
    issued: u64,
    /// When it starts; the times of its requests count from there.
    start: Duration,
    /// Requests at this time or later are not issued.
    end: Option<Instant>,
}

impl Merged {
    fn open(
        flow: &Flow,
        index: usize,
        key: &str,
        space: AddressSpace,
        seed: u64,
    ) -> Result<Self, InputError> {
        check_times(flow, key)?;
        let source = Source::open(flow, index, key, space, seed, Draws::OfRun)?;
        let start = flow.starts_at().0;
        let end = flow.duration().map(|duration| Instant::START + start + duration.0);
        let mut merged = Self { source, next: None, issued: 0, start, end };
        merged.advance()?;
        Ok(merged)
    }

    fn advance(&mut self) -> Result<Option<Issued>, InputError> {
        let request = self.source.next_request()?;
        let started =
            |request: Request| Request { arrival: request.arrival + self.start, ..request };
        let next = request
            .map(started)
            .filter(|request| self.end.is_none_or(|end| request.arrival < end))
            .map(|request| Issued { request, device: self.source.device() });
        Ok(std::mem::replace(&mut self.next, next))
    }
}

/// Note on a flow whose length only a simulation decides, if it has a bound.
fn bound(flow: &Flow, key: &str) -> Option<String> {
    let (round, most_rounds) = flow.rounds()?;
    Some(format!(
        "{key}.requests: at most {most_rounds} rounds of {round} requests; how many it takes until a run has settled, only a \
         simulation tells"
    ))
}

/// Refuses a flow whose times only a simulation decides.
fn check_times(flow: &Flow, key: &str) -> Result<(), InputError> {
    let fault = |name: &str, problem: &str| InputError {
        place: format!("{key}.{name}"),
        problem: problem.to_owned(),
    };
    if flow.iodepth().is_some() && flow.duration().is_some() {
        let problem = "found a duration in a closed loop, whose time passes only as requests are \
                       served; expected none where nothing is simulated";
        return Err(fault("duration", problem));
    }
    if !flow.starts_after().is_empty() {
        let problem = "found a flow that waits for others to end, which only a simulation tells; \
                       expected none where nothing is simulated";
        return Err(fault("starts_after", problem));
    }
    if flow.is_endless() {
        let problem = "found requests without end, which only a simulation can stop; expected a \
                       number where nothing is simulated";
        return Err(fault("requests", problem));
    }
    Ok(())
}

impl Stream {
    /// The workload of `config`, for a device with the addresses of `space`.
    ///
    /// # Errors
    /// If a trace can't be opened or its first line is malformed.
    pub fn open(config: &Config, space: AddressSpace) -> Result<Self, InputError> {
        let flows = config.workload.flows();
        let timed = flows.iter().all(|flow| flow.iodepth().is_none());
        let keys = flows.iter().enumerate();
        let bounded =
            keys.filter_map(|(index, flow)| bound(flow, &config.workload.flow_key(index)));
        let bounded = bounded.collect();
        let flows = flows.iter().enumerate();
        let flows = flows.map(|(index, flow)| {
            Merged::open(flow, index, &config.workload.flow_key(index), space, config.seed)
        });
        Ok(Self { flows: flows.collect::<Result<_, _>>()?, timed, bounded })
    }

    /// The next request, or `None` at the end.
    ///
    /// # Errors
    /// If a trace is malformed.
    pub fn next_request(&mut self) -> Result<Option<Issued>, InputError> {
        if let [only] = self.flows.as_mut_slice() {
            return only.advance();
        }
        let ready = self.flows.iter_mut().filter(|flow| flow.next.is_some());
        let first =
            ready.min_by_key(|flow| (flow.next.map(|next| next.request.arrival), flow.issued));
        let Some(first) = first else { return Ok(None) };
        first.issued += 1;
        first.advance()
    }

    /// Whether arrivals mean anything: not if any flow is a closed loop.
    pub fn is_timed(&self) -> bool {
        self.timed
    }

    /// Whether its requests may name placement handles, apart from the numbers of flows.
    pub fn names_handles(&self) -> bool {
        self.flows.iter().any(|flow| flow.source.names_handles())
    }

    /// Origin of the requests' times, in nanoseconds of the trace's own clock; zero unless there is one flow
    /// and it is a trace.
    pub fn origin_ns(&self) -> u64 {
        match self.flows.as_slice() {
            [only] => only.source.trace().map_or(0, TraceSource::origin_ns),
            _ => 0,
        }
    }

    /// Name of the workload: the file of a trace, or the type of a generator.
    pub fn name(&self) -> String {
        match self.flows.as_slice() {
            [only] => only.source.trace().map_or("synthetic", TraceSource::name).to_owned(),
            flows => format!("{} flows", flows.len()),
        }
    }

    /// The format of the only flow, if it is a trace.
    pub fn format(&self) -> Option<&'static str> {
        match self.flows.as_slice() {
            [only] => only.source.trace().map(TraceSource::format_name),
            _ => None,
        }
    }

    /// Share of the input that has been consumed, from 0 to 1.
    pub fn consumed(&self) -> f64 {
        let shares = self.flows.iter().map(|flow| flow.source.consumed());
        shares.sum::<f64>() / self.flows.len().max(1) as f64
    }

    /// Notes for the user about the input that was read so far, one line each.
    pub fn notes(&self) -> Vec<String> {
        let of_sources = self.flows.iter().flat_map(|flow| flow.source.notes());
        self.bounded.iter().cloned().chain(of_sources).collect()
    }
}
