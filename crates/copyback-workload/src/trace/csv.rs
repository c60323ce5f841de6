//! Comma-separated values with columns of any order, names and units, as the configuration says
//! ([`CsvFormat`]). Columns that it doesn't name are ignored, quotes around a value are dropped. A
//! flush needs neither offset nor size.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::format::{LineParser, TraceFormat};
use super::number;
use super::record::Record;
use crate::{Handle, Operation};
use copyback_config::units::Duration;
use copyback_config::{CsvColumn, CsvColumns, CsvFormat, CsvOperation, CsvTime, ReadOrWrite};

const LAYOUT: &str = "the columns that workload.format names";
const NS_PER_TICK: u64 = 100;
/// The fields, in the order of [`CsvColumns`].
const FIELDS: [&str; FIELD_COUNT] =
    ["time", "offset", "length", "operation", "device", "response", "handle"];
const FIELD_COUNT: usize = 7;

/// The parser of a file: knows which columns its first line names.
#[derive(Debug, Default)]
pub struct Parser {
    spec: Option<Box<(CsvFormat, CsvColumns)>>,
    /// Columns of the fields, once the header is known.
    places: Option<Places>,
}

/// Places of columns in a row.
#[derive(Debug, Default)]
struct Places {
    /// The place of each field that is there, and which it is, from the left.
    fields: Vec<(usize, usize)>,
    /// The place of the column that tells rows to pass over.
    skip: Option<usize>,
}

impl LineParser for Parser {
    fn configure(&mut self, format: &TraceFormat) {
        if let TraceFormat::Csv(format) = format {
            self.spec = format.columns().ok().map(|columns| Box::new((format.clone(), columns)));
            self.places = self.spec.as_deref().and_then(|(_, columns)| numbered(columns));
        }
    }

    fn recognises(_: &[u8]) -> bool {
        false
    }

    fn can_go_on(&self) -> bool {
        self.places.is_some()
    }

    fn names_handles(&self) -> bool {
        self.spec.as_deref().is_some_and(|(format, _)| format.handle.is_some())
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        let Some((format, columns)) = self.spec.as_deref() else {
            return Err(Fault::other("workload.format names no columns; expected type csv"));
        };
        let Some(places) = &self.places else {
            self.places = Some(named(line, format, columns)?);
            return Ok(None);
        };
        if is_skipped(line, format.separator, columns, places) {
            return Ok(None);
        }
        request(&values(line, format.separator, places)?, format, columns).map(Some)
    }
}

/// The places of columns that are all named by number.
fn numbered(columns: &CsvColumns) -> Option<Places> {
    places(columns, |_, _| Err(())).ok()
}

/// The places of columns, by the names on the first line.
fn named(line: &[u8], format: &CsvFormat, columns: &CsvColumns) -> Result<Places, Fault> {
    places(columns, |field, name| {
        find(line, format.separator, name).ok_or_else(|| missing(field, name, line))
    })
}

/// The places of columns; `find` has those of a field by its name.
fn places<E>(
    columns: &CsvColumns,
    find: impl Fn(&'static str, &str) -> Result<usize, E>,
) -> Result<Places, E> {
    let place = |field: &'static str, column: &CsvColumn| match column {
        CsvColumn::Number(number) => Ok(*number),
        CsvColumn::Named(name) => find(field, name),
    };
    let mut fields = Vec::new();
    for (field, column) in columns.columns.iter().enumerate() {
        if let Some(column) = column {
            fields.push((place(FIELDS[field], column)?, field));
        }
    }
    fields.sort_unstable();
    let skip = columns.skip.as_ref().map(|skip| place("skip", &skip.column)).transpose()?;
    Ok(Places { fields, skip })
}

fn missing(field: &str, name: &str, line: &[u8]) -> Fault {
    Fault::other(format!(
        "{field}: found no column {name:?} among {}; expected a line of names with it",
        super::fault::shown(line),
    ))
}

fn find(line: &[u8], separator: char, name: &str) -> Option<usize> {
    let mut columns = cut(line, separator);
    let mut place = 0;
    while let Ok(text) = columns.text() {
        if unquoted(text) == name.as_bytes() {
            return Some(place);
        }
        place += 1;
    }
    None
}

fn cut(line: &[u8], separator: char) -> Columns<'_> {
    let separator =
        if separator == ' ' { Separator::Blanks } else { Separator::Byte(separator as u8) };
    Columns::new(line, separator, LAYOUT)
}

fn unquoted(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\"").and_then(|text| text.strip_suffix(b"\"")).unwrap_or(text)
}

/// Whether a row is one of those to pass over.
fn is_skipped(line: &[u8], separator: char, columns: &CsvColumns, places: &Places) -> bool {
    let (Some(skip), Some(place)) = (&columns.skip, places.skip) else { return false };
    let mut row = cut(line, separator);
    let mut texts = std::iter::from_fn(|| row.text().ok());
    let text = texts.nth(place).map(unquoted);
    text.is_some_and(|text| skip.values.iter().any(|value| value.as_bytes() == text))
}

/// Reads the texts in the given columns.
fn values<'a>(
    line: &'a [u8],
    separator: char,
    places: &Places,
) -> Result<[&'a [u8]; FIELD_COUNT], Fault> {
    let mut values: [&[u8]; FIELD_COUNT] = [b""; FIELD_COUNT];
    let mut columns = cut(line, separator);
    let (mut next, mut text): (usize, &[u8]) = (0, b"");
    for (place, field) in &places.fields {
        while next <= *place {
            text = columns.text()?;
            next += 1;
        }
        values[*field] = unquoted(text);
    }
    Ok(values)
}

fn request(
    &[time, offset, length, operation, device, response, handle]: &[&[u8]; FIELD_COUNT],
    format: &CsvFormat,
    columns: &CsvColumns,
) -> Result<Record, Fault> {
    let time_ns = nanoseconds("time", time, columns.time)?;
    let (sign, [offset, length]) = without_sign(offset, length, columns.operation);
    let operation = match columns.operation {
        CsvOperation::Column => asked(operation, format)?,
        CsvOperation::All(all) => all.into(),
        CsvOperation::Negative(negative) => if_negative(negative, sign),
    };
    let (offset, length) = match operation {
        Operation::Flush => (0, 0),
        _ => (bytes("offset", offset, columns.offset)?, bytes("length", length, columns.length)?),
    };
    let device = match format.device {
        Some(_) => self::device(device)?,
        None => 0,
    };
    let measured = match response {
        b"" => None,
        text => Some(Duration::from_ns(nanoseconds("response", text, columns.response)?)),
    };
    let handle = match handle {
        b"" => None,
        text => Some(self::handle(text)?),
    };
    let record = Record::new(time_ns, operation, offset, length).on(device).took(measured);
    Ok(record.with(handle))
}

/// Offset and length without their signs, if signs say what a row is, and whether there was one.
fn without_sign<'a>(
    offset: &'a [u8],
    length: &'a [u8],
    operation: CsvOperation,
) -> (bool, [&'a [u8]; 2]) {
    let texts = [offset, length];
    match operation {
        CsvOperation::Negative(_) => {
            let bare = texts.map(|text| text.strip_prefix(b"-").unwrap_or(text));
            (bare != texts, bare)
        }
        CsvOperation::Column | CsvOperation::All(_) => (false, texts),
    }
}

/// Operation of a row if rows with a sign are `negative`.
fn if_negative(negative: ReadOrWrite, has_sign: bool) -> Operation {
    match (negative, has_sign) {
        (ReadOrWrite::Read, true) | (ReadOrWrite::Write, false) => Operation::Read,
        (ReadOrWrite::Write, true) | (ReadOrWrite::Read, false) => Operation::Write,
    }
}

fn nanoseconds(field: &'static str, text: &[u8], unit: CsvTime) -> Result<u64, Fault> {
    let ns = match unit {
        CsvTime::Places(places) => number::decimal(text, places),
        CsvTime::Ticks => number::whole(text).and_then(|ticks| ticks.checked_mul(NS_PER_TICK)),
    };
    let expected = "a number, in the unit that workload.format names";
    ns.ok_or_else(|| Fault::field(field, text, expected))
}

fn device(text: &[u8]) -> Result<u64, Fault> {
    number::whole(text).ok_or_else(|| Fault::field("device", text, "a whole number"))
}

fn handle(text: &[u8]) -> Result<Handle, Fault> {
    let number = number::whole(text).and_then(|number| u16::try_from(number).ok());
    number.map(Handle).ok_or_else(|| Fault::field("handle", text, Handle::EXPECTED))
}

fn bytes(field: &'static str, text: &[u8], unit: u64) -> Result<u64, Fault> {
    let bytes = number::whole(text).and_then(|count| count.checked_mul(unit));
    let expected = "a whole number, in the unit that workload.format names";
    bytes.ok_or_else(|| Fault::field(field, text, expected))
}

fn asked(text: &[u8], format: &CsvFormat) -> Result<Operation, Fault> {
    let is = |values: &str| values.split('|').any(|value| value.as_bytes() == text);
    if is(&format.read) {
        Ok(Operation::Read)
    } else if is(&format.write) {
        Ok(Operation::Write)
    } else if format.trim.as_deref().is_some_and(is) {
        Ok(Operation::Trim)
    } else if format.flush.as_deref().is_some_and(is) {
        Ok(Operation::Flush)
    } else {
        let expected = "what workload.format names for read, write, trim, flush or skip";
        Err(Fault::field("operation", text, expected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(time: &str, offset: &str, length: &str, operation: &str) -> CsvFormat {
        CsvFormat {
            time: time.into(),
            offset: offset.into(),
            length: length.into(),
            operation: Some(operation.into()),
            read: "R|RA".into(),
            write: "W".into(),
            trim: Some("D".into()),
            flush: Some("F".into()),
            ..CsvFormat::EMPTY
        }
    }

    fn read(format: CsvFormat, text: &str) -> Result<Vec<Record>, Fault> {
        let mut parser = Parser::default();
        parser.configure(&TraceFormat::Csv(format));
        let mut records = Vec::new();
        for line in text.lines() {
            records.extend(parser.parse(line.as_bytes())?);
        }
        Ok(records)
    }

    fn record(operation: Operation) -> Record {
        Record::new(1_500, operation, 4096, 8192)
    }

    #[test]
    fn columns_by_name() {
        let named = || format("ts:us", "lba:sectors", "size:4KiB", "op");
        let text = "op,other,\"ts\",lba,size\nRA,x,1.5,8,2\nD,,1.5,8,2\n\"W\",y,1.5,8,2,more\n";
        let expected = [Operation::Read, Operation::Trim, Operation::Write].map(record);
        assert_eq!(read(named(), text), Ok(expected.to_vec()));
        let flush = Record { offset: 0, length: 0, ..record(Operation::Flush) };
        assert_eq!(read(named(), "op,ts,lba,size\nF,1.5,,\n"), Ok(vec![flush]));
    }

    #[test]
    fn columns_by_number() {
        let spaced = CsvFormat { separator: ' ', ..format("1:100ns", "2:bytes", "3:1KiB", "4") };
        assert_eq!(read(spaced, "15 4096  8 W\n"), Ok(vec![record(Operation::Write)]));
    }

    #[test]
    fn every_row_is_the_same() {
        let all = Some(ReadOrWrite::Write);
        let format =
            CsvFormat { operation: None, all, ..format("1:us", "2:bytes", "3:bytes", "4") };
        assert_eq!(read(format, "1.5,4096,8192\n"), Ok(vec![record(Operation::Write)]));
    }

    #[test]
    fn the_sign_says_what_a_row_is() {
        let signed = |negative| CsvFormat {
            operation: None,
            negative: Some(negative),
            ..format("1:us", "2:bytes", "3:bytes", "4")
        };
        let text = "1.5,4096,8192\n1.5,-4096,8192\n1.5,4096,-8192\n";
        let expected = [Operation::Write, Operation::Read, Operation::Read].map(record);
        assert_eq!(read(signed(ReadOrWrite::Read), text), Ok(expected.to_vec()));
        let expected = [Operation::Read, Operation::Write, Operation::Write].map(record);
        assert_eq!(read(signed(ReadOrWrite::Write), text), Ok(expected.to_vec()));
        let fault = read(signed(ReadOrWrite::Read), "1.5,--4096,8192\n").unwrap_err().to_string();
        assert!(fault.starts_with("offset: found \"-4096\"; expected a whole"), "{fault}");
    }

    #[test]
    fn rows_are_passed_over() {
        let skip = Some("op:begin|end".into());
        let format = CsvFormat { skip, ..format("ts:us", "lba:bytes", "size:bytes", "op") };
        let text = "op,ts,lba,size\nbegin\nW,1.5,4096,8192\n\"end\",x,,\n";
        assert_eq!(read(format.clone(), text), Ok(vec![record(Operation::Write)]));
        let fault = read(format, "op,ts,lba,size\nstop,1,2,3\n").unwrap_err().to_string();
        assert!(fault.starts_with("operation: found \"stop\""), "{fault}");
    }

    #[test]
    fn devices_and_response_times() {
        let format = CsvFormat {
            device: Some("disk".into()),
            response: Some("rt:ms".into()),
            ..format("ts:us", "lba:sectors", "size:4KiB", "op")
        };
        let names = "rt,op,ts,lba,size,disk\n";
        let text = format!("{names}0.25,W,1.5,8,2,7\n,W,1.5,8,2,9\n");
        let write = record(Operation::Write);
        let timed = write.on(7).took(Some(Duration::from_us(250)));
        assert_eq!(read(format.clone(), &text), Ok(vec![timed, write.on(9)]));
        let fault = |text: &str| read(format.clone(), text).unwrap_err().to_string();
        assert_eq!(
            fault(&format!("{names},W,1.5,8,2,sda\n")),
            "device: found \"sda\"; expected a whole number"
        );
        assert_eq!(
            fault(&format!("{names}-1,W,1.5,8,2,7\n")),
            "response: found \"-1\"; expected a number, in the unit that workload.format names"
        );
        assert_eq!(
            fault("op,ts,lba,size,rt\n"),
            "device: found no column \"disk\" among \"op,ts,lba,size,rt\"; expected a line of \
             names with it"
        );
    }

    #[test]
    fn handles_or_none() {
        let format = CsvFormat {
            handle: Some("ruh".into()),
            ..format("ts:us", "lba:sectors", "size:4KiB", "op")
        };
        let names = "op,ts,lba,size,ruh\n";
        let write = record(Operation::Write);
        let text = format!("{names}W,1.5,8,2,3\nW,1.5,8,2,\n");
        let expected = vec![write.with(Some(Handle(3))), write];
        assert_eq!(read(format.clone(), &text), Ok(expected));
        for wrong in ["hot", "65536", "-1"] {
            let fault = read(format.clone(), &format!("{names}W,1.5,8,2,{wrong}\n")).unwrap_err();
            assert_eq!(
                fault.to_string(),
                format!("handle: found {wrong:?}; expected a whole number, 0 to 65535")
            );
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |text: &str| {
            read(format("ts:us", "lba:sectors", "size:bytes", "op"), text).unwrap_err().to_string()
        };
        assert_eq!(
            fault("ts,sector,size,op\n"),
            "offset: found no column \"lba\" among \"ts,sector,size,op\"; expected a line of names \
             with it"
        );
        let names = "ts,lba,size,op\n";
        assert_eq!(
            fault(&format!("{names}1,2,512")),
            format!("columns: found 3; expected {LAYOUT}")
        );
        assert_eq!(
            fault(&format!("{names}1,2e9,512,R")),
            "offset: found \"2e9\"; expected a whole number, in the unit that workload.format names"
        );
        assert_eq!(
            fault(&format!("{names}-1,2,512,R")),
            "time: found \"-1\"; expected a number, in the unit that workload.format names"
        );
        assert_eq!(
            fault(&format!("{names}1,2,512,X")),
            "operation: found \"X\"; expected what workload.format names for read, write, trim, \
             flush or skip"
        );
    }
}
