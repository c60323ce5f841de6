//! VMware's vscsi, binary: SCSI commands as a virtual disk got them, records of 32 bytes (version
//! 1) or 40 (version 2), least significant byte first:
//!
//! ```text
//! 1: serial u32, bytes u32, segments u32, command u16, version u16, sector u64, us u64
//! 2: command u16, version u16, serial u32, bytes u32, segments u32, sector u64, us u64, response u64
//! ```
//!
//! The version is the high byte of its field. Sectors have 512 bytes. The response time is in us.
//!
//! A virtual disk gets other commands, too. Those that neither read nor write its content, such as
//! INQUIRY, are passed over and counted in a note. So is UNMAP: the ranges that it discards are in its
//! data, which the trace does not hold. Any other command ends the replay.

use super::binary::{le16, le32, le64};
use super::fault::Fault;
use super::format::{LineParser, Piece};
use super::record::{Record, SECTOR};
use crate::Operation;
use copyback_config::units::Duration;

/// Offsets of a version's fields.
#[derive(Debug, Clone, Copy)]
struct Layout {
    version: u64,
    size: usize,
    command_at: usize,
    version_at: usize,
    bytes_at: usize,
    sector_at: usize,
    time_at: usize,
    response_at: Option<usize>,
}

const FIRST: Layout = Layout {
    version: 1,
    size: 32,
    command_at: 12,
    version_at: 14,
    bytes_at: 4,
    sector_at: 16,
    time_at: 24,
    response_at: None,
};
const SECOND: Layout = Layout {
    version: 2,
    size: 40,
    command_at: 0,
    version_at: 2,
    bytes_at: 8,
    sector_at: 16,
    time_at: 24,
    response_at: Some(32),
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
    unmaps: u64,
    /// Other commands that were passed over.
    others: u64,
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
                return self.record(layout, bytes);
            }
            self.start = bytes.try_into().ok();
            let unknown = || Fault::other("found no vscsi record of version 1 or 2; expected one");
            return self.layout.map(|_| None).ok_or_else(unknown);
        };
        let Some(start) = self.start.take() else { return self.record(layout, bytes) };
        let mut record = [0; SECOND.size];
        record[..START].copy_from_slice(&start);
        record[START..layout.size].copy_from_slice(bytes);
        self.record(layout, &record)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.unmaps > 0 {
            notes.push(format!(
                "{} UNMAP commands, whose ranges it lacks, were left out",
                self.unmaps
            ));
        }
        if self.others > 0 {
            notes.push(format!("{} commands that move no data were left out", self.others));
        }
        notes
    }
}

impl Parser {
    /// The request in a whole record, unless its command is passed over.
    fn record(&mut self, layout: Layout, record: &[u8]) -> Result<Option<Record>, Fault> {
        match layout.asked(record)? {
            Asked::Request(operation) => layout.request(operation, record).map(Some),
            Asked::Unmap => {
                self.unmaps += 1;
                Ok(None)
            }
            Asked::NoData => {
                self.others += 1;
                Ok(None)
            }
        }
    }
}

/// Operation of a command, or why it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Request(Operation),
    Unmap,
    NoData,
}

impl Layout {
    /// Whether a file that starts with `head` has two records of this version, or one and no more.
    fn starts(&self, head: &[u8]) -> bool {
        let records = || head.chunks_exact(self.size).take(2);
        let whole = head.len() == self.size || head.len() >= 2 * self.size;
        let is_request = |record| matches!(self.asked(record), Ok(Asked::Request(_)));
        whole && records().all(|record| self.asked(record).is_ok()) && records().any(is_request)
    }

    fn is_of(&self, record: &[u8]) -> bool {
        le16(record, self.version_at) >> 8 == self.version
    }

    fn command(&self, record: &[u8]) -> u64 {
        le16(record, self.command_at)
    }

    fn asked(&self, record: &[u8]) -> Result<Asked, Fault> {
        if !self.is_of(record) {
            return Err(Fault::other(format!(
                "version: found {}; expected {}, as in the first record",
                le16(record, self.version_at) >> 8,
                self.version
            )));
        }
        asked(self.command(record))
    }

    fn request(&self, operation: Operation, record: &[u8]) -> Result<Record, Fault> {
        let time_ns = le64(record, self.time_at).checked_mul(NS_PER_US);
        let offset = le64(record, self.sector_at).checked_mul(SECTOR);
        let small = |field| Fault::other(format!("{field}: expected a smaller number"));
        let (time_ns, offset) =
            (time_ns.ok_or_else(|| small("time"))?, offset.ok_or_else(|| small("sector"))?);
        let (offset, length) = match operation {
            Operation::Flush => (0, 0),
            _ => (offset, le32(record, self.bytes_at)),
        };
        let response = self.response_at.map(|at| le64(record, at).saturating_mul(NS_PER_US));
        Ok(Record::new(time_ns, operation, offset, length).took(response.map(Duration::from_ns)))
    }
}

/// Operation of a SCSI command.
fn asked(command: u64) -> Result<Asked, Fault> {
    match command {
        // READ, WRITE and WRITE AND VERIFY of every length, SYNCHRONIZE CACHE.
        0x08 | 0x28 | 0x88 | 0xa8 => Ok(Asked::Request(Operation::Read)),
        0x0a | 0x2a | 0x2e | 0x8a | 0x8e | 0xaa | 0xae => Ok(Asked::Request(Operation::Write)),
        0x35 | 0x91 => Ok(Asked::Request(Operation::Flush)),
        0x42 => Ok(Asked::Unmap),
        // TEST UNIT READY, REQUEST SENSE, INQUIRY, MODE SELECT and SENSE, RESERVE, RELEASE, START STOP
        // UNIT, diagnostics, PREVENT ALLOW, READ CAPACITY, VERIFY, LOG SENSE, PERSISTENT RESERVE,
        // SERVICE ACTION IN (READ CAPACITY), REPORT LUNS, MAINTENANCE.
        0x00
        | 0x03
        | 0x12
        | 0x15..=0x17
        | 0x1a..=0x1e
        | 0x25
        | 0x2f
        | 0x4c
        | 0x4d
        | 0x55..=0x57
        | 0x5a
        | 0x5e
        | 0x5f
        | 0x8f
        | 0x9e
        | 0xa0
        | 0xa3
        | 0xa4
        | 0xaf => Ok(Asked::NoData),
        _ => Err(Fault::other(format!(
            "command: found {command:#04x}; expected a SCSI command to read, write or synchronise \
             the cache, or one that moves no data"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::binary::records;
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
        records::<Parser>(bytes)
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
            handle: None,
        };
        let timed = expected.took(Some(Duration::from_us(99)));
        let one = first(0x2a, 42_932_745);
        assert_eq!(one.len(), 32);
        assert_eq!(read(&one.repeat(3)), Ok(vec![expected; 3]));
        let two = second(0x2a, 42_932_745);
        assert_eq!(two.len(), 40);
        assert_eq!(read(&two.repeat(3)), Ok(vec![timed; 3]));
        for bytes in [one, two] {
            assert!(Parser::recognises_start(&bytes));
            assert!(Parser::recognises_start(&bytes.repeat(2)));
            assert!(!Parser::recognises_start(&bytes[..31]));
        }
    }

    #[test]
    fn passes_over_what_moves_no_data_and_counts_it() {
        let records =
            [0x12, 0x2a, 0x42, 0x00, 0x35, 0x28].map(|command| first(command, 8)).concat();
        assert!(Parser::recognises_start(&records), "one of the first two is a write");
        assert!(!Parser::recognises_start(&[first(0, 8), first(0x12, 8)].concat()));
        let mut parser = Parser::default();
        let read = records.chunks(32).filter_map(|record| parser.parse(record).unwrap());
        let operations: Vec<_> = read.map(|record| (record.operation, record.length)).collect();
        let expected = [(Operation::Write, 512), (Operation::Flush, 0), (Operation::Read, 512)];
        assert_eq!(operations, expected);
        assert_eq!(
            parser.notes(),
            [
                "1 UNMAP commands, whose ranges it lacks, were left out",
                "2 commands that move no data were left out",
            ]
        );
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
        assert_eq!(fault(&[9; 32]), "found no vscsi record of version 1 or 2; expected one");
        assert_eq!(
            fault(&first(0x41, 0)),
            "command: found 0x41; expected a SCSI command to read, write or synchronise the cache, \
             or one that moves no data"
        );
        assert_eq!(fault(&first(0x28, u64::MAX)), "sector: expected a smaller number");
        let mut other = [first(0x28, 0), first(0x28, 0)].concat();
        other[32 + 15] = 2;
        assert_eq!(fault(&other), "version: found 2; expected 1, as in the first record");
    }
}
