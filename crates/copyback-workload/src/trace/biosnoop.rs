//! Output of biosnoop, of bcc or of libbpf-tools (read from `tools/biosnoop.py` and `libbpf-tools/biosnoop.c`
//! of iovisor/bcc):
//!
//! ```text
//! TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)
//! 0.000004    supervise      1950   xvda1   W 13092560   4096       0.74
//! ```
//!
//! The time is that of the completion, in seconds since the first; the latency counts from the
//! request's issue to the drive, which is when it arrives here. `-Q` puts `QUE(ms)` before the
//! latency and `-P` a letter for the pattern behind the bytes; both are passed over. The operation is
//! `R` or `W`, or has more letters (see [`rwbs`]). A request of no bytes is a flush, for which bcc's
//! has no letter. Each disk is a device.

use super::devices::Selector;
use super::fault::Fault;
use super::format::LineParser;
use super::number;
use super::record::{Record, SECTOR};
use super::rwbs;
use crate::Operation;
use copyback_config::units::Duration;

const LAYOUT: &str = "at least 8 columns (seconds comm pid disk op sector bytes ms)";
/// The time of the first completion: its request was issued before it.
const FIRST_NS: u64 = 3600 * 1_000_000_000;

/// The parser of a file.
#[derive(Debug, Default)]
pub struct Parser;

impl LineParser for Parser {
    fn recognises(line: &[u8]) -> bool {
        are_names(line) || request(line).is_ok_and(|request| request.is_some())
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        if are_names(line) { Ok(None) } else { request(line) }
    }

    const DEVICE: &'static str = "a disk's name";

    fn selector(name: &[u8]) -> Option<Selector> {
        Some(Selector::only(device(name)))
    }

    const BY_COMPLETION: bool = true;
}

fn are_names(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.starts_with(b"TIME") && line.ends_with(b"LAT(ms)")
}

/// The columns of a line that count, as text. Names of processes may have blanks in them, so all but the
/// time are taken from the right.
struct Row<'a> {
    time: &'a [u8],
    disk: &'a [u8],
    kind: &'a [u8],
    sector: &'a [u8],
    bytes: &'a [u8],
    latency: &'a [u8],
}

impl<'a> Row<'a> {
    fn of(line: &'a [u8]) -> Option<Self> {
        let mut columns = line.split(u8::is_ascii_whitespace).filter(|column| !column.is_empty());
        let time = columns.next()?;
        let mut columns = columns.rev();
        let latency = columns.next()?;
        let mut bytes = columns.next()?;
        if bytes.contains(&b'.') {
            bytes = columns.next()?;
        }
        // Many bytes touch the letter of the pattern.
        bytes = match bytes {
            [b'S' | b'R' | b'?'] => columns.next()?,
            [bytes @ .., b'S' | b'R' | b'?'] => bytes,
            bytes => bytes,
        };
        let (sector, kind, disk) = (columns.next()?, columns.next()?, columns.next()?);
        let (_pid, _comm) = (columns.next()?, columns.next()?);
        Some(Self { time, disk, kind, sector, bytes, latency })
    }
}

fn request(line: &[u8]) -> Result<Option<Record>, Fault> {
    let Some(Row { time, disk, kind, sector, bytes, latency }) = Row::of(line) else {
        let columns = line.split(u8::is_ascii_whitespace).filter(|column| !column.is_empty());
        return Err(Fault::columns(columns.count(), LAYOUT));
    };
    let with_point = |text: &[u8], places| {
        let is_decimal = text.contains(&b'.');
        is_decimal.then(|| number::decimal(text, places)).flatten()
    };
    let expected = "a number of seconds, as biosnoop prints without -t";
    let completed = with_point(time, 9).and_then(|time| time.checked_add(FIRST_NS));
    let completed = completed.ok_or_else(|| Fault::field("time", time, expected))?;
    let took = with_point(latency, 6).filter(|took| *took <= FIRST_NS);
    let expected = "a number of milliseconds, an hour at most";
    let took = took.ok_or_else(|| Fault::field("latency", latency, expected))?;
    let length = number::whole(bytes);
    let length = length.ok_or_else(|| Fault::field("size", bytes, "a whole number of bytes"))?;
    if kind.starts_with(b"N") {
        return Ok(None);
    }
    let operation = match rwbs::operation(kind, length)? {
        _ if length == 0 => Operation::Flush,
        operation => operation,
    };
    let offset = match operation {
        Operation::Flush => 0,
        _ => {
            let offset = number::whole(sector).and_then(|sector| sector.checked_mul(SECTOR));
            let expected = "a whole number of 512-byte sectors";
            offset.ok_or_else(|| Fault::field("sector", sector, expected))?
        }
    };
    let record = Record::new(completed - took, operation, offset, length).on(device(disk));
    Ok(Some(record.took(Some(Duration::from_ns(took)))))
}

fn device(disk: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(disk)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Option<Record>, String> {
        Parser.parse(line.as_bytes()).map_err(|fault| fault.to_string())
    }

    #[test]
    fn reads_every_form() {
        let expected = Record {
            time_ns: FIRST_NS + 1_000_178_000 - 610_000,
            operation: Operation::Write,
            offset: 13_092_432 * 512,
            length: 1_048_576,
            device: device(b"xvda1"),
            measured: Some(Duration::from_us(610)),
            handle: None,
        };
        for line in [
            "1.000178    supervise      1950    xvda1     W 13092432   1048576    0.61",
            "1.000178    Web Content    1950    xvda1     W 13092432   1048576    0.01    0.61",
            "1.000178    supervise      1950    xvda1     W 13092432   1048576S    0.61",
            "1.000178    supervise      1950    xvda1     W 13092432   1048576 ?    0.01    0.61",
            "1.000178    supervise      1950    xvda1   WSM  13092432   1048576  -1.000   0.610",
        ] {
            assert_eq!(read(line), Ok(Some(expected)), "{line}");
        }
        assert_eq!(read("TIME(s)  COMM  PID  DISK  T SECTOR  BYTES  QUE(ms) LAT(ms)"), Ok(None));
        assert_eq!(read("0.5 x 1 sda N 0 36 0.61"), Ok(None));
        let flush = read("0.5 x 1 sda R 18446744073709551615 0 0.61").unwrap().unwrap();
        assert_eq!((flush.operation, flush.offset), (Operation::Flush, 0));
        let first = read("0.0 x 1 sda R 8 512 61000.5").unwrap().unwrap();
        assert_eq!(first.time_ns, FIRST_NS - 61_000_500_000);
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |line| read(line).unwrap_err();
        assert_eq!(fault("0.5 sda W 8 512 0.61"), format!("columns: found 6; expected {LAYOUT}"));
        assert_eq!(
            fault("12:00:01.500 x 1 sda W 8 512 0.61"),
            "time: found \"12:00:01.500\"; expected a number of seconds, as biosnoop prints without -t"
        );
        assert_eq!(
            fault("0.5 x 1 sda W 8 512 61"),
            "latency: found \"61\"; expected a number of milliseconds, an hour at most"
        );
        assert_eq!(
            fault("0.5 x 1 sda W -8 512 0.61"),
            "sector: found \"-8\"; expected a whole number of 512-byte sectors"
        );
        assert_eq!(
            fault("0.5 x 1 sda X 8 512 0.61"),
            "operation: found \"X\"; expected R, W, D (discard) or F (flush), with modifiers"
        );
    }
}
