//! Throughput of pipelined channels against their limits, from `queueing.csv`: closed loops of
//! single-page requests.

use std::fs;

use tempfile::NamedTempFile;

use super::queueing::TABLE;
use super::support::{number, summary};
use super::table::{Report, Row, rows};

/// A closed loop on the device of a row.
struct Loop<'a> {
    row: &'a Row,
    reads: bool,
    pages: Pages,
    iodepth: u32,
    /// Requests for each plane of the device.
    requests_per_plane: u64,
}

/// Which pages the requests of a loop go to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pages {
    /// One after the other, from any page.
    Sequential,
    /// One after the other, from page 0.
    SequentialFromZero,
    /// Any.
    Random,
}

impl Loop<'_> {
    /// Pages go round the planes of a die first, so that neighbours may join in a command, then
    /// round channels and chips. Everything that is written is new: there are no collections.
    fn text(&self, workload: &str) -> String {
        let row = self.row;
        let us = |column: &str| format!("{}us", row.optional(column).unwrap_or(0.0));
        // 4800 bytes at 400 MB/s are 12 us exactly.
        let has_bus = row.number("transfer_us") > 0.0;
        assert!(!has_bus || row.number("transfer_us") == 12.0);
        format!(
            r#"
            seed = 1
            [ssd.geometry]
            channels = {channels}
            chips_per_channel = {chips}
            planes_per_die = {planes_per_die}
            blocks_per_plane = 64
            pages_per_block = 64
            page_size = "4KiB"
            spare_size = "704B"
            [ssd.timing]
            read = "{read}"
            program = "{program}"
            command = "{command}"
            transfer_rate = "{rate}"
            register = "{register}"
            bus_arbitration = "{arbitration}"
            [ssd.commands]
            multi_plane = true
            [ssd.ftl]
            allocation = "PCWD"
            [host]
            queue_depth = 65536
            [precondition]
            fill = {fill}
            overwrites = 0.0
            {workload}
            "#,
            channels = row.text("channels"),
            chips = row.text("chips"),
            planes_per_die = row.text("planes"),
            read = us("read_us"),
            program = us("program_us"),
            command = us("command_us"),
            rate = if has_bus { "400MB/s" } else { "none" },
            register = if row.is("register", "double") { "double" } else { "single" },
            arbitration =
                if row.is("arbitration", "data_first") { "data_first" } else { "command_first" },
            fill = if self.reads { "1.0" } else { "0.0" },
        )
    }

    fn requests(&self) -> u64 {
        let planes = ["channels", "chips", "planes"].map(|column| self.row.count(column));
        self.requests_per_plane * u64::from(planes.into_iter().product::<u32>())
    }

    fn workload(&self, trace: Option<&NamedTempFile>) -> String {
        let (iodepth, requests) = (self.iodepth, self.requests());
        let source = match trace {
            Some(file) => {
                let path = file.path().display().to_string();
                format!("type = \"trace\"\npath = {path:?}\nformat = \"spc\"")
            }
            None => {
                let read_share = if self.reads { "1.0" } else { "0.0" };
                let sequential_share = if self.pages == Pages::Random { "0.0" } else { "1.0" };
                format!(
                    r#"
                    type = "synthetic"
                    requests = {requests}
                    request_size = "4KiB"
                    read_share = {read_share}
                    sequential_share = {sequential_share}
                    "#
                )
            }
        };
        format!("[workload]\n{source}\niodepth = {iodepth}")
    }

    fn run(&self) -> Found {
        let from_zero = self.pages == Pages::SequentialFromZero;
        let trace = from_zero.then(|| trace(self.requests()));
        let summary = summary(&self.text(&self.workload(trace.as_ref())));
        Found {
            pages_per_us: number(&summary, "/throughput/iops") / 1e6,
            mean_response_us: number(&summary, "/response_us/all/mean"),
        }
    }
}

/// A trace that reads one page after the other from page 0.
fn trace(requests: u64) -> NamedTempFile {
    let file = NamedTempFile::new().expect("there is room for files");
    let line = |page: u64| format!("0,{},4096,r,0.0\n", page * 8);
    fs::write(&file, (0..requests).map(line).collect::<String>()).expect("the file is ours");
    file
}

struct Found {
    pages_per_us: f64,
    mean_response_us: f64,
}

fn name(row: &Row) -> String {
    let text = |column| row.text(column);
    let shape = ["channels", "chips", "planes"].map(text).join("x");
    let [case, register, arbitration] = ["case", "register", "arbitration"].map(text);
    let (command, depth) = (text("command_us"), text("queue_depth"));
    format!("{case} {shape} {register} tC={command} {arbitration} Q={depth}")
}

fn case(case: &str) -> impl Iterator<Item = Row> {
    rows(TABLE).into_iter().filter(move |row| row.is("case", case))
}

/// Enough requests outstanding that no die ever waits for the host.
#[track_caller]
fn saturated(rows: impl Iterator<Item = Row>, reads: bool) {
    let mut report = Report::new();
    for row in rows {
        let planes = row.count("channels") * row.count("chips") * row.count("planes");
        let iodepth = 32 * planes;
        let found =
            Loop { row: &row, reads, pages: Pages::Sequential, iodepth, requests_per_plane: 3000 }
                .run();
        report.compare(&name(&row), row.number("expected"), found.pages_per_us, 0.005);
    }
    report.finish();
}

#[test]
fn sequential_reads() {
    saturated(case("saturated_sequential_read"), true);
}

#[test]
fn sequential_writes() {
    saturated(case("saturated_sequential_write"), false);
}

/// Where data always go before the next command, the dies of a channel fall into step.
#[test]
fn sequential_reads_in_convoy() {
    saturated(case("saturated_sequential_read_convoy"), true);
}

/// From page 0. With as many requests as dies the phase matters: from the middle of a round over the
/// channels, data that are ready together leave in the order of the dies and not of the requests,
/// the next requests find dies that are still taken, and 5% of the throughput is lost for good.
#[test]
fn sequential_reads_at_finite_depth() {
    let mut report = Report::new();
    for row in case("sequential_read_finite_qd") {
        let iodepth = row.count("queue_depth");
        let found = Loop {
            row: &row,
            reads: true,
            pages: Pages::SequentialFromZero,
            iodepth,
            requests_per_plane: 3000,
        }
        .run();
        let (metric, found) = match row.text("metric") {
            "pages_per_us" => ("throughput", found.pages_per_us),
            _ => ("response", found.mean_response_us),
        };
        report.compare(&format!("{} {metric}", name(&row)), row.number("expected"), found, 0.005);
    }
    report.finish();
}

/// Dies without a channel, random pages. The formula is an approximation; an independent simulation
/// is the reference.
#[test]
fn random_reads_at_finite_depth() {
    let mut report = Report::new();
    for row in case("closed_random_read_no_bus") {
        let iodepth = row.count("queue_depth");
        let requests_per_plane = 1_000_000 / u64::from(row.count("channels"));
        let found =
            Loop { row: &row, reads: true, pages: Pages::Random, iodepth, requests_per_plane }
                .run();
        report.compare(&name(&row), row.number("simulated"), found.pages_per_us, 0.01);
    }
    report.finish();
}
