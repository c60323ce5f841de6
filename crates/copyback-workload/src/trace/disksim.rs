//! DiskSim ASCII: `ms device sector sectors flags`, for example `26.214 0 303574 8 1`. Flags are
//! hexadecimal; bit 0 set means a read.
//!
//! Sizes are in 512-byte sectors, as DiskSim reads them; `size_unit` names another unit, such as
//! the 4 KiB of the SPC traces that are passed around in this form. Times are in milliseconds; `time_unit`
//! names another unit, which is [judged](super::units) where the format is detected. The look-alikes with whole
//! nanoseconds or microseconds (SSDsim, MQSim, DTRS) can't be told apart by their columns; only
//! lines whose time has a decimal point are recognised as DiskSim. The requests of all devices
//! share the one address space.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::format::{LineParser, TraceFormat};
use super::record::{Record, SECTOR};
use crate::Operation;
use copyback_config::TimeUnit;

const LAYOUT: &str = "5 columns (ms device sector sectors flags)";
const READ_FLAG: u64 = 1;

/// The parser of a file.
#[derive(Debug)]
pub struct Parser {
    size_unit: u64,
    time_unit: TimeUnit,
}

impl Default for Parser {
    fn default() -> Self {
        Self { size_unit: SECTOR, time_unit: TimeUnit::Ms }
    }
}

impl LineParser for Parser {
    fn recognises(line: &[u8]) -> bool {
        request(line, SECTOR, TimeUnit::Ms).is_ok() && has_fractional_time(line)
    }

    fn configure(&mut self, format: &TraceFormat) {
        if let TraceFormat::Disksim { size_unit, time_unit } = format {
            self.size_unit = size_unit.0;
            self.time_unit = time_unit.unwrap_or(TimeUnit::Ms);
        }
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        request(line, self.size_unit, self.time_unit).map(Some)
    }
}

fn has_fractional_time(line: &[u8]) -> bool {
    Columns::new(line, Separator::Blanks, LAYOUT).text().is_ok_and(|time| time.contains(&b'.'))
}

fn request(line: &[u8], size_unit: u64, time_unit: TimeUnit) -> Result<Record, Fault> {
    let mut columns = Columns::new(line, Separator::Blanks, LAYOUT);
    let time_ns = columns.decimal("time", time_unit.places(), time_unit.number())?;
    let device = columns.whole("device", "a whole number")?;
    let offset = columns.sectors("sector")?;
    let length = size(&mut columns, size_unit)?;
    let flags = columns.hexadecimal("flags")?;
    columns.end()?;
    let operation = if flags & READ_FLAG != 0 { Operation::Read } else { Operation::Write };
    Ok(Record::new(time_ns, operation, offset, length).on(device))
}

fn size(columns: &mut Columns<'_>, unit: u64) -> Result<u64, Fault> {
    if unit == SECTOR {
        columns.sectors("size")
    } else {
        columns.multiple("size", unit, "a whole number of units of workload.format.size_unit")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(line: &str) -> String {
        request(line.as_bytes(), SECTOR, TimeUnit::Ms).unwrap_err().to_string()
    }

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 5_265_313_000,
            operation: Operation::Write,
            offset: 6_357_144 * 512,
            length: 4096,
            device: 2,
            measured: None,
            handle: None,
        };
        assert_eq!(request(b"5265.313 2 6357144 8 0", SECTOR, TimeUnit::Ms), Ok(expected));
        assert_eq!(
            request(b"  5265.313000\t2\t6357144\t8\t10 ", SECTOR, TimeUnit::Ms),
            Ok(expected)
        );
        let read = Record { operation: Operation::Read, ..expected };
        assert_eq!(request(b"5265.313 2 6357144 8 1", SECTOR, TimeUnit::Ms), Ok(read));
    }

    #[test]
    fn sizes_count_other_units() {
        assert_eq!(request(b"0 0 8 3 1", 4096, TimeUnit::Ms).unwrap().length, 3 * 4096);
        assert_eq!(request(b"0 0 8 3 1", 4096, TimeUnit::Ms).unwrap().offset, 8 * 512);
        assert_eq!(
            request(b"0 0 8 x 1", 4096, TimeUnit::Ms).unwrap_err().to_string(),
            "size: found \"x\"; expected a whole number of units of workload.format.size_unit"
        );
    }

    #[test]
    fn times_count_other_units() {
        let time = |line: &str, unit| request(line.as_bytes(), SECTOR, unit).unwrap().time_ns;
        assert_eq!(time("242.504709548 0 8 8 1", TimeUnit::S), 242_504_709_548);
        assert_eq!(time("242504709.548 0 8 8 1", TimeUnit::Us), 242_504_709_548);
        assert_eq!(time("242504709548 0 8 8 1", TimeUnit::Ns), 242_504_709_548);
        assert_eq!(
            request(b"x 0 8 8 1", SECTOR, TimeUnit::S).unwrap_err().to_string(),
            "time: found \"x\"; expected a number of seconds"
        );
    }

    #[test]
    fn recognises_fractional_times_only() {
        assert!(Parser::recognises(b"26.214000 0 303574 1 0"));
        assert!(!Parser::recognises(b"26214000 0 303574 7 0"));
        assert!(request(b"26214000 0 303574 7 0", SECTOR, TimeUnit::Ms).is_ok());
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
