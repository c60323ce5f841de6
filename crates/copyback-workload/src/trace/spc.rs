//! SPC, the Storage Performance Council's trace format: `ASU,LBA,bytes,op,seconds`, for example
//! `0,303567,3584,w,0.026214`. Addresses are in 512-byte sectors, sizes in bytes. The standard
//! allows more columns after these; they are ignored.
//!
//! Each application storage unit (ASU) has an address space of its own. Here all of them are laid
//! over one another on the device, so that LBA 0 of every ASU is byte 0 of the drive.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::format::LineParser;
use super::record::Record;
use crate::Operation;

const LAYOUT: &str = "at least 5 columns (ASU,LBA,bytes,op,seconds)";

/// The parser of a file.
#[derive(Debug, Default)]
pub struct Parser;

impl LineParser for Parser {
    fn recognises(line: &[u8]) -> bool {
        request(line).is_ok()
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        request(line).map(Some)
    }
}

fn request(line: &[u8]) -> Result<Record, Fault> {
    let mut columns = Columns::new(line, Separator::Byte(b','), LAYOUT);
    let device = columns.whole("ASU", "a whole number")?;
    let offset = columns.sectors("LBA")?;
    let length = columns.whole("size", "a whole number of bytes")?;
    let operation = operation(columns.text()?)?;
    let time_ns = columns.decimal("time", 9, "a number of seconds")?;
    Ok(Record::new(time_ns, operation, offset, length).on(device))
}

fn operation(text: &[u8]) -> Result<Operation, Fault> {
    match text {
        b"r" | b"R" => Ok(Operation::Read),
        b"w" | b"W" => Ok(Operation::Write),
        _ => Err(Fault::field("operation", text, "r or w")),
    }
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
            time_ns: 78_643_000,
            operation: Operation::Read,
            offset: 55_596 * 512,
            length: 3072,
            device: 1,
            measured: None,
            handle: None,
        };
        assert_eq!(request(b"1,55596,3072,r,0.078643"), Ok(expected));
        assert_eq!(request(b"1, 55596, 3072, R, 0.078643,extra,3"), Ok(expected));
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(fault("0,1,512,x,0"), "operation: found \"x\"; expected r or w");
        assert_eq!(fault("a,1,512,r,0"), "ASU: found \"a\"; expected a whole number");
        assert_eq!(
            fault("0,1.5,512,r,0"),
            "LBA: found \"1.5\"; expected a whole number of 512-byte sectors"
        );
        assert_eq!(
            fault("0,99999999999999999,512,r,0"),
            "LBA: found \"99999999999999999\"; expected a smaller number"
        );
        assert_eq!(fault("0,1,,r,0"), "size: found nothing; expected a whole number of bytes");
        assert_eq!(fault("0,1,512,r,-3"), "time: found \"-3\"; expected a number of seconds");
        assert_eq!(
            fault("0,1,512,r,99999999999"),
            "time: found \"99999999999\"; expected a smaller number"
        );
        assert_eq!(fault("0,1,512,r"), format!("columns: found 4; expected {LAYOUT}"));
    }
}
