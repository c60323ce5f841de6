//! The Nexus 5 phone: sector and sectors of 512 bytes, size in bytes, type (bit 0 set: a write),
//! then when the request was queued, taken from the queue, issued and completed, in seconds since
//! 1970. A request arrives when it is queued.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::format::LineParser;
use super::record::Record;
use crate::Operation;
use copyback_config::units::Duration;

const LAYOUT: &str = "8 columns (sector sectors bytes type queued dequeued issued completed)";
const WRITE: u64 = 1;

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
    let mut columns = Columns::new(line, Separator::Blanks, LAYOUT);
    let offset = columns.sectors("sector")?;
    let length = columns.sectors("sectors")?;
    same(length, columns.text()?)?;
    let kind = columns.whole("type", "a whole number")?;
    let time_ns = columns.decimal("queued", 9, "a number of seconds")?;
    for field in ["dequeued", "issued"] {
        columns.decimal(field, 9, "a number of seconds")?;
    }
    let completed = columns.decimal("completed", 9, "a number of seconds")?;
    columns.end()?;
    let operation = if kind & WRITE != 0 { Operation::Write } else { Operation::Read };
    let measured = completed.checked_sub(time_ns).map(Duration::from_ns);
    Ok(Record::new(time_ns, operation, offset, length).took(measured))
}

fn same(length: u64, bytes: &[u8]) -> Result<(), Fault> {
    if super::number::whole(bytes) == Some(length) {
        Ok(())
    } else {
        Err(Fault::field("bytes", bytes, "512 times the number of sectors"))
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
            time_ns: 1_398_396_860_168_065_791,
            operation: Operation::Write,
            offset: 4_043_872 * 512,
            length: 49_152,
            device: 0,
            measured: Some(Duration::from_ns(231_934_209)),
            handle: None,
        };
        assert_eq!(request(b"4043872\t\t96\t\t49152\t\t5\t\t1398396860.168065791\t\t1398396860.2\t\t1398396860.3\t\t1398396860.4"), Ok(expected));
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(
            fault("8 1 512 1 1.0 1.0 x 1.0"),
            "issued: found \"x\"; expected a number of seconds"
        );
        assert_eq!(
            fault("8 1 4096 1 1.0 1.0 1.0 1.0"),
            "bytes: found \"4096\"; expected 512 times the number of sectors"
        );
        assert_eq!(fault("8 1 512 1"), format!("columns: found 4; expected {LAYOUT}"));
    }
}
