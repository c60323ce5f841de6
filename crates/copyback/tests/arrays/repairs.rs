//! What a drive cannot read is made up from the others, and written again.

use serde_json::Value;

use super::{load, run, without, written};

/// One die a drive, whose array takes 50 us to read: four times as long in vain. Nothing else takes any time.
pub const DRIVES: &str = r#"
audit = true
[array]
layout = "raid5"
devices = 4
stripe = "8KiB"
[ssd.geometry]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 32
pages_per_block = 16
page_size = "4KiB"
[ssd.timing]
read = "50us"
program = "200us"
command = "0us"
transfer_rate = "none"
[ssd.ftl]
over_provisioning = 0.25
[ssd.faults]
read_errors = 0.3
retry_failures = 1.0
retry_levels = 3
[precondition]
fill = 1.0
overwrites = 0.0
[workload]
type = "trace"
path = ""
format = "ssdsim"
"#;
const READ_US: f64 = 50.0;
const IN_VAIN_US: f64 = 200.0;
const PROGRAM_US: f64 = 200.0;

/// Requests of a trace: milliseconds, first page, pages, and whether it reads.
type Requests<'a> = &'a [(u64, u64, u64, bool)];

fn summary(requests: Requests<'_>, settings: &[(&str, &str)]) -> Value {
    let line = |(ms, page, pages, reads): &(u64, u64, u64, bool)| {
        format!("{} 0 {} {} {}\n", ms * 1_000_000, page * 8, pages * 8, u8::from(*reads))
    };
    let trace = written(&requests.iter().map(line).collect::<String>());
    let path = trace.path().to_str().expect("a plain path");
    let config = load(DRIVES, &[&[("workload.path", path)], settings].concat());
    run(&config).summary().expect("it has run").to_json()
}

pub fn number(summary: &Value, pointer: &str) -> f64 {
    summary.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {pointer}"))
}

/// Reads that were made up, those that were not, and bytes written again.
fn repairs(summary: &Value) -> [f64; 3] {
    ["made_up", "lost", "written_bytes"]
        .map(|key| number(summary, &format!("/array/repairs/{key}")))
}

fn response_us(summary: &Value) -> f64 {
    number(summary, "/response_us/all/mean")
}

#[test]
fn a_page_that_cannot_be_read_takes_the_slowest_of_the_others_more_and_is_written_again() {
    let (mut good, mut made_up, mut lost) = (0, 0, 0);
    for page in 0..60 {
        let summary = summary(&[(1, page, 1, true)], &[]);
        let response = response_us(&summary);
        match repairs(&summary) {
            [0.0, 0.0, 0.0] => {
                assert_eq!(response, READ_US);
                good += 1;
            }
            [1.0, 0.0, 4096.0] => {
                assert_eq!(response, IN_VAIN_US + READ_US);
                assert_eq!(number(&summary, "/flash/programs"), 1.0);
                made_up += 1;
            }
            // One of the others cannot be read either; then nothing is written.
            [0.0, 2.0, 0.0] => {
                assert_eq!(response, IN_VAIN_US + IN_VAIN_US);
                assert_eq!(number(&summary, "/flash/programs"), 0.0);
                lost += 1;
            }
            other => {
                assert!(other[0] == 0.0 && other[1] > 2.0 && other[2] == 0.0, "{other:?}");
                lost += 1;
            }
        }
    }
    assert!(good > 20 && made_up > 2 && lost > 5, "{good} {made_up} {lost}");
}

#[test]
fn two_parities_make_up_for_two_drives_that_cannot_read() {
    let mut twice = 0;
    for page in 0..60 {
        let summary = summary(&[(1, page, 1, true)], &[("array.layout", "raid6")]);
        if let [2.0, 0.0, 8192.0] = repairs(&summary) {
            // The page, one that it is made up from, the two that this one is made up from, and its drive has written it.
            let expected = IN_VAIN_US + IN_VAIN_US + READ_US + PROGRAM_US;
            assert_eq!(response_us(&summary), expected);
            twice += 1;
        }
    }
    assert!(twice > 1, "{twice}");
}

#[test]
fn a_write_goes_on_when_what_it_needs_has_been_made_up_and_written() {
    let mut made_up = 0;
    for page in 0..60 {
        let summary = summary(&[(1, page, 1, false)], &[]);
        if let [1.0, 0.0, 4096.0] = repairs(&summary) {
            let expected = IN_VAIN_US + READ_US + PROGRAM_US + PROGRAM_US;
            assert_eq!(response_us(&summary), expected);
            // Of the data and of the parity, and of what could not be read.
            assert_eq!(number(&summary, "/flash/programs"), 3.0);
            made_up += 1;
        }
    }
    assert!(made_up > 2, "{made_up}");
}

#[test]
fn a_replacement_does_not_know_what_could_not_be_read_and_two_parities_help() {
    let rebuild = [
        ("array.failed", "[1]"),
        ("array.rebuild", "{ type = \"rate\", rate = \"none\", unit = \"8KiB\" }"),
    ];
    // The last read comes when all has been rebuilt.
    let rebuilt = |layout, errors| {
        let settings = [("array.layout", layout), ("ssd.faults.read_errors", errors)];
        let summary =
            summary(&[(1, 0, 1, true), (20_000, 0, 1, true)], &[&rebuild[..], &settings].concat());
        assert_eq!(number(&summary, "/array/drives_missing"), 0.0);
        let unknown = number(&summary, "/array/repairs/unknown_rebuilt_bytes");
        unknown / number(&summary, "/array/rebuilt_bytes")
    };
    // Of three drives and two pages each, none must fail: 1 - 0.9^6.
    let of_one = rebuilt("raid5", "0.1");
    assert!((0.4..0.54).contains(&of_one), "{of_one}");
    assert!(rebuilt("raid6", "0.1") < of_one / 3.0);
}

#[test]
fn arrays_of_such_drives_serve_all_requests_whatever_else_they_do() {
    let mut stream = copyback::rng::stream(7, "repairs");
    let mut random = |most| rand::RngExt::random_range(&mut stream, 0..most);
    let requests: Vec<_> =
        (0..3000).map(|at| (1 + at / 2, random(700), 1 + random(6), random(3) > 0)).collect();
    let settings: [&[(&str, &str)]; 6] = [
        &[],
        &[("array.layout", "raid6")],
        &[("array.reads_around_gc", "true"), ("metrics.requests", "true")],
        &[("array.coordination", "reactive_inclusive"), ("array.layout", "raid6")],
        &[("array.failed", "[2]"), ("array.layout", "raid6")],
        &[("ssd.buffer.capacity", "64KiB"), ("ssd.gc.preemption", "semi_preemptive")],
    ];
    for settings in settings {
        let settings = [settings, &[("ssd.faults.read_errors", "0.02")]].concat();
        let result = summary(&requests, &settings);
        assert_eq!(number(&result, "/requests/count"), 3000.0, "{settings:?}");
        assert!(repairs(&result)[0] > 30.0, "{settings:?}: {:?}", repairs(&result));
        let [once, again] = [result, summary(&requests, &settings)]
            .map(|result| without(result, &["config_digest"]));
        assert!(once == again, "{settings:?}");
    }
}
