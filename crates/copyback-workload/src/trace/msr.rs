//! MSR Cambridge (SNIA IOTTA): `128166386783630075,hm,0,Write,3164164096,40960,2896`. Times are
//! Windows FILETIME, in ticks of 100 ns; offset and size are in bytes; the last column is the
//! measured response time in ticks. Some copies start with a line of column names.

use super::columns::{Columns, Separator};
use super::devices::Selector;
use super::fault::Fault;
use super::format::LineParser;
use super::names::Names;
use super::number;
use super::record::Record;
use crate::Operation;
use copyback_config::units::Duration;

const LAYOUT: &str = "7 columns (filetime,host,disk,Read|Write,offset,size,response)";
const NS_PER_TICK: u64 = 100;
/// The bits of a device's number that are the disk's.
const DISK: u64 = u32::MAX as u64;

/// The parser of a file: knows whether the first line is behind it.
#[derive(Debug, Default)]
pub struct Parser {
    names: Names,
}

impl LineParser for Parser {
    fn recognises(line: &[u8]) -> bool {
        request(line).is_ok()
    }

    const DEVICE: &'static str = "a disk's number, or host and disk such as \"hm_0\"";

    fn selector(name: &[u8]) -> Option<Selector> {
        let Some(end) = memchr::memrchr(b'_', name) else {
            return number::whole(name).map(|disk| Selector { value: disk, mask: DISK });
        };
        let disk = number::whole(&name[end + 1..])?;
        Some(Selector::only(host_bits(&name[..end]) ^ disk))
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
    let host = columns.text()?;
    let disk = columns.whole("disk", "a whole number")?;
    let operation = operation(columns.text()?)?;
    let offset = columns.whole("offset", "a whole number of bytes")?;
    let length = columns.whole("size", "a whole number of bytes")?;
    let response = columns.multiple("response", NS_PER_TICK, "a whole number of 100 ns ticks")?;
    columns.end()?;
    let record = Record::new(time_ns, operation, offset, length).on(host_bits(host) ^ disk);
    Ok(record.took(Some(Duration::from_ns(response))))
}

/// The upper half of a device's number; the disk is the lower one.
fn host_bits(host: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(host) & !DISK
}

fn time(text: &[u8]) -> Result<u64, Fault> {
    number::whole(text)
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
            device: host_bits(b"hm"),
            measured: Some(Duration::from_ns(289_600)),
            handle: None,
        };
        assert_eq!(request(LINE), Ok(expected));
    }

    #[test]
    fn a_device_is_a_disk_of_a_host() {
        let device = |line: &str| request(line.as_bytes()).unwrap().device;
        let selector = Parser::selector(b"src1_2").unwrap();
        assert_eq!(selector, Selector::only(device("1,src1,2,Read,0,512,1")));
        assert_ne!(selector, Selector::only(device("1,src2,2,Read,0,512,1")));
        assert_eq!(Parser::selector(b"2"), Some(Selector { value: 2, mask: DISK }));
        assert_eq!(device("1,src1,2,Read,0,512,1") & DISK, 2);
        assert_eq!((Parser::selector(b"hm"), Parser::selector(b"hm_x")), (None, None));
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
