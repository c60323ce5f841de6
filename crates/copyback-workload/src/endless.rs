//! The writes and trims of a workload without end: what a drive is prepared with.

use copyback_config::units::Instant;
use copyback_config::{Flow, Resolved, WRITES_NOTHING};

use super::{AddressSpace, Draws, InputError, Operation, Request, Source};

/// The writes and trims of a workload, again and again. A trace begins anew at its end; a generator has none. If all
/// flows are open loops they are merged by arrival, else they take turns: the time of a closed loop is known only as
/// it is served. Flows that follow one another in the run are mixed here.
pub struct Endless {
    flows: Vec<Repeated>,
    is_timed: bool,
}

/// Most requests of a pass that are kept, so that the next one needs not be read: a trace may have many reads for each write.
const MOST_KEPT: usize = 1 << 20;

/// A flow that begins anew at its end.
struct Repeated {
    flow: Flow,
    index: usize,
    key: String,
    space: AddressSpace,
    seed: u64,
    pass: Pass,
    /// When this pass began, in nanoseconds.
    began: u128,
    /// Whether this pass has written.
    has_written: bool,
    /// The next write or trim; `None` if a whole pass has no write.
    next: Option<Request>,
    taken: u64,
}

/// Writes and trims from the start to the end of a flow.
enum Pass {
    /// Pass that is read, and those of its requests that are kept.
    Read {
        source: Source,
        kept: Vec<Request>,
        most_kept: usize,
        /// Most reads in a row, if what follows them is known to be the same again.
        most_reads: Option<u64>,
    },
    /// Pass that was read before, and how far it has come.
    Kept { requests: Vec<Request>, done: usize },
}

impl Endless {
    /// The workload of a checked configuration.
    ///
    /// # Errors
    /// If a trace can't be opened, or its first line is malformed.
    pub fn open(config: &Resolved) -> Result<Self, InputError> {
        let flows = config.workload.flows();
        let has_times = |flow: &Flow| flow.iodepth().is_none();
        let is_timed = flows.iter().all(has_times);
        let flows = flows.iter().enumerate().map(|(index, flow)| {
            let key = config.workload.flow_key(index);
            Repeated::open(flow.without_end(), index, key, AddressSpace::of(config), config.seed)
        });
        Ok(Self { flows: flows.collect::<Result<_, _>>()?, is_timed })
    }

    /// Takes the next write or trim.
    ///
    /// # Errors
    /// If a trace is malformed, or nothing in the workload writes.
    pub fn take(&mut self) -> Result<Request, InputError> {
        let is_timed = self.is_timed;
        let ready = self.flows.iter_mut().filter_map(|flow| Some((flow.next?, flow)));
        let order = |(next, flow): &(Request, &mut Repeated)| {
            (is_timed.then(|| flow.began + u128::from(next.arrival.as_ns())), flow.taken)
        };
        let Some((next, flow)) = ready.min_by_key(order) else { return Err(nothing_written()) };
        flow.go_on(next.arrival)?;
        Ok(next)
    }
}

impl Repeated {
    fn open(
        flow: Flow,
        index: usize,
        key: String,
        space: AddressSpace,
        seed: u64,
    ) -> Result<Self, InputError> {
        let source = Source::open(&flow, index, &key, space, seed, Draws::Apart)?;
        // A generator has no end.
        let most_kept = if flow.is_trace() { MOST_KEPT } else { 0 };
        // It takes each unit of its map once, and then the same requests again.
        let most_reads = flow.repeats_its_map().then_some(space.bytes / 512);
        let pass = Pass::Read { source, kept: Vec::new(), most_kept, most_reads };
        let (began, has_written) = (0, false);
        let mut repeated =
            Self { flow, index, key, space, seed, pass, began, has_written, next: None, taken: 0 };
        if repeated.flow.may_write() {
            repeated.find()?;
        }
        Ok(repeated)
    }

    /// Goes on to the next write or trim, behind one that arrives at `last` of this pass.
    fn go_on(&mut self, last: Instant) -> Result<(), InputError> {
        self.taken += 1;
        self.find()?;
        if self.next.is_none() && std::mem::take(&mut self.has_written) {
            self.began += u128::from(last.as_ns());
            self.begin_anew()?;
            self.find()?;
        }
        Ok(())
    }

    fn find(&mut self) -> Result<(), InputError> {
        self.next = self.pass.next()?;
        self.has_written |= self.next.is_some_and(|next| next.operation == Operation::Write);
        Ok(())
    }

    fn begin_anew(&mut self) -> Result<(), InputError> {
        let requests = match &mut self.pass {
            Pass::Read { kept, .. } => std::mem::take(kept),
            Pass::Kept { requests, .. } => std::mem::take(requests),
        };
        self.pass = match requests.len() {
            MOST_KEPT.. => {
                let Self { flow, index, key, space, seed, .. } = self;
                let source = Source::open(flow, *index, key, *space, *seed, Draws::Apart)?;
                Pass::Read { source, kept: Vec::new(), most_kept: MOST_KEPT, most_reads: None }
            }
            _ => Pass::Kept { requests, done: 0 },
        };
        Ok(())
    }
}

impl Pass {
    /// The next write or trim of this pass.
    fn next(&mut self) -> Result<Option<Request>, InputError> {
        match self {
            Self::Kept { requests, done } => {
                *done += 1;
                Ok(requests.get(*done - 1).copied())
            }
            Self::Read { source, kept, most_kept, most_reads } => {
                let mut reads = 0;
                while most_reads.is_none_or(|most| reads <= most)
                    && let Some(request) = source.next_request()?
                {
                    if matches!(request.operation, Operation::Write | Operation::Trim) {
                        if kept.len() < *most_kept {
                            kept.push(request);
                        }
                        return Ok(Some(request));
                    }
                    reads += u64::from(request.operation == Operation::Read);
                }
                Ok(None)
            }
        }
    }
}

fn nothing_written() -> InputError {
    let place = "precondition.addresses".to_owned();
    InputError { place, problem: WRITES_NOTHING.to_owned() }
}
