//! MSR Cambridge (SNIA IOTTA): `128166386783630075,hm,0,Write,3164164096,40960,2896`. Times are
//! Windows FILETIME, in ticks of 100 ns; offset and size are in bytes; the last column is the
//! measured response time in ticks. Some copies start with a line of column names.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::format::LineParser;
use super::names::Names;
use super::record::Record;
use crate::units::Duration;
use crate::workload::Operation;

const LAYOUT: &str = "7 columns (filetime,host,disk,Read|Write,offset,size,response)";
const NS_PER_TICK: u64 = 100;

/// The parser of a file: knows whether the first line is behind it.
#[derive(Debug, Default)]
pub struct Parser {
    names: Names,
}

impl LineParser for Parser {
    fn recognises(line: &[u8]) -> bool {
        request(line).is_ok()
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        if self.names.are(line, "timestamp") {
            return Ok(None);
        }
        request(line).map(Some)
    }
}

fn request(line: &[u8]) -> Result<Record, Fault> {
    let mut columns = Columns::new(line, Separator::Byte(b','), LAYOUT);
    let time_ns = time(columns.text()?)?;
    columns.text()?;
    let device = columns.whole("disk", "a whole number")?;
    let operation = operation(columns.text()?)?;
    let offset = columns.whole("offset", "a whole number of bytes")?;
    let length = columns.whole("size", "a whole number of bytes")?;
    let response = columns.multiple("response", NS_PER_TICK, "a whole number of 100 ns ticks")?;
    columns.end()?;
    let record = Record::new(time_ns, operation, offset, length).on(device);
    Ok(record.took(Some(Duration::from_ns(response))))
}

fn time(text: &[u8]) -> Result<u64, Fault> {
    super::number::whole(text)
        .and_then(|ticks| ticks.checked_mul(NS_PER_TICK))
        .ok_or_else(|| Fault::field("filetime", text, "a whole number of 100 ns ticks since 1601"))
}

fn operation(text: &[u8]) -> Result<Operation, Fault> {
    if text.eq_ignore_ascii_case(b"Read") {
        Ok(Operation::Read)
    } else if text.eq_ignore_ascii_case(b"Write") {
        Ok(Operation::Write)
    } else {
        Err(Fault::field("operation", text, "Read or Write"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = b"128166386783630075,hm,0,Write,3164164096,40960,2896";

    fn fault(line: &str) -> String {
        request(line.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 12_816_638_678_363_007_500,
            operation: Operation::Write,
            offset: 3_164_164_096,
            length: 40_960,
            device: 0,
            measured: Some(Duration::from_ns(289_600)),
        };
        assert_eq!(request(LINE), Ok(expected));
    }

    #[test]
    fn skips_column_names_on_the_first_line_only() {
        let names = b"Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime";
        let mut parser = Parser::default();
        assert_eq!(parser.parse(names), Ok(None));
        assert!(parser.parse(LINE).unwrap().is_some());
        assert!(parser.parse(names).is_err());
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(fault("1,hm,0,Trim,0,1,1"), "operation: found \"Trim\"; expected Read or Write");
        assert_eq!(
            fault("1,hm,0,Read,1.82083E+11,4096,1"),
            "offset: found \"1.82083E+11\"; expected a whole number of bytes"
        );
        assert_eq!(
            fault("1,hm,0,Read,0,-512,1"),
            "size: found \"-512\"; expected a whole number of bytes"
        );
        assert_eq!(
            fault("1,hm,0,Read,99999999999999999999,512,1"),
            "offset: found \"99999999999999999999\"; expected a smaller number"
        );
        assert_eq!(
            fault("1.5,hm,0,Read,0,512,1"),
            "filetime: found \"1.5\"; expected a whole number of 100 ns ticks since 1601"
        );
        assert_eq!(
            fault("1\tRead\t32256\t8192"),
            format!(
                "filetime: found \"1\\tRead\\t32256\\t8192\"; expected a whole number of 100 ns ticks since 1601"
            )
        );
        assert_eq!(fault("1,hm,0,Read,0,512"), format!("columns: found 6; expected {LAYOUT}"));
        assert_eq!(fault("1,hm,0,Read,0,512,1,1"), format!("columns: found 8; expected {LAYOUT}"));
    }
}
