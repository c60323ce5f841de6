//! Default output of blkparse: `8,0 3 11 0.009507758 697 Q WS 223490 + 8 [kjournald]`, device, processor,
//! sequence number, seconds, process, action, operation (see [`rwbs`](super::rwbs)), sector and sectors of 512
//! bytes, name of the process.
//!
//! A request passes several actions; those of one kind count, the others are passed over, and so
//! are lines of type `N`, which move no data, and completions of writes without data, whose flush
//! completes on a line of its own. Comments (`#`), `Input file` lines and the summary at
//! the end are no requests either.
//!
//! Where blkparse was given a format of its own (`-f`), [`Fields`] reads its lines.

use super::blkparse_fields::Fields;
use super::columns::{Columns, Separator};
use super::devices::{MAJOR_MINOR, Selector, major_minor};
use super::fault::Fault;
use super::format::{LineParser, TraceFormat};
use super::number;
use super::record::{Record, SECTOR};
use super::rwbs;
use crate::Operation;
use copyback_config::BlkparseAction;

const LAYOUT: &str = "at least 7 columns (major,minor cpu sequence seconds pid action op ...)";
/// The letters of actions, of one character or two.
const ACTIONS: &[u8] = b"ABCDFGIMPQRSTUXm";

/// The parser of a file.
#[derive(Debug, Default)]
pub struct Parser {
    action: BlkparseAction,
    /// Layout of the lines, if not the default one.
    fields: Option<Fields>,
    /// Whether the summary has begun.
    summary: bool,
    requests: bool,
    /// The actions seen so far, a bit for each of [`ACTIONS`].
    seen: u32,
}

impl LineParser for Parser {
    fn recognises(line: &[u8]) -> bool {
        Event::of(line).is_ok()
    }

    fn configure(&mut self, format: &TraceFormat) {
        if let TraceFormat::Blkparse { action, fields } = format {
            self.action = *action;
            self.fields = fields.as_deref().and_then(|fields| Fields::of(fields).ok());
        }
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        if self.summary {
            return after_summary(line);
        }
        if let Some(fields) = &self.fields {
            let event = if is_aside(line) { None } else { Some(fields.event(line)?) };
            return self.asked_for(line, event);
        }
        let first = line.trim_ascii_start().first();
        if first.is_some_and(|byte| !byte.is_ascii_digit()) && is_aside(line) {
            self.summary = is_summary(line);
            return Ok(None);
        }
        let event = Event::of(line)?;
        self.seen |= bit(event.action);
        if event.action != [self.action.letter()] {
            return Ok(None);
        }
        let request = event.request()?;
        self.requests |= request.is_some();
        Ok(request)
    }

    const DEVICE: &'static str = MAJOR_MINOR;

    fn selector(name: &[u8]) -> Option<Selector> {
        major_minor(name).map(Selector::only)
    }

    fn at_end(&self) -> Result<(), Fault> {
        if self.requests || self.seen == 0 {
            return Ok(());
        }
        let seen = ACTIONS.iter().enumerate().filter(|(bit, _)| self.seen & 1 << bit != 0);
        let seen: Vec<_> = seen.map(|(_, letter)| char::from(*letter).to_string()).collect();
        Err(Fault::other(format!(
            "action: found no request with {}, only {}; expected one (workload.format = {{ type = \
             \"blkparse\", action = ... }} chooses)",
            char::from(self.action.letter()),
            seen.join(", "),
        )))
    }
}

impl Parser {
    /// The request of the event on a line that has other fields than by default, if it has one.
    #[cold]
    fn asked_for(
        &mut self,
        line: &[u8],
        event: Option<Asked<'_>>,
    ) -> Result<Option<Record>, Fault> {
        let Some(event) = event else {
            self.summary = is_summary(line);
            return Ok(None);
        };
        if let Some(action) = event.action {
            self.seen |= bit(action);
            if action != [self.action.letter()] {
                return Ok(None);
            }
        }
        let request = request(&event)?;
        self.requests |= request.is_some();
        Ok(request)
    }
}

fn bit(action: &[u8]) -> u32 {
    let Some(first) = action.first() else { return 0 };
    ACTIONS.iter().position(|letter| letter == first).map_or(0, |bit| 1 << bit)
}

/// Fields of an event that may be a request.
#[derive(Debug, Clone, Copy, Default)]
pub struct Asked<'a> {
    /// Number of the device.
    pub device: u64,
    /// Time of the event, in nanoseconds.
    pub time_ns: u64,
    /// Action of the event (queued, issued, completed), unless that is unknown.
    pub action: Option<&'a [u8]>,
    /// The letters of the operation.
    pub kind: &'a [u8],
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// The request of an event; `None` if it moves no data.
pub fn request(asked: &Asked<'_>) -> Result<Option<Record>, Fault> {
    let Asked { device, time_ns, action, kind, offset, length } = *asked;
    let Some(operation) = operation(kind, action, length)? else { return Ok(None) };
    Ok(Some(Record::new(time_ns, operation, offset, length).on(device)))
}

/// Operation that the letters `kind` ask for, of an event with `length` bytes; `None` if it moves no data.
#[inline]
fn operation(kind: &[u8], action: Option<&[u8]>, length: u64) -> Result<Option<Operation>, Fault> {
    if kind.starts_with(b"N") {
        return Ok(None);
    }
    let operation = rwbs::operation(kind, length)?;
    if length == 0 && operation == Operation::Write && action == Some(b"C") {
        return Ok(None);
    }
    if length == 0 && operation != Operation::Flush {
        return Err(Fault::field("operation", kind, "sector + sectors behind it"));
    }
    Ok(Some(operation))
}

fn is_aside(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.starts_with(b"#") || line.starts_with(b"Input file ") || is_summary(line)
}

fn is_summary(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    (line.starts_with(b"CPU") || line.starts_with(b"Total (")) && line.ends_with(b"):")
}

fn after_summary(line: &[u8]) -> Result<Option<Record>, Fault> {
    match Event::of(line) {
        Ok(_) => {
            Err(Fault::other("found an event after the summary; expected the output of one run"))
        }
        Err(_) => Ok(None),
    }
}

/// The columns that every event has, and what follows them.
struct Event<'a> {
    device: u64,
    time_ns: u64,
    action: &'a [u8],
    rest: Columns<'a>,
}

impl<'a> Event<'a> {
    fn of(line: &'a [u8]) -> Result<Self, Fault> {
        let mut columns = Columns::new(line, Separator::Blanks, LAYOUT);
        let device = device(columns.text()?)?;
        columns.whole("cpu", "a whole number")?;
        columns.whole("sequence", "a whole number")?;
        let time_ns = columns.decimal("time", 9, "a number of seconds")?;
        columns.whole("pid", "a whole number")?;
        let action = columns.text()?;
        let known = action.len() <= 2 && action.first().is_some_and(|byte| ACTIONS.contains(byte));
        if !known {
            let expected = "an action such as Q (queued), D (issued) or C (completed)";
            return Err(Fault::field("action", action, expected));
        }
        Ok(Self { device, time_ns, action, rest: columns })
    }

    /// The request; `None` if it moves no data.
    fn request(self) -> Result<Option<Record>, Fault> {
        let Self { device, time_ns, action, mut rest } = self;
        let kind = rest.text()?;
        if kind.starts_with(b"N") {
            return Ok(None);
        }
        let (offset, length) = range(&mut rest)?.unwrap_or((0, 0));
        let Some(operation) = operation(kind, Some(action), length)? else { return Ok(None) };
        Ok(Some(Record::new(time_ns, operation, offset, length).on(device)))
    }
}

/// Offset and length of `sector + sectors`, where there is one.
fn range(columns: &mut Columns<'_>) -> Result<Option<(u64, u64)>, Fault> {
    let Ok(sector) = columns.text() else { return Ok(None) };
    if sector.starts_with(b"[") || !columns.text().is_ok_and(|plus| plus == b"+") {
        return Ok(None);
    }
    let offset = number::whole(sector).and_then(|sector| sector.checked_mul(SECTOR));
    let expected = "a whole number of 512-byte sectors";
    let offset = offset.ok_or_else(|| Fault::field("sector", sector, expected))?;
    Ok(Some((offset, columns.sectors("size")?)))
}

fn device(text: &[u8]) -> Result<u64, Fault> {
    major_minor(text).ok_or_else(|| Fault::field("device", text, "major,minor"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &[u8] = b"  8,33  21  1  0.001003911  6742  D  WS 4194352 + 8 [db bench]";

    fn parser(action: BlkparseAction) -> Parser {
        Parser { action, ..Parser::default() }
    }

    fn fault(line: &str) -> String {
        Parser::default().parse(line.as_bytes()).unwrap_err().to_string()
    }

    fn of(event: &str) -> Option<(Operation, u64)> {
        let line = format!("8,0 1 1 0.5 7 Q {event}");
        let record = Parser::default().parse(line.as_bytes()).unwrap();
        record.map(|record| (record.operation, record.length))
    }

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 1_003_911,
            operation: Operation::Write,
            offset: 4_194_352 * 512,
            length: 4096,
            device: 8 << 20 | 33,
            measured: None,
            handle: None,
        };
        assert_eq!(parser(BlkparseAction::Issued).parse(LINE), Ok(Some(expected)));
        assert_eq!(parser(BlkparseAction::Queued).parse(LINE), Ok(None));
    }

    #[test]
    fn carries_discards_and_flushes() {
        assert_eq!(of("RA 8 + 16 [x]"), Some((Operation::Read, 8192)));
        assert_eq!(of("D 8 + 16 [x]"), Some((Operation::Trim, 8192)));
        assert_eq!(of("FWFS [x]"), Some((Operation::Flush, 0)));
        assert_eq!(of("FN 0 [0]"), Some((Operation::Flush, 0)));
        assert_eq!(of("FWS 8 + 16 [x]"), Some((Operation::Write, 8192)));
        assert_eq!(of("N [x]"), None);
    }

    #[test]
    fn counts_a_completed_flush_once() {
        let mut parser = parser(BlkparseAction::Completed);
        assert!(parser.parse(b"8,0 1 1 0.5 0 C FN 0 [0]").unwrap().is_some());
        assert_eq!(parser.parse(b"8,0 1 2 0.5 0 C WFS 763360920 [0]"), Ok(None));
    }

    #[test]
    fn passes_over_what_is_no_event() {
        let mut parser = parser(BlkparseAction::Issued);
        assert_eq!(parser.parse(b"#Maj,Mn CPU SeqNo"), Ok(None));
        assert_eq!(parser.parse(b"Input file sda.blktrace.0 added"), Ok(None));
        assert!(parser.parse(LINE).unwrap().is_some());
        assert_eq!(parser.parse(b"CPU0 (sda):"), Ok(None));
        assert_eq!(parser.parse(b" Reads Queued:  0, 0KiB"), Ok(None));
        assert_eq!(
            parser.parse(LINE).unwrap_err().to_string(),
            "found an event after the summary; expected the output of one run"
        );
    }

    #[test]
    fn reads_the_fields_that_were_asked_for() {
        let format = TraceFormat::Blkparse {
            action: BlkparseAction::Issued,
            fields: Some("%D %5T.%9t %a %3d %S %n".to_owned()),
        };
        let mut parser = Parser::default();
        parser.configure(&format);
        let expected = Record {
            time_ns: 1_003_911,
            operation: Operation::Write,
            offset: 4_194_352 * 512,
            length: 4096,
            device: 8 << 20 | 33,
            measured: None,
            handle: None,
        };
        let issued = parser.parse(b"  8,33      0.001003911 D  WS 4194352 8");
        assert_eq!(issued, Ok(Some(expected)));
        assert_eq!(parser.parse(b"  8,33      0.001003911 Q  WS 4194352 8"), Ok(None));
        assert_eq!(parser.parse(b"CPU0 (sda):"), Ok(None));
        assert_eq!(parser.parse(b" Reads Queued:  0, 0KiB"), Ok(None));
        assert_eq!(parser.at_end(), Ok(()));
    }

    #[test]
    fn says_which_actions_there_are() {
        let mut parser = parser(BlkparseAction::Queued);
        parser.parse(LINE).unwrap();
        parser.parse(b"8,0 1 1 0.5 7 UT N [x] 1").unwrap();
        assert_eq!(
            parser.at_end().unwrap_err().to_string(),
            "action: found no request with Q, only D, U; expected one (workload.format = { type = \
             \"blkparse\", action = ... } chooses)"
        );
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(fault("rubbish"), "device: found \"rubbish\"; expected major,minor");
        assert_eq!(
            fault("8,0 1 1 0.5 7 Z R 8 + 8"),
            "action: found \"Z\"; expected an action such as Q (queued), D (issued) or C (completed)"
        );
        assert_eq!(
            fault("8,0 1 1 0.5 7 Q R [x]"),
            "operation: found \"R\"; expected sector + sectors behind it"
        );
        assert_eq!(
            fault("8,0 1 1 0.5 7 Q X 8 + 8"),
            "operation: found \"X\"; expected R, W, D (discard) or F (flush), with modifiers"
        );
        assert_eq!(
            fault("8,0 1 1 0.5 7 Q R x + 8"),
            "sector: found \"x\"; expected a whole number of 512-byte sectors"
        );
        assert_eq!(fault("8,0 1 1 0.5"), format!("columns: found 4; expected {LAYOUT}"));
    }
}
