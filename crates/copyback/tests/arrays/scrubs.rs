//! Scrubs: how much they read and when, and what they find.
//!
//! A read takes 50 us and a program 200, each drive has one die and 1.5 MiB, of which the layout uses all.

use serde_json::Value;

use super::failures::{Request, ran, reads};
use super::repairs::number;
use super::{load, repairs::DRIVES};

/// Bytes of a drive: those of 24 blocks of 16 pages.
const DRIVE: f64 = (24 * 16 * 4096) as f64;

fn scrub(every: &str, least: &str) -> String {
    format!(
        "{{ type = 'throttled', every = '{every}', least = '{least}', most = '1MB/s', unit = '8KiB' }}"
    )
}

/// A request at the start, and one `us` later.
fn quiet_until(us: u64) -> [Request; 2] {
    [(0, 0, 1, true), (us, 0, 1, true)]
}

#[test]
fn a_pass_reads_all_drives_at_the_rate_and_the_next_begins_on_time() {
    let bytes = load(DRIVES, &[("workload.path", "x")]).resolve().bytes as f64;
    assert_eq!(bytes, 3.0 * DRIVE, "all of each drive is used");
    let pass_us = DRIVE;
    for layout in ["raid5", "raid6", "raid1"] {
        let settings = [("array.layout", layout), ("array.scrub", &*scrub("2s", "400KB/s"))];
        let scrubs = |us: f64| ran(&quiet_until(us as u64), &settings)["array"]["scrubs"].clone();
        let just_before = scrubs(2e6 + pass_us - 10_000.0);
        assert_eq!(number(&just_before, "/completed"), 0.0);
        let read = number(&just_before, "/read_bytes");
        assert!((read / (4.0 * DRIVE - 4.0 * 10_000.0) - 1.0).abs() < 0.01, "{read}");
        let just_after = scrubs(2e6 + pass_us + 1_000.0);
        assert_eq!(number(&just_after, "/completed"), 1.0);
        assert_eq!(number(&just_after, "/read_bytes"), 4.0 * DRIVE);
        // The second begins at 4 s.
        assert_eq!(number(&scrubs(3.999e6), "/read_bytes"), 4.0 * DRIVE);
        let second = number(&scrubs(4.1e6), "/read_bytes") - 4.0 * DRIVE;
        // Steps of 32 KiB, of which one has just ended.
        assert!((second - 400_000.0).abs() <= 32_768.0, "{second}");
    }
}

#[test]
fn a_pass_that_takes_longer_than_the_time_between_two_skips_one() {
    // It takes 1.57 s: the passes begin at 1 s and at 3 s.
    let settings = [("array.scrub", &*scrub("1s", "400KB/s"))];
    let read = |us| number(&ran(&quiet_until(us), &settings), "/array/scrubs/read_bytes");
    assert_eq!(read(2_900_000), 4.0 * DRIVE);
    assert!(read(3_100_000) > 4.0 * DRIVE + 300_000.0);
}

#[test]
fn a_scrub_is_slow_while_requests_come() {
    let settings = [("array.scrub", &*scrub("1ms", "100KB/s"))];
    let read = number(&ran(&reads(1000), &settings), "/array/scrubs/read_bytes");
    assert!((read / 4.0 / 100_000.0 - 1.0).abs() < 0.1, "{read}");
}

#[test]
fn pages_that_cannot_be_read_are_found_and_written_again() {
    // Of 768 commands of two pages, each page of which fails once in a hundred times.
    let settings = [("ssd.faults.read_errors", "0.01"), ("array.scrub", &*scrub("1s", "1MB/s"))];
    let summary = ran(&quiet_until(2_700_000), &settings);
    assert_eq!(number(&summary, "/array/scrubs/completed"), 1.0);
    let found = number(&summary, "/array/repairs/made_up");
    let expected = 768.0 * (1.0 - 0.99_f64.powi(2));
    assert!((found - expected).abs() < 3.0 * expected.sqrt(), "{found}, about {expected}");
    assert_eq!(number(&summary, "/array/repairs/written_bytes"), 8192.0 * found);
}

#[test]
fn a_scrub_ends_where_a_drive_is_missing_and_comes_again_when_none_is() {
    let fails = ("array.failures", "{ type = 'at', drives = [{ drive = 1, at = '1500ms' }] }");
    let settings = [fails, ("array.scrub", &*scrub("1s", "400KB/s"))];
    let scrubs = |us, more: &[(&str, &str)]| {
        ran(&quiet_until(us), &[&settings[..], more].concat())["array"]["scrubs"].clone()
    };
    // The pass that began at 1 s, and the ones of 2 and 3 s.
    let degraded = scrubs(3_500_000, &[]);
    assert_eq!((number(&degraded, "/completed"), number(&degraded, "/cut_short")), (0.0, 3.0));
    let rebuild = ("array.rebuild", "{ type = 'rate', rate = '10MB/s', unit = '8KiB' }");
    let replaced = scrubs(4_000_000, &[("array.spares", "1"), rebuild]);
    assert_eq!((number(&replaced, "/completed"), number(&replaced, "/cut_short")), (1.0, 1.0));
}

/// Writes to a stripe wait while a scrub reads it, and no request is left behind by either.
#[test]
fn writes_and_scrubs_of_the_same_stripes_follow_one_another() {
    let writes: Vec<Request> = (0..2000).map(|ms| (1000 * ms, ms * 3 % 300, 1, false)).collect();
    for (layout, alone) in [("raid5", 250.0), ("raid1", 200.0)] {
        let fast = "{ type = 'throttled', every = '1ms', least = '100MB/s', most = '100MB/s', unit = '64KiB' }";
        let settings = [("array.layout", layout), ("array.scrub", fast)];
        let summary = ran(&writes, &settings);
        assert_eq!(number(&summary, "/requests/count"), 2000.0);
        assert!(number(&summary, "/array/scrubs/completed") > 2.0, "{layout}");
        assert!(number(&summary, "/response_us/write/mean") > alone, "{layout}");
        assert_eq!(summary["array"]["lost"], Value::Null);
    }
}
