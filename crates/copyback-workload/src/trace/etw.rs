//! Disk events of Windows (ETW), as `xperf -a dumper` prints them and SNIA's collection has them, from
//! Microsoft's production servers for example:
//!
//! ```text
//! BeginHeader
//!  DiskRead,  TimeStamp,  Process Name ( PID),   ThreadID, CPU,  IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, ...
//! EndHeader
//!  DiskRead,       8612,     xperf.exe (3984),      11844,   1, 0xffffe288b23f1b20, 0x018f0b8000, 0x00001000, 283,  0, ...
//! ```
//!
//! The header names the columns of each kind of event. Times are in microseconds; that of an event is
//! the completion's, and a request arrives so much earlier as it took. Flushes have no address.
//! All other events are passed over. Read from this sample and from the description of the older
//! columns, without `CPU`, that stands with tools for SNIA's files.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::format::LineParser;
use super::number;
use super::record::Record;
use crate::Operation;
use copyback_config::units::Duration;

const LAYOUT: &str = "an event and its columns (DiskRead,us,process,...)";
const NS_PER_US: u64 = 1000;

/// The parser of a file.
#[derive(Debug, Default)]
pub struct Parser {
    in_header: bool,
    reads: Option<Places>,
    writes: Option<Places>,
    flushes: Option<Places>,
}

/// Columns of an event's fields, from 0; a field that the event does not have is absent.
#[derive(Debug, Clone, Copy)]
struct Places {
    time: usize,
    elapsed: usize,
    disk: usize,
    range: Option<(usize, usize)>,
}

impl LineParser for Parser {
    fn recognises(line: &[u8]) -> bool {
        let line = line.trim_ascii();
        line == b"BeginHeader" || Kind::of(line).is_some()
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        match line.trim_ascii() {
            b"BeginHeader" => self.in_header = true,
            b"EndHeader" => self.in_header = false,
            line if self.in_header => self.take_names(line),
            line => return self.event(line),
        }
        Ok(None)
    }

    fn can_go_on(&self) -> bool {
        !self.in_header
    }

    const BY_COMPLETION: bool = true;
}

/// The events that are requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    Flush,
}

impl Kind {
    fn of(line: &[u8]) -> Option<Self> {
        let comma = memchr::memchr(b',', line)?;
        match line[..comma].trim_ascii() {
            b"DiskRead" => Some(Self::Read),
            b"DiskWrite" => Some(Self::Write),
            b"DiskFlush" => Some(Self::Flush),
            _ => None,
        }
    }

    fn operation(self) -> Operation {
        match self {
            Self::Read => Operation::Read,
            Self::Write => Operation::Write,
            Self::Flush => Operation::Flush,
        }
    }
}

impl Parser {
    fn places(&mut self, kind: Kind) -> &mut Option<Places> {
        match kind {
            Kind::Read => &mut self.reads,
            Kind::Write => &mut self.writes,
            Kind::Flush => &mut self.flushes,
        }
    }

    fn take_names(&mut self, line: &[u8]) {
        let Some(kind) = Kind::of(line) else { return };
        let place = |name: &[u8]| {
            line.split(|byte| *byte == b',').position(|column| column.trim_ascii() == name)
        };
        let range = place(b"ByteOffset").zip(place(b"IOSize"));
        let places = |time, elapsed, disk| Places { time, elapsed, disk, range };
        if let (Some(time), Some(elapsed), Some(disk)) =
            (place(b"TimeStamp"), place(b"ElapsedTime"), place(b"DiskNum"))
        {
            *self.places(kind) = Some(places(time, elapsed, disk));
        }
    }

    fn event(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        if !line.contains(&b',') {
            return Err(Fault::columns(1, LAYOUT));
        }
        let Some(kind) = Kind::of(line) else { return Ok(None) };
        let Some(places) = *self.places(kind) else {
            let problem = "found an event whose columns no header names; expected BeginHeader, a line \
                           with TimeStamp, ElapsedTime and DiskNum for each kind of event, EndHeader";
            return Err(Fault::other(problem));
        };
        request(line, kind, places).map(Some)
    }
}

fn request(line: &[u8], kind: Kind, places: Places) -> Result<Record, Fault> {
    let column = |place| {
        let mut columns = Columns::new(line, Separator::Byte(b','), LAYOUT);
        for _ in 0..place {
            columns.text()?;
        }
        columns.text()
    };
    let us = |field, place| {
        let text = column(place)?;
        let ns = number::whole(text).and_then(|us| us.checked_mul(NS_PER_US));
        ns.ok_or_else(|| Fault::field(field, text, "a whole number of microseconds"))
    };
    let bytes = |field, place| {
        let text = column(place)?;
        let bytes = text.starts_with(b"0x").then(|| number::hexadecimal(text)).flatten();
        bytes.ok_or_else(|| Fault::field(field, text, "a hexadecimal number of bytes (0x...)"))
    };
    let (completed, took) = (us("TimeStamp", places.time)?, us("ElapsedTime", places.elapsed)?);
    let disk = column(places.disk)?;
    let device = number::whole(disk);
    let device = device.ok_or_else(|| Fault::field("DiskNum", disk, "a whole number"))?;
    let (offset, length) = match (kind, places.range) {
        (Kind::Flush, _) => (0, 0),
        (_, Some((offset, size))) => (bytes("ByteOffset", offset)?, bytes("IOSize", size)?),
        (_, None) => return Err(Fault::other("header: expected ByteOffset and IOSize in it")),
    };
    let time_ns = completed.saturating_sub(took);
    let record = Record::new(time_ns, kind.operation(), offset, length).on(device);
    Ok(record.took(Some(Duration::from_ns(took))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEW: &str = "BeginHeader
        DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID, CPU,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
        DiskReadInit,  TimeStamp,     Process Name ( PID),   ThreadID, CPU, IrpPtr
        DiskFlush,  TimeStamp, Process Name ( PID), ThreadID, CPU, IrpPtr,     ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri
        EndHeader";
    const OLD: &str = "BeginHeader
        DiskWrite,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap,         FileObject, FileName
        EndHeader";

    fn read(text: &str) -> Result<Vec<Record>, String> {
        let mut parser = Parser::default();
        let records = text.lines().map(|line| parser.parse(line.as_bytes()));
        records.filter_map(Result::transpose).map(|each| each.map_err(|f| f.to_string())).collect()
    }

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: (8612 - 283) * 1000,
            operation: Operation::Read,
            offset: 0x01_8f0b_8000,
            length: 4096,
            device: 2,
            measured: Some(Duration::from_us(283)),
            handle: None,
        };
        let rows = "OS Version: 10.0, Trace Size: 1 KB
            DiskReadInit,  8329,   xperf.exe (3984),  11844, 1, 0xffffe288b23f1b20
            DiskRead,      8612,   xperf.exe (3984),  11844, 1, 0xffffe288b23f1b20, 0x018f0b8000, 0x00001000, 283, 2, 0x060043, 283, 3, Original, 0xffffe288272d0d20, \"C:\\$Mft\"
            DiskFlush,     9000,   xperf.exe (3984),  11844, 1, 0xffffe288b23f1b20, 500, 2, 0x060043, 283, 3";
        let flush = Record {
            time_ns: 8_500_000,
            operation: Operation::Flush,
            offset: 0,
            length: 0,
            measured: Some(Duration::from_us(500)),
            ..expected
        };
        assert_eq!(read(&format!("{NEW}\n{rows}")), Ok(vec![expected, flush]));
        let row = "DiskWrite, 8612, a.exe (9), 1, 0xf, 0x018f0b8000, 0x00001000, 283, 2, 0x0, 1";
        let write = Record { operation: Operation::Write, ..expected };
        assert_eq!(read(&format!("{OLD}\n{row}")), Ok(vec![write]));
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |row: &str| read(&format!("{OLD}\n{row}")).unwrap_err();
        assert!(fault("DiskRead, 8612, a (9), 1, 0xf, 0x0, 0x1, 2, 2").contains("no header names"));
        assert_eq!(
            fault("DiskWrite, 8612, a (9), 1, 0xf, 4096, 0x1000, 2, 2"),
            "ByteOffset: found \"4096\"; expected a hexadecimal number of bytes (0x...)"
        );
        assert_eq!(
            fault("DiskWrite, 8612, a (9), 1, 0xf, 0x0, 0x1000"),
            format!("columns: found 7; expected {LAYOUT}")
        );
        assert_eq!(fault("rubbish"), format!("columns: found 1; expected {LAYOUT}"));
    }
}
