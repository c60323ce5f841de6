//! VMware's vscsi, binary: SCSI commands as a virtual disk got them, records of 32 bytes (version
//! 1) or 40 (version 2), least significant byte first:
//!
//! ```text
//! 1: serial u32, bytes u32, segments u32, command u16, version u16, sector u64, us u64
//! 2: command u16, version u16, serial u32, bytes u32, segments u32, sector u64, us u64, response u64
//! ```
//!
//! The version is the high byte of its field. Sectors have 512 bytes.

use super::binary::{le16, le32, le64};
use super::fault::Fault;
use super::format::{LineParser, Piece};
use super::record::{Record, SECTOR};
use crate::workload::Operation;

/// Where a version has its fields.
#[derive(Debug, Clone, Copy)]
struct Layout {
    version: u64,
    size: usize,
    command_at: usize,
    version_at: usize,
    bytes_at: usize,
    sector_at: usize,
    time_at: usize,
}

const FIRST: Layout = Layout {
    version: 1,
    size: 32,
    command_at: 12,
    version_at: 14,
    bytes_at: 4,
    sector_at: 16,
    time_at: 24,
};
const SECOND: Layout = Layout {
    version: 2,
    size: 40,
    command_at: 0,
    version_at: 2,
    bytes_at: 8,
    sector_at: 16,
    time_at: 24,
};
const NS_PER_US: u64 = 1000;
/// Bytes that tell the version: a whole record of version 1.
const START: usize = FIRST.size;

/// The parser of a file: knows its version once it has seen the start of the first record.
/// Of version 2, that start waits for the rest of its record.
#[derive(Debug, Default)]
pub struct Parser {
    layout: Option<Layout>,
    start: Option<[u8; START]>,
}

impl LineParser for Parser {
    fn recognises(_: &[u8]) -> bool {
        false
    }

    fn recognises_start(head: &[u8]) -> bool {
        [FIRST, SECOND].iter().any(|layout| layout.starts(head))
    }

    #[inline]
    fn wants(&self) -> Piece {
        Piece::Bytes(match self.layout {
            None => START,
            Some(layout) if self.start.is_some() => layout.size - START,
            Some(layout) => layout.size,
        })
    }

    fn can_go_on(&self) -> bool {
        self.layout.is_some()
    }

    fn parse(&mut self, bytes: &[u8]) -> Result<Option<Record>, Fault> {
        let Some(layout) = self.layout else {
            self.layout = [FIRST, SECOND].into_iter().find(|layout| layout.is_of(bytes));
            if let Some(layout) = self.layout.filter(|layout| layout.size == START) {
                return layout.request(bytes).map(Some);
            }
            self.start = bytes.try_into().ok();
            let unknown = || Fault::other("found no vscsi record of version 1 or 2; expected one");
            return self.layout.map(|_| None).ok_or_else(unknown);
        };
        let Some(start) = self.start.take() else { return layout.request(bytes).map(Some) };
        let mut record = [0; SECOND.size];
        record[..START].copy_from_slice(&start);
        record[START..layout.size].copy_from_slice(bytes);
        layout.request(&record).map(Some)
    }
}

impl Layout {
    /// Whether a file that starts with `head` has two records of this version, or one and no more.
    fn starts(&self, head: &[u8]) -> bool {
        let mut records = head.chunks_exact(self.size).take(2);
        let whole = head.len() == self.size || head.len() >= 2 * self.size;
        whole && records.all(|record| self.is_of(record) && operation(self.command(record)).is_ok())
    }

    fn is_of(&self, record: &[u8]) -> bool {
        le16(record, self.version_at) >> 8 == self.version
    }

    fn command(&self, record: &[u8]) -> u64 {
        le16(record, self.command_at)
    }

    fn request(&self, record: &[u8]) -> Result<Record, Fault> {
        if !self.is_of(record) {
            return Err(Fault::other(format!(
                "version: found {}; expected {}, as in the first record",
                le16(record, self.version_at) >> 8,
                self.version
            )));
        }
        let operation = operation(self.command(record))?;
        let time_ns = le64(record, self.time_at).checked_mul(NS_PER_US);
        let offset = le64(record, self.sector_at).checked_mul(SECTOR);
        let small = |field| Fault::other(format!("{field}: expected a smaller number"));
        Ok(Record {
            time_ns: time_ns.ok_or_else(|| small("time"))?,
            operation,
            offset: offset.ok_or_else(|| small("sector"))?,
            length: le32(record, self.bytes_at),
            device: 0,
            measured: None,
        })
    }
}

/// What a SCSI command asks for.
fn operation(command: u64) -> Result<Operation, Fault> {
    match command {
        0x08 | 0x28 | 0x88 | 0xa8 => Ok(Operation::Read),
        0x0a | 0x2a | 0x8a | 0xaa => Ok(Operation::Write),
        0x35 | 0x91 => Ok(Operation::Flush),
        _ => Err(Fault::other(format!(
            "command: found {command:#04x}; expected a SCSI command to read, write or synchronise \
             the cache"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(command: u16, sector: u64) -> Vec<u8> {
        let head = [[7, 0, 0, 0x80], [0, 2, 0, 0], [1, 0, 0, 0]].concat();
        let command = command.to_le_bytes();
        let numbers = [sector.to_le_bytes(), 5_000_000_u64.to_le_bytes()].concat();
        [&head[..], &command, &[0, 1], &numbers].concat()
    }

    fn second(command: u16, sector: u64) -> Vec<u8> {
        let head = [[7, 0, 0, 0x80], [0, 2, 0, 0], [1, 0, 0, 0]].concat();
        let numbers = [sector, 5_000_000, 99].map(u64::to_le_bytes).concat();
        [&command.to_le_bytes()[..], &[0, 2], &head, &numbers].concat()
    }

    fn read(bytes: &[u8]) -> Result<Vec<Record>, Fault> {
        let (mut parser, mut rest, mut records) = (Parser::default(), bytes, Vec::new());
        while let Piece::Bytes(count) = parser.wants()
            && let Some((record, more)) = rest.split_at_checked(count)
        {
            records.extend(parser.parse(record)?);
            rest = more;
        }
        Ok(records)
    }

    #[test]
    fn reads_both_versions() {
        let expected = Record {
            time_ns: 5_000_000_000,
            operation: Operation::Write,
            offset: 42_932_745 * 512,
            length: 512,
            device: 0,
            measured: None,
        };
        let one = first(0x2a, 42_932_745);
        assert_eq!(one.len(), 32);
        assert_eq!(read(&one.repeat(3)), Ok(vec![expected; 3]));
        let two = second(0x2a, 42_932_745);
        assert_eq!(two.len(), 40);
        assert_eq!(read(&two.repeat(3)), Ok(vec![expected; 3]));
        for bytes in [one, two] {
            assert!(Parser::recognises_start(&bytes));
            assert!(Parser::recognises_start(&bytes.repeat(2)));
            assert!(!Parser::recognises_start(&bytes[..31]));
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert_eq!(fault(&[9; 32]), "found no vscsi record of version 1 or 2; expected one");
        assert_eq!(
            fault(&first(0x12, 0)),
            "command: found 0x12; expected a SCSI command to read, write or synchronise the cache"
        );
        assert_eq!(fault(&first(0x28, u64::MAX)), "sector: expected a smaller number");
        let mut other = [first(0x28, 0), first(0x28, 0)].concat();
        other[32 + 15] = 2;
        assert_eq!(fault(&other), "version: found 2; expected 1, as in the first record");
    }
}
