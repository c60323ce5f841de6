//! DiskSim ASCII: `ms device sector sectors flags`, for example `26.214 0 303574 8 1`. Flags are
//! hexadecimal; bit 0 set means a read.
//!
//! Sizes are in 512-byte sectors, as DiskSim reads them. Files whose sizes count other units, and
//! the look-alikes with times in nanoseconds or microseconds (SSDsim, MQSim), can't be told apart
//! by their columns; only lines whose time has a decimal point are recognised as DiskSim.
//! The requests of all devices share the one address space.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::format::LineParser;
use super::number;
use super::record::Record;
use crate::workload::Operation;

const LAYOUT: &str = "5 columns (ms device sector sectors flags)";
const READ_FLAG: u64 = 1;

/// The parser of a file.
#[derive(Debug, Default)]
pub struct Parser;

impl LineParser for Parser {
    fn recognises(line: &[u8]) -> bool {
        request(line).is_ok() && has_fractional_time(line)
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        request(line).map(Some)
    }
}

fn has_fractional_time(line: &[u8]) -> bool {
    Columns::new(line, Separator::Blanks, LAYOUT).text().is_ok_and(|time| time.contains(&b'.'))
}

fn request(line: &[u8]) -> Result<Record, Fault> {
    let mut columns = Columns::new(line, Separator::Blanks, LAYOUT);
    let time_ns = columns.decimal("time", 6, "a number of milliseconds")?;
    let device = columns.whole("device", "a whole number")?;
    let offset = columns.sectors("sector")?;
    let length = columns.sectors("size")?;
    let operation = operation(columns.text()?)?;
    columns.end()?;
    Ok(Record { time_ns, operation, offset, length, device })
}

fn operation(text: &[u8]) -> Result<Operation, Fault> {
    let flags = number::hexadecimal(text)
        .ok_or_else(|| Fault::field("flags", text, "a hexadecimal number"))?;
    Ok(if flags & READ_FLAG != 0 { Operation::Read } else { Operation::Write })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(line: &str) -> String {
        request(line.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 5_265_313_000,
            operation: Operation::Write,
            offset: 6_357_144 * 512,
            length: 4096,
            device: 2,
        };
        assert_eq!(request(b"5265.313 2 6357144 8 0"), Ok(expected));
        assert_eq!(request(b"  5265.313000\t2\t6357144\t8\t10 "), Ok(expected));
        let read = Record { operation: Operation::Read, ..expected };
        assert_eq!(request(b"5265.313 2 6357144 8 1"), Ok(read));
    }

    #[test]
    fn recognises_fractional_times_only() {
        assert!(Parser::recognises(b"26.214000 0 303574 1 0"));
        assert!(!Parser::recognises(b"26214000 0 303574 7 0"));
        assert!(request(b"26214000 0 303574 7 0").is_ok());
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(fault("x 0 1 8 1"), "time: found \"x\"; expected a number of milliseconds");
        assert_eq!(fault("0 0 1 8 rw"), "flags: found \"rw\"; expected a hexadecimal number");
        assert_eq!(
            fault("0 0 1 -8 1"),
            "size: found \"-8\"; expected a whole number of 512-byte sectors"
        );
        assert_eq!(fault("0 0 1 8"), format!("columns: found 4; expected {LAYOUT}"));
        assert_eq!(fault("0 0 1 8 1 1"), format!("columns: found 6; expected {LAYOUT}"));
    }
}
