//! The inputs of a workload, read for a device without simulating it.

use crate::Error;
use crate::Status;
use crate::{AddressSpace, Draws, InputError, Source};
use copyback_config::{Flow, Resolved};

/// Reads every trace of a workload as a run would, and so finds what would end the run: a damaged row, an
/// address beyond the device, a file that is no trace. Call [`advance`](Self::advance) until it is done.
///
/// Of a closed loop with a duration only the first request is read: which row is the last depends on how fast
/// the device is.
pub struct InputCheck {
    /// Traces that were not read to their end, with the digest still due.
    left: Vec<PendingTrace>,
    opened: usize,
    requests: u64,
}

struct PendingTrace {
    source: Source,
    only_first: bool,
}

impl InputCheck {
    /// The workload of a checked configuration.
    ///
    /// # Errors
    /// If an input can't be opened or its start is malformed; if a generator makes no sense on the device.
    pub fn new(config: &Resolved) -> Result<Self, Error> {
        let space = AddressSpace::of(config);
        let flows = config.workload.flows();
        let opened = flows.iter().enumerate().map(|(index, flow)| {
            let key = config.workload.flow_key(index);
            let source = Source::open(flow, index, &key, space, config.seed, Draws::OfRun)?;
            let only_first = flow.iodepth().is_some() && flow.duration().is_some();
            Ok(matches!(flow, Flow::Trace(_)).then_some(PendingTrace { source, only_first }))
        });
        let opened = opened.collect::<Result<Vec<_>, InputError>>()?;
        let left: Vec<_> = opened.into_iter().flatten().collect();
        Ok(Self { opened: left.len(), left, requests: 0 })
    }

    /// Reads up to `budget` requests.
    ///
    /// # Errors
    /// If a trace turns out to be malformed, or names an address beyond the device.
    pub fn advance(&mut self, budget: u64) -> Result<Status, Error> {
        for _ in 0..budget {
            let Some(pending) = self.left.last_mut() else { return Ok(Status::Done) };
            let request = pending.source.next_request()?;
            self.requests += u64::from(request.is_some());
            // A trace that is replayed again and again says nothing new.
            if request.is_none() || pending.only_first || pending.source.rounds() > 1 {
                self.left.pop();
            }
        }
        Ok(Status::Running)
    }

    /// Share of the inputs that has been read, from 0 to 1.
    pub fn fraction(&self) -> f64 {
        let left: f64 = self.left.iter().map(|pending| 1.0 - pending.source.consumed()).sum();
        1.0 - left / self.opened.max(1) as f64
    }

    /// Requests so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }
}
