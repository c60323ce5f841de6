//! Sources of requests: trace readers and synthetic generators behind one enum.

#![forbid(unsafe_code)]

pub mod convert;
mod endless;
mod error;
mod handles;
mod hint;
pub mod inputs;
pub mod rng;
pub mod schema;
pub mod statistics;
mod status;
mod stream;
pub mod synthetic;
pub mod trace;

pub use endless::Endless;
pub use error::Error;
pub use handles::Hints;
pub use hint::{Handle, Hint};
pub use status::Status;
pub use stream::{Issued, Stream};

use copyback_config::units::{Duration, Instant};
use copyback_config::{Flow, Layout, Resolved};

/// Operation that a request asks of the drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Read a range.
    Read,
    /// Write a range.
    Write,
    /// Declare a range unused (TRIM, discard, deallocate).
    Trim,
    /// Make every acknowledged write durable. Has no range.
    Flush,
}

impl From<copyback_config::ReadOrWrite> for Operation {
    fn from(asked: copyback_config::ReadOrWrite) -> Self {
        match asked {
            copyback_config::ReadOrWrite::Read => Self::Read,
            copyback_config::ReadOrWrite::Write => Self::Write,
        }
    }
}

impl Operation {
    /// Every operation, at its [number](Self::number).
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Flush];

    /// The name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Flush => "flush",
        }
    }

    /// Index of the operation in tables: 0 read, 1 write, 2 trim, 3 flush.
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// A request of the host, as the trace or generator states it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// When it arrives; in a closed loop, the earliest time.
    pub arrival: Instant,
    /// Operation: read, write, trim or flush.
    pub operation: Operation,
    /// First byte.
    pub offset: u64,
    /// Bytes; zero for a flush.
    pub length: u64,
    /// The response time that was measured when the trace was taken, if it tells.
    pub measured: Option<Duration>,
    /// Hint of the host about the data, if it gave one.
    pub hint: Option<Hint>,
}

/// The addresses that a device offers to a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressSpace {
    /// Bytes in all.
    pub bytes: u64,
    /// Bytes that the device maps together.
    pub page_size: u64,
    /// Bytes of each drive, where drives lie one after the other.
    pub drive: Option<u64>,
}

impl AddressSpace {
    /// All addresses there can be: no device.
    pub const UNLIMITED: Self = Self { bytes: u64::MAX, page_size: 4096, drive: None };

    /// The addresses of a configured device.
    pub fn of(config: &Resolved) -> Self {
        let is_jbod = config.array.layout == Layout::Jbod;
        Self {
            bytes: config.bytes,
            page_size: config.drive.pages.counted_size.0,
            drive: is_jbod.then_some(config.drive.capacity.bytes),
        }
    }
}

/// A fault in a workload's input: one clear line that names the place, what was found and what is
/// allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct InputError {
    /// File and line, or configuration key.
    pub place: String,
    /// Value that was found and values that are allowed.
    pub problem: String,
}

/// Random draws of a generator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Draws {
    /// Draws of the run.
    OfRun,
    /// Draws apart from those of the run, to the same hot addresses.
    Apart,
}

/// A stream of requests in order of arrival, each with the hint of its flow.
pub struct Source {
    kind: Kind,
    hints: Hints,
}

enum Kind {
    Trace(Box<trace::TraceSource>),
    Synthetic(Box<synthetic::Generator>),
}

impl Source {
    /// The requests of the flow that comes at `index` in a workload, and at `key` in the configuration, for
    /// a device with the addresses of `space`.
    ///
    /// # Errors
    /// If a trace can't be opened or its first line is malformed.
    pub fn open(
        flow: &Flow,
        index: usize,
        key: &str,
        space: AddressSpace,
        seed: u64,
        draws: Draws,
    ) -> Result<Self, InputError> {
        let name = format!("workload/{index}");
        let kind = match flow {
            Flow::Trace(config) => {
                let source = trace::TraceSource::open(&config.on_drives(space.drive), space.bytes)?;
                Kind::Trace(Box::new(source))
            }
            Flow::Synthetic(config) => {
                let generator =
                    synthetic::Generator::drawing(draws, config, space, seed, &name, key)?;
                Kind::Synthetic(Box::new(generator))
            }
        };
        Ok(Self { kind, hints: Hints::new(flow.handles(), index, seed, &name) })
    }

    /// The trace, if it is one.
    pub fn trace(&self) -> Option<&trace::TraceSource> {
        match &self.kind {
            Kind::Trace(trace) => Some(trace),
            Kind::Synthetic(_) => None,
        }
    }

    /// Whether its requests may name placement handles, apart from the number of the flow.
    pub fn names_handles(&self) -> bool {
        let by_source = match &self.kind {
            Kind::Trace(trace) => trace.names_handles(),
            Kind::Synthetic(generator) => generator.names_handles(),
        };
        by_source || self.hints.are_named()
    }

    /// The device of the request that was handed out last, where a trace names one; else zero.
    pub fn device(&self) -> u64 {
        match &self.kind {
            Kind::Trace(source) => source.device(),
            Kind::Synthetic(_) => 0,
        }
    }

    /// The next request, or `None` at the end.
    ///
    /// # Errors
    /// If the trace is malformed or names an address beyond the device, or the clock ends before the
    /// request arrives.
    #[inline]
    pub fn next_request(&mut self) -> Result<Option<Request>, InputError> {
        let mut request = match &mut self.kind {
            Kind::Trace(source) => source.next_request(),
            Kind::Synthetic(generator) => generator.next_request(),
        }?;
        if let Some(request) = &mut request {
            self.hints.stamp(request);
        }
        Ok(request)
    }

    /// Share of the input that has been consumed, from 0 to 1, for progress displays.
    pub fn consumed(&self) -> f64 {
        match &self.kind {
            Kind::Trace(source) => source.consumed(),
            Kind::Synthetic(generator) => generator.consumed(),
        }
    }

    /// Times that the input was started so far; without an end, that as many requests were generated
    /// as there are places for them.
    pub const fn rounds(&self) -> u64 {
        match &self.kind {
            Kind::Trace(source) => source.rounds(),
            Kind::Synthetic(generator) => generator.rounds(),
        }
    }

    /// More rounds than these at one instant, with `iodepth` requests under way, get nowhere: one took
    /// no time.
    pub fn most_rounds_at_once(&self, iodepth: u32) -> u64 {
        let iodepth = u64::from(iodepth);
        match &self.kind {
            Kind::Trace(_) => iodepth + 1,
            Kind::Synthetic(generator) => iodepth / generator.units() + 2,
        }
    }

    /// Notes for the user about the input that was read so far, one line each.
    pub fn notes(&self) -> Vec<String> {
        match &self.kind {
            Kind::Trace(source) => source.notes(),
            Kind::Synthetic(generator) => generator.notes(),
        }
    }
}
