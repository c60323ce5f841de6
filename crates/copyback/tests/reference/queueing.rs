//! Response times of a die against queueing theory, from `queueing.csv`: Poisson arrivals of
//! single-page requests at uniformly random pages.
//!
//! Rows of the source that ask for erases as requests of their own are not in the table: a host has none.

use super::station::{AT_NO_COST, Station};
use super::support::{number, summary};
use super::table::{Report, Row, rows};

pub const TABLE: &str = include_str!("queueing.csv");

/// Relative standard deviation of the mean of 10^5 responses, by load: of M/D/1, and generous for
/// mixed services.
fn deviation(load: f64) -> f64 {
    match load {
        ..=0.5 => 0.004,
        ..=0.7 => 0.008,
        ..=0.8 => 0.015,
        _ => 0.037,
    }
}

/// Requests for a mean within `tolerance` at four standard deviations.
fn requests(load: f64, tolerance: f64) -> u64 {
    let runs = (4.0 * deviation(load) / tolerance).powi(2).ceil();
    (1e5 * runs) as u64
}

/// First come, first served.
fn in_order(row: &Row, requests: u64) -> Station {
    let reads = row.number("reads_per_us");
    let writes = row.optional("writes_per_us").unwrap_or(0.0);
    // 4800 bytes at 400 MB/s are 12 us exactly.
    let has_bus = row.optional("transfer_us").is_some_and(|us| us > 0.0);
    assert!(!has_bus || row.number("transfer_us") == 12.0);
    Station {
        channels: row.count("channels"),
        chips: row.count("chips"),
        read_us: row.text("read_us"),
        program_us: row.optional("program_us").unwrap_or(0.0),
        transfer_rate: if has_bus { "400MB/s" } else { "none" },
        register: if row.is("register", "double") { "double" } else { "single" },
        requests,
        read_share: reads / (reads + writes),
        gap_us: 1.0 / (reads + writes),
        ..Station::default()
    }
}

fn name(row: &Row) -> String {
    let text = |column| row.text(column);
    let [case, discipline, load] = ["case", "discipline", "load"].map(text);
    let metric = text("metric").trim_start_matches("mean_").trim_end_matches("_us");
    format!("{case} {} {load} {metric}", discipline.replace("read_priority_", ""))
}

fn chosen(pick: impl Fn(&Row) -> bool) -> Vec<Row> {
    rows(TABLE).into_iter().filter(pick).collect()
}

/// Reads of one latency: M/D/1.
#[test]
fn reads_one_die() {
    let mut report = Report::new();
    for row in chosen(|row| row.is("case", "MD1_read_single_die")) {
        if !row.is("metric", "mean_response_us") {
            continue;
        }
        let load = row.number("load");
        let tolerance = if load > 0.8 { 0.02 } else { 0.01 };
        let requests = requests(load, tolerance);
        let station = in_order(&row, requests);
        let found = summary(&station.text());
        let mean = number(&found, "/response_us/all/mean");
        report.compare(&name(&row), row.number("expected"), mean, tolerance);
        // The wait is the part of the response behind other reads.
        let wait = number(&found, "/breakdown_us/queue_behind_io");
        let expected = row.number("expected") - row.number("read_us");
        let wait_tolerance = tolerance * row.number("expected") / expected;
        report.compare(&format!("{} wait", name(&row)), expected, wait, wait_tolerance);
    }
    report.finish();
}

/// Pages of three latencies, each as likely: M/G/1.
#[test]
fn reads_of_three_page_types() {
    let mut report = Report::new();
    for row in chosen(|row| row.is("case", "MG1_tR_40_60_90_equiprobable")) {
        let requests = requests(row.number("load"), 0.01);
        let station = in_order(&row, requests);
        let found = summary(&station.text());
        // Nothing is late without collections, whatever pages the reads before went to.
        assert_eq!(number(&found, "/breakdown_us/late"), 0.0);
        let wait = number(&found, "/breakdown_us/queue_behind_io");
        report.compare(&name(&row), row.number("expected"), wait, 0.02);
    }
    report.finish();
}

/// The rows of the reads of two classes, of every load.
fn reads_of(case: &str, preemptive: bool) -> Vec<Row> {
    chosen(|row| {
        row.is("case", case)
            && row.is("metric", "mean_response_read_us")
            && row.is("discipline", "read_priority_preemptive_resume") == preemptive
    })
}

/// Reads and writes, in order of arrival or reads first (never interrupting a program).
#[track_caller]
fn two_classes(case: &str) {
    let mut report = Report::new();
    let case = format!("MG1_two_class_{case}");
    for reads in reads_of(&case, false) {
        let load = reads.number("load");
        let discipline = reads.text("discipline");
        let scheduling = if discipline == "FCFS" { "in_order" } else { "read_first" };
        let requests = requests(load, 0.02).max(500_000);
        let station = Station { scheduling, ..in_order(&reads, requests) };
        let found = summary(&station.text());
        let is_writes = |row: &Row| {
            row.is("case", &case)
                && row.is("discipline", discipline)
                && row.is("metric", "mean_response_write_us")
                && row.number("load") == load
        };
        let writes = chosen(is_writes).pop().expect("reads and writes come in pairs");
        for (row, class) in [(&reads, "read"), (&writes, "write")] {
            let mean = number(&found, &format!("/response_us/{class}/mean"));
            report.compare(&name(row), row.number("expected"), mean, 0.02);
        }
    }
    report.finish();
}

/// The mean response of the lower of two classes where the higher preempts and the lower resumes.
fn preempted(row: &Row) -> f64 {
    let [reads, writes] = [("reads_per_us", "read_us"), ("writes_per_us", "program_us")]
        .map(|(rate, time)| (row.number(rate), row.number(time)));
    let load = |(rate, time): (f64, f64)| rate * time;
    let residual = |(rate, time): (f64, f64)| rate * time.powi(2) / 2.0;
    let left = [1.0 - load(reads), 1.0 - load(reads) - load(writes)];
    writes.1 / left[0] + (residual(reads) + residual(writes)) / (left[0] * left[1])
}

/// Reads that suspend programs at no cost: preemptive-resume priorities. The source has rows of the reads; what
/// the writes take is the same formula for the lower class.
#[track_caller]
fn preemptive(case: &str) {
    let mut report = Report::new();
    for row in reads_of(&format!("MG1_two_class_{case}"), true) {
        let requests = requests(row.number("load"), 0.02).max(500_000);
        let station =
            Station { scheduling: "read_first", suspend: AT_NO_COST, ..in_order(&row, requests) };
        let found = summary(&station.text());
        let mean = |class: &str| number(&found, &format!("/response_us/{class}/mean"));
        report.compare(&name(&row), row.number("expected"), mean("read"), 0.005);
        report.compare(&format!("{}: write", name(&row)), preempted(&row), mean("write"), 0.02);
    }
    report.finish();
}

#[test]
fn half_reads() {
    two_classes("readfrac0.5");
}

#[test]
fn half_reads_that_suspend_programs() {
    preemptive("readfrac0.5");
}

// Every change is held to half, and to nine tenths.
#[test]
#[ignore = "long"]
fn seven_tenths_reads() {
    two_classes("readfrac0.7");
}

// Every change is held to half, and to nine tenths.
#[test]
#[ignore = "long"]
fn seven_tenths_reads_that_suspend_programs() {
    preemptive("readfrac0.7");
}

// `queues::two_classes` holds every change to nine tenths of reads, by mean and tail, where they go first.
#[test]
#[ignore = "long"]
fn nine_tenths_reads() {
    two_classes("readfrac0.9");
}

// `queues::two_classes` holds every change to nine tenths of reads, by mean and tail, where they go first.
#[test]
#[ignore = "long"]
fn nine_tenths_reads_that_suspend_programs() {
    preemptive("readfrac0.9");
}

/// One die and its channel, with a single and a double register.
#[test]
fn reads_one_die_and_channel() {
    let mut report = Report::new();
    for row in chosen(|row| row.is("case", "Poisson_read_one_die_plus_bus")) {
        let requests = requests(row.number("load"), 0.01);
        let station = in_order(&row, requests);
        let mean = number(&summary(&station.text()), "/response_us/all/mean");
        report.compare(&name(&row), row.number("expected"), mean, 0.01);
    }
    report.finish();
}

/// Dies that share channels, served in the order of asking.
#[test]
fn reads_shared_channel() {
    let mut report = Report::new();
    for row in chosen(|row| row.is("case", "Poisson_random_read_shared_bus")) {
        let station = in_order(&row, 2_000_000);
        let mean = number(&summary(&station.text()), "/response_us/all/mean");
        let name = format!("{} {} channels", name(&row), row.text("channels"));
        report.compare(&name, row.number("simulated"), mean, 0.01);
    }
    report.finish();
}
