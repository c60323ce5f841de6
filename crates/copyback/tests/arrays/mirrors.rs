//! Mirrors: who is read, who waits for whom, and what becomes of what a drive cannot read. A read takes 50 us and a
//! program 200, each drive has one die, and nothing else takes any time.

use serde_json::Value;

use super::repairs::{DRIVES, number};
use super::{load, run, written};

const NO_ERRORS: (&str, &str) = ("ssd.faults.read_errors", "0.0");
const RAID1: [(&str, &str); 2] = [("array.layout", "raid1"), ("array.devices", "2")];

/// A request of a trace: microseconds, first page, pages, and whether it reads.
type Request = (u64, u64, u64, bool);

/// Runs a trace. Returns the summary, and of each command its drive and operation.
fn ran(requests: &[Request], settings: &[(&str, &str)]) -> (Value, Vec<(u16, u8)>) {
    let line = |(us, page, pages, reads): &Request| {
        format!("{} 0 {} {} {}\n", us * 1000, page * 8, pages * 8, u8::from(*reads))
    };
    let trace = written(&requests.iter().map(line).collect::<String>());
    let path = trace.path().to_str().expect("a plain path");
    let own = [("workload.path", path), ("metrics.commands", "true")];
    let mut simulation = run(&load(DRIVES, &[&own, &RAID1[..], settings].concat()));
    let summary = simulation.summary().expect("it has run").to_json();
    let commands = simulation.take_commands();
    (summary, commands.device.into_iter().zip(commands.operation).collect())
}

/// The drives that a trace of reads goes to, in order.
fn drives_read(requests: &[Request], settings: &[(&str, &str)]) -> Vec<u16> {
    let (_, commands) = ran(requests, &[&[NO_ERRORS], settings].concat());
    commands.into_iter().map(|(drive, _)| drive).collect()
}

#[test]
fn a_read_goes_to_the_copy_that_its_policy_chooses() {
    let apart: Vec<Request> = (1..7).map(|ms| (1000 * ms, ms, 1, true)).collect();
    let of = |policy, requests: &[Request]| {
        drives_read(requests, &[("array.mirror_reads", policy), ("array.devices", "3")])
    };
    assert_eq!(of("first", &apart), [0; 6]);
    assert_eq!(of("round_robin", &apart), [0, 1, 2, 0, 1, 2]);
    assert_eq!(of("shortest_queue", &apart), [0; 6], "all are idle");
    let random = of("random", &apart);
    assert!((0..3).all(|drive| random.iter().filter(|read| **read == drive).count() < 6));
    // Each is still busy with the reads before.
    let together: Vec<Request> = (0..6).map(|us| (1000 + us, us, 1, true)).collect();
    assert_eq!(of("shortest_queue", &together), [0, 1, 2, 0, 1, 2]);
    let lost =
        [("array.mirror_reads", "round_robin"), ("array.devices", "3"), ("array.failed", "[1]")];
    assert_eq!(drives_read(&apart, &lost), [0, 2, 0, 2, 0, 2]);
}

/// The pairs of drives have turns of their own: no workload can make one drive of a pair get all reads.
#[test]
fn each_set_of_drives_has_its_own_turn() {
    let settings =
        [("array.layout", "raid10"), ("array.devices", "4"), ("array.mirror_reads", "round_robin")];
    // Chunks are two pages; they are on drives 0 and 1, and 2 and 3, in turn.
    let reads: Vec<Request> =
        (0..8).map(|chunk| (1000 * (chunk + 1), 2 * chunk, 1, true)).collect();
    assert_eq!(drives_read(&reads, &settings), [0, 2, 1, 3, 0, 2, 1, 3]);
}

#[test]
fn a_long_read_is_spread_over_the_copies_of_its_chunks() {
    let read = [(1000, 0, 16, true)];
    let raid10 = [("array.layout", "raid10"), ("array.devices", "4")];
    let pages = |arrangement| {
        let settings = [&raid10[..], &[NO_ERRORS, ("array.arrangement", arrangement)]].concat();
        let (summary, _) = ran(&read, &settings);
        (0..4).map(|drive| number(&summary, &format!("/devices/{drive}/flash/reads"))).collect()
    };
    for arrangement in ["near", "far", "offset"] {
        let pages: Vec<f64> = pages(arrangement);
        assert_eq!(pages, [4.0; 4], "{arrangement}");
    }
}

#[test]
fn writes_of_the_same_bytes_share_them() {
    let writes = [(1000, 0, 1, false), (1000, 0, 1, false)];
    let (summary, commands) = ran(&writes, &[NO_ERRORS]);
    assert_eq!(commands, [(0, 1), (1, 1), (0, 1), (1, 1)]);
    // The die programs one after the other.
    assert_eq!(number(&summary, "/response_us/write/mean"), 300.0);
    // A read waits for no lock: only for its die.
    let (summary, _) = ran(&[(1000, 0, 1, false), (1010, 5, 1, true)], &[NO_ERRORS]);
    assert_eq!(number(&summary, "/response_us/read/mean"), 240.0);
}

#[test]
fn a_write_waits_for_the_step_of_a_rebuild_that_copies_its_bytes() {
    let rebuild = [
        NO_ERRORS,
        ("array.failed", "[1]"),
        ("array.rebuild", "{ type = \"rate\", rate = \"none\", unit = \"8KiB\" }"),
        ("host.scheduling", "in_order"),
    ];
    // Drive 0 serves a read until 50 us, then the first step reads its two pages until 150 us and writes them until 550.
    let before = (0, 300, 1, true);
    let (summary, _) = ran(&[before, (10, 0, 1, false)], &rebuild);
    assert_eq!(number(&summary, "/response_us/write/mean"), 540.0 + 200.0);
    // Bytes that have not been reached are written to drive 0 alone, behind those reads.
    let (summary, _) = ran(&[before, (10, 200, 1, false)], &rebuild);
    assert_eq!(number(&summary, "/response_us/write/mean"), 140.0 + 200.0);
}

#[test]
fn a_page_that_cannot_be_read_is_read_from_the_other_copy_and_written_again() {
    let (mut good, mut repaired, mut lost) = (0, 0, 0);
    for page in 0..60 {
        let (summary, _) = ran(&[(1000, page, 1, true)], &[]);
        let count = |key: &str| number(&summary, &format!("/array/repairs/{key}"));
        let response = number(&summary, "/response_us/all/mean");
        match [count("made_up"), count("lost"), count("written_bytes")] {
            [0.0, 0.0, 0.0] => {
                assert_eq!(response, 50.0);
                good += 1;
            }
            // Read in vain takes four times as long.
            [1.0, 0.0, 4096.0] => {
                assert_eq!(response, 200.0 + 50.0);
                assert_eq!(number(&summary, "/devices/0/flash/programs"), 1.0);
                repaired += 1;
            }
            [0.0, 2.0, 0.0] => {
                assert_eq!(response, 200.0 + 200.0);
                lost += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(good > 20 && repaired > 4 && lost > 1, "{good} {repaired} {lost}");
}

#[test]
fn a_third_copy_makes_up_for_two_that_cannot_be_read() {
    let mut twice = 0;
    for page in 0..60 {
        let (summary, _) = ran(&[(1000, page, 1, true)], &[("array.devices", "3")]);
        let count = |key: &str| number(&summary, &format!("/array/repairs/{key}"));
        if let [2.0, 0.0, 8192.0] = [count("made_up"), count("lost"), count("written_bytes")] {
            // Two in vain, the third, and the second has been written.
            assert_eq!(number(&summary, "/response_us/all/mean"), 200.0 + 200.0 + 50.0 + 200.0);
            twice += 1;
        }
    }
    assert!(twice > 1, "{twice}");
}

/// Reads beside writes, of drives that collect in turn.
fn beside_collections(policy: &str) -> Value {
    let mut stream = copyback::rng::stream(5, "mirrors");
    let mut random = |most| rand::RngExt::random_range(&mut stream, 0..most);
    let requests: Vec<Request> =
        (0..20_000).map(|at| (1000 + 400 * at, random(380), 1, random(2) > 0)).collect();
    let settings = [
        NO_ERRORS,
        ("array.mirror_reads", policy),
        ("array.coordination", "{ type = \"staggered\", window = \"50ms\" }"),
        ("precondition.overwrites", "1.0"),
    ];
    ran(&requests, &settings).0
}

#[test]
fn reads_go_around_the_drive_that_collects() {
    let [around, shortest] = ["around_collections", "shortest_queue"].map(beside_collections);
    assert_eq!(number(&shortest, "/array/reads_around_gc"), 0.0);
    assert!(number(&around, "/array/reads_around_gc") > 100.0, "{}", around["array"]);
    let mean = |summary: &Value| number(summary, "/response_us/read/mean");
    assert!(mean(&around) < mean(&shortest), "{} {}", mean(&around), mean(&shortest));
}
