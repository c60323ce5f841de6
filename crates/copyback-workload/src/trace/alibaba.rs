//! Alibaba cloud block storage: `419,W,8792731648,16384,1577808144360767`, a volume, `R` or `W`,
//! offset and size in bytes, microseconds since 1970. Each volume has an address space of its own;
//! here all of them are laid over one another.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::names::{NamedRows, Rows};
use super::record::Record;

const LAYOUT: &str = "5 columns (device,R|W,offset,bytes,us)";

/// The columns of a line.
#[derive(Debug, Default)]
pub struct Alibaba;

/// The parser of a file.
pub type Parser = NamedRows<Alibaba>;

impl Rows for Alibaba {
    const FIRST_NAME: &'static str = "device_id";
    const NAMES: &'static str = "device_id,opcode,offset,length,timestamp";

    fn request(line: &[u8]) -> Result<Record, Fault> {
        let mut columns = Columns::new(line, Separator::Byte(b','), LAYOUT);
        let device = columns.whole("device", "a whole number")?;
        let operation = columns.read_or_write()?;
        let offset = columns.whole("offset", "a whole number of bytes")?;
        let length = columns.whole("size", "a whole number of bytes")?;
        let time_ns = columns.decimal("time", 3, "a number of microseconds")?;
        columns.end()?;
        Ok(Record::new(time_ns, operation, offset, length).on(device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    fn fault(line: &str) -> String {
        Alibaba::request(line.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 1_577_808_144_360_767_000,
            operation: Operation::Write,
            offset: 8_792_731_648,
            length: 16_384,
            device: 419,
            measured: None,
            handle: None,
        };
        assert_eq!(Alibaba::request(b"419,W,8792731648,16384,1577808144360767"), Ok(expected));
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(fault("4,X,0,512,1"), "operation: found \"X\"; expected R or W");
        assert_eq!(fault("4,R,-1,512,1"), "offset: found \"-1\"; expected a whole number of bytes");
        assert_eq!(
            fault("4,R,0,512,1e9"),
            "time: found \"1e9\"; expected a number of microseconds"
        );
        assert_eq!(fault("4,R,0,512"), format!("columns: found 4; expected {LAYOUT}"));
    }
}
