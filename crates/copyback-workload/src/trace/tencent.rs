//! Tencent cloud block storage: `1538323200,4247200,128,1,1058`, seconds since 1970, sector and
//! sectors of 512 bytes, 0 = read or 1 = write, volume. Each volume has an address space of its
//! own; here all of them are laid over one another.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::format::LineParser;
use super::record::Record;
use crate::Operation;

const LAYOUT: &str = "5 columns (seconds,sector,sectors,0|1,volume)";

/// Times that tell a line from other five numbers, in nanoseconds since 1970: 2001 to 2286.
const THIS_CENTURY: std::ops::Range<u64> = 1_000_000_000_000_000_000..10_000_000_000_000_000_000;

/// The parser of a file.
#[derive(Debug, Default)]
pub struct Parser;

impl LineParser for Parser {
    fn recognises(line: &[u8]) -> bool {
        request(line).is_ok_and(|record| THIS_CENTURY.contains(&record.time_ns))
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        request(line).map(Some)
    }
}

fn request(line: &[u8]) -> Result<Record, Fault> {
    let mut columns = Columns::new(line, Separator::Byte(b','), LAYOUT);
    let time_ns = columns.decimal("time", 9, "a number of seconds")?;
    let offset = columns.sectors("sector")?;
    let length = columns.sectors("size")?;
    let operation = operation(columns.text()?)?;
    let device = columns.whole("volume", "a whole number")?;
    columns.end()?;
    Ok(Record::new(time_ns, operation, offset, length).on(device))
}

fn operation(text: &[u8]) -> Result<Operation, Fault> {
    match text {
        b"0" => Ok(Operation::Read),
        b"1" => Ok(Operation::Write),
        _ => Err(Fault::field("operation", text, "0 (read) or 1 (write)")),
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
            time_ns: 1_538_323_200_000_000_000,
            operation: Operation::Write,
            offset: 4_247_200 * 512,
            length: 128 * 512,
            device: 1058,
            measured: None,
            handle: None,
        };
        assert_eq!(request(b"1538323200,4247200,128,1,1058"), Ok(expected));
    }

    #[test]
    fn recognises_times_since_1970_only() {
        assert!(Parser::recognises(b"1538323200,4247200,128,1,1058"));
        assert!(!Parser::recognises(b"26,4247200,128,1,1058"));
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(
            fault("1538323200,0,8,2,1"),
            "operation: found \"2\"; expected 0 (read) or 1 (write)"
        );
        assert_eq!(
            fault("1538323200,0,8.5,0,1"),
            "size: found \"8.5\"; expected a whole number of 512-byte sectors"
        );
        assert_eq!(fault("1538323200,0,8,0"), format!("columns: found 4; expected {LAYOUT}"));
    }
}
