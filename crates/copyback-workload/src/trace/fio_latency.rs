//! fio's log of latencies (`write_lat_log`, with `log_offset`; read from fio's `iolog.c`, `stat.c` and
//! its manual): milliseconds since the start of the job, nanoseconds that the request took, direction
//! (0 = read, 1 = write, 2 = trim), size and offset in bytes, priority and, with `log_issue_time`,
//! the nanosecond of its issue: `1, 88042, 1, 4096, 65536, 0`.
//!
//! The milliseconds are those of the completion; where no time of issue stands, a request arrives so
//! much earlier as it took, to the millisecond. fio's logs of bandwidth and of submissions look the
//! same, so the format has to be named. Before fio 3.0 latencies were in microseconds.

use super::columns::{Columns, Separator};
use super::fault::Fault;
use super::format::LineParser;
use super::record::Record;
use crate::Operation;
use copyback_config::units::Duration;

const LAYOUT: &str = "6 or 7 columns (ms, ns, direction, bytes, offset, priority, issued ns), as with \
     log_offset=1";
const NS_PER_MS: u64 = 1_000_000;

/// No storage answers sooner, in nanoseconds.
const SHORTEST_NS: u64 = 1000;
/// Fewer latencies say nothing.
const ENOUGH: u64 = 16;

/// The parser of a file: counts latencies, and those that are too short to be nanoseconds.
#[derive(Debug, Default)]
pub struct Parser {
    requests: u64,
    too_short: u64,
}

impl LineParser for Parser {
    /// Logs of bandwidth look the same.
    fn recognises(_: &[u8]) -> bool {
        false
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        let record = request(line)?;
        self.requests += 1;
        let is_too_short = |took: Duration| took.as_ns() < SHORTEST_NS;
        self.too_short += u64::from(record.measured.is_some_and(is_too_short));
        Ok(Some(record))
    }

    fn notes(&self) -> Vec<String> {
        if self.requests < ENOUGH || 2 * self.too_short < self.requests {
            return Vec::new();
        }
        vec![format!(
            "{} of its {} latencies, taken for nanoseconds as fio writes them since 3.0, are below 1 us; if an older fio \
             wrote microseconds, awk -F', ' -v OFS=', ' '{{ $2 = 1000 * $2; print }}' makes nanoseconds of them",
            self.too_short, self.requests,
        )]
    }

    const BY_COMPLETION: bool = true;
}

fn request(line: &[u8]) -> Result<Record, Fault> {
    let mut columns = Columns::new(line, Separator::Byte(b','), LAYOUT);
    let completed = columns.multiple("time", NS_PER_MS, "a whole number of milliseconds")?;
    let took = columns.whole("latency", "a whole number of nanoseconds")?;
    let operation = direction(columns.text()?)?;
    let length = columns.whole("size", "a whole number of bytes")?;
    let offset = columns.whole("offset", "a whole number of bytes")?;
    columns.text()?;
    let issued = match columns.end() {
        Ok(()) => None,
        Err(_) => Some(columns.whole("issued", "a whole number of nanoseconds")?),
    };
    columns.end()?;
    if length == 0 {
        let problem = "size: found 0, as of a mean over time; expected a line a request \
                       (log_avg_msec=0)";
        return Err(Fault::other(problem));
    }
    // Logs of other latencies have 0 for the time of issue.
    let issued = issued.filter(|issued| *issued > 0);
    let time_ns = issued.unwrap_or(completed.saturating_sub(took));
    Ok(Record::new(time_ns, operation, offset, length).took(Some(Duration::from_ns(took))))
}

fn direction(text: &[u8]) -> Result<Operation, Fault> {
    match text {
        b"0" => Ok(Operation::Read),
        b"1" => Ok(Operation::Write),
        b"2" => Ok(Operation::Trim),
        _ => Err(Fault::field("direction", text, "0 (read), 1 (write) or 2 (trim)")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_field() {
        let expected = Record {
            time_ns: 12_000_000 - 88_042,
            operation: Operation::Write,
            offset: 65_536,
            length: 4096,
            device: 0,
            measured: Some(Duration::from_ns(88_042)),
            handle: None,
        };
        assert_eq!(request(b"12, 88042, 1, 4096, 65536, 0"), Ok(expected));
        assert_eq!(request(b"12, 88042, 1, 4096, 65536, 0x2001, 0"), Ok(expected));
        let issued = Record { time_ns: 11_850_123, operation: Operation::Trim, ..expected };
        assert_eq!(request(b"12, 88042, 2, 4096, 65536, 1, 11850123"), Ok(issued));
        assert_eq!(request(b"0, 88042, 0, 4096, 65536, 0").unwrap().time_ns, 0);
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |line: &[u8]| request(line).unwrap_err().to_string();
        assert_eq!(fault(b"12, 88042, 1, 4096, 0"), format!("columns: found 5; expected {LAYOUT}"));
        assert_eq!(
            fault(b"12, 1, 0, 512, 0, 0, 1, 9"),
            format!("columns: found 8; expected {LAYOUT}")
        );
        assert_eq!(
            fault(b"500, 88042, 0, 0, 0, 0"),
            "size: found 0, as of a mean over time; expected a line a request (log_avg_msec=0)"
        );
        assert_eq!(
            fault(b"500, 88042, 90000, 4096, 0, 0"),
            "direction: found \"90000\"; expected 0 (read), 1 (write) or 2 (trim)"
        );
    }
}
