//! libCacheSim's oracleGeneral, binary (read from `oracleGeneralBin.h`): records of 24 bytes, least
//! significant byte first: seconds u32, object u64, bytes u32, number of the next request for the
//! object i64, or -1. Its lcs (read from `lcs.h` and `lcs.c`) has a header of 1024 bytes in front,
//! which says what the records are made of.
//!
//! A cache's trace says not how objects lie on a drive, and hardly ever whether a request reads or
//! writes. For traces that were made of block traces, whose objects are addresses, the user says
//! both.

use super::binary::{le16, le32, le64};
use super::fault::Fault;
use super::format::{LineParser, Piece, TraceFormat};
use super::record::Record;
use crate::Operation;
use copyback_config::ReadOrWrite;
use copyback_config::quantity::Size;

const RECORD: usize = 24;
const HEADER: usize = 1024;
/// The first and the last eight bytes of lcs's header.
const MAGIC: u64 = 0x1234_5678_9abc_def0;
const NS_PER_S: u64 = 1_000_000_000;

/// Records that must make sense to take a file for oracleGeneral, which has no mark.
const CONVINCING: usize = 4;
/// Records that are looked at.
const LOOKED_AT: usize = 1000;
/// No block trace has requests that are larger.
const LARGEST: u64 = 16 << 20;
/// No trace has more requests.
const MOST_REQUESTS: i64 = 1 << 48;

/// The parser of a file.
#[derive(Debug, Default)]
pub struct Parser {
    objects: Objects,
    state: State,
    /// Records read.
    count: u64,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Start,
    /// Behind so much of lcs's header.
    Header(Vec<u8>),
    /// Among the records of oracleGeneral.
    OracleGeneral,
    /// Among the records of an lcs.
    Lcs(Layout),
}

impl LineParser for Parser {
    fn configure(&mut self, format: &TraceFormat) {
        if let TraceFormat::Libcachesim { operation, object_unit } = format {
            self.objects = Objects::new("libcachesim", *operation, *object_unit);
        }
    }

    fn recognises(_: &[u8]) -> bool {
        false
    }

    fn recognises_start(head: &[u8]) -> bool {
        head.starts_with(&MAGIC.to_le_bytes()) || is_oracle_general(head)
    }

    #[inline]
    fn wants(&self) -> Piece {
        Piece::Bytes(match &self.state {
            State::Start | State::OracleGeneral => RECORD,
            State::Header(start) => HEADER - start.len(),
            State::Lcs(layout) => layout.size,
        })
    }

    fn parse(&mut self, bytes: &[u8]) -> Result<Option<Record>, Fault> {
        match &mut self.state {
            State::Start if le64(bytes, 0) == MAGIC => {
                self.state = State::Header(bytes.to_vec());
                return Ok(None);
            }
            State::Start => self.state = State::OracleGeneral,
            State::Header(start) => {
                start.extend(bytes);
                self.state = State::Lcs(Layout::of(start)?);
                return Ok(None);
            }
            State::OracleGeneral | State::Lcs(_) => {}
        }
        self.count += 1;
        match &self.state {
            State::Lcs(layout) => layout.request(bytes, &self.objects).map(Some),
            _ => oracle_general(bytes, self.count, &self.objects).map(Some),
        }
    }

    fn can_go_on(&self) -> bool {
        !matches!(self.state, State::Header(_))
    }
}

/// Places of the objects of a cache's trace on a drive, and the operation of its requests.
#[derive(Debug, Default)]
pub struct Objects {
    format: &'static str,
    operation: Option<Operation>,
    unit: Option<u64>,
}

impl Objects {
    /// Reads the configuration of the format called `format`.
    pub fn new(format: &'static str, operation: Option<ReadOrWrite>, unit: Option<Size>) -> Self {
        let operation = operation.map(Operation::from);
        Self { format, operation, unit: unit.map(|unit| unit.0) }
    }

    /// A request for `length` bytes of an object; `operation` as the trace has it, if it does.
    pub fn request(
        &self,
        time_ns: u64,
        object: u64,
        length: u64,
        operation: Option<Operation>,
    ) -> Result<Record, Fault> {
        let (Some(operation), Some(unit)) = (operation.or(self.operation), self.unit) else {
            return Err(self.unsaid());
        };
        let offset = object.checked_mul(unit).ok_or_else(|| {
            let found = object.to_string();
            Fault::field("object", found.as_bytes(), "a number whose address fits 64 bits")
        })?;
        Ok(Record::new(time_ns, operation, offset, length))
    }

    #[cold]
    fn unsaid(&self) -> Fault {
        Fault::other(format!(
            "the trace of a cache says neither what its requests are nor how its objects lie on a drive; \
             expected workload.format = {{ type = \"{}\", operation = \"read\" or \"write\", object_unit \
             = \"512B\" or whatever lies between one object and the next }}",
            self.format,
        ))
    }
}

/// The request of a record, the `count`th from 1.
fn oracle_general(record: &[u8], count: u64, objects: &Objects) -> Result<Record, Fault> {
    let next = le64(record, 16).cast_signed();
    if !is_next(next, count) {
        return Err(Fault::other(format!(
            "next access: found {next} in request {count}; expected -1, or the number of a later request"
        )));
    }
    let time_ns = le32(record, 0) * NS_PER_S;
    objects.request(time_ns, le64(record, 4), le32(record, 12), None)
}

/// Whether the next access of request `count` may be the request `next`: none, or a later one. Some
/// writers count from 0.
fn is_next(next: i64, count: u64) -> bool {
    let is_none = next == -1 || next == i64::MAX;
    is_none || next < MOST_REQUESTS && u64::try_from(next).is_ok_and(|next| next >= count)
}

/// Whether the first records can be nothing else.
fn is_oracle_general(head: &[u8]) -> bool {
    let mut latest = 0;
    let mut records = 0;
    for record in head.chunks_exact(RECORD).take(LOOKED_AT) {
        records += 1;
        let (time, length) = (le32(record, 0), le32(record, 12));
        let next = le64(record, 16).cast_signed();
        if time < latest || !(1..=LARGEST).contains(&length) || !is_next(next, records) {
            return false;
        }
        latest = time;
    }
    records >= CONVINCING as u64
}

/// Offsets of the fields in an lcs's records.
#[derive(Debug)]
struct Layout {
    size: usize,
    time: Field,
    object: Field,
    length: Field,
    operation: Option<Field>,
}

/// A number in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Field {
    at: usize,
    /// Letter of the field's type in Python's `struct`.
    letter: u8,
}

impl Layout {
    /// Reads the layout from the header.
    fn of(header: &[u8]) -> Result<Self, Fault> {
        let count = le32(header, 1000) as usize;
        let format = header.get(8..8 + 240).unwrap_or_default();
        let letters = match format {
            [b'<', letters @ ..] if count < 240 && le64(header, 1016) == MAGIC => &letters[..count],
            _ => {
                return Err(Fault::other(
                    "header: found none that is whole; expected that of an lcs",
                ));
            }
        };
        let mut fields = Vec::new();
        let mut at = 0;
        for letter in letters {
            fields.push(Field { at, letter: *letter });
            at += width(*letter).ok_or_else(|| {
                Fault::field("header", letters, "letters of c, b, B, h, H, i, I, q, Q, f and d")
            })?;
        }
        let size = le32(header, 1004) as usize;
        if size != at || size == 0 {
            return Err(Fault::other(format!(
                "header: found records of {size} bytes; expected {at}, as its fields have"
            )));
        }
        let field = |index: usize, what| {
            let number = usize::from(header[index]).checked_sub(1);
            let field = number.and_then(|number| fields.get(number)).copied();
            let field = field.filter(|field| !matches!(field.letter, b'f' | b'd'));
            field.ok_or_else(|| {
                Fault::other(format!("header: found no whole number for the {what}; expected one"))
            })
        };
        let (object, length, time) =
            (field(248, "object")?, field(249, "size")?, field(250, "time")?);
        // Writers leave the number of a field that they have none of as it happens to be.
        let taken = [object, length, time, field(252, "next access").unwrap_or(object)];
        let operation = field(253, "operation").ok().filter(|field| !taken.contains(field));
        Ok(Self { size, time, object, length, operation })
    }

    fn request(&self, record: &[u8], objects: &Objects) -> Result<Record, Fault> {
        let time_ns = self.time.number(record, "time")?.checked_mul(NS_PER_S);
        let time_ns = time_ns.ok_or_else(|| Fault::other("time: expected a smaller number"))?;
        let object = self.object.number(record, "object")?;
        let length = self.length.number(record, "size")?;
        let operation = match self.operation {
            Some(field) => operation(field.number(record, "operation")?)?,
            None => None,
        };
        objects.request(time_ns, object, length, operation)
    }
}

/// Operation of libCacheSim's number; `None` if nothing is known.
fn operation(number: u64) -> Result<Option<Operation>, Fault> {
    match number {
        0 => Ok(None),
        // get, gets, read
        1 | 2 | 12 => Ok(Some(Operation::Read)),
        // set, add, cas, replace, append, prepend, incr, decr, write, update
        3..=8 | 10 | 11 | 13 | 14 => Ok(Some(Operation::Write)),
        9 => Ok(Some(Operation::Trim)),
        _ => {
            let found = number.to_string();
            Err(Fault::field("operation", found.as_bytes(), "a number from 0 to 14"))
        }
    }
}

fn width(letter: u8) -> Option<usize> {
    match letter {
        b'c' | b'b' | b'B' => Some(1),
        b'h' | b'H' => Some(2),
        b'i' | b'I' | b'f' => Some(4),
        b'q' | b'Q' | b'd' => Some(8),
        _ => None,
    }
}

impl Field {
    fn number(self, record: &[u8], what: &'static str) -> Result<u64, Fault> {
        let (number, bits) = match width(self.letter) {
            Some(1) => (u64::from(record[self.at]), 8),
            Some(2) => (le16(record, self.at), 16),
            Some(4) => (le32(record, self.at), 32),
            _ => (le64(record, self.at), 64),
        };
        let is_signed = self.letter.is_ascii_lowercase();
        if is_signed && number >> (bits - 1) != 0 {
            return Err(Fault::other(format!("{what}: found a negative number; expected none")));
        }
        Ok(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(time: u32, object: u64, length: u32, next: i64) -> Vec<u8> {
        let mut bytes = time.to_le_bytes().to_vec();
        bytes.extend(object.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(next.to_le_bytes());
        bytes
    }

    fn header(format: &str, size: u32, fields: [u8; 6]) -> Vec<u8> {
        let mut header = vec![0; HEADER];
        header[..8].copy_from_slice(&MAGIC.to_le_bytes());
        header[8..8 + format.len()].copy_from_slice(format.as_bytes());
        header[248..254].copy_from_slice(&fields);
        header[1000] = format.len() as u8 - 1;
        header[1004..1008].copy_from_slice(&size.to_le_bytes());
        header[1016..].copy_from_slice(&MAGIC.to_le_bytes());
        header
    }

    fn read(bytes: &[u8], operation: Option<ReadOrWrite>) -> Result<Vec<Record>, String> {
        let mut parser = Parser::default();
        parser.configure(&TraceFormat::Libcachesim { operation, object_unit: Some(Size(512)) });
        let (mut rest, mut records) = (bytes, Vec::new());
        while let Piece::Bytes(count) = parser.wants()
            && let Some((piece, more)) = rest.split_at_checked(count)
        {
            records.extend(parser.parse(piece).map_err(|fault| fault.to_string())?);
            rest = more;
        }
        Ok(records)
    }

    fn good() -> Vec<u8> {
        [(7, 64, 3), (7, 128, -1), (8, 64, 4), (9, 64, i64::MAX)]
            .into_iter()
            .flat_map(|(time, object, next)| record(time, object, 4096, next))
            .collect()
    }

    #[test]
    fn reads_and_recognises_oracle_general() {
        let of =
            |s: u64, sector: u64| Record::new(s * NS_PER_S, Operation::Write, sector * 512, 4096);
        let expected = vec![of(7, 64), of(7, 128), of(8, 64), of(9, 64)];
        assert_eq!(read(&good(), Some(ReadOrWrite::Write)), Ok(expected));
        assert!(Parser::recognises_start(&good()));
        assert!(!Parser::recognises_start(&good()[..72]), "too little to be certain");
        let others: [&[u8]; 4] = [
            &[0; 240],
            &[0xff; 240],
            b"128166386783630075,hm,0,Write,3164164096,40960,2896\n128166386783630075,hm,0,Write,3164164096,40960,2896\n",
            &b"1\x002\x008\x00,\x00".repeat(20),
        ];
        for other in others {
            assert!(!Parser::recognises_start(other), "{other:?}");
        }
        let later_first = [record(9, 1, 512, -1), good()].concat();
        assert!(!Parser::recognises_start(&later_first));
    }

    #[test]
    fn reads_lcs() {
        let plain = [header("<IQIQ", 24, [2, 3, 1, 0, 4, 0]), good()].concat();
        assert!(Parser::recognises_start(&plain));
        let expected = read(&good(), Some(ReadOrWrite::Read));
        assert_eq!(read(&plain, Some(ReadOrWrite::Read)), expected);
        let mut with_operations = header("<BqIHi", 19, [2, 3, 5, 0, 0, 1]);
        for operation in [1, 13, 9] {
            with_operations.push(operation);
            with_operations.extend(64_u64.to_le_bytes());
            with_operations.extend([0, 2, 0, 0, 99, 99]);
            with_operations.extend(7_u32.to_le_bytes());
        }
        let of = |operation| Record::new(7 * NS_PER_S, operation, 64 * 512, 512);
        let expected = [Operation::Read, Operation::Write, Operation::Trim].map(of);
        assert_eq!(read(&with_operations, None), Ok(expected.to_vec()));
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |bytes: &[u8]| read(bytes, Some(ReadOrWrite::Read)).unwrap_err();
        assert_eq!(
            fault(&record(1, 1, 512, 0)),
            "next access: found 0 in request 1; expected -1, or the number of a later request"
        );
        assert_eq!(
            fault(&record(1, u64::MAX, 512, 1)),
            "object: found \"18446744073709551615\"; expected a number whose address fits 64 bits"
        );
        assert_eq!(
            fault(&header("<IQIQ", 20, [2, 3, 1, 0, 4, 0])),
            "header: found records of 20 bytes; expected 24, as its fields have"
        );
        assert_eq!(
            fault(&header("<IQsQ", 24, [2, 3, 1, 0, 4, 0])),
            "header: found \"IQsQ\"; expected letters of c, b, B, h, H, i, I, q, Q, f and d"
        );
        assert_eq!(
            fault(&header("<IQId", 24, [4, 3, 1, 0, 0, 0])),
            "header: found no whole number for the object; expected one"
        );
        let mut cut = header("<IQIQ", 24, [2, 3, 1, 0, 4, 0]);
        cut[1020] = 0;
        assert_eq!(fault(&cut), "header: found none that is whole; expected that of an lcs");
        let negative = [header("<iQIQ", 24, [2, 3, 1, 0, 4, 0]), record(1 << 31, 1, 1, 1)].concat();
        assert_eq!(fault(&negative), "time: found a negative number; expected none");
        let unsaid = read(&good(), None).unwrap_err();
        assert!(unsaid.starts_with("the trace of a cache says neither"), "{unsaid}");
    }
}
