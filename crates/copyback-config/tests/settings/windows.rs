//! The length of windows, and reads around them.

use copyback_config::quantity::Time;
use copyback_config::{Config, Loader};

use crate::problem_of;

/// Drives of the artefact of IODA (Li et al., SOSP 2021): FEMU's geometry and latencies, and no channel. They collect
/// from 13 free lines of 256 to 26.
const FEMU: &[(&str, &str)] = &[
    ("array.layout", "raid5"),
    ("array.devices", "4"),
    ("array.stripe", "4KiB"),
    ("array.protocol.target_margin", "{ blocks = 13 }"),
    ("ssd.geometry.channels", "8"),
    ("ssd.geometry.chips_per_channel", "8"),
    ("ssd.geometry.dies_per_chip", "1"),
    ("ssd.geometry.planes_per_die", "1"),
    ("ssd.geometry.blocks_per_plane", "256"),
    ("ssd.geometry.pages_per_block", "256"),
    ("ssd.geometry.page_size", "4KiB"),
    ("ssd.timing.read", "40us"),
    ("ssd.timing.program", "200us"),
    ("ssd.timing.erase", "2ms"),
    ("ssd.timing.transfer_rate", "none"),
    ("ssd.ftl.over_provisioning", "0.25"),
    ("ssd.gc.soft_threshold", "{ blocks = 13 }"),
];

const FORMULA: (&str, &str) = ("array.coordination", "{ type = 'staggered', window = 'formula' }");

fn femu(settings: &[(&str, &str)]) -> Config {
    let all = FEMU.iter().chain(settings);
    let loader = all.fold(Loader::new(), |loader, (key, value)| loader.set(key, value));
    loader.load().unwrap_or_else(|faults| panic!("{faults}"))
}

fn problem(settings: &[(&str, &str)]) -> String {
    problem_of(&[FEMU, settings].concat())
}

/// Length of the window that follows from the drives, in ns.
fn length(settings: &[(&str, &str)]) -> f64 {
    let config = femu(&[settings, &[FORMULA]].concat()).resolve();
    let Time(length) = config.window_length().expect("drives have windows");
    length.as_ns() as f64
}

#[test]
fn the_window_of_femus_drives() {
    // By hand: 192 of 230 pages are valid, 213.7 of a block's 256. A collection takes 213.7 x 240 us + 2 ms = 53.289 ms, and
    // gains 64 x 42.3 pages, 208.06 MB/s. Programs bring 64 x 4 KiB in 200 us, 1,310.72 MB/s. Space: 13 lines of 64 MiB.
    let bounds = femu(&[]).resolve().protocol.window;
    assert!((bounds.least - 53.289e6).abs() < 1e3, "{bounds:?}");
    let by_hand = 13.0 * 64.0 * 1_048_576.0 / (4.0 * 1310.72e6 - 208.06e6) * 1e9;
    assert!((length(&[]) / by_hand - 1.0).abs() < 1e-4, "{} and {by_hand}", length(&[]));
}

#[test]
fn a_drive_has_just_space_enough_for_a_round() {
    for (channel, drives) in [("none", "4"), ("none", "6"), ("200MT/s", "4")] {
        let settings = [("ssd.timing.transfer_rate", channel), ("array.devices", drives)];
        let window = length(&settings) / 1e9;
        let transfer = if channel == "none" { 0.0 } else { 4096.0 / 200e6 };
        let valid = 192.0 / 230.0 * 256.0;
        let collection = valid * (240e-6 + 2.0 * transfer) + 2e-3;
        let gained = 64.0 * (256.0 - valid) * 4096.0 / collection;
        // Eight channels of 200 MB/s bring more than 64 dies program.
        let written = 64.0 * 4096.0 / 200e-6;
        let drives: f64 = drives.parse().expect("a number");
        let left = drives * written * window - gained * window;
        assert!((left / (13.0 * 64.0 * 1_048_576.0) - 1.0).abs() < 1e-6, "{channel}, {drives}");
    }
}

#[test]
fn a_window_shorter_than_a_collection_is_refused() {
    let margin = ("array.protocol.target_margin", "{ blocks = 3 }");
    let found = problem(&[FORMULA, margin]);
    let expected = "array.coordination.window: found \"formula\", which gives ";
    assert!(found.contains(expected) && found.contains("less than the"), "{found}");
}

#[test]
fn a_guard_is_shorter_than_its_window() {
    let guarded = |guard| {
        let scheme = format!("{{ type = 'staggered', window = '100ms', guard = '{guard}' }}");
        problem(&[("array.coordination", scheme.as_str())])
    };
    assert_eq!(guarded("50ms"), "");
    let found = guarded("100ms");
    let expected = "array.coordination.guard: found 0.1s; allowed: less than the window of 0.1s";
    assert!(found.contains(expected), "{found}");
}

#[test]
fn reads_around_need_parity_and_windows() {
    let around = |value, more: &[(&str, &str)]| {
        problem(&[&[("array.reads_around_gc", value)], more].concat())
    };
    for value in ["true", "false", "fail_fast", "{ type = 'fail_fast', round_trip = '20us' }"] {
        assert_eq!(around(value, &[]), "");
    }
    let found = around("windows", &[]);
    let expected = "array.reads_around_gc: found \"windows\"; allowed: with array.coordination = \
                    \"staggered\"";
    assert!(found.contains(expected), "{found}");
    assert_eq!(around("windows", &[("array.coordination", "staggered")]), "");
    let found = around("fail_fast", &[("array.layout", "raid0")]);
    let expected = "array.reads_around_gc: found \"fail_fast\"; allowed: with parity to read from";
    assert!(found.contains(expected), "{found}");
    let found = around("3", &[]);
    assert!(found.contains("found 3; allowed: true or false"), "{found}");
}

#[test]
fn old_values_are_written_as_they_were() {
    let written = |value| {
        let config = femu(&[("array.reads_around_gc", value), ("array.coordination", "staggered")]);
        serde_json::to_value(&config.array).expect("it is plain data")
    };
    assert_eq!(written("true")["reads_around_gc"], serde_json::json!(true));
    assert_eq!(written("false")["reads_around_gc"], serde_json::json!(false));
    let staggered = serde_json::json!({ "type": "staggered", "window": "0.1s" });
    assert_eq!(written("true")["coordination"], staggered);
}
