//! Times of an array's requests where its drives have features of their own. A read takes 50 us and a program 200 us, each
//! drive has one die, and nothing else takes any time.

use serde_json::Value;

use super::repairs::{DRIVES, number};
use super::{load, run, written};

const READ_US: f64 = 50.0;

/// A request of a trace: microseconds, first page, pages, and whether it reads.
type Request = (u64, u64, u64, bool);

const NO_ERRORS: (&str, &str) = ("ssd.faults.read_errors", "0.0");
const LOST: (&str, &str) = ("array.failed", "[1]");

fn summary(requests: &[Request], settings: &[(&str, &str)]) -> Value {
    let line = |(us, page, pages, reads): &Request| {
        format!("{} 0 {} {} {}\n", us * 1000, page * 8, pages * 8, u8::from(*reads))
    };
    let trace = written(&requests.iter().map(line).collect::<String>());
    let path = trace.path().to_str().expect("a plain path");
    let config = load(DRIVES, &[&[("workload.path", path)], settings].concat());
    run(&config).summary().expect("it has run").to_json()
}

/// The first page of each unit of data on drive 1, of as many stripes. A stripe has three units of two pages, and a parity
/// that is one drive further left each time; the data follow it.
fn units_of_drive_1(stripes: u64) -> Vec<u64> {
    let unit = |stripe: u64| {
        let parity = 3 - stripe % 4;
        let place = (1 + 4 - parity - 1) % 4;
        (parity != 1).then_some(2 * (3 * stripe + place))
    };
    (0..stripes).filter_map(unit).collect()
}

#[test]
fn a_small_write_to_drives_with_buffers_waits_for_its_reads_alone() {
    let buffered = [NO_ERRORS, ("ssd.buffer.capacity", "256KiB"), ("ssd.buffer.latency", "10us")];
    // A page is reconstructed from two others; a whole stripe needs none.
    for (pages, expected) in [(1, READ_US + 10.0), (6, 10.0)] {
        let summary = summary(&[(1000, 0, pages, false)], &buffered);
        assert_eq!(number(&summary, "/response_us/write/max"), expected, "{pages} pages");
    }
}

#[test]
fn a_read_of_a_lost_drive_suspends_programs_of_the_others() {
    let suspend = "{ type = \"program_erase\", suspend = \"5us\", resume = \"3us\", most = 2 }";
    // A stripe is being written until 1400 us, by two programs a drive; the page of another is read from all of them.
    let page = units_of_drive_1(2)[1];
    let requests = [(1000, 0, 6, false), (1100, page, 1, true)];
    for (settings, read, write) in [
        (vec![], 100.0 + READ_US, 400.0 + READ_US),
        (vec![("ssd.commands.suspend", suspend)], 5.0 + READ_US, 400.0 + 5.0 + READ_US + 3.0),
    ] {
        let summary = summary(&requests, &[&[NO_ERRORS, LOST], &settings[..]].concat());
        assert_eq!(number(&summary, "/response_us/read/max"), read, "{settings:?}");
        assert_eq!(number(&summary, "/response_us/write/max"), write, "{settings:?}");
    }
}

#[test]
fn a_read_of_a_lost_drive_takes_the_retries_of_the_others() {
    let retried = [LOST, ("ssd.faults.retry_failures", "0.0")];
    let pages = units_of_drive_1(180);
    let requests: Vec<Request> =
        (1..).zip(&pages).map(|(ms, page)| (1000 * ms, *page, 1, true)).collect();
    let summary = summary(&requests, &retried);
    // Three pages are read at the same time, each of which needs a retry with a chance of 0.3: the slowest decides.
    let expected = READ_US * (2.0 - 0.7_f64.powi(3));
    let found = number(&summary, "/response_us/read/mean");
    let deviation = READ_US * (0.343 * 0.657 / pages.len() as f64).sqrt();
    assert!((found - expected).abs() < 3.0 * deviation, "{found}, not {expected}");
}

#[test]
fn a_read_of_a_lost_drive_takes_the_mode_of_the_others() {
    let cache = [
        NO_ERRORS,
        LOST,
        ("ssd.slc_cache.static", "{ blocks = 1 }"),
        ("ssd.slc_cache.timing", r#"{ read = "5us", program = "20us", erase = "500us" }"#),
        ("ssd.slc_cache.fold_after_idle", "1s"),
        ("ssd.slc_cache.when_full", "write_past"),
        ("ssd.geometry.blocks_per_plane", "40"),
    ];
    let [written, other] = units_of_drive_1(2)[..] else { panic!("of each stripe one") };
    for (page, expected) in [(written, 5.0), (other, READ_US)] {
        let summary = summary(&[(1000, 0, 6, false), (10_000, page, 1, true)], &cache);
        assert_eq!(number(&summary, "/response_us/write/max"), 2.0 * 20.0);
        assert_eq!(number(&summary, "/response_us/read/max"), expected);
    }
}
