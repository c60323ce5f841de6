//! blkreplay: `0.449518165 ; 37766917 ; 14 ; W ; 0.0 ; 0.0`, seconds, sector, sectors, operation,
//! then measured delays, which are ignored. A free text may stand before the requests; it ends
//! with the line `start ; sector; length ; op ; ...`. Joined files repeat it.
//!
//! Operations are those of blkparse: see [`rwbs`](super::rwbs).

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::format::LineParser;
use super::record::Record;
use super::rwbs;

const LAYOUT: &str = "at least 4 columns (seconds ; sector ; sectors ; op ; ...)";

/// The parser of a file: knows whether the text before the requests has ended.
#[derive(Debug, Default)]
pub struct Parser {
    place: Place,
    /// The first line of that text: where it comes again, so does the text, as in joined files.
    text: Option<Vec<u8>>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    FirstLine,
    Text,
    Requests,
}

impl LineParser for Parser {
    fn recognises(line: &[u8]) -> bool {
        is_start(line) || request(line).is_ok()
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        if self.place == Place::FirstLine {
            let has_text = !line.trim_ascii_start().first().is_some_and(u8::is_ascii_digit);
            self.place = if has_text { Place::Text } else { Place::Requests };
            self.text = (has_text && !is_start(line)).then(|| line.to_vec());
        }
        match self.place {
            Place::Requests => match request(line) {
                Ok(record) => Ok(Some(record)),
                Err(_) if self.text.as_deref() == Some(line) => {
                    self.place = Place::Text;
                    Ok(None)
                }
                Err(fault) => Err(fault),
            },
            _ => {
                if is_start(line) {
                    self.place = Place::Requests;
                }
                Ok(None)
            }
        }
    }

    fn at_end(&self) -> Result<(), Fault> {
        match self.place {
            Place::Text => {
                let problem = "found no line \"start ; sector; length ; op\"; expected it between \
                               the text and the requests";
                Err(Fault::other(problem))
            }
            _ => Ok(()),
        }
    }
}

fn is_start(line: &[u8]) -> bool {
    let mut columns = Columns::new(line, Separator::Byte(b';'), LAYOUT);
    columns.text().is_ok_and(|name| name == b"start")
        && columns.text().is_ok_and(|name| name == b"sector")
}

fn request(line: &[u8]) -> Result<Record, Fault> {
    let mut columns = Columns::new(line, Separator::Byte(b';'), LAYOUT);
    let time_ns = columns.decimal("time", 9, "a number of seconds")?;
    let offset = columns.sectors("sector")?;
    let length = columns.sectors("length")?;
    let operation = rwbs::operation(columns.text()?, length)?;
    Ok(Record::new(time_ns, operation, offset, length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;

    const LINE: &[u8] = b"      0.449518165 ;     37766917 ;   14 ; W ; 0.0 ; 0.0";
    const START: &[u8] = b"start ; sector; length ; op ;  replay_delay=0 ; replay_duration=0";

    fn fault(line: &str) -> String {
        request(line.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 449_518_165,
            operation: Operation::Write,
            offset: 37_766_917 * 512,
            length: 14 * 512,
            device: 0,
            measured: None,
            handle: None,
        };
        assert_eq!(request(LINE), Ok(expected));
        assert_eq!(request(b"0.449518165;37766917;14;W"), Ok(expected));
    }

    #[test]
    fn text_ends_with_the_start_line() {
        let mut parser = Parser::default();
        assert_eq!(parser.parse(b"Copyright somebody"), Ok(None));
        assert_eq!(parser.parse(LINE), Ok(None), "still text");
        assert!(parser.at_end().unwrap_err().to_string().starts_with("found no line \"start"));
        assert_eq!(parser.parse(START), Ok(None));
        assert!(parser.parse(LINE).unwrap().is_some());
        assert!(parser.parse(START).is_err());
        assert_eq!(parser.at_end(), Ok(()));
    }

    #[test]
    fn text_that_comes_again_is_passed_over_again() {
        let mut parser = Parser::default();
        for line in [&b"Copyright somebody"[..], b"more", START] {
            assert_eq!(parser.parse(line), Ok(None));
        }
        assert!(parser.parse(LINE).unwrap().is_some());
        assert!(parser.parse(b"more").is_err(), "not where it begins");
        assert_eq!(parser.parse(b"Copyright somebody"), Ok(None));
        assert_eq!(parser.parse(b"more"), Ok(None));
        assert_eq!(parser.parse(START), Ok(None));
        assert!(parser.parse(LINE).unwrap().is_some());
    }

    #[test]
    fn a_file_may_start_with_its_requests() {
        let mut parser = Parser::default();
        assert!(parser.parse(LINE).unwrap().is_some());
        assert!(parser.parse(b"rubbish").is_err());
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(fault("x ; 1 ; 8 ; R"), "time: found \"x\"; expected a number of seconds");
        assert_eq!(
            fault("0 ; 1 ; 8 ; X"),
            "operation: found \"X\"; expected R, W, D (discard) or F (flush), with modifiers"
        );
        assert_eq!(fault("0 ; 1 ; 8"), format!("columns: found 3; expected {LAYOUT}"));
    }
}
