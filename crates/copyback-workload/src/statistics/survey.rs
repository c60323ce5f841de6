//! The statistics of a configured workload, read to its end.

use super::{Statistics, TraceStatistics};
use crate::Error;
use crate::Status;
use crate::{AddressSpace, InputError, Stream};
use copyback_config::Config;

/// Statistics in the making. Call [`advance`](Self::advance) until it is done.
pub struct Survey {
    stream: Stream,
    statistics: Statistics,
}

impl Survey {
    /// The workload of a checked configuration, for a device with the addresses of `space`.
    ///
    /// # Errors
    /// If a trace can't be opened or its first line is malformed.
    pub fn new(config: &Config, space: AddressSpace) -> Result<Self, Error> {
        let stream = Stream::open(config, space)?;
        let statistics = Statistics::new(stream.is_timed());
        let statistics = if stream.names_handles() { statistics.by_handle() } else { statistics };
        Ok(Self { stream, statistics })
    }

    /// Takes up to `budget` requests.
    ///
    /// # Errors
    /// If the trace turns out to be malformed, or a request is too large to count its pages.
    pub fn advance(&mut self, budget: u64) -> Result<Status, Error> {
        for _ in 0..budget {
            let Some(next) = self.stream.next_request()? else { return Ok(Status::Done) };
            if let Err(problem) = self.statistics.add(&next.request, next.device) {
                let number = self.statistics.requests() + 1;
                let place = format!("{}: request {number}", self.stream.name());
                return Err(InputError { place, problem }.into());
            }
        }
        Ok(Status::Running)
    }

    /// Share of the input that has been read.
    pub fn fraction(&self) -> f64 {
        self.stream.consumed()
    }

    /// Requests so far.
    pub fn requests(&self) -> u64 {
        self.statistics.requests()
    }

    /// The statistics so far.
    pub fn summary(&self) -> TraceStatistics {
        TraceStatistics {
            schema: 1,
            version: env!("CARGO_PKG_VERSION"),
            source: self.stream.name(),
            format: self.stream.format(),
            requests: self.statistics.summary(),
            notes: self.stream.notes(),
        }
    }
}
