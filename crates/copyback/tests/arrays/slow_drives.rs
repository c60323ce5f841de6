//! Drives that are slow for a while: reads of 50 us and programs of 200, longer by a factor from one instant to another.

use super::failures::{Request, ran};
use super::repairs::number;

const RAID0: (&str, &str) = ("array.layout", "raid0");
/// From 10.5 ms to 20.5 ms.
const SLOW: (&str, &str) =
    ("array.slow", "[{ drive = 1, at = '10500us', for = '10ms', factor = 4.0 }]");

/// Requests of a page of drive 1 (reads) each millisecond.
fn of_drive_1(count: u64, reads: bool) -> Vec<Request> {
    (0..count).map(|ms| (1000 * ms, 2, 1, reads)).collect()
}

#[test]
fn operations_that_begin_in_the_time_take_so_many_times_as_long() {
    // Requests from 11 to 20 ms.
    for (reads, kind, us) in [(true, "read", 50.0), (false, "write", 200.0)] {
        let summary = ran(&of_drive_1(30, reads), &[RAID0, SLOW]);
        let mean = number(&summary, &format!("/response_us/{kind}/mean"));
        assert_eq!(mean, (20.0 * us + 10.0 * 4.0 * us) / 30.0, "{kind}");
        assert_eq!(number(&summary, &format!("/response_us/{kind}/max")), 4.0 * us);
    }
}

#[test]
fn others_stay_as_they_are_and_what_has_begun_ends_as_it_began() {
    let others: Vec<Request> = (0..30).map(|ms| (1000 * ms, 0, 1, true)).collect();
    assert_eq!(number(&ran(&others, &[RAID0, SLOW]), "/response_us/read/max"), 50.0);
    // Begun 10 us before the drive becomes slow, and 10 us before it ceases to be.
    let edges = [(0, 0, 1, true), (10_490, 2, 1, true), (20_490, 2, 1, true), (20_900, 2, 1, true)];
    let summary = ran(&edges, &[RAID0, SLOW]);
    assert_eq!(number(&summary, "/response_us/read/max"), 200.0);
    assert_eq!(number(&summary, "/response_us/read/mean"), (3.0 * 50.0 + 200.0) / 4.0);
}

#[test]
fn a_time_may_begin_as_another_ends() {
    let twice = (
        "array.slow",
        "[{ drive = 1, at = '20500us', for = '10ms', factor = 2.0 }, \
          { drive = 1, at = '10500us', for = '10ms', factor = 8.0 }]",
    );
    let summary = ran(&of_drive_1(100, true), &[RAID0, twice]);
    let expected = (80.0 * 50.0 + 10.0 * 400.0 + 10.0 * 100.0) / 100.0;
    assert_eq!(number(&summary, "/response_us/read/mean"), expected);
}
