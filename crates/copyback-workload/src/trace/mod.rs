//! Block traces: text lines or binary records, plain or compressed, streamed in memory that doesn't grow with the
//! trace.
//!
//! ```text
//! file -> decompress -> lines -> Parser (msr, spc, ...) -> Record          rows
//!      -> clock -> schedule -> devices -> addresses -> Request             this file
//! ```
//!
//! Nothing is skipped silently: a line that is no request, and neither blank nor header, ends the
//! replay with an error that names it, or is counted if the replay is lenient.

mod addresses;
mod alibaba;
mod binary;
mod biosnoop;
mod blkparse;
mod blkparse_fields;
mod blkreplay;
mod blktrace;
mod blktrace_files;
mod block_events;
mod bounds;
mod clock;
mod columns;
mod compact;
mod completed;
mod csv;
mod decompress;
mod detect;
mod devices;
mod digest;
mod disksim;
mod dtrs;
mod etw;
mod fault;
mod fio_iolog;
mod fio_latency;
mod fiu;
mod five_numbers;
mod flashnet;
mod footprint;
mod format;
mod hp_csv;
mod hp_srt;
mod libcachesim;
mod libcachesim_csv;
mod lines;
mod mqsim;
mod msr;
mod names;
mod nexus5;
mod number;
mod open;
mod parquet;
mod pauses;
mod pixel6a;
mod plausible;
mod recipe;
mod record;
mod replayer;
mod rows;
mod rwbs;
mod schedule;
mod space;
mod spc;
mod ssdsim;
mod survey;
mod systor17;
mod tencent;
mod totals;
mod units;
mod vscsi;
mod write;

use std::sync::Arc;

use self::addresses::Addresses;
use self::decompress::Consumed;
pub use self::decompress::read_whole;
use self::devices::Devices;
pub use self::digest::digest;
use self::fault::Fault;
use self::format::{Parser, RowsRead};
use self::open::Origin;
pub use self::record::Record;
use self::rows::Rows;
use self::schedule::{Schedule, TooLate, When};
use self::space::Owner;
pub use self::write::{Dropped, Target, TraceWriter, WriteError};
use crate::{Hint, InputError, Operation, Request};
use copyback_config::units::Instant;
use copyback_config::{DeviceName, TraceFormat, quantity::Time};

/// Times that a trace may be started: each opens its file anew.
const MOST_ROUNDS: u64 = 10_000_000;

/// A trace that is being replayed.
pub struct TraceSource {
    name: String,
    origin: Origin,
    rows: Rows,
    format: Box<TraceFormat>,
    schedule: Schedule,
    devices: Devices,
    /// The names of `devices`, if they are listed.
    wanted: Vec<DeviceName>,
    addresses: Addresses,
    /// The device of the last request.
    device: u64,
    /// Note on the units of its numbers: what was assumed, or is odd about them.
    units: Option<String>,
    /// The first request, read ahead when the trace was opened.
    first: Option<Request>,
    /// Requests of this round that may still be read.
    left: u64,
    limit: Option<u64>,
    /// Whether the trace is read again at its end.
    repeats: bool,
    /// Times the trace was started, the first included.
    rounds: u64,
    /// Whether the window's end was reached in this round.
    reached_end: bool,
    /// Whether this round let any request through.
    is_alive: bool,
    /// Whether the duration has passed.
    is_over: bool,
    /// When the latest request arrives.
    latest: Instant,
    consumed: Arc<Consumed>,
    /// Compressed bytes in all; zero if unknown, as for a pipe.
    size: u64,
}

/// A request that isn't laid on the device yet.
#[derive(Debug, Clone, Copy)]
struct Asked {
    arrival: Instant,
    /// Place of its device among those that are replayed.
    place: usize,
    record: Record,
}

impl TraceSource {
    /// The next request, or `None` at the end. Arrivals count from the trace's first request, or
    /// from the window's start, and never decrease.
    ///
    /// # Errors
    /// If a row is damaged and not to be skipped, or names an address beyond the device; if the
    /// file can't be read, or not again for the next round.
    #[inline]
    pub fn next_request(&mut self) -> Result<Option<Request>, InputError> {
        match self.first.take() {
            None => self.read_request(),
            first => Ok(first),
        }
    }

    /// Share of the input that has been read, from 0 to 1; 0 for a pipe, unless there is a limit.
    pub fn consumed(&self) -> f64 {
        if self.is_over {
            return 1.0;
        }
        if self.repeats {
            return self.schedule.fraction(self.latest);
        }
        let share = |part: u64, whole: u64| {
            if whole == 0 { 0.0 } else { (part as f64 / whole as f64).min(1.0) }
        };
        let limit = self.limit.unwrap_or(0);
        let delivered = limit.saturating_sub(self.left);
        let read = match self.rows.rows_read() {
            Some(RowsRead { row, rows }) => share(row, rows),
            None => share(self.consumed.taken(), self.size),
        };
        read.max(share(delivered, limit))
    }

    /// The format, as named or as detected.
    pub fn format(&self) -> &TraceFormat {
        &self.format
    }

    /// The name of the format in the configuration.
    pub fn format_name(&self) -> &'static str {
        Parser::name(&self.format)
    }

    /// The file, as it is called in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The disk, volume or storage unit of the request that was handed out last; zero if the format
    /// names none.
    pub fn device(&self) -> u64 {
        self.device
    }

    /// Whether its requests may name placement handles.
    pub fn names_handles(&self) -> bool {
        self.rows.names_handles()
    }

    /// The trace's time at which arrivals are zero, in nanoseconds since whatever it counts from.
    pub fn origin_ns(&self) -> u64 {
        self.rows.origin_ns().saturating_add(self.schedule.window_start_ns())
    }

    /// Times the trace was started so far.
    pub const fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Notes for the user about the part of the trace that was read, one line each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = self.rows.notes();
        let mut note = |text: String| notes.push(format!("{}: {text}", self.name));
        self.units.clone().into_iter().for_each(&mut note);
        if let Origin::Files(files) = &self.origin
            && files.len() > 1
        {
            note(format!("{} files were merged by time", files.len()));
        }
        match self.consumed.ignored() {
            0 => {}
            bytes => note(format!("{bytes} bytes behind the gzip data are none, and were ignored")),
        }
        self.addresses.notes().into_iter().for_each(&mut note);
        let count = self.devices.count();
        if count > 1 && !self.addresses.are_apart() {
            note(format!("its {count} devices share one address space"));
        }
        for place in self.devices.missing() {
            note(format!("no request is for device {:?}", self.wanted[place].0));
        }
        if self.rounds_replayed() > 1 {
            note(format!("the trace was started {} times", self.rounds_replayed()));
        }
        notes
    }

    /// Number of times that the trace was started, but for a last one that replayed nothing.
    fn rounds_replayed(&self) -> u64 {
        if self.is_alive { self.rounds } else { self.rounds - 1 }
    }

    fn read_request(&mut self) -> Result<Option<Request>, InputError> {
        loop {
            let asked = match self.next_asked()? {
                Some(asked) => asked,
                None if self.next_round()? => continue,
                None => return Ok(None),
            };
            if let Some(request) = self.lay(asked).map_err(|fault| self.rows.fault(&fault))? {
                self.is_alive = true;
                return Ok(Some(request));
            }
        }
    }

    /// The next row of this round that is replayed.
    #[inline]
    fn next_asked(&mut self) -> Result<Option<Asked>, InputError> {
        while self.left > 0 {
            let Some(row) = self.rows.next_row()? else { break };
            let when = self.schedule.when(row.since_first);
            let arrival = match when.map_err(|error| self.rows.fault(&too_late(error)))? {
                When::At(arrival) => arrival,
                When::Before => continue,
                When::Behind => {
                    self.reached_end = true;
                    break;
                }
                When::Over => {
                    self.is_over = true;
                    break;
                }
            };
            let Some(place) = self.devices.place(row.record.device) else { continue };
            self.left -= 1;
            self.latest = arrival;
            return Ok(Some(Asked { arrival, place, record: row.record }));
        }
        self.left = 0;
        Ok(None)
    }

    /// Lays a request on the device; `None` if nothing of it lies anywhere.
    #[inline]
    fn lay(&mut self, asked: Asked) -> Result<Option<Request>, Fault> {
        let Asked { arrival, place, record } = asked;
        let Record { operation, offset, length, device, measured, handle, .. } = record;
        let hint = handle.map(|handle| Hint::new(0, Some(handle)));
        self.device = device;
        if operation == Operation::Flush {
            let (offset, length) = (0, 0);
            return Ok(Some(Request { arrival, operation, offset, length, measured, hint }));
        }
        let place = self.addresses.place(Owner { device, place }, operation, offset, length)?;
        Ok(place.map(|place| {
            let (offset, length) = (place.offset, place.length);
            Request { arrival, operation, offset, length, measured, hint }
        }))
    }

    /// Starts the trace again, if it is to be replayed for a time that has not passed.
    #[cold]
    fn next_round(&mut self) -> Result<bool, InputError> {
        if !self.repeats || self.is_over || !self.is_alive {
            return Ok(false);
        }
        let round = self.schedule.next_round(self.rows.length(), self.reached_end);
        if round.is_zero() && !self.schedule.is_closed() {
            let problem = "found requests that all arrive at once; expected some that \
                           workload.duration can repeat";
            return Err(self.rows.whole_file(problem.to_owned()));
        }
        let rounds = self.schedule.rounds_of(round).unwrap_or(self.rounds + 1);
        if rounds > MOST_ROUNDS {
            let problem = format!(
                "found requests that are over after {}, so that workload.duration starts the trace more \
                 than {MOST_ROUNDS} times; expected a longer trace, or a shorter duration",
                Time(round)
            );
            return Err(self.rows.whole_file(problem));
        }
        let format = Some(&*self.format);
        let input = open::Input::of(&self.name, &self.origin, format, &self.consumed)?;
        self.rows.restart(input.lines, input.parser);
        self.left = self.limit.unwrap_or(u64::MAX);
        self.rounds += 1;
        self.reached_end = false;
        self.is_alive = false;
        Ok(true)
    }
}

#[cold]
fn too_late(_: TooLate) -> Fault {
    Fault::other("time: found more than 292 years after the first request; expected less")
}
