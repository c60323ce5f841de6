//! A request against what a format can hold.

use crate::Operation;
use crate::trace::record::{Record, SECTOR};
use copyback_config::units::Duration;

/// Capabilities of a format: what it can hold of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holds {
    /// Nanoseconds in its unit of time.
    pub time_ns: u64,
    /// Bytes in its unit of addresses.
    pub offset: u64,
    /// Bytes in its unit of sizes.
    pub length: u64,
    /// Whether it names the device.
    pub device: bool,
    /// The response time that was measured.
    pub response: Response,
    /// Whether it knows discards.
    pub trims: bool,
    /// Whether it knows flushes.
    pub flushes: bool,
    /// Whether it names placement handles.
    pub handle: bool,
}

/// Whether a format holds measured response times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Response {
    /// No response times.
    None,
    /// Response times where measured, in units of this number of nanoseconds.
    Optional(u64),
    /// Response times always, zero where nothing was measured, in units of this number of nanoseconds.
    Always(u64),
}

impl Holds {
    /// All there is, to the nanosecond and byte.
    pub const EVERYTHING: Self = Self {
        time_ns: 1,
        offset: 1,
        length: 1,
        device: true,
        response: Response::Optional(1),
        trims: true,
        flushes: true,
        handle: true,
    };

    /// Reads and writes of whole sectors to named devices, to the nanosecond.
    pub const SECTORS: Self = Self {
        offset: SECTOR,
        length: SECTOR,
        response: Response::None,
        trims: false,
        flushes: false,
        handle: false,
        ..Self::EVERYTHING
    };

    /// Reads and writes of any bytes of named devices, to the nanosecond.
    pub const BYTES: Self = Self { offset: 1, length: 1, ..Self::SECTORS };
}

/// Kinds of requests to leave out where a format doesn't know them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Dropped {
    /// Discards.
    pub trims: bool,
    /// Flushes.
    pub flushes: bool,
}

/// Fits requests to a format, and keeps count of what gets lost.
#[derive(Debug)]
pub struct Fit {
    format: &'static str,
    holds: Holds,
    dropped: Dropped,
    requests: u64,
    trims: u64,
    flushes: u64,
    rounded: u64,
    first_device: Option<u64>,
    devices_lost: bool,
    handles_lost: u64,
    responses_lost: u64,
    responses_rounded: u64,
    responses_absent: u64,
}

impl Fit {
    /// For a file of `format`.
    pub fn new(format: &'static str, holds: Holds, dropped: Dropped) -> Self {
        Self {
            format,
            holds,
            dropped,
            requests: 0,
            trims: 0,
            flushes: 0,
            rounded: 0,
            first_device: None,
            devices_lost: false,
            handles_lost: 0,
            responses_lost: 0,
            responses_rounded: 0,
            responses_absent: 0,
        }
    }

    /// Fits a record to what the format can hold; `None` if it is to be left out.
    ///
    /// # Errors
    /// A sentence, if the format can't hold it.
    pub fn fit(&mut self, record: &Record) -> Result<Option<Record>, String> {
        if !self.knows(record.operation)? {
            return Ok(None);
        }
        self.requests += 1;
        let mut record = *record;
        if record.operation == Operation::Flush {
            (record.offset, record.length) = (0, 0);
        }
        self.check_unit("offset", record.offset, self.holds.offset)?;
        self.check_unit("size", record.length, self.holds.length)?;
        let time_ns = rounded(record.time_ns, self.holds.time_ns);
        self.rounded += u64::from(time_ns != record.time_ns);
        record.time_ns = time_ns;
        if !self.holds.device {
            let first = *self.first_device.get_or_insert(record.device);
            self.devices_lost |= record.device != first;
            record.device = 0;
        }
        if !self.holds.handle {
            self.handles_lost += u64::from(record.handle.take().is_some());
        }
        record.measured = self.response(record.measured);
        Ok(Some(record))
    }

    /// Whether a kind of request can be written; false if it is to be left out.
    fn knows(&mut self, operation: Operation) -> Result<bool, String> {
        let (known, dropped, count, name) = match operation {
            Operation::Read | Operation::Write => return Ok(true),
            Operation::Trim => (self.holds.trims, self.dropped.trims, &mut self.trims, "trim"),
            Operation::Flush => {
                (self.holds.flushes, self.dropped.flushes, &mut self.flushes, "flush")
            }
        };
        if known {
            return Ok(true);
        }
        if !dropped {
            return Err(format!(
                "found a {name}, which {} can't hold; expected reads and writes (--drop {name} \
                 leaves it out)",
                self.format
            ));
        }
        *count += 1;
        Ok(false)
    }

    fn check_unit(&self, field: &str, bytes: u64, unit: u64) -> Result<(), String> {
        if bytes.is_multiple_of(unit) {
            return Ok(());
        }
        let format = self.format;
        Err(format!("{field}: found {bytes} bytes; expected a multiple of {unit} for {format}"))
    }

    fn response(&mut self, measured: Option<Duration>) -> Option<Duration> {
        let unit = match self.holds.response {
            Response::None => {
                self.responses_lost += u64::from(measured.is_some());
                return None;
            }
            Response::Optional(unit) => unit,
            Response::Always(unit) => {
                self.responses_absent += u64::from(measured.is_none());
                unit
            }
        };
        let ns = measured?.as_ns();
        let kept = rounded(ns, unit);
        self.responses_rounded += u64::from(kept != ns);
        Some(Duration::from_ns(kept))
    }

    /// Notes on what was lost, one line each.
    pub fn notes(&self) -> Vec<String> {
        let format = self.format;
        let response_unit = match self.holds.response {
            Response::None => 0,
            Response::Optional(unit) | Response::Always(unit) => unit,
        };
        let mut notes = Vec::new();
        let mut note = |count: u64, text: String| {
            if count > 0 {
                notes.push(text);
            }
        };
        note(self.trims, format!("{} trims were left out", self.trims));
        note(self.flushes, format!("{} flushes were left out", self.flushes));
        let unit = in_words(self.holds.time_ns);
        note(
            self.rounded,
            format!("{} times were rounded to {unit}, {format}'s unit", self.rounded),
        );
        let lost = "are not told apart: it names none";
        note(self.devices_lost.into(), format!("in {format}, the devices {lost}"));
        note(self.handles_lost, format!("{} placement handles were left out", self.handles_lost));
        note(
            self.responses_lost,
            format!("{} measured response times were left out", self.responses_lost),
        );
        note(
            self.responses_rounded,
            format!(
                "{} measured response times were rounded to {}",
                self.responses_rounded,
                in_words(response_unit)
            ),
        );
        note(
            self.responses_absent,
            format!(
                "{} requests have no measured response time; {format} says 0",
                self.responses_absent
            ),
        );
        notes
    }
}

/// `ns` to the nearest multiple of `unit`, half up; the one below where that is out of reach.
fn rounded(ns: u64, unit: u64) -> u64 {
    let below = ns - ns % unit;
    let up = ns % unit >= unit.div_ceil(2) && unit > 1;
    if up { below.checked_add(unit).unwrap_or(below) } else { below }
}

fn in_words(unit_ns: u64) -> String {
    match unit_ns {
        1_000_000_000 => "1 s".to_owned(),
        1000 => "1 us".to_owned(),
        other => format!("{other} ns"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(operation: Operation) -> Record {
        Record::new(1499, operation, 512, 1024)
    }

    #[test]
    fn rounds_half_up() {
        assert_eq!([0, 49, 50, 149].map(|ns| rounded(ns, 100)), [0, 0, 100, 100]);
        assert_eq!(rounded(7, 1), 7);
        assert_eq!(rounded(u64::MAX, 1000), u64::MAX - 615);
    }

    #[test]
    fn refuses_what_would_be_lost() {
        let mut fit = Fit::new("msr", Holds::SECTORS, Dropped::default());
        assert_eq!(
            fit.fit(&record(Operation::Trim)).unwrap_err(),
            "found a trim, which msr can't hold; expected reads and writes (--drop trim leaves it \
             out)"
        );
        let odd = Record { offset: 100, ..record(Operation::Read) };
        assert_eq!(
            fit.fit(&odd).unwrap_err(),
            "offset: found 100 bytes; expected a multiple of 512 for msr"
        );
        assert!(fit.notes().is_empty());
    }

    #[test]
    fn says_what_got_lost() {
        let holds = Holds { time_ns: 1000, device: false, ..Holds::SECTORS };
        let dropped = Dropped { trims: true, flushes: false };
        let mut fit = Fit::new("odd", holds, dropped);
        assert_eq!(fit.fit(&record(Operation::Trim)), Ok(None));
        let measured = Some(Duration::from_ns(5));
        for device in [3, 4] {
            let read = record(Operation::Read).on(device).took(measured);
            let kept = Record { time_ns: 1000, ..record(Operation::Read) };
            assert_eq!(fit.fit(&read), Ok(Some(kept)));
        }
        assert_eq!(
            fit.notes(),
            [
                "1 trims were left out",
                "2 times were rounded to 1 us, odd's unit",
                "in odd, the devices are not told apart: it names none",
                "2 measured response times were left out",
            ]
        );
    }

    #[test]
    fn response_times_that_are_always_there() {
        let holds = Holds { response: Response::Always(1000), ..Holds::SECTORS };
        let mut fit = Fit::new("odd", holds, Dropped::default());
        fit.fit(&record(Operation::Read)).unwrap();
        let took = record(Operation::Read).took(Some(Duration::from_ns(1700)));
        let kept = fit.fit(&took).unwrap().unwrap();
        assert_eq!(kept.measured, Some(Duration::from_us(2)));
        assert_eq!(
            fit.notes(),
            [
                "1 measured response times were rounded to 1 us",
                "1 requests have no measured response time; odd says 0"
            ]
        );
    }
}
