//! Means, deviations and tails of queues, from `queues.csv`: one die, dies whose erases the host waits behind, a drive
//! that sleeps, drives that a request is spread over, and two classes.

use super::station::{AT_NO_COST, Station};
use super::support::{number, summary};
use super::table::{Report, Row, rows};

const TABLE: &str = include_str!("queues.csv");

/// Buckets of the histogram that quantiles are read from.
const BUCKET: f64 = 0.001;

/// A mean strays so little, too, whatever its deviation between runs.
const MEANS_WITHIN: f64 = 0.01;

fn station(row: &Row) -> Station {
    let is_set = |column: &str| row.number(column) > 0.0;
    Station {
        read_us: row.text("read_us"),
        program_us: row.number("program_us"),
        erase_us: is_set("erase_us").then(|| row.number("erase_us")),
        scheduling: if row.is("discipline", "in_order") { "in_order" } else { "read_first" },
        suspend: if row.is("discipline", "read_first_preemptive") {
            AT_NO_COST
        } else {
            Station::default().suspend
        },
        drives: row.count("drives"),
        sleep_us: is_set("wake_up_us")
            .then(|| (row.number("sleeps_after_us"), row.number("wake_up_us"))),
        requests: row.number("requests") as u64,
        read_share: row.number("read_share"),
        writes_in_order: is_set("erase_us"),
        gap_us: row.number("gap_us"),
        ..Station::default()
    }
}

/// How far what was found may be from what is expected: four standard deviations.
fn tolerance(row: &Row) -> f64 {
    let strays = 4.0 * row.number("sigma");
    match row.text("metric") {
        "mean" => strays.min(MEANS_WITHIN),
        "stddev" => strays,
        _ => strays + BUCKET,
    }
}

/// Runs every station of the case once, and looks at the metrics for which `looks_at` says so.
#[track_caller]
fn all_of(case: &str, looks_at: impl Fn(&str) -> bool) {
    let of_case: Vec<Row> = rows(TABLE).into_iter().filter(|row| row.is("case", case)).collect();
    let mut report = Report::new();
    for of_station in of_case.chunk_by(|one, next| station(one).text() == station(next).text()) {
        let found = summary(&station(&of_station[0]).text());
        for row in of_station.iter().filter(|row| looks_at(row.text("metric"))) {
            let name =
                ["case", "discipline", "load", "class", "metric"].map(|column| row.text(column));
            let metric = number(&found, &format!("/response_us/{}/{}", name[3], name[4]));
            report.compare(&name.join(" "), row.number("expected"), metric, tolerance(row));
        }
    }
    report.finish();
}

/// The tail of each thousand takes longer runs to be sure of than every change is worth.
fn for_every_change(metric: &str) -> bool {
    metric != "p99_9"
}

#[test]
fn one_die() {
    all_of("one_die", for_every_change);
}

#[test]
fn pages_of_three_times() {
    all_of("page_types", for_every_change);
}

#[test]
fn a_drive_that_sleeps() {
    all_of("sleeps", for_every_change);
}

#[test]
fn reads_spread_over_drives() {
    all_of("spread", for_every_change);
}

#[test]
fn erases_of_full_blocks() {
    all_of("erases", for_every_change);
}

#[test]
fn two_classes() {
    all_of("two_classes", for_every_change);
}

#[test]
#[ignore = "long"]
fn of_each_thousand_the_slowest() {
    for case in ["one_die", "page_types", "spread"] {
        all_of(case, |metric| metric == "p99_9");
    }
}
