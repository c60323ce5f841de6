//! fio's I/O log. Version 2: `/dev/sda write 8192 4096`; its `wait` lines, in microseconds, say how
//! much later than the `wait` before the lines that follow are. Version 3 has no `wait`; each line
//! starts with microseconds: `872 /dev/sda write 8192 4096`. Offsets and sizes are in bytes.
//!
//! A version 2 log without `wait` has no times: everything arrives at once, unless
//! `workload.iodepth` replays it as a closed loop. `add`, `open` and `close` say nothing to a drive;
//! the ways to sync are flushes. Each file is a device.

use super::columns::{Columns, Separator};
use super::devices::Selector;
use super::fault::Fault;
use super::format::LineParser;
use super::record::Record;
use crate::Operation;

const LAYOUT_2: &str = "2 or 4 columns (file op offset bytes)";
const LAYOUT_3: &str = "3 or 5 columns (us file op offset bytes)";
const NS_PER_US: u64 = 1000;

/// The parser of a file: knows its version and, of version 2, the time.
#[derive(Debug, Default)]
pub struct Parser {
    version: Option<Version>,
    waited_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Two,
    Three,
}

impl LineParser for Parser {
    fn recognises(line: &[u8]) -> bool {
        version(line).is_some()
    }

    fn can_go_on(&self) -> bool {
        self.version.is_some()
    }

    const DEVICE: &'static str = "a file's name";

    fn selector(name: &[u8]) -> Option<Selector> {
        Some(Selector::only(device(name)))
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        match self.version {
            Some(Version::Two) => self.second(line),
            Some(Version::Three) => third(line),
            None => {
                self.version = version(line);
                let missing = || Fault::field("first line", line, "\"fio version 2 iolog\" or 3");
                self.version.map(|_| None).ok_or_else(missing)
            }
        }
    }
}

impl Parser {
    fn second(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        let mut columns = Columns::new(line, Separator::Blanks, LAYOUT_2);
        let file = columns.text()?;
        let action = columns.text()?;
        if action == b"wait" {
            let wait_ns = columns.multiple("wait", NS_PER_US, "a whole number of microseconds")?;
            let late = || Fault::other("wait: found more than 584 years in all; expected less");
            self.waited_ns = self.waited_ns.checked_add(wait_ns).ok_or_else(late)?;
            return Ok(None);
        }
        let expected = "read, write, trim, sync, datasync, wait, add, open or close";
        request(columns, self.waited_ns, file, action, expected)
    }
}

fn third(line: &[u8]) -> Result<Option<Record>, Fault> {
    let mut columns = Columns::new(line, Separator::Blanks, LAYOUT_3);
    let time_ns = columns.multiple("time", NS_PER_US, "a whole number of microseconds")?;
    let file = columns.text()?;
    let action = columns.text()?;
    let expected = "read, write, trim, sync, datasync, add, open or close";
    request(columns, time_ns, file, action, expected)
}

fn version(line: &[u8]) -> Option<Version> {
    match line.trim_ascii() {
        b"fio version 2 iolog" => Some(Version::Two),
        b"fio version 3 iolog" => Some(Version::Three),
        _ => None,
    }
}

/// Parses the fields that follow file and action.
fn request(
    mut columns: Columns<'_>,
    time_ns: u64,
    file: &[u8],
    action: &[u8],
    expected: &'static str,
) -> Result<Option<Record>, Fault> {
    let operation = match action {
        b"read" => Operation::Read,
        b"write" => Operation::Write,
        b"trim" => Operation::Trim,
        b"sync" | b"datasync" | b"sync_file_range" => Operation::Flush,
        b"add" | b"open" | b"close" => return columns.end().map(|()| None),
        _ => return Err(Fault::field("operation", action, expected)),
    };
    let (mut offset, mut length) = (0, 0);
    if operation != Operation::Flush || columns.end().is_err() {
        offset = columns.whole("offset", "a whole number of bytes")?;
        length = columns.whole("size", "a whole number of bytes")?;
        columns.end()?;
    }
    Ok(Some(Record::new(time_ns, operation, offset, length).on(device(file))))
}

fn device(file: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = "fio version 2 iolog\n";
    const THREE: &str = "fio version 3 iolog\n";

    /// Time, operation, offset and length of every request.
    fn read(log: &str) -> Result<Vec<(u64, Operation, u64, u64)>, Fault> {
        let mut parser = Parser::default();
        let mut requests = Vec::new();
        for line in log.lines() {
            requests.extend(parser.parse(line.as_bytes())?);
        }
        let fields = |r: &Record| (r.time_ns, r.operation, r.offset, r.length);
        Ok(requests.iter().map(fields).collect())
    }

    fn fault(log: &str) -> String {
        read(log).unwrap_err().to_string()
    }

    #[test]
    fn version_2_adds_up_what_it_waits() {
        let log = "d add\nd open\nd write 0 512\nd wait 150 0\nd read 8192 4096\nd wait 50\n\
                   d trim 0 512\nd sync\nd datasync 0 0\nd close";
        let expected = [
            (0, Operation::Write, 0, 512),
            (150_000, Operation::Read, 8192, 4096),
            (200_000, Operation::Trim, 0, 512),
            (200_000, Operation::Flush, 0, 0),
            (200_000, Operation::Flush, 0, 0),
        ];
        assert_eq!(read(&format!("{TWO}{log}")).unwrap(), expected);
    }

    #[test]
    fn version_3_has_times() {
        let log = "2 d add\n872 d open\n878 d write 0 16384\n888 d sync 0 0\n900 d close";
        let expected = [(878_000, Operation::Write, 0, 16_384), (888_000, Operation::Flush, 0, 0)];
        assert_eq!(read(&format!("{THREE}{log}")).unwrap(), expected);
    }

    #[test]
    fn files_are_devices() {
        let device = |line: &[u8]| third(line).unwrap().unwrap().device;
        assert_eq!(device(b"1 a read 0 512"), device(b"2 a write 0 512"));
        assert_ne!(device(b"1 a read 0 512"), device(b"1 b read 0 512"));
    }

    #[test]
    fn says_what_is_wrong() {
        assert_eq!(
            fault("d read 0 512"),
            "first line: found \"d read 0 512\"; expected \"fio version 2 iolog\" or 3"
        );
        assert_eq!(
            fault(&format!("{THREE}1 d wait 100")),
            "operation: found \"wait\"; expected read, write, trim, sync, datasync, add, open or \
             close"
        );
        assert_eq!(
            fault(&format!("{THREE}d read 0 512")),
            "time: found \"d\"; expected a whole number of microseconds"
        );
        let columns = fault(&format!("{TWO}d read 0"));
        assert_eq!(columns, format!("columns: found 3; expected {LAYOUT_2}"));
        let columns = fault(&format!("{TWO}d open 0"));
        assert_eq!(columns, format!("columns: found 3; expected {LAYOUT_2}"));
        let late = format!("{TWO}d wait {0}\nd wait {0}", 18_000_000_000_000_000_u64);
        assert_eq!(fault(&late), "wait: found more than 584 years in all; expected less");
    }
}
