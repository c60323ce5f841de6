//! Block traces: text lines or binary records, plain or compressed, streamed in memory that doesn't grow with the
//! trace.
//!
//! ```text
//! file -> decompress -> lines -> Parser (msr, spc, ...) -> Record -> clock, bounds -> Request
//! ```
//!
//! Nothing is skipped silently: a line that is no request, and neither blank nor header, ends the
//! replay with an error that names it.

mod alibaba;
mod binary;
mod blkparse;
mod blkreplay;
mod blktrace;
mod bounds;
mod clock;
mod columns;
mod csv;
mod decompress;
mod detect;
mod devices;
mod disksim;
mod dtrs;
mod fault;
mod fio_iolog;
mod fiu;
mod five_numbers;
mod format;
mod hp_csv;
mod hp_srt;
mod lines;
mod mqsim;
mod msr;
mod names;
mod nexus5;
mod number;
mod open;
mod pixel6a;
mod record;
mod rwbs;
mod spc;
mod ssdsim;
mod systor17;
mod tencent;
mod vscsi;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use self::bounds::Bounds;
use self::clock::{Clock, ClockError, END_OF_TIME, TOLERATED};
use self::decompress::{Bytes, Compression};
use self::devices::Devices;
use self::fault::Fault;
use self::format::{Parser, Piece};
use self::lines::{LineError, LineReader, MAX_LINE};
use self::record::Record;
use crate::config::TraceFormat;
use crate::workload::{InputError, Operation, Request};

/// A trace that is being replayed.
pub struct TraceSource {
    name: String,
    lines: LineReader<Bytes>,
    compression: Compression,
    format: Box<TraceFormat>,
    parser: Parser,
    clock: Clock,
    bounds: Bounds,
    devices: Devices,
    /// The first request, read ahead when the trace was opened.
    first: Option<Request>,
    /// Requests that may still be read.
    left: u64,
    limit: Option<u64>,
    taken: Arc<AtomicU64>,
    /// Compressed bytes in all; zero if unknown, as for a pipe.
    size: u64,
}

impl TraceSource {
    /// The next request, or `None` at the end of the trace or after `limit` requests. Arrivals
    /// count from the first request and never decrease.
    ///
    /// # Errors
    /// If a line is malformed, names an address beyond the device, or its time goes back by more
    /// than a second; if the file can't be read or is damaged.
    #[inline]
    pub fn next_request(&mut self) -> Result<Option<Request>, InputError> {
        match self.first.take() {
            None => self.read_request(),
            first => Ok(first),
        }
    }

    /// Share of the file that has been read, from 0 to 1; 0 for a pipe, unless there is a limit.
    pub fn consumed(&self) -> f64 {
        let share = |part: u64, whole: u64| {
            if whole == 0 { 0.0 } else { (part as f64 / whole as f64).min(1.0) }
        };
        let limit = self.limit.unwrap_or(0);
        let delivered = limit.saturating_sub(self.left);
        share(self.taken.load(Ordering::Relaxed), self.size).max(share(delivered, limit))
    }

    /// The format, as named or as detected.
    pub fn format(&self) -> &TraceFormat {
        &self.format
    }

    /// What the user should know about the part of the trace that was read: one line each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        let inversions = self.clock.inversions();
        if inversions.count > 0 {
            notes.push(format!(
                "{}: {} requests have a time before an earlier line's (the first at {} {}, by at \
                 most {} s); they arrive together with it",
                self.name,
                inversions.count,
                if self.parser.wants() == Piece::Line { "line" } else { "byte" },
                inversions.first_line,
                inversions.worst.as_secs_f64(),
            ));
        }
        if self.bounds.wrapped() > 0 {
            let wrapped = self.bounds.wrapped();
            notes.push(format!("{}: {wrapped} requests beyond the device were wrapped", self.name));
        }
        if self.devices.count() > 1 {
            let count = self.devices.count();
            notes.push(format!("{}: its {count} devices share one address space", self.name));
        }
        notes
    }

    fn read_request(&mut self) -> Result<Option<Request>, InputError> {
        if self.left == 0 {
            return Ok(None);
        }
        loop {
            let wanted = self.parser.wants();
            let piece = match wanted {
                Piece::Line => self.lines.next_line(),
                Piece::Bytes(count) => self.lines.next_bytes(count),
            };
            let line = match piece {
                Ok(Some(line)) => line,
                Ok(None) => return self.at_end(),
                Err(error) => return Err(self.line_error(&error)),
            };
            if wanted == Piece::Line && is_blank(line) {
                continue;
            }
            match self.parser.parse(line) {
                Ok(Some(record)) => {
                    self.left -= 1;
                    let request = self.request(record);
                    return request.map(Some).map_err(|fault| self.fault(&fault));
                }
                Ok(None) => {}
                Err(fault) => return Err(self.fault(&fault)),
            }
        }
    }

    fn at_end(&mut self) -> Result<Option<Request>, InputError> {
        self.left = 0;
        self.parser.at_end().map_err(|fault| self.whole_file(fault.to_string()))?;
        Ok(None)
    }

    fn request(&mut self, record: Record) -> Result<Request, Fault> {
        let Record { time_ns, operation, offset, length, device, measured } = record;
        let place = self.lines.number().max(self.lines.position());
        let arrival = self.clock.arrival(time_ns, place).map_err(clock_fault)?;
        self.devices.note(device);
        if operation == Operation::Flush {
            return Ok(Request { arrival, operation, offset: 0, length: 0, measured });
        }
        if measured.is_some_and(|measured| measured > END_OF_TIME) {
            return Err(Fault::other("response: found more than 292 years; expected less"));
        }
        if length == 0 {
            return Err(Fault::field("size", b"0", "at least one byte"));
        }
        let offset = self.bounds.fit(offset, length)?;
        Ok(Request { arrival, operation, offset, length, measured })
    }

    #[cold]
    fn fault(&self, fault: &Fault) -> InputError {
        let place = format!("{}:{}", self.name, self.place());
        InputError { place, problem: fault.to_string() }
    }

    /// Where the last request stands: a line, or a byte from 0 in a binary file.
    #[cold]
    fn place(&self) -> String {
        match self.lines.number() {
            0 => format!("byte {}", self.lines.position()),
            number => number.to_string(),
        }
    }

    #[cold]
    fn whole_file(&self, problem: String) -> InputError {
        InputError { place: self.name.clone(), problem }
    }

    #[cold]
    fn line_error(&self, error: &LineError) -> InputError {
        let place = match self.parser.wants() {
            Piece::Line => format!("{}:{}", self.name, self.lines.number() + 1),
            Piece::Bytes(_) => format!("{}:byte {}", self.name, self.lines.position()),
        };
        InputError { place, problem: line_problem(error, self.compression) }
    }
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|byte| matches!(byte, b' ' | b'\t'))
}

#[cold]
fn clock_fault(error: ClockError) -> Fault {
    Fault::other(match error {
        ClockError::Back(back) => format!(
            "time: found {} s before an earlier line's; expected lines in order of time (up to {} \
             s back is tolerated)",
            back.as_secs_f64(),
            TOLERATED.as_secs_f64(),
        ),
        ClockError::TooLate => {
            "time: found more than 292 years after the first request; expected less".to_owned()
        }
    })
}

fn line_problem(error: &LineError, compression: Compression) -> String {
    match error {
        LineError::Read(error) if compression == Compression::None => {
            format!("can't be read: {error}")
        }
        LineError::Read(error) => {
            format!("the {} data is cut short or damaged here ({error})", compression.name())
        }
        LineError::TooLong => format!("found a line of more than {MAX_LINE} bytes; expected text"),
        LineError::Nul => "found a NUL byte; expected text".to_owned(),
        LineError::Cut { found, expected } => {
            format!("found {found} bytes at the end of the file; expected a record of {expected}")
        }
        LineError::Utf16 => "found text in UTF-16; expected ASCII or UTF-8".to_owned(),
    }
}
