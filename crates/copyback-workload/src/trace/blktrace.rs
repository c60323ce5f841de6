//! Binary output of blktrace: a stream of events, each with a head of 48 bytes and a payload that is ignored,
//! in the byte order of the machine that was traced:
//!
//! ```text
//! magic u32, sequence u32, ns u64, sector u64, bytes u32, action u32, pid u32, device u32, cpu u32,
//! error u16, payload u16
//! ```
//!
//! blktrace writes a file for each processor; here they come as one stream (see
//! [`blktrace_files`](super::blktrace_files)), or one file as `blkparse -d FILE` merges them. The
//! low half of `action` says what happened, the high half what was asked for.

use super::binary::{be16, be32, be64, le16, le32, le64};
use super::devices::{MAJOR_MINOR, Selector, major_minor};
use super::fault::Fault;
use super::format::{LineParser, Piece, TraceFormat};
use super::record::{Record, SECTOR};
use crate::Operation;
use copyback_config::BlkparseAction;

/// Bytes of an event without its payload.
pub const HEAD: usize = 48;
/// Error for a file that ends behind an event's head.
pub const NO_PAYLOAD: &str = "found the end of the file; expected an event's payload";
/// The three upper bytes of the magic number; the lowest is the version.
const MAGIC: u64 = 0x0065_6174;
const VERSION: u64 = 7;

const WRITE: u64 = 1 << 1;
const FLUSH: u64 = 1 << 2;
const PACKET: u64 = 1 << 9;
const NOTIFY: u64 = 1 << 10;
const DISCARD: u64 = 1 << 13;

/// The parser of a file: knows how long the payload of the last event is.
#[derive(Debug, Default)]
pub struct Parser {
    action: BlkparseAction,
    payload: usize,
    requests: bool,
    events: u64,
}

impl LineParser for Parser {
    fn recognises(_: &[u8]) -> bool {
        false
    }

    fn recognises_start(head: &[u8]) -> bool {
        head.len() >= HEAD && (is_magic(le32(head, 0)) || is_magic(be32(head, 0)))
    }

    fn configure(&mut self, format: &TraceFormat) {
        if let TraceFormat::Blktrace { action } = format {
            self.action = *action;
        }
    }

    #[inline]
    fn wants(&self) -> Piece {
        Piece::Bytes(if self.payload == 0 { HEAD } else { self.payload })
    }

    fn parse(&mut self, bytes: &[u8]) -> Result<Option<Record>, Fault> {
        if self.payload > 0 {
            self.payload = 0;
            return Ok(None);
        }
        let event = Event::of(bytes)?;
        self.payload = event.payload as usize;
        self.events += 1;
        if event.what != number(self.action) || event.asked & (NOTIFY | PACKET) != 0 {
            return Ok(None);
        }
        let request = event.request()?;
        self.requests |= request.is_some();
        Ok(request)
    }

    fn can_go_on(&self) -> bool {
        // An event that can't be read doesn't tell how long its payload is.
        false
    }

    const DEVICE: &'static str = MAJOR_MINOR;

    fn selector(name: &[u8]) -> Option<Selector> {
        major_minor(name).map(Selector::only)
    }

    fn at_end(&self) -> Result<(), Fault> {
        if self.payload > 0 {
            return Err(Fault::other(NO_PAYLOAD));
        }
        if self.requests || self.events == 0 {
            return Ok(());
        }
        Err(Fault::other(format!(
            "action: found {} events and no request with {}; expected one (workload.format = {{ \
             type = \"blktrace\", action = ... }} chooses)",
            self.events,
            char::from(self.action.letter()),
        )))
    }
}

/// When the event with this head happened, and the bytes of its payload.
///
/// # Errors
/// If it is no head of an event.
pub fn time_and_payload(head: &[u8]) -> Result<(u64, usize), Fault> {
    Event::of(head).map(|event| (event.time_ns, event.payload as usize))
}

/// The number of an action in the low half of its field.
fn number(action: BlkparseAction) -> u64 {
    match action {
        BlkparseAction::Queued => 1,
        BlkparseAction::Got => 4,
        BlkparseAction::Issued => 7,
        BlkparseAction::Completed => 8,
        BlkparseAction::Inserted => 12,
    }
}

fn is_magic(number: u64) -> bool {
    number == MAGIC << 8 | VERSION
}

/// The fields that count.
struct Event {
    time_ns: u64,
    sector: u64,
    bytes: u64,
    what: u64,
    asked: u64,
    device: u64,
    payload: u64,
}

impl Event {
    fn of(head: &[u8]) -> Result<Self, Fault> {
        if is_magic(le32(head, 0)) {
            Ok(Self::read(head, le16, le32, le64))
        } else if is_magic(be32(head, 0)) {
            Ok(Self::read(head, be16, be32, be64))
        } else {
            let found = le32(head, 0);
            Err(Fault::other(format!(
                "magic number: found {found:#010x}; expected 0x65617407, blktrace's of version 7"
            )))
        }
    }

    fn read(
        head: &[u8],
        n16: fn(&[u8], usize) -> u64,
        n32: fn(&[u8], usize) -> u64,
        n64: fn(&[u8], usize) -> u64,
    ) -> Self {
        let action = n32(head, 28);
        Self {
            time_ns: n64(head, 8),
            sector: n64(head, 16),
            bytes: n32(head, 24),
            what: action & 0xffff,
            asked: action >> 16,
            device: n32(head, 36),
            payload: n16(head, 46),
        }
    }

    /// The request; `None` for the completion of a write without data, whose flush completes in an
    /// event of its own.
    fn request(&self) -> Result<Option<Record>, Fault> {
        let &Self { time_ns, bytes: length, device, asked, .. } = self;
        let operation = match length {
            0 if asked & FLUSH != 0 => Operation::Flush,
            0 if asked & WRITE != 0 && self.what == 8 => return Ok(None),
            _ if asked & DISCARD != 0 => Operation::Trim,
            _ if asked & WRITE != 0 => Operation::Write,
            _ => Operation::Read,
        };
        let offset = self.sector.checked_mul(SECTOR);
        let offset = match operation {
            Operation::Flush => 0,
            _ => offset.ok_or_else(|| Fault::other("sector: expected a smaller number"))?,
        };
        Ok(Some(Record::new(time_ns, operation, offset, length).on(device)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::binary::records;
    use super::*;

    const QUEUE: u32 = 1 | 1 << 20;

    fn event(action: u32, sector: u64, bytes: u32, payload: &[u8]) -> Vec<u8> {
        let mut event = Vec::new();
        event.extend(0x6561_7407_u32.to_le_bytes());
        event.extend(1_u32.to_le_bytes());
        event.extend(9_507_758_u64.to_le_bytes());
        event.extend(sector.to_le_bytes());
        for number in [bytes, action, 697, 8 << 20, 3] {
            event.extend(number.to_le_bytes());
        }
        event.extend(0_u16.to_le_bytes());
        event.extend((payload.len() as u16).to_le_bytes());
        event.extend(payload);
        event
    }

    fn read(bytes: &[u8]) -> Result<Vec<Record>, Fault> {
        records::<Parser>(bytes)
    }

    fn of(asked: u64, bytes: u32) -> Option<Operation> {
        let action = 1 | (asked as u32) << 16;
        read(&event(action, 8, bytes, b"")).unwrap().first().map(|record| record.operation)
    }

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 9_507_758,
            operation: Operation::Read,
            offset: 223_490 * 512,
            length: 4096,
            device: 8 << 20,
            measured: None,
            handle: None,
        };
        let remapped = event(15 | 1 << 20, 1, 4096, &[9; 16]);
        let queued = event(QUEUE, 223_490, 4096, b"");
        assert!(Parser::recognises_start(&queued));
        assert_eq!(read(&[remapped, queued].concat()), Ok(vec![expected]));
    }

    #[test]
    fn reads_the_other_byte_order() {
        let mut big = Vec::new();
        big.extend(0x6561_7407_u32.to_be_bytes());
        big.extend(1_u32.to_be_bytes());
        big.extend(5_u64.to_be_bytes());
        big.extend(8_u64.to_be_bytes());
        for number in [512, QUEUE, 697, 8 << 20, 3, 0] {
            big.extend(number.to_be_bytes());
        }
        let expected = Record {
            time_ns: 5,
            operation: Operation::Read,
            offset: 4096,
            length: 512,
            device: 8 << 20,
            measured: None,
            handle: None,
        };
        assert_eq!(read(&big), Ok(vec![expected]));
    }

    #[test]
    fn carries_discards_and_flushes() {
        assert_eq!(of(1, 512), Some(Operation::Read));
        assert_eq!(of(WRITE, 512), Some(Operation::Write));
        assert_eq!(of(WRITE | DISCARD, 512), Some(Operation::Trim));
        assert_eq!(of(WRITE | FLUSH, 0), Some(Operation::Flush));
        assert_eq!(of(WRITE | FLUSH, 512), Some(Operation::Write));
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert_eq!(
            fault(&[0; 48]),
            "magic number: found 0x00000000; expected 0x65617407, blktrace's of version 7"
        );
        assert_eq!(
            fault(&event(7, 8, 512, b"")),
            "action: found 1 events and no request with Q; expected one (workload.format = { type \
             = \"blktrace\", action = ... } chooses)"
        );
        let cut = event(QUEUE, 8, 512, b"payload");
        assert_eq!(fault(&cut[..50]), "found the end of the file; expected an event's payload");
        assert_eq!(fault(&event(QUEUE, u64::MAX, 512, b"")), "sector: expected a smaller number");
    }
}
