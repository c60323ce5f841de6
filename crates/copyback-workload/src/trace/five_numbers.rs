//! Five whole numbers: `time device sector sectors 0|1`, 1 = read. Several simulators have taken
//! this form over from DiskSim, each with its own unit of time. The requests of all devices share
//! the one address space.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::record::Record;
use crate::Operation;

/// The request on `line`, whose time counts units of `unit_ns`, `unit` in words.
pub fn request(
    line: &[u8],
    unit_ns: u64,
    unit: &'static str,
    layout: &'static str,
) -> Result<Record, Fault> {
    let mut columns = Columns::new(line, Separator::Blanks, layout);
    let time_ns = columns.multiple("time", unit_ns, unit)?;
    let device = columns.whole("device", "a whole number")?;
    let offset = columns.sectors("sector")?;
    let length = columns.sectors("size")?;
    let operation = operation(columns.text()?)?;
    columns.end()?;
    Ok(Record::new(time_ns, operation, offset, length).on(device))
}

/// 0 or 1, 1 = read.
pub fn operation(text: &[u8]) -> Result<Operation, Fault> {
    match text {
        b"0" => Ok(Operation::Write),
        b"1" => Ok(Operation::Read),
        _ => Err(Fault::field("operation", text, "0 (write) or 1 (read)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ns(line: &str) -> Result<Record, Fault> {
        request(line.as_bytes(), 1, "a whole number of nanoseconds", "5 columns")
    }

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 938_828_000,
            operation: Operation::Write,
            offset: 197_570_570 * 512,
            length: 16 * 512,
            device: 3,
            measured: None,
            handle: None,
        };
        assert_eq!(ns("938828000 3 197570570 16 0"), Ok(expected));
        let in_us = request(b"938828\t3 197570570  16 0", 1000, "", "");
        assert_eq!(in_us, Ok(expected));
        let read = Record { operation: Operation::Read, ..expected };
        assert_eq!(ns("938828000 3 197570570 16 1"), Ok(read));
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |line| ns(line).unwrap_err().to_string();
        assert_eq!(
            fault("0.5 0 1 8 1"),
            "time: found \"0.5\"; expected a whole number of nanoseconds"
        );
        assert_eq!(fault("0 0 1 8 2"), "operation: found \"2\"; expected 0 (write) or 1 (read)");
        assert_eq!(fault("0 0 1 8"), "columns: found 4; expected 5 columns");
        assert_eq!(fault("0 0 1 8 1 1"), "columns: found 6; expected 5 columns");
    }
}
