//! Systor '17, storage of virtual desktops (SNIA IOTTA): seconds since 1970, measured response in
//! seconds, `R` or `W`, LUN, offset and size in bytes, for example
//! `1455592200.006159842,0.000318,R,0,43188457472,4096`, after a line of column names. The response
//! is empty where none was seen.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::names::{NamedRows, Rows};
use super::record::Record;
use copyback_config::units::Duration;

const LAYOUT: &str = "6 columns (seconds,response,R|W,LUN,offset,bytes)";

/// The columns of a line.
#[derive(Debug, Default)]
pub struct Systor17;

/// The parser of a file.
pub type Parser = NamedRows<Systor17>;

impl Rows for Systor17 {
    const FIRST_NAME: &'static str = "Timestamp";
    const NAMES: &'static str = "timestamp,response,iotype,lun,offset,size";

    fn request(line: &[u8]) -> Result<Record, Fault> {
        let mut columns = Columns::new(line, Separator::Byte(b','), LAYOUT);
        let time_ns = columns.decimal("time", 9, "a number of seconds")?;
        let measured = response(columns.text()?)?;
        let operation = columns.read_or_write()?;
        let device = columns.whole("LUN", "a whole number")?;
        let offset = columns.whole("offset", "a whole number of bytes")?;
        let length = columns.whole("size", "a whole number of bytes")?;
        columns.end()?;
        Ok(Record::new(time_ns, operation, offset, length).on(device).took(measured))
    }
}

fn response(text: &[u8]) -> Result<Option<Duration>, Fault> {
    if text.is_empty() {
        return Ok(None);
    }
    let ns = super::number::decimal(text, 9);
    let ns = ns.ok_or_else(|| Fault::field("response", text, "a number of seconds, or nothing"))?;
    Ok(Some(Duration::from_ns(ns)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    fn fault(line: &str) -> String {
        Systor17::request(line.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 1_455_592_200_006_159_842,
            operation: Operation::Read,
            offset: 43_188_457_472,
            length: 4096,
            device: 3,
            measured: Some(Duration::from_us(318)),
            handle: None,
        };
        assert_eq!(
            Systor17::request(b"1455592200.006159842,0.000318,R,3,43188457472,4096"),
            Ok(expected)
        );
        assert_eq!(
            Systor17::request(b"1455592200.006159842,,R,3,43188457472,4096"),
            Ok(expected.took(None))
        );
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(
            fault("1,x,R,0,0,1"),
            "response: found \"x\"; expected a number of seconds, or nothing"
        );
        assert_eq!(fault("1,0,,0,0,1"), "operation: found nothing; expected R or W");
        assert_eq!(fault("1,0,R,0,0"), format!("columns: found 5; expected {LAYOUT}"));
    }
}
