//! The Pixel 6a phone: `kworker/u17:2-5642,8388608,W,44636992,8,45220.864636`, process, device,
//! `R` or `W`, sector and sectors of 512 bytes, seconds, after a line of column names.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::format::LineParser;
use super::names::Names;
use super::record::Record;

const LAYOUT: &str = "6 columns (process,device,R|W,sector,sectors,seconds)";

const FIRST_NAME: &str = "proces";

/// The parser of a file.
#[derive(Debug, Default)]
pub struct Parser {
    names: Names,
}

impl LineParser for Parser {
    fn recognises(line: &[u8]) -> bool {
        is_names(line) || request(line).is_ok()
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        if self.names.are(line, FIRST_NAME) {
            return Ok(None);
        }
        request(line).map(Some)
    }
}

fn is_names(line: &[u8]) -> bool {
    line.trim_ascii().eq_ignore_ascii_case(b"proces,device,rw_flag,sector,size,timestamp")
}

fn request(line: &[u8]) -> Result<Record, Fault> {
    let mut columns = Columns::new(line, Separator::Byte(b','), LAYOUT);
    columns.text()?;
    let device = columns.whole("device", "a whole number")?;
    let operation = columns.read_or_write()?;
    let offset = columns.sectors("sector")?;
    let length = columns.sectors("size")?;
    let time_ns = columns.decimal("time", 9, "a number of seconds")?;
    columns.end()?;
    Ok(Record { time_ns, operation, offset, length, device })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::Operation;

    fn fault(line: &str) -> String {
        request(line.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 45_220_864_636_000,
            operation: Operation::Write,
            offset: 44_636_992 * 512,
            length: 8 * 512,
            device: 8_388_608,
        };
        assert_eq!(request(b"kworker/u17:2-5642,8388608,W,44636992,8,45220.864636"), Ok(expected));
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
