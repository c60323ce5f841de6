//! Reads that fail fast, and reads around windows.

use serde_json::Value;

use crate::{RAID5, load, reads_behind_writes, run, written};

const TABLE: &str = "array.reads_around_gc";

/// Policy with so long a round trip.
fn fail_fast(round_trip: &str, several: &str) -> String {
    format!("{{ type = 'fail_fast', round_trip = '{round_trip}', several = '{several}' }}")
}

fn with(pages: &[u64], policy: &str) -> Value {
    reads_behind_writes(pages, &[(TABLE, policy)])
}

fn number(summary: &Value, pointer: &str) -> f64 {
    summary.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {pointer}"))
}

/// Sum of the response times of reads, in whole microseconds.
fn read_us(summary: &Value) -> f64 {
    (number(summary, "/response_us/read/mean") * number(summary, "/response_us/read/count")).round()
}

#[test]
fn a_failure_that_takes_no_time_is_known_at_once() {
    for pages in [&[0, 4, 8][..], &[0]] {
        let (mut at_once, mut failing) =
            (with(pages, "true"), with(pages, &fail_fast("0us", "none")));
        for summary in [&mut at_once, &mut failing] {
            summary["config_digest"].take();
            summary["simulator"].take();
        }
        assert_eq!(at_once, failing);
    }
}

#[test]
fn each_read_that_goes_around_takes_a_round_trip_longer() {
    let pages = &[0, 4, 8];
    let (at_once, failing) = (with(pages, "true"), with(pages, &fail_fast("30us", "longest_busy")));
    let around = number(&failing, "/array/reads_around_gc");
    assert!(around > 10.0, "{}", failing["array"]);
    assert_eq!(number(&at_once, "/array/reads_around_gc"), around);
    assert_eq!(read_us(&failing) - read_us(&at_once), 30.0 * around);
    let late = |summary: &Value| number(summary, "/breakdown_us/late");
    assert!(late(&failing) > late(&at_once), "{}", failing["breakdown_us"]);
}

#[test]
fn a_read_that_waits_for_its_own_drive_has_failed_twice_before() {
    // Longer than any collection: the drive is idle when the read comes back.
    let failing = with(&[0], &fail_fast("8ms", "none"));
    assert_eq!(number(&failing, "/array/reads_around_gc"), 0.0);
    let [least, most] =
        ["min", "max"].map(|end| number(&failing, &format!("/response_us/read/{end}")));
    assert_eq!(most, 16_000.0 + least);
}

#[test]
fn of_two_busy_drives_one_is_gone_around() {
    for several in ["random", "longest_busy"] {
        let around = with(&[0], &fail_fast("0us", several));
        assert!(number(&around, "/array/reads_around_gc") > 10.0, "{several}: {}", around["array"]);
    }
}

#[test]
fn a_read_in_the_window_of_its_drive_goes_around_it() {
    // The first page of the array is on drive 0, whose window begins at 0 and at 40 ms.
    let reads = |times_ms: &[u64]| {
        let lines = times_ms.iter().map(|at| format!("{} 0 0 8 1\n", at * 1_000_000));
        // Times count from the first request, which reads from drive 1 outside its window.
        let file = written(&format!("0 0 8 8 1\n{}", lines.collect::<String>()));
        let settings = [
            ("workload.path", file.path().to_str().expect("a plain path")),
            ("array.coordination", "{ type = 'staggered', window = '10ms' }"),
            (TABLE, "windows"),
        ];
        run(&load(RAID5, &settings)).summary().expect("it has run").to_json()
    };
    let flash = |times: &[u64]| number(&reads(times), "/flash/reads");
    assert_eq!([flash(&[5]), flash(&[15]), flash(&[25]), flash(&[45])], [4.0, 2.0, 2.0, 4.0]);
    assert_eq!(number(&reads(&[5, 15, 45]), "/array/reads_around_gc"), 2.0);
}

/// A read that has failed comes 8 ms later. Meanwhile a drive fails that it was to read instead, and an empty spare takes its
/// place.
#[test]
fn a_read_that_comes_back_reads_nothing_from_a_spare_that_holds_nothing() {
    // Pages of the first drive as in other tests, but not of the first stripe, which the rebuild writes at once.
    let line =
        |at_us: u64, page: u64, reads: u64| format!("{} 0 {} 8 {reads}\n", at_us * 1_000, page * 8);
    let requests = (0..600_u64).flat_map(|request| {
        let page = 12 * (1 + request % 31) + [0, 4, 8][request as usize % 3];
        (0..5).map(move |later| line(request * 20_000 + later * 700, page, later.min(1)))
    });
    let file = written(&requests.collect::<String>());
    let policy = fail_fast("8ms", "longest_busy");
    let mut around = 0.0;
    for ms in 0..20 {
        let fails =
            format!("{{ type = 'at', drives = [{{ drive = 2, at = '{}ms' }}] }}", 8_000 + 21 * ms);
        let settings = [
            ("workload.path", file.path().to_str().expect("a plain path")),
            (TABLE, &*policy),
            ("array.failures", &fails),
            ("array.spares", "1"),
            ("array.rebuild", "{ type = 'rate', rate = '1B/s', unit = '4KiB' }"),
        ];
        let summary = run(&load(RAID5, &settings)).summary().expect("it has run").to_json();
        assert_eq!(number(&summary, "/requests/count"), 3_000.0);
        assert_eq!(number(&summary, "/devices/4/commands/reads"), 0.0, "{fails}");
        around += number(&summary, "/array/reads_around_gc");
    }
    assert!(around > 100.0, "only {around} reads went around");
}
