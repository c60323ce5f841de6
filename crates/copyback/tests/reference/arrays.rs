//! Arrays against `arrays.csv`: what writes read, degraded mode, rebuilds, and what a second loss costs.

use std::fs;

use copyback::config::Config;
use copyback::ids::SsdId;
use copyback::layout::{Layout, Missing, Plan};
use serde_json::Value;
use tempfile::NamedTempFile;

use super::support::{config, number, run};
use super::table::{Report, Row, rows};

const TABLE: &str = include_str!("arrays.csv");

/// Times are sums of whole nanoseconds.
const EXACT: f64 = 1e-9;

/// Of random reads, for each drive of the array: so many that means stray by less than a quarter of a percent at a
/// load of one half.
const RANDOM_READS: u64 = 150_000;

/// When a read ends a run that rebuilds, as it would go no further without requests: later than any of the table. In
/// microseconds.
const END_US: u64 = 60_000_000;

fn of(case: &str) -> Vec<Row> {
    let found: Vec<Row> = rows(TABLE).into_iter().filter(|row| row.is("case", case)).collect();
    assert!(!found.is_empty(), "the table has no {case}");
    found
}

fn name(row: &Row) -> String {
    let columns = ["layout", "drives", "chunk_pages", "page_kib", "dies", "lost", "rebuild"];
    let shown = columns.map(|column| row.text(column)).join(" ");
    let requests = row.text("requests");
    format!("{shown} {}", requests.split('|').take(2).collect::<Vec<_>>().join(" "))
}

/// The configuration of a row. Dies are on channels of their own, which take no time.
fn array(row: &Row, workload: &str) -> Config {
    let page = u64::from(row.count("page_kib"));
    let lost = row.text("lost").replace('|', ", ");
    let rebuild =
        row.text("rebuild").split_once(" at ").map_or_else(String::new, |(unit, rate)| {
            let rate = if rate == "none" { rate.to_owned() } else { format!("{rate}B/s") };
            format!("rebuild = {{ type = \"rate\", rate = \"{rate}\", unit = \"{unit}\" }}")
        });
    config(&format!(
        r#"
        seed = 1
        audit = true
        [array]
        {layout}
        devices = {drives}
        stripe = "{stripe}KiB"
        failed = [{lost}]
        {rebuild}
        [ssd.geometry]
        channels = {dies}
        chips_per_channel = 1
        planes_per_die = 1
        blocks_per_plane = 32
        pages_per_block = 16
        page_size = "{page}KiB"
        [ssd.timing]
        read = "50us"
        program = "200us"
        command = "0us"
        transfer_rate = "none"
        [ssd.ftl]
        over_provisioning = 0.25
        [host]
        scheduling = "in_order"
        queue_depth = 65536
        [metrics]
        commands = true
        [precondition]
        fill = 1.0
        overwrites = 0.0
        {workload}
        "#,
        layout = layout(row.text("layout")),
        drives = row.text("drives"),
        stripe = u64::from(row.count("chunk_pages")) * page,
        dies = row.text("dies"),
    ))
}

/// A layout as the table has it: `raid5`, or `raid10-near-2`.
fn layout(text: &str) -> String {
    match text.split('-').collect::<Vec<_>>()[..] {
        [layout, arrangement, copies] => {
            format!("layout = {layout:?}\narrangement = {arrangement:?}\ncopies = {copies}")
        }
        _ => format!("layout = {text:?}"),
    }
}

/// Lines of a trace: nanoseconds, device, first sector, sectors, and 1 for a read.
fn trace(row: &Row) -> NamedTempFile {
    let sectors = u64::from(row.count("page_kib")) * 2;
    let line = |request: &str| {
        let (what, at) = request.split_once('@').expect("when it comes");
        let [operation, first, pages] = what.split(':').collect::<Vec<_>>()[..] else {
            panic!("{request}: operation, first page, pages")
        };
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let (first, pages) = (number(first) * sectors, number(pages) * sectors);
        format!("{} 0 {first} {pages} {}\n", number(at) * 1000, u8::from(operation == "r"))
    };
    let mut text: String = row.text("requests").split('|').map(line).collect();
    if !row.text("rebuild").is_empty() {
        text += &format!("{} 0 0 {sectors} 1\n", END_US * 1000);
    }
    let file = NamedTempFile::new().expect("there is room for files");
    fs::write(&file, text).expect("the file is ours");
    file
}

/// What a run has asked of its drives, until the end of a rebuild.
struct Found {
    summary: Value,
    /// Pages of each drive.
    reads: Vec<f64>,
    writes: Vec<f64>,
    /// When the last write to a drive that was lost has ended, in microseconds.
    finish_us: f64,
}

fn found(row: &Row) -> Found {
    if row.text("requests").is_empty() {
        let source = "type = \"synthetic\"\nrequests = 1\nread_share = 1.0";
        return found_with(row, &format!("[workload]\n{source}\nstarts_at = \"{END_US}us\""));
    }
    let file = trace(row);
    let path = file.path().display().to_string();
    found_with(row, &format!("[workload]\ntype = \"trace\"\npath = {path:?}\nformat = \"ssdsim\""))
}

fn found_with(row: &Row, workload: &str) -> Found {
    let config = array(row, workload);
    let mut simulation = run(&config);
    let summary = simulation.summary().expect("it has run").to_json();
    // Collections would take time that no formula has.
    assert_eq!(number(&summary, "/gc/collections"), 0.0, "{}", name(row));
    let commands = simulation.take_commands();
    let page = f64::from(row.count("page_kib")) * 1024.0;
    let is_lost = |drive: u16| config.array.failed.contains(&u32::from(drive));
    let mut pages = [0, 1].map(|_| vec![0.0; config.array.devices as usize]);
    let mut finish = 0;
    for index in 0..commands.device.len() {
        if commands.arrival_ns[index] >= END_US * 1000 {
            continue;
        }
        let operation = usize::from(commands.operation[index]);
        pages[operation][usize::from(commands.device[index])] +=
            commands.bytes[index] as f64 / page;
        if operation == 1 && is_lost(commands.device[index]) {
            finish = finish.max(commands.arrival_ns[index] + commands.response_ns[index]);
        }
    }
    let [reads, writes] = pages;
    Found { summary, reads, writes, finish_us: finish as f64 / 1e3 }
}

/// Compares the pages of each drive: they must be these, also where there are none.
fn count(report: &mut Report, row: &Row, column: &str, found: &[f64]) {
    let expected: Vec<f64> =
        row.text(column).split('|').map(|pages| pages.parse().expect("pages of a drive")).collect();
    let [all, found_in_all] = [&expected[..], found].map(|pages| pages.iter().sum::<f64>());
    let label = format!("{} {column}", name(row));
    // Relative to one more, as it may be none.
    report.compare(&label, all + 1.0, found_in_all + 1.0, 0.0);
    assert_eq!(found, expected, "{label}, by drive");
}

/// Requests that meet idle drives: pages read and written, and the time that takes.
#[track_caller]
fn alone(case: &str) {
    let mut report = Report::new();
    for row in of(case) {
        let found = found(&row);
        count(&mut report, &row, "reads", &found.reads);
        count(&mut report, &row, "writes", &found.writes);
        let mean = number(&found.summary, "/response_us/all/mean");
        report.compare(&name(&row), row.number("response_us"), mean, EXACT);
    }
    report.finish();
}

#[test]
fn small_writes_turn_where_md_turns() {
    alone("small_write");
}

#[test]
fn writes_with_ragged_ends() {
    alone("write");
}

#[test]
fn reads_and_what_lost_drives_make_of_them() {
    alone("read");
    alone("degraded_read");
}

#[test]
fn writes_where_drives_are_lost() {
    alone("degraded_write");
}

#[test]
fn without_parity_nothing_is_read_for_a_write() {
    alone("control");
}

#[test]
fn requests_that_meet_in_a_stripe() {
    let mut report = Report::new();
    for row in of("at_once") {
        let mean = number(&found(&row).summary, "/response_us/all/mean");
        let label = format!("{} {}", name(&row), row.text("source"));
        report.compare(&label, row.number("response_us"), mean, EXACT);
    }
    report.finish();
}

#[test]
fn mirrors_are_read_and_written_where_md_does() {
    alone("mirrored");
}

/// Two drives of RAID-6 are one that is lost while another is rebuilt: the rows are of both.
#[test]
fn rebuilds_end_when_the_drives_or_the_rate_let_them() {
    let mut report = Report::new();
    for row in of("rebuild") {
        let found = found(&row);
        count(&mut report, &row, "reads", &found.reads);
        count(&mut report, &row, "writes", &found.writes);
        report.compare(&name(&row), row.number("finish_us"), found.finish_us, EXACT);
        assert_eq!(number(&found.summary, "/array/drives_missing"), 0.0, "{}", name(&row));
        let bytes = number(&found.summary, "/array/rebuilt_bytes");
        let page = 1024.0 * f64::from(row.count("page_kib"));
        assert_eq!(bytes, found.writes.iter().sum::<f64>() * page);
    }
    report.finish();
}

#[test]
fn the_host_delays_a_rebuild_by_no_more_than_its_work() {
    for row in of("rebuild_under_load") {
        let found = found(&row);
        let [earliest, latest] = ["finish_us", "finish_by_us"].map(|column| row.number(column));
        println!("{}: {earliest} <= {} <= {latest}", name(&row), found.finish_us);
        assert!(earliest < found.finish_us, "the host must be in the way now and then");
        assert!(found.finish_us <= latest);
        assert_eq!(number(&found.summary, "/array/drives_missing"), 0.0);
    }
}

/// Each drive is M/D/1, also where reads of what is lost come on top of its own.
#[test]
fn random_reads_with_a_lost_drive() {
    let mut report = Report::new();
    for pair in of("random_reads").chunks(2) {
        let gap = pair[0].number("gap_us");
        let page = pair[0].text("page_kib");
        let requests = RANDOM_READS * u64::from(pair[0].count("drives"));
        let workload = format!(
            "[workload]\ntype = \"synthetic\"\nrequests = {requests}\nread_share = 1.0\nsequential_share = 0.0\n\
             request_size = \"{page}KiB\"\nalignment = \"{page}KiB\"\n\
             inter_arrival = {{ type = \"exponential\", mean = \"{}ns\" }}",
            (1e3 * gap).round()
        );
        let commands = run(&array(&pair[0], &workload)).take_commands();
        for row in pair {
            let drive = row.count("drive");
            let of_drive = commands.device.iter().zip(&commands.response_ns);
            let times: Vec<u64> =
                of_drive.filter(|(of, _)| u32::from(**of) == drive).map(|(_, ns)| *ns).collect();
            let mean = times.iter().sum::<u64>() as f64 / times.len() as f64 / 1e3;
            let label = format!("{} drive {drive} every {gap}", name(row));
            report.compare(&label, row.number("response_us"), mean, 0.01);
        }
    }
    report.finish();
}

/// What can no longer be read, page by page, when a second drive goes while the first is rebuilt up to some row.
#[test]
fn a_second_loss_costs_what_both_hold_of_rows_that_are_not_rebuilt() {
    let mut report = Report::new();
    for row in of("second_loss") {
        let page = 1024 * u64::from(row.count("page_kib"));
        let config = array(&row, "[workload]\ntype = \"synthetic\"");
        let layout = Layout::new(&config.array, u64::from(row.count("rows")) * page);
        let mut missing = Missing::default();
        missing.rebuilt(SsdId(1), u64::from(row.count("rebuilt_rows")) * page);
        let mut plan = Plan::default();
        let pages = (0..layout.capacity() / page).map(|index| index * page..(index + 1) * page);
        let lost = pages
            .filter(|bytes| !layout.reads_around(bytes.clone(), &[SsdId(2)], &missing, &mut plan));
        let label = format!("{} rebuilt {}", name(&row), row.text("rebuilt_rows"));
        report.compare(&label, row.number("lost_pages") + 1.0, lost.count() as f64 + 1.0, 0.0);
    }
    report.finish();
}
