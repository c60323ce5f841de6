//! FIU: `467651 2522 kjournald 644661632 8 W 6 0 98b9cb7e`, nanoseconds, process and its name, sector
//! and sectors of 512 bytes, `R` or `W`, major and minor number of the device, and a digest of the
//! content, which is ignored.

use super::columns::{Columns, Separator};
use super::devices::{MAJOR_MINOR, Selector, device_number, major_minor};
use super::fault::Fault;
use super::format::LineParser;
use super::record::Record;

const LAYOUT: &str = "9 columns (ns pid process sector sectors R|W major minor digest)";

/// The parser of a file.
#[derive(Debug, Default)]
pub struct Parser;

impl LineParser for Parser {
    fn recognises(line: &[u8]) -> bool {
        request(line).is_ok()
    }

    const DEVICE: &'static str = MAJOR_MINOR;

    fn selector(name: &[u8]) -> Option<Selector> {
        major_minor(name).map(Selector::only)
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        request(line).map(Some)
    }
}

fn request(line: &[u8]) -> Result<Record, Fault> {
    let mut columns = Columns::new(line, Separator::Blanks, LAYOUT);
    let time_ns = columns.whole("time", "a whole number of nanoseconds")?;
    columns.whole("pid", "a whole number")?;
    columns.text()?;
    let offset = columns.sectors("sector")?;
    let length = columns.sectors("size")?;
    let operation = columns.read_or_write()?;
    let major = columns.whole("major", "a whole number")?;
    let minor = columns.whole("minor", "a whole number")?;
    columns.text()?;
    columns.end()?;
    Ok(Record::new(time_ns, operation, offset, length).on(device_number(major, minor)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    fn fault(line: &str) -> String {
        request(line.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 467_651,
            operation: Operation::Write,
            offset: 644_661_632 * 512,
            length: 8 * 512,
            device: 6 << 20,
            measured: None,
            handle: None,
        };
        assert_eq!(request(b"467651 2522 kjournald 644661632 8 W 6 0 98b9cb7e"), Ok(expected));
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(fault("0 1 x 0 8 D 6 0 00"), "operation: found \"D\"; expected R or W");
        assert_eq!(
            fault("0.5 1 x 0 8 R 6 0 00"),
            "time: found \"0.5\"; expected a whole number of nanoseconds"
        );
        assert_eq!(fault("0 1 x 0 8 R 6 0"), format!("columns: found 8; expected {LAYOUT}"));
    }
}
