//! Arrays that lose their power: what is torn, what is reconstructed wrongly later, and what each policy reads and writes for it.
//!
//! Drives are those of the failures: a read takes 50 us and a program 200, a unit of a stripe is two pages of 4 KiB.

use serde_json::Value;

use super::failures::{Request, ran_on};
use super::repairs::{DRIVES, number};

/// Page 0, on drive 0; the other data of its stripe are on drives 1 and 2, its parity on drive 3.
const WRITE: Request = (0, 0, 1, false);
/// A read so late that everything else is over.
const LATE: Request = (5_000_000, 100, 1, true);

const PPL: (&str, &str) = ("array.consistency_policy", "{ type = 'ppl', space = '64KiB' }");
const BITMAP: (&str, &str) =
    ("array.consistency_policy", "{ type = 'bitmap', chunk = '64KiB', delay = '100ms' }");
const JOURNAL: (&str, &str) = ("array.consistency_policy", "journal");
const NONE: (&str, &str) = ("array.consistency_policy", "none");
const RESYNC: (&str, &str) = (
    "array.consistency_policy",
    "{ type = 'resync', least = '1MB/s', most = '1MB/s', unit = '8KiB' }",
);

/// The summary of `requests` on drives without faults.
fn ran(requests: &[Request], settings: &[(&str, &str)]) -> Value {
    let (before, rest) = DRIVES.split_once("[ssd.faults]").expect("they have faults");
    let (_, after) = rest.split_once("[precondition]").expect("they are filled");
    ran_on(&format!("{before}[precondition]{after}"), requests, settings)
}

/// Runs `requests`, the last of which is a write, with a cut in the middle of its last 200 us.
fn cut_while_written(requests: &[Request], settings: &[(&str, &str)]) -> Value {
    let whole = ran(requests, settings);
    let (last, ..) = requests[requests.len() - 1];
    let ends = last as f64 + number(&whole, "/response_us/write/max");
    cut_at(ends - 100.0, &[requests, &[LATE]].concat(), settings)
}

fn cut_at(us: f64, requests: &[Request], settings: &[(&str, &str)]) -> Value {
    let cut = format!("{{ type = 'at', times = ['{us}us'] }}");
    let summary = ran(requests, &[&[("ssd.power.cuts", cut.as_str())], settings].concat());
    assert_eq!(number(&summary, "/requests/count"), requests.len() as f64, "each is served");
    assert_eq!(number(&summary, "/power_loss/cuts"), 1.0);
    summary
}

fn consistency(summary: &Value, key: &str) -> f64 {
    number(summary, &format!("/array/consistency/{key}"))
}

#[test]
fn a_degraded_array_reconstructs_wrongly_what_nobody_was_writing() {
    let hole = |failed: &str, policy| {
        let summary = cut_while_written(&[WRITE], &[("array.failed", failed), policy]);
        assert_eq!(consistency(&summary, "torn_writes"), 1.0);
        consistency(&summary, "write_hole_bytes")
    };
    for policy in [NONE, RESYNC, BITMAP] {
        assert_eq!(hole("[1]", policy), 4096.0, "{policy:?}: the unit beside it");
        assert_eq!(hole("[2]", policy), 4096.0, "{policy:?}");
        assert_eq!(hole("[0]", policy), 0.0, "{policy:?}: it was being written");
        assert_eq!(hole("[3]", policy), 0.0, "{policy:?}: all data are there");
    }
    for failed in ["[0]", "[1]", "[2]", "[3]"] {
        assert_eq!(hole(failed, PPL), 0.0, "the log closes the hole");
        assert_eq!(hole(failed, JOURNAL), 0.0, "the journal closes it");
    }
}

#[test]
fn a_drive_that_fails_before_the_parity_is_made_anew_leaves_a_hole() {
    let fails = |policy, at: &str| {
        let failure = format!("{{ type = 'at', drives = [{{ drive = 1, at = '{at}' }}] }}");
        let settings = [("array.failures", failure.as_str()), policy];
        let summary = cut_at(150.0, &[WRITE, LATE], &settings);
        assert_eq!(consistency(&summary, "torn_writes"), 1.0);
        consistency(&summary, "write_hole_bytes")
    };
    assert_eq!(fails(RESYNC, "151us"), 4096.0);
    // The host hands the write in anew, which makes the parity from all data: nothing is left to disagree.
    assert_eq!(fails(RESYNC, "3s"), 0.0);
}

#[test]
fn a_write_that_changes_parity_by_the_difference_leaves_it_wrong() {
    // Of five drives a page is written by the old data and the old parity.
    let torn_left = |policy| {
        let summary = cut_while_written(&[WRITE], &[("array.devices", "5"), policy]);
        assert_eq!(consistency(&summary, "torn_writes"), 1.0);
        consistency(&summary, "torn_left")
    };
    assert_eq!(torn_left(NONE), 1.0);
    for policy in [RESYNC, BITMAP, PPL, JOURNAL] {
        assert_eq!(torn_left(policy), 0.0, "{policy:?}");
    }
}

#[test]
fn a_write_that_no_drive_has_begun_is_not_torn() {
    let summary = cut_at(20.0, &[WRITE, LATE], &[]);
    assert_eq!(consistency(&summary, "torn_writes"), 0.0, "it reads yet");
    let summary = cut_at(150.0, &[(0, 0, 1, true), LATE], &[]);
    assert_eq!(consistency(&summary, "torn_writes"), 0.0);
}

#[test]
fn a_resync_reads_all_drives_at_its_rate() {
    let summary = cut_while_written(&[WRITE], &[RESYNC]);
    let used = 1_000_000.0 * consistency(&summary, "longest_resync_us") / 1e6;
    let bytes = consistency(&summary, "resync_read_bytes");
    assert_eq!(consistency(&summary, "resyncs"), 1.0);
    assert!((4.0 * used / bytes - 1.0).abs() < 0.01, "{used} of each drive, {bytes} of all");
    // Without a write for a fifth of a second the array is clean.
    let clean = cut_at(300_000.0, &[WRITE, LATE], &[RESYNC]);
    assert_eq!(consistency(&clean, "resyncs"), 0.0);
    assert_eq!(consistency(&clean, "resync_read_bytes"), 0.0);
}

#[test]
fn a_bitmap_shortens_the_resync_to_the_chunks_that_were_written() {
    let summary = cut_while_written(&[WRITE], &[BITMAP]);
    assert_eq!(consistency(&summary, "resync_read_bytes"), 4.0 * 65_536.0);
    // The bit is set once on each drive, and cleared.
    assert_eq!(consistency(&summary, "log_bytes"), 2.0 * 4.0 * 4096.0);
    // It is set again for a write that comes later; one soon after finds it set.
    let writes = [WRITE, (1_000, 10, 1, false), (1_000_000, 0, 1, false), LATE];
    let summary = ran(&writes, &[BITMAP]);
    assert_eq!(consistency(&summary, "log_bytes"), 4.0 * 4.0 * 4096.0);
}

#[test]
fn a_partial_parity_log_takes_a_header_and_the_rows_that_are_written() {
    let logged = |request: Request| consistency(&ran(&[request], &[PPL]), "log_bytes");
    assert_eq!(logged(WRITE), 4096.0 + 4096.0);
    assert_eq!(logged((0, 0, 2, false)), 4096.0 + 8192.0);
    // A whole stripe has no data that stay.
    assert_eq!(logged((0, 0, 6, false)), 4096.0);
    // Two stripes, whose parities are on two drives, one of them written whole.
    assert_eq!(logged((0, 0, 7, false)), 4096.0 + 4096.0 + 4096.0);
    let alone = |policy| number(&ran(&[WRITE], &[policy]), "/response_us/write/mean");
    assert!(alone(PPL) >= alone(NONE) + 200.0, "the log comes before the data");
}

#[test]
fn a_journal_takes_a_header_and_all_that_is_written_on_a_drive_of_its_own() {
    let on_journal = |request: Request| {
        let summary = ran(&[request], &[JOURNAL]);
        (consistency(&summary, "log_bytes"), number(&summary, "/devices/4/flash/programs"))
    };
    // A page and its parity; two pages and two of parity; a whole stripe, of six pages and two.
    assert_eq!(on_journal(WRITE), (3.0 * 4096.0, 3.0));
    assert_eq!(on_journal((0, 0, 2, false)), (5.0 * 4096.0, 5.0));
    assert_eq!(on_journal((0, 0, 6, false)), (9.0 * 4096.0, 9.0));
    assert_eq!(on_journal((0, 0, 6, true)), (0.0, 0.0), "a read is not logged");
    let alone = |policy| number(&ran(&[WRITE], &[policy]), "/response_us/write/mean");
    assert!(alone(JOURNAL) >= alone(NONE) + 200.0, "the journal comes before the data");
}

#[test]
fn what_was_torn_is_written_again_from_the_journal_alone() {
    let raid6 = [("array.layout", "raid6"), ("array.devices", "5")];
    for layout in [&[][..], &raid6] {
        let summary = cut_while_written(&[WRITE], &[layout, &[JOURNAL]].concat());
        let parities = 1.0 + layout.len() as f64 / 2.0;
        assert_eq!(consistency(&summary, "torn_writes"), 1.0);
        assert_eq!(consistency(&summary, "torn_left"), 0.0);
        assert_eq!(consistency(&summary, "resyncs"), 1.0);
        // A header, the page and its parities; nothing of the other drives.
        assert_eq!(consistency(&summary, "resync_read_bytes"), (2.0 + parities) * 4096.0);
    }
}

#[test]
fn a_journal_of_drives_that_lose_their_buffers_is_flushed_before_the_data_are_written() {
    let taken = |protection: &str| {
        let buffer = [("ssd.buffer.capacity", "64KiB"), ("ssd.power.protection", protection)];
        number(&ran(&[WRITE], &[&buffer, &[JOURNAL][..]].concat()), "/response_us/write/mean")
    };
    assert!(taken("none") >= taken("capacitors") + 200.0, "a program of the journal is waited for");
}

#[test]
fn mirrors_are_made_alike_and_lose_nothing() {
    let programs = |summary: &Value, drive: usize| {
        number(summary, &format!("/devices/{drive}/flash/programs")) * 4096.0
    };
    let raid1 = [("array.layout", "raid1"), ("array.devices", "2"), RESYNC];
    let summary = cut_while_written(&[WRITE], &raid1);
    assert_eq!(consistency(&summary, "torn_writes"), 1.0);
    assert_eq!(consistency(&summary, "torn_left"), 0.0);
    // One copy is read, the other written.
    let bytes = consistency(&summary, "resync_read_bytes");
    assert!(programs(&summary, 1) >= bytes && programs(&summary, 0) <= 2.0 * 4096.0);
    assert_eq!(consistency(&summary, "write_hole_bytes"), 0.0);
    // All copies are read, and those that differ are written.
    let raid10 = [("array.layout", "raid10"), RESYNC];
    let summary = cut_while_written(&[WRITE], &raid10);
    assert_eq!(consistency(&summary, "torn_left"), 0.0);
    let all = consistency(&summary, "resync_read_bytes");
    assert!(all > 1.9 * bytes, "{all} of four drives, {bytes} of one");
    let written: f64 = (0..4).map(|drive| programs(&summary, drive)).sum();
    assert!(written <= 5.0 * 4096.0, "{written}");
}

#[test]
fn drives_without_copies_or_parity_go_on_with_what_they_had() {
    for layout in ["raid0", "jbod"] {
        let summary = cut_at(100.0, &[(0, 0, 8, false), LATE], &[("array.layout", layout)]);
        assert_eq!(summary["array"]["consistency"], Value::Null);
        assert!(number(&summary, "/power_loss/interrupted_requests") > 0.0, "{layout}");
    }
}
