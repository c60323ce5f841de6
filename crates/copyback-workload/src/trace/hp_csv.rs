//! A server of HP with 77 disks, as text: `0.007832,0x1f016000,R,120365056,4096,4,7012,0x40000002`,
//! seconds, disk, `R` or `W`, offset and size in bytes, measured queueing and service time in
//! microseconds, logical volume. Each disk has an address space of its own; here all of them are
//! laid over one another.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::names::{NamedRows, Rows};
use super::record::Record;
use copyback_config::units::Duration;

const NS_PER_US: u64 = 1000;
const MICROSECONDS: &str = "a whole number of microseconds";
const LAYOUT: &str = "8 columns (seconds,disk,R|W,offset,bytes,queue,service,volume)";

/// The columns of a line.
#[derive(Debug, Default)]
pub struct HpCsv;

/// The parser of a file.
pub type Parser = NamedRows<HpCsv>;

impl Rows for HpCsv {
    const FIRST_NAME: &'static str = "time_s";
    const NAMES: &'static str = "time_s,disk_dev,op,offset_bytes,bytes,queue_us,service_us,lv_dev";

    fn request(line: &[u8]) -> Result<Record, Fault> {
        let mut columns = Columns::new(line, Separator::Byte(b','), LAYOUT);
        let time_ns = columns.decimal("time", 9, "a number of seconds")?;
        let device = columns.hexadecimal("disk")?;
        let operation = columns.read_or_write()?;
        let offset = columns.whole("offset", "a whole number of bytes")?;
        let length = columns.whole("size", "a whole number of bytes")?;
        let queue = columns.multiple("queue", NS_PER_US, MICROSECONDS)?;
        let service = columns.multiple("service", NS_PER_US, MICROSECONDS)?;
        columns.hexadecimal("volume")?;
        columns.end()?;
        let measured = queue.checked_add(service).map(Duration::from_ns);
        Ok(Record::new(time_ns, operation, offset, length).on(device).took(measured))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    fn fault(line: &str) -> String {
        HpCsv::request(line.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 7_832_000,
            operation: Operation::Read,
            offset: 120_365_056,
            length: 4096,
            device: 0x1f01_6000,
            measured: Some(Duration::from_us(4 + 7012)),
            handle: None,
        };
        assert_eq!(
            HpCsv::request(b"0.007832,0x1f016000,R,120365056,4096,4,7012,0x40000002"),
            Ok(expected)
        );
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(
            fault("0,sda,R,0,512,1,1,0x1"),
            "disk: found \"sda\"; expected a hexadecimal number"
        );
        assert_eq!(
            fault("0,0x1,R,0,512,-1,1,0x1"),
            "queue: found \"-1\"; expected a whole number of microseconds"
        );
        assert_eq!(fault("0,0x1,R,0,512,1,1"), format!("columns: found 7; expected {LAYOUT}"));
    }
}
