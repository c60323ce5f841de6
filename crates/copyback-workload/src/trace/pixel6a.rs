//! The Pixel 6a phone: `kworker/u17:2-5642,8388608,W,44636992,8,45220.864636`, process, device,
//! `R` or `W`, sector and sectors of 512 bytes, seconds, after a line of column names.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::names::{NamedRows, Rows};
use super::record::Record;

const LAYOUT: &str = "6 columns (process,device,R|W,sector,sectors,seconds)";

/// The columns of a line.
#[derive(Debug, Default)]
pub struct Pixel6a;

/// The parser of a file.
pub type Parser = NamedRows<Pixel6a>;

impl Rows for Pixel6a {
    const FIRST_NAME: &'static str = "proces";
    const NAMES: &'static str = "proces,device,rw_flag,sector,size,timestamp";

    fn request(line: &[u8]) -> Result<Record, Fault> {
        let mut columns = Columns::new(line, Separator::Byte(b','), LAYOUT);
        columns.text()?;
        let device = columns.whole("device", "a whole number")?;
        let operation = columns.read_or_write()?;
        let offset = columns.sectors("sector")?;
        let length = columns.sectors("size")?;
        let time_ns = columns.decimal("time", 9, "a number of seconds")?;
        columns.end()?;
        Ok(Record::new(time_ns, operation, offset, length).on(device))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    fn fault(line: &str) -> String {
        Pixel6a::request(line.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 45_220_864_636_000,
            operation: Operation::Write,
            offset: 44_636_992 * 512,
            length: 8 * 512,
            device: 8_388_608,
            measured: None,
            handle: None,
        };
        assert_eq!(
            Pixel6a::request(b"kworker/u17:2-5642,8388608,W,44636992,8,45220.864636"),
            Ok(expected)
        );
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(fault("x,8388608,WS,0,8,1"), "operation: found \"WS\"; expected R or W");
        assert_eq!(
            fault("x,8388608,W,0,8,1:30"),
            "time: found \"1:30\"; expected a number of seconds"
        );
        assert_eq!(fault("x,8388608,W,0,8"), format!("columns: found 5; expected {LAYOUT}"));
    }
}
