//! Plausibility of the first lines of a file in a format: whether any drive can have seen these requests. Lines
//! of numbers alone say nothing of their units: read in the wrong one, they are still requests.

use std::fmt;

use super::clock::TOLERATED;
use super::format::{Parser, TraceFormat};
use crate::Operation;

/// Requests larger than this are rare.
const LARGE: u64 = 1 << 20;
/// Requests larger than this no drive takes in one piece.
const TOO_LARGE: u64 = 16 << 20;
/// No drive or volume reaches further.
const FARTHEST: u64 = 64 << 40;
/// No drive moves more in a second.
const FASTEST_PER_S: u64 = 64 << 30;
/// No drive serves more requests in a second.
const MOST_PER_S: f64 = 5e6;
/// Fewer requests say nothing of a rate.
const MANY: u64 = 100;
const NS_PER_S: u128 = 1_000_000_000;

/// Requests that lines stand for in one format.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// Lines that are requests.
    pub requests: u64,
    reads_and_writes: u64,
    bytes: u64,
    large: u64,
    too_large: u64,
    reach: u64,
    first_ns: Option<u64>,
    latest_ns: u64,
    back: u64,
}

impl Reading {
    /// Parses `lines` in `format`; lines that are no requests in it count for nothing.
    pub fn of<'a>(format: &TraceFormat, lines: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut parser = Parser::new(format);
        let mut reading = Self::default();
        for line in lines {
            if let Ok(Some(record)) = parser.parse(line) {
                reading.requests += 1;
                reading.take_time(record.time_ns);
                if matches!(record.operation, Operation::Read | Operation::Write) {
                    reading.take_range(record.offset, record.length);
                }
            }
        }
        reading
    }

    fn take_time(&mut self, time_ns: u64) {
        self.first_ns.get_or_insert(time_ns);
        self.back += u64::from(time_ns.saturating_add(TOLERATED.as_ns()) < self.latest_ns);
        self.latest_ns = self.latest_ns.max(time_ns);
    }

    fn take_range(&mut self, offset: u64, length: u64) {
        self.reads_and_writes += 1;
        self.bytes = self.bytes.saturating_add(length);
        self.large += u64::from(length > LARGE);
        self.too_large += u64::from(length > TOO_LARGE);
        self.reach = self.reach.max(offset.saturating_add(length));
    }

    /// Description of what no drive can have seen, if anything.
    pub fn odd(&self) -> Option<String> {
        let Self { reads_and_writes, large, too_large, .. } = *self;
        if 2 * large > reads_and_writes || 10 * too_large > reads_and_writes {
            return Some(format!("requests of {} on average", Bytes(self.mean_bytes())));
        }
        if self.reach > FARTHEST {
            return Some(format!("addresses up to {}", Bytes(self.reach)));
        }
        if 10 * self.back > self.requests {
            return Some(format!("{} times that go back by more than a second", self.back));
        }
        let span_ns = u128::from(self.span_ns().max(1));
        let rate = u128::from(self.bytes) * NS_PER_S / span_ns;
        if reads_and_writes >= MANY && rate > u128::from(FASTEST_PER_S) && span_ns > 1 {
            return Some(format!("more than {} a second", Bytes(FASTEST_PER_S)));
        }
        None
    }

    /// Bytes of a read or write.
    pub fn mean_bytes(&self) -> u64 {
        self.bytes / self.reads_and_writes.max(1)
    }

    /// Requests a second; zero if no time passes.
    pub fn per_second(&self) -> f64 {
        match self.span_ns() {
            0 => 0.0,
            span_ns => (self.requests - 1) as f64 * NS_PER_S as f64 / span_ns as f64,
        }
    }

    /// Requests a second, if no drive serves as many.
    pub fn too_many_per_second(&self) -> Option<f64> {
        let rate = self.per_second();
        (self.requests >= MANY && rate > MOST_PER_S).then_some(rate)
    }

    fn span_ns(&self) -> u64 {
        self.latest_ns - self.first_ns.unwrap_or(self.latest_ns)
    }
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mean, reach) = (Bytes(self.mean_bytes()), Bytes(self.reach));
        let seconds = self.span_ns() as f64 / NS_PER_S as f64;
        write!(f, "{mean} a request, up to address {reach}, in {seconds:.3} s")
    }
}

/// A number a second in a message, where the exact one would only be long.
pub struct Rate(pub f64);

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            rate @ 1e6.. => write!(f, "{:.1} million", rate / 1e6),
            rate @ 1e3.. => write!(f, "{:.1} thousand", rate / 1e3),
            rate @ 1.0.. => write!(f, "{rate:.1}"),
            rate => write!(f, "{rate:.2e}"),
        }
    }
}

/// Bytes in a message, where the exact number would only be long.
pub struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(u64, &str); 5] = [
            (1 << 50, "PiB"),
            (1 << 40, "TiB"),
            (1 << 30, "GiB"),
            (1 << 20, "MiB"),
            (1 << 10, "KiB"),
        ];
        match UNITS.iter().find(|(bytes, _)| self.0 >= *bytes) {
            Some((bytes, unit)) => write!(f, "{:.1} {unit}", self.0 as f64 / *bytes as f64),
            None => write!(f, "{} B", self.0),
        }
    }
}
