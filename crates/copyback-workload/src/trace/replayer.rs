//! The replayer of IODA (MoatLab) and of the tools around it: `ms device offset bytes 0|1`, 1 = read,
//! for example `2.516 5 90252918784 327680 1`. DiskSim's columns, but in bytes: times are in
//! milliseconds with a fraction, unless `time_unit` names another unit. The device is told, and replayed over the
//! others.
//!
//! Read from the replayer's own description of its input (`utils/iodaExp/traceExp/replayer/README.md`
//! in MoatLab/IODA-SOSP21-AE, and `replayer/README.md` in huaicheng/replayer).

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::five_numbers::operation;
use super::format::{LineParser, TraceFormat};
use super::record::{Record, SECTOR};
use copyback_config::TimeUnit;

const LAYOUT: &str = "5 columns (ms device offset bytes 0|1)";

/// The parser of a file.
#[derive(Debug)]
pub struct Parser {
    time_unit: TimeUnit,
}

impl Default for Parser {
    fn default() -> Self {
        Self { time_unit: TimeUnit::Ms }
    }
}

impl LineParser for Parser {
    fn configure(&mut self, format: &TraceFormat) {
        if let TraceFormat::Replayer { time_unit } = format {
            self.time_unit = time_unit.unwrap_or(TimeUnit::Ms);
        }
    }

    /// DiskSim's lines look alike: here addresses and sizes are whole sectors, and the time has a
    /// point.
    fn recognises(line: &[u8]) -> bool {
        let whole = |bytes: u64| bytes.is_multiple_of(SECTOR);
        request(line, TimeUnit::Ms).is_ok_and(|record| whole(record.offset) && whole(record.length))
            && Columns::new(line, Separator::Blanks, LAYOUT)
                .text()
                .is_ok_and(|time| time.contains(&b'.'))
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        request(line, self.time_unit).map(Some)
    }
}

fn request(line: &[u8], time_unit: TimeUnit) -> Result<Record, Fault> {
    let mut columns = Columns::new(line, Separator::Blanks, LAYOUT);
    let time_ns = columns.decimal("time", time_unit.places(), time_unit.number())?;
    let device = columns.whole("device", "a whole number")?;
    let offset = columns.whole("offset", "a whole number of bytes")?;
    let length = columns.whole("size", "a whole number of bytes")?;
    let operation = operation(columns.text()?)?;
    columns.end()?;
    Ok(Record::new(time_ns, operation, offset, length).on(device))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 2_516_000,
            operation: Operation::Read,
            offset: 90_252_918_784,
            length: 327_680,
            device: 5,
            measured: None,
            handle: None,
        };
        assert_eq!(request(b"2.516 5 90252918784 327680 1", TimeUnit::Ms), Ok(expected));
        let write = Record { operation: Operation::Write, ..expected };
        assert_eq!(request(b"2.516 5\t90252918784 327680 0", TimeUnit::Ms), Ok(write));
    }

    #[test]
    fn recognises_whole_sectors_at_times_with_a_point() {
        assert!(Parser::recognises(b"2.516 5 90252918784 327680 1"));
        assert!(!Parser::recognises(b"2.516 5 176275232 640 1"), "sectors");
        assert!(!Parser::recognises(b"2 5 90252918784 327680 1"));
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |line: &[u8]| request(line, TimeUnit::Ms).unwrap_err().to_string();
        assert_eq!(fault(b"0 0 0 512 2"), "operation: found \"2\"; expected 0 (write) or 1 (read)");
        assert_eq!(
            fault(b"0 0 0.5 512 1"),
            "offset: found \"0.5\"; expected a whole number of bytes"
        );
        assert_eq!(fault(b"0 0 0 512"), format!("columns: found 4; expected {LAYOUT}"));
    }
}
