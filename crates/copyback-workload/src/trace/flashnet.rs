//! FlashNet's profiles: what its replayer, and LinnOS's, measured of a trace (read from the tools around
//! it, which name the columns, and from published profiles): milliseconds at which the request was
//! recorded in the trace, microseconds that it took, operation (1 = read, 0 = write), size and
//! offset in bytes, milliseconds at which it was submitted, bytes that were moved:
//! `0.000,134,1,4096,42242048,0.100,4096`.
//!
//! A request arrives when it was submitted, which is where its time was measured from. Rows stand
//! roughly in the order in which requests were recorded. One that did not move all of its bytes has
//! failed, and is refused.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::five_numbers::operation;
use super::format::LineParser;
use super::number;
use super::record::Record;
use copyback_config::units::Duration;

const LAYOUT: &str = "7 columns (recorded ms,us,0|1,bytes,offset,submitted ms,bytes moved)";
const NS_PER_US: u64 = 1000;

/// The parser of a file.
#[derive(Debug, Default)]
pub struct Parser;

impl LineParser for Parser {
    fn recognises(line: &[u8]) -> bool {
        let place = |place| line.split(|byte| *byte == b',').nth(place);
        let has_point = |place: Option<&[u8]>| place.is_some_and(|text| text.contains(&b'.'));
        request(line).is_ok() && has_point(place(0)) && has_point(place(5))
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        request(line).map(Some)
    }

    const BY_COMPLETION: bool = true;
}

fn request(line: &[u8]) -> Result<Record, Fault> {
    let mut columns = Columns::new(line, Separator::Byte(b','), LAYOUT);
    columns.decimal("recorded", 6, "a number of milliseconds")?;
    let took = columns.multiple("latency", NS_PER_US, "a whole number of microseconds")?;
    let operation = operation(columns.text()?)?;
    let length = columns.whole("size", "a whole number of bytes")?;
    let offset = columns.whole("offset", "a whole number of bytes")?;
    let time_ns = columns.decimal("submitted", 6, "a number of milliseconds")?;
    let moved = columns.text()?;
    columns.end()?;
    if number::whole(moved) != Some(length) {
        return Err(Fault::field("moved", moved, "as many bytes as the request has"));
    }
    let record = Record::new(time_ns, operation, offset, length);
    Ok(record.took(Some(Duration::from_ns(took))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 100_000,
            operation: Operation::Read,
            offset: 42_242_048,
            length: 4096,
            device: 0,
            measured: Some(Duration::from_us(134)),
            handle: None,
        };
        assert_eq!(request(b"0.000,134,1,4096,42242048,0.100,4096"), Ok(expected));
        let write = Record { operation: Operation::Write, ..expected };
        assert_eq!(request(b"0.000,134,0,4096,42242048,0.100,4096"), Ok(write));
    }

    #[test]
    fn recognises_times_with_a_point() {
        assert!(Parser::recognises(b"0.000,134,1,4096,42242048,0.100,4096"));
        assert!(!Parser::recognises(b"0.000,134,1,4096,42242048,1,4096"));
        assert!(!Parser::recognises(b"0,134,1,4096,42242048,0.100,4096"));
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |line: &[u8]| request(line).unwrap_err().to_string();
        assert_eq!(
            fault(b"0.000,134,1,4096,42242048,0.100,0"),
            "moved: found \"0\"; expected as many bytes as the request has"
        );
        assert_eq!(
            fault(b"0.000,1.5,1,4096,42242048,0.100,4096"),
            "latency: found \"1.5\"; expected a whole number of microseconds"
        );
        assert_eq!(fault(b"0.000,134,1,4096"), format!("columns: found 4; expected {LAYOUT}"));
    }
}
