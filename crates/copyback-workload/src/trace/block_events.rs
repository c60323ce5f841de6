//! Block events of Linux as ftrace (`trace`, `trace_pipe`, trace-cmd) and `perf script` print them:
//!
//! ```text
//! kworker/0:1H-250   [007] .... 19654.923352: block_rq_issue: 8,0 WS 4096 () 59243328 + 8 [kworker/0:1H]
//! swapper     0 [006] 11879.392288: block:block_rq_issue: 254,0 W 12288 () 113019136 + 24 [kworker/u16:3]
//! fio  4626 [002] 82545.601537: block:block_rq_issue: 259,1 RA 131072 () 2209576568 + 256 0x2,0,4 [fio]
//! jbd2/sda1-8-533   [000] .... 396695.376696: block_bio_queue: 8,0 FWFS 3905554656 + 8 [jbd2/sda1-8]
//! ```
//!
//! Seconds, event, device, operation (see [`rwbs`](super::rwbs)), bytes and command of a request (not
//! of a bio), sector and sectors of 512 bytes (read from the kernel's `include/trace/events/block.h`). A
//! request passes several events; those of one kind count. The others are passed over, and so are
//! events of other subsystems, commands that move no data (`N`), completions of writes without data,
//! and comments.

use super::blkparse::{Asked, request};
use super::columns::{Columns, Separator};
use super::devices::{MAJOR_MINOR, Selector, major_minor};
use super::fault::Fault;
use super::format::{LineParser, TraceFormat};
use super::number;
use super::record::{Record, SECTOR};
use copyback_config::BlkparseAction;

const LAYOUT: &str =
    "an event such as \"seconds: block_rq_issue: major,minor op ... sector + sectors\"";

/// The parser of a file.
#[derive(Debug, Default)]
pub struct Parser {
    action: BlkparseAction,
    requests: bool,
    others: u64,
}

impl LineParser for Parser {
    fn recognises(line: &[u8]) -> bool {
        let event = Event::of(line).filter(Event::is_of_block_layer);
        event.is_some_and(|event| event.request(b"").is_ok())
    }

    fn configure(&mut self, format: &TraceFormat) {
        if let TraceFormat::BlockEvents { action } = format {
            self.action = *action;
        }
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<Record>, Fault> {
        if line.trim_ascii_start().starts_with(b"#") {
            return Ok(None);
        }
        let Some(event) = Event::of(line) else {
            let fault = || Fault::columns(columns(line), LAYOUT);
            return is_furniture(line).then_some(None).ok_or_else(fault);
        };
        if event.name != event_name(self.action).as_bytes() {
            self.others += u64::from(event.is_of_block_layer());
            return Ok(None);
        }
        let request = event.request(&[self.action.letter()])?;
        self.requests |= request.is_some();
        Ok(request)
    }

    const DEVICE: &'static str = MAJOR_MINOR;

    fn selector(name: &[u8]) -> Option<Selector> {
        major_minor(name).map(Selector::only)
    }

    fn at_end(&self) -> Result<(), Fault> {
        if self.requests || self.others == 0 {
            return Ok(());
        }
        Err(Fault::other(format!(
            "event: found {} block events, none of them {}; expected some (workload.format = {{ type \
             = \"block_events\", action = ... }} chooses)",
            self.others,
            event_name(self.action),
        )))
    }
}

/// Whether a line without an event is one that trace-cmd or `perf script` puts among them: of CPUs and versions, or a frame
/// of a call chain.
fn is_furniture(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let begins = |word: &[u8]| line.starts_with(word);
    let is_of_cpus = begins(b"cpus=") || begins(b"CPU ") && line.ends_with(b" is empty");
    let mut words = line.split(u8::is_ascii_whitespace);
    let address = words.next().unwrap_or_default();
    let is_address = address.len() >= 6 && address.iter().all(u8::is_ascii_hexdigit);
    let is_frame = is_address && words.next().is_some() || begins(b"=> ");
    is_of_cpus || begins(b"version =") || is_frame || begins(b"<stack trace")
}

/// Kernel's name of the event for an action.
const fn event_name(action: BlkparseAction) -> &'static str {
    match action {
        BlkparseAction::Queued => "block_bio_queue",
        BlkparseAction::Got => "block_getrq",
        BlkparseAction::Inserted => "block_rq_insert",
        BlkparseAction::Issued => "block_rq_issue",
        BlkparseAction::Completed => "block_rq_complete",
    }
}

fn columns(line: &[u8]) -> usize {
    line.split(u8::is_ascii_whitespace).filter(|column| !column.is_empty()).count()
}

/// A line with an event.
struct Event<'a> {
    time: &'a [u8],
    name: &'a [u8],
    rest: Columns<'a>,
}

impl<'a> Event<'a> {
    /// The event on a line: a word with a colon, behind seconds with a colon.
    fn of(line: &'a [u8]) -> Option<Self> {
        let mut time = None;
        let mut words = Columns::new(line, Separator::Blanks, LAYOUT);
        while let Ok(word) = words.text() {
            let Some(word) = word.strip_suffix(b":") else {
                // perf may print a period between the two.
                time = time.filter(|_| number::whole(word).is_some());
                continue;
            };
            let event = |time| {
                let name = word.strip_prefix(b"block:").unwrap_or(word);
                Self { time, name, rest: words.clone() }
            };
            let event =
                time.map(event).filter(|event| event.is_of_block_layer() || event.is_timed());
            if event.is_some() {
                return event;
            }
            time = Some(word);
        }
        None
    }

    fn is_timed(&self) -> bool {
        number::decimal(self.time, 9).is_some()
    }

    fn is_of_block_layer(&self) -> bool {
        self.name.starts_with(b"block_")
    }

    /// `major,minor op [bytes] [(command)] sector + sectors ...`; `None` if it moves no data.
    fn request(self, action: &[u8]) -> Result<Option<Record>, Fault> {
        let Self { time, mut rest, .. } = self;
        let time_ns = number::decimal(time, 9);
        let time_ns = time_ns.ok_or_else(|| Fault::field("time", time, "a number of seconds"))?;
        let name = rest.text()?;
        let device = major_minor(name).ok_or_else(|| Fault::field("device", name, MAJOR_MINOR))?;
        let kind = rest.text()?;
        if kind.starts_with(b"N") {
            return Ok(None);
        }
        let (sector, sectors) = range(&mut rest)?;
        let bytes = |text| number::whole(text).and_then(|count| count.checked_mul(SECTOR));
        let expected = "a whole number of 512-byte sectors";
        let length = bytes(sectors).ok_or_else(|| Fault::field("size", sectors, expected))?;
        let offset = match bytes(sector) {
            Some(offset) => offset,
            // That of a flush is none there is.
            None if length == 0 && number::whole(sector).is_some() => 0,
            None => return Err(Fault::field("sector", sector, expected)),
        };
        request(&Asked { device, time_ns, action: Some(action), kind, offset, length })
    }
}

/// Reads sector and length, before and behind the plus.
fn range<'a>(rest: &mut Columns<'a>) -> Result<(&'a [u8], &'a [u8]), Fault> {
    let mut before = rest.text()?;
    loop {
        let text = rest.text()?;
        if text == b"+" {
            return Ok((before, rest.text()?));
        }
        before = text;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Operation;
    use crate::trace::devices::device_number;

    fn parser(action: BlkparseAction) -> Parser {
        let mut parser = Parser::default();
        parser.configure(&TraceFormat::BlockEvents { action });
        parser
    }

    fn issued(line: &str) -> Result<Option<Record>, Fault> {
        parser(BlkparseAction::Issued).parse(line.as_bytes())
    }

    fn record(ns: u64, operation: Operation, sector: u64, sectors: u64) -> Record {
        Record::new(ns, operation, sector * 512, sectors * 512)
    }

    #[test]
    fn reads_what_perf_prints() {
        let line = "  swapper     0 [006] 11879.392288: block:block_rq_issue: 254,0 W 12288 () \
                    113019136 + 24 [kworker/u16:3]";
        let write = record(11_879_392_288_000, Operation::Write, 113_019_136, 24);
        assert_eq!(issued(line), Ok(Some(write.on(device_number(254, 0)))));
        let with_priority = " graph_traverse_ 1264623 [002] 82545.601537: block:block_rq_issue: 259,1 \
                             RA 131072 () 2209576568 + 256 0x2,0,4 [graph_traverse_]";
        let read = record(82_545_601_537_000, Operation::Read, 2_209_576_568, 256);
        assert_eq!(issued(with_priority), Ok(Some(read.on(device_number(259, 1)))));
        let flush =
            "swapper 0 [005] 11879.392794: block:block_rq_issue: 254,0 FF 0 () 0 + 0 [k/5:1H]";
        let expected = record(11_879_392_794_000, Operation::Flush, 0, 0);
        assert_eq!(issued(flush), Ok(Some(expected.on(device_number(254, 0)))));
        let padded = "fs 64 [001]  1.500000:      1 block:block_rq_issue: 8,0 W 512 () 8 + 1 [fs]";
        assert!(issued(padded).unwrap().is_some());
        let command = "k 64 [001]  1.5: block:block_rq_issue: 8,0 N 36 (12 00 .. +) 0 + 0 [k]";
        assert_eq!(issued(command), Ok(None));
        let mut completed = parser(BlkparseAction::Completed);
        for (kind, some) in [("WFS", false), ("FF", true), ("W", true)] {
            let sectors = usize::from(kind == "W");
            let line = format!(
                "swapper 0 [6] 205794.5: block:block_rq_complete: 8,16 {kind} () \
                 {} + {sectors} [0]",
                if some && sectors == 0 { u64::MAX } else { 8 },
            );
            let request = completed.parse(line.as_bytes());
            assert_eq!(request.map(|request| request.is_some()), Ok(some), "{line}");
        }
        let discard = "swapper 0 [0] 1.5: block:block_rq_issue: 254,0 DS 4096 () 16 + 8 [k]";
        assert_eq!(issued(discard).unwrap().unwrap().operation, Operation::Trim);
    }

    #[test]
    fn reads_what_ftrace_prints() {
        let queued = " jbd2/sda1-8-533   [000] .... 396695.376696: block_bio_queue: 8,0 FWFS \
                      3905554656 + 8 [jbd2/sda1-8]";
        let write = record(396_695_376_696_000, Operation::Write, 3_905_554_656, 8);
        let mut parser = parser(BlkparseAction::Queued);
        assert_eq!(parser.parse(queued.as_bytes()), Ok(Some(write.on(device_number(8, 0)))));
        for aside in [
            "# tracer: nop",
            "version = 6",
            "cpus=2",
            "CPU 1 is empty",
            "        ffffffff81000000 some_function_a+0x1c ([kernel.kallsyms])",
            " => submit_bio_noacct",
            "app-40 [000] .... 20.001000: sched_process_fork: comm=app pid=40",
            " rep-306069 [007] .... 19654.923333: block_getrq: 8,0 WS 8 + 8 [rep]",
            "fs 6439 [001]  3399.871600:      block:block_plug: [fs]",
        ] {
            assert_eq!(parser.parse(aside.as_bytes()), Ok(None), "{aside}");
        }
        assert_eq!(parser.at_end(), Ok(()));
    }

    #[test]
    fn says_what_is_wrong() {
        let fault = |line: &str| issued(line).unwrap_err().to_string();
        assert_eq!(fault("rubbish 1 2"), format!("columns: found 3; expected {LAYOUT}"));
        assert_eq!(
            fault("k-1 [0] .... 1.5: block_rq_issue: 8,0 X 0 () 8 + 8 [k]"),
            "operation: found \"X\"; expected R, W, D (discard) or F (flush), with modifiers"
        );
        assert_eq!(
            fault("k-1 [0] .... 1.5: block_rq_issue: 8,0 W 0 () x + 8 [k]"),
            "sector: found \"x\"; expected a whole number of 512-byte sectors"
        );
        assert_eq!(
            fault("k-1 [0] .... 1.5: block_rq_issue: 8,0 W 0 () 8 + 0 [k]"),
            "operation: found \"W\"; expected sector + sectors behind it"
        );
        assert_eq!(
            fault("k-1 [0] .... 1.5: block_rq_issue: sda W 0 () 8 + 8 [k]"),
            "device: found \"sda\"; expected a device such as \"8,0\" (major,minor)"
        );
        assert!(fault("k-1 [0] .... 1.5: block_rq_issue: 8,0 W").starts_with("columns: found 7"));
        let mut completed = parser(BlkparseAction::Completed);
        let issue = b"k-1 [0] .... 1.5: block_rq_issue: 8,0 W 0 () 8 + 8 [k]";
        assert_eq!(completed.parse(issue), Ok(None));
        assert_eq!(
            completed.at_end().unwrap_err().to_string(),
            "event: found 1 block events, none of them block_rq_complete; expected some \
             (workload.format = { type = \"block_events\", action = ... } chooses)"
        );
    }
}
