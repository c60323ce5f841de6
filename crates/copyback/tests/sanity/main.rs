//! Can every number of a summary be? Runs whose summaries once held one that cannot, or one that another run of the same drive
//! contradicts.

mod looked_at;
mod tampered;

use copyback::config::{Config, Loader};
use copyback::{Simulation, Status};
use serde_json::Value;

/// The configuration of a text of `inputs`, with these keys changed.
fn config(text: &str, settings: &[(&str, &str)]) -> Config {
    let loader = Loader::new().toml(text, "inputs", None);
    let loader = settings.iter().fold(loader, |loader, (key, value)| loader.set(key, value));
    loader.load().unwrap_or_else(|faults| panic!("{settings:?}: {faults}"))
}

/// The summary of a whole run.
fn summary(text: &str, settings: &[(&str, &str)]) -> Value {
    let config = config(text, settings);
    let mut simulation = Simulation::new(&config, None).expect("it starts");
    while simulation.advance(1 << 20).expect("no invariant breaks") == Status::Running {}
    simulation.summary().expect("it has run").to_json()
}

fn number(of: &Value, pointer: &str) -> f64 {
    of.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {pointer}"))
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected.abs(), "{found}, not {expected}");
}

/// Twenty writes, one every 20 ms, on a drive that tells idle periods of 1 ms and of 10 ms apart. Requests are measured from 5 ms
/// on, in the first idle period, which so is cut in two.
#[test]
fn a_ramp_that_ends_in_an_idle_period_leaves_its_rest_in_the_class_of_the_whole() {
    // 15 ms of it are left, which were a long period by themselves; or 4 ms, which were a short one.
    for (ramp, rest) in [("5ms", 0.015), ("16ms", 0.004)] {
        let summary =
            summary(include_str!("inputs/idle-time-with-ramp.toml"), &[("workload.ramp", ramp)]);
        assert_eq!(summary["requests"]["count"], 19);
        let idle = &summary["idle_time"];
        // One before each request that is measured.
        let periods = ["long", "short", "unused", "all"]
            .map(|class| number(idle, &format!("/{class}/periods")));
        assert_eq!(periods, [19.0, 0.0, 0.0, 19.0], "{idle}");
        close(number(idle, "/short/us"), 0.0);
        let measured = number(&summary, "/throughput/measured_s");
        close(number(idle, "/all/us") + number(idle, "/busy_us"), 1e6 * measured);
        // The run ends with the last request, which comes 18 intervals after the first that is measured.
        let each = number(idle, "/busy_us") / 1e6 / 19.0;
        assert!((measured - (rest + 18.0 * 0.02) - each).abs() <= 1e-9, "{measured}, {each}");
    }
}

/// Lines of two blocks of eight pages: what is valid of those of each class adds up to what is valid of all lines.
#[test]
fn what_is_valid_of_the_lines_of_each_class_is_a_share_of_all_their_pages() {
    let summary = summary(include_str!("inputs/shares-of-lines.toml"), &[]);
    let classes = summary["placement"]["classes"].as_array().expect("it has classes");
    let victims = |class: &Value| number(class, "/victims");
    let valid: f64 =
        classes.iter().map(|class| number(class, "/valid_share") * victims(class)).sum();
    let lines: f64 = classes.iter().map(victims).sum();
    close(valid / lines, number(&summary, "/lines/valid_share"));
    // All that is moved was valid when its line was chosen.
    let (moved, pages) = (number(&summary, "/gc/pages_moved"), 16.0);
    assert!(
        pages * valid >= moved && pages * valid < 1.05 * moved,
        "{} valid, {moved} moved",
        pages * valid
    );
}

/// A drive of an array takes no writes from the instant on at which too few of its blocks are good. Writes that wait for its buffer
/// end then, not when the drive is next spoken to: the audit sees whether the parts of their times add up.
#[test]
fn what_waits_for_the_buffer_is_rejected_as_its_drive_turns_read_only() {
    let summary = summary(include_str!("inputs/rejected-in-an-array.toml"), &[]);
    assert!(number(&summary, "/faults/rejected_writes") > 0.0);
}
