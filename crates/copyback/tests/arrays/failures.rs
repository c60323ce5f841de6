//! Drives that fail in a run: who serves what they held, how long a spare takes to hold it, and what is lost.
//!
//! A read takes 50 us and a program 200, each drive has one die and 1.5 MiB, and nothing else takes any time.

use serde_json::Value;

use super::repairs::{DRIVES, number};
use super::{load, run, written};

const RAID5: [(&str, &str); 2] = [("ssd.faults.read_errors", "0.0"), ("array.layout", "raid5")];

/// A request of a trace: microseconds after the first, first page, pages, and whether it reads.
pub type Request = (u64, u64, u64, bool);

pub fn ran(requests: &[Request], settings: &[(&str, &str)]) -> Value {
    ran_on(DRIVES, requests, &[&RAID5[..], settings].concat())
}

/// The summary of `requests` on these drives.
pub fn ran_on(drives: &str, requests: &[Request], settings: &[(&str, &str)]) -> Value {
    let line = |(us, page, pages, reads): &Request| {
        format!("{} 0 {} {} {}\n", us * 1000, page * 8, pages * 8, u8::from(*reads))
    };
    let trace = written(&requests.iter().map(line).collect::<String>());
    let path = trace.path().to_str().expect("a plain path");
    let own = [("workload.path", path)];
    let simulation = run(&load(drives, &[&own, settings].concat()));
    simulation.summary().expect("it has run").to_json()
}

/// Reads of a page each millisecond, from the start on.
pub fn reads(count: u64) -> Vec<Request> {
    (0..count).map(|ms| (1000 * ms, ms % 300, 1, true)).collect()
}

const FAILS: (&str, &str) =
    ("array.failures", "{ type = 'at', drives = [{ drive = 1, at = '9500us' }] }");

#[test]
fn what_a_drive_held_is_made_up_once_it_has_failed() {
    let summary = ran(&reads(400), &[FAILS]);
    let failure = &summary["array"]["failures"][0];
    assert_eq!(number(failure, "/at_us"), 9_500.0);
    assert_eq!(number(failure, "/drive"), 1.0);
    assert_eq!((&failure["replaced_by"], &failure["rebuilt_us"]), (&Value::Null, &Value::Null));
    assert_eq!(summary["array"]["lost"], Value::Null);
    assert_eq!(number(&summary, "/requests/count"), 400.0);
    assert_eq!(number(&summary, "/array/drives_missing"), 1.0);
    // A read of its pages becomes one of each of the three others; it has served two or three of the first ten.
    let commands = |drive: usize| number(&summary, &format!("/devices/{drive}/commands/count"));
    let of_failed = commands(1);
    assert!((1.0..=3.0).contains(&of_failed), "{of_failed}");
    let others: f64 = [0, 2, 3].map(commands).iter().sum();
    // A quarter of the other 390 is read from three drives.
    let expected = (400.0 - of_failed) + 2.0 * 390.0 / 4.0;
    assert!((others - expected).abs() < 25.0, "{others}, about {expected}");
}

#[test]
fn a_read_under_way_in_a_drive_that_fails_is_made_up_from_the_others() {
    // Unit 1 of stripe 0 is on drive 1. The drive fails 20 us after the read has come.
    let fails = ("array.failures", "{ type = 'at', drives = [{ drive = 1, at = '20us' }] }");
    let summary = ran(&[(0, 2, 1, true)], &[fails]);
    assert_eq!(number(&summary, "/response_us/read/mean"), 50.0 + 50.0);
    assert_eq!(number(&summary, "/requests/count"), 1.0);
    // A write to it has its parity, and does not come again: 50 us for old data and parity, and 200 to write.
    let late = ("array.failures", "{ type = 'at', drives = [{ drive = 1, at = '100us' }] }");
    let summary = ran(&[(0, 2, 1, false)], &[late]);
    assert_eq!(number(&summary, "/response_us/write/mean"), 250.0);
    // One that reads the other data units, of which one is on drive 1, is planned anew: old data and parity are read.
    let summary = ran(&[(0, 0, 1, false)], &[fails]);
    assert_eq!(number(&summary, "/response_us/write/mean"), 50.0 + 50.0 + 200.0);
}

const SPARE: (&str, &str) = ("array.spares", "1");

#[test]
fn a_spare_holds_all_after_as_long_as_its_bytes_take_at_the_rate() {
    let rebuild = ("array.rebuild", "{ type = 'rate', rate = '1MB/s', unit = '8KiB' }");
    let summary = ran(&reads(2500), &[FAILS, SPARE, rebuild]);
    let failure = &summary["array"]["failures"][0];
    assert_eq!(number(failure, "/replaced_by"), 4.0);
    let bytes = number(&summary, "/array/rebuilt_bytes");
    let took_us = number(failure, "/rebuilt_us") - 9_500.0;
    assert!((took_us / bytes - 1.0).abs() < 0.01, "{took_us} us for {bytes} bytes");
    assert_eq!(number(&summary, "/array/drives_missing"), 0.0);
    assert_eq!(summary["devices"].as_array().map(Vec::len), Some(5));
    assert_eq!(number(&summary, "/devices/4/flash/programs") * 4096.0, bytes);
}

#[test]
fn a_throttled_rebuild_is_slow_while_requests_come() {
    let rebuild = (
        "array.rebuild",
        "{ type = 'throttled', least = '400KB/s', most = '4MB/s', unit = '8KiB' }",
    );
    // A request each millisecond until 500 ms, and one long after.
    let requests = [reads(500), vec![(2_500_000, 0, 1, true)]].concat();
    let summary = ran(&requests, &[FAILS, SPARE, rebuild]);
    let bytes = number(&summary, "/array/rebuilt_bytes");
    // 0.4 bytes a microsecond for 490 ms, the rest at 4.
    let expected_us = 490_500.0 + (bytes - 0.4 * 490_500.0) / 4.0;
    let took_us = number(&summary, "/array/failures/0/rebuilt_us") - 9_500.0;
    assert!((took_us / expected_us - 1.0).abs() < 0.03, "{took_us} us, about {expected_us}");
}

const TWO_FAIL: (&str, &str) = (
    "array.failures",
    "{ type = 'at', drives = [{ drive = 1, at = '9500us' }, { drive = 2, at = '109500us' }] }",
);

#[test]
fn a_second_failure_before_the_spare_holds_all_loses_what_it_does_not() {
    let rebuild = ("array.rebuild", "{ type = 'rate', rate = '1MB/s', unit = '8KiB' }");
    let summary = ran(&reads(400), &[TWO_FAIL, SPARE, rebuild]);
    assert_eq!(number(&summary, "/array/lost/at_us"), 109_500.0);
    // Rows that were not rebuilt lack two units, of which two in four are parity.
    let rebuilt = number(&summary, "/array/rebuilt_bytes");
    let used = number(&summary, "/requests/count");
    assert!((100_000.0..=108_192.0).contains(&rebuilt), "{rebuilt}");
    let whole = ran(&reads(2500), &[FAILS, SPARE, rebuild]);
    let all = number(&whole, "/array/rebuilt_bytes");
    let lost = number(&summary, "/array/lost/bytes");
    assert!((lost / (1.5 * (all - rebuilt)) - 1.0).abs() < 0.03, "{lost} of {all} less {rebuilt}");
    // No request enters any more.
    assert!((109.0..=111.0).contains(&used), "{used}");
    // RAID-6 loses nothing.
    let raid6 = ran(&reads(400), &[TWO_FAIL, SPARE, rebuild, ("array.layout", "raid6")]);
    assert_eq!(raid6["array"]["lost"], Value::Null);
    assert_eq!(number(&raid6, "/requests/count"), 400.0);
}

#[test]
fn a_drive_without_copies_or_parity_takes_its_bytes_along() {
    let summary = ran(&reads(400), &[FAILS, ("array.layout", "raid0")]);
    let bytes = number(&summary, "/array/lost/bytes");
    assert_eq!(number(&summary, "/array/lost/at_us"), 9_500.0);
    let whole = load(DRIVES, &[("array.layout", "raid0"), ("workload.path", "x")]).resolve().bytes;
    assert_eq!(bytes, whole as f64 / 4.0);
    let note = format!(
        "the failure of drive 1 at 0.009500 s lost {bytes} bytes of the array, which no other drives make up for; no \
         request entered after it"
    );
    assert_eq!(summary["notes"][0], note);
    assert_eq!(number(&summary, "/requests/count"), 10.0);
}

#[test]
fn random_lives_have_the_mean_of_their_distribution() {
    let lives: Vec<f64> = (0..200)
        .map(|seed| {
            let seed = seed.to_string();
            let random = ("array.failures", "{ type = 'random', life = '100ms' }");
            let summary =
                ran(&[(0, 0, 1, true), (9_000_000, 0, 1, true)], &[random, ("seed", &seed)]);
            number(&summary, "/array/failures/0/at_us")
        })
        .collect();
    // The first of four drives, each of an exponential life of 100 ms.
    let mean = lives.iter().sum::<f64>() / lives.len() as f64;
    assert!((mean / 25_000.0 - 1.0).abs() < 3.0 / 200_f64.sqrt(), "{mean}");
}

/// Reads in vain take 200 us, then others are read until 250 or 450, and the drive is written again until 650: a drive that
/// fails at any of these times leaves no request behind.
#[test]
fn a_repair_that_a_failure_meets_ends() {
    let mut met = 0.0;
    for layout in ["raid5", "raid6", "raid1"] {
        for (drive, us) in (0..4).flat_map(|drive| [100, 210, 300, 500].map(|us| (drive, us))) {
            let failure = format!("{{ drive = {drive}, at = '{us}us' }}");
            let fails = format!("{{ type = 'at', drives = [{failure}] }}");
            for page in 0..12 {
                let requests = [(0, page, 1, false), (0, page + 40, 1, true), (900, page, 1, true)];
                let settings = [
                    ("ssd.faults.read_errors", "0.3"),
                    ("array.layout", layout),
                    ("array.failures", &fails),
                ];
                let summary = ran(&requests, &settings);
                assert_eq!(number(&summary, "/requests/count"), 3.0, "{settings:?}, page {page}");
                met += number(&summary, "/array/repairs/made_up");
            }
        }
    }
    assert!(met > 100.0, "only {met} repairs");
}

/// With two parities, or three copies, a page that one drive cannot read is known without a second drive.
#[test]
fn a_repair_reads_elsewhere_if_a_drive_fails_that_it_reads() {
    // Whoever reads page 0 in vain is repaired from 200 us on; the drive fails while it is read.
    for layout in ["raid6", "raid1"] {
        for seed in 0..40 {
            let seed = seed.to_string();
            let read = |settings: &[(&str, &str)]| {
                let own =
                    [("ssd.faults.read_errors", "0.05"), ("array.layout", layout), ("seed", &seed)];
                ran(&[(0, 0, 1, true)], &[&own, settings].concat())
            };
            if number(&read(&[]), "/array/repairs/made_up") != 1.0 {
                continue;
            }
            for drive in 0..4 {
                let at =
                    format!("{{ type = 'at', drives = [{{ drive = {drive}, at = '220us' }}] }}");
                let summary = read(&[("array.failures", &at)]);
                assert_eq!(number(&summary, "/array/repairs/lost"), 0.0, "{layout} {seed} {drive}");
            }
        }
    }
}

#[test]
fn lives_that_wear_out_end_near_their_characteristic_life() {
    // Of four drives with a shape of 10 the first fails at 4^(-1/10) times the life, times the gamma function of 1.1.
    let expected_us = 100_000.0 * 4_f64.powf(-0.1) * 0.951_35;
    let random = ("array.failures", "{ type = 'random', life = '100ms', shape = 10.0 }");
    let lives = (0..100).map(|seed| {
        let requests = [(0, 0, 1, true), (9_000_000, 0, 1, true)];
        let summary = ran(&requests, &[random, ("seed", &seed.to_string())]);
        number(&summary, "/array/failures/0/at_us")
    });
    let mean = lives.sum::<f64>() / 100.0;
    assert!((mean / expected_us - 1.0).abs() < 0.04, "{mean}, about {expected_us}");
}

#[test]
fn mirrors_serve_as_long_as_a_copy_is_left() {
    let raid1 = [("array.layout", "raid1"), ("array.devices", "3"), TWO_FAIL];
    let summary = ran(&reads(400), &raid1);
    assert_eq!(number(&summary, "/requests/count"), 400.0);
    assert_eq!(summary["array"]["lost"], Value::Null);
    assert_eq!(number(&summary, "/array/drives_missing"), 2.0);
}

/// Writes of a page each millisecond, all over the array.
fn writes(count: u64) -> Vec<Request> {
    (0..count).map(|ms| (1000 * ms, ms * 7 % 300, 1, false)).collect()
}

const WEARS_OUT: [(&str, &str); 3] = [
    ("array.failures", "end_of_life"),
    ("ssd.faults.program_failures", "0.005"),
    ("precondition.fill", "0.0"),
];

#[test]
fn a_drive_that_rejects_a_write_has_failed_and_its_writes_are_done_without_it() {
    for layout in ["raid5", "raid6", "raid1"] {
        let settings = [&WEARS_OUT[..], &[("array.layout", layout)]].concat();
        let summary = ran(&writes(12_000), &settings);
        let failures = summary["array"]["failures"].as_array().expect("drives may fail");
        let spare = [("raid5", 1), ("raid6", 2), ("raid1", 3)]
            .map(|(name, spare)| (name == layout) as usize * spare);
        assert_eq!(failures.len(), spare.iter().sum::<usize>(), "{layout}: {failures:?}");
        assert!(failures.iter().all(|failure| failure["cause"] == "end_of_life"));
        // The first to be read-only is the first to fail, with the next write that it is sent.
        let read_only_us = number(&summary, "/faults/read_only_since_s") * 1e6;
        let failed_us = number(&summary, "/array/failures/0/at_us");
        assert!(
            (0.0..100_000.0).contains(&(failed_us - read_only_us)),
            "{failed_us} {read_only_us}"
        );
        // The last one that could not be spared has stayed: its writes fail, and nothing is lost.
        assert_eq!(summary["array"]["lost"], Value::Null);
        let served = number(&summary, "/requests/count");
        let last_us = number(failures.last().expect("one has failed"), "/at_us");
        assert!((last_us / 1000.0..11_999.0).contains(&served), "{layout}: {served} {last_us}");
    }
}

const COLLECTS: [(&str, &str); 4] = [
    ("ssd.gc.soft_threshold", "{ blocks = 3 }"),
    ("array.protocol.register_margin", "{ blocks = 1 }"),
    ("array.protocol.target_margin", "{ blocks = 2 }"),
    ("array.rebuild", "{ type = 'rate', rate = '20MB/s', unit = '8KiB' }"),
];

#[test]
fn coordination_goes_on_without_a_drive_that_fails_and_with_the_spare_in_its_place() {
    let fails = ("array.failures", "{ type = 'at', drives = [{ drive = 1, at = '500ms' }] }");
    for scheme in [
        "reactive_inclusive",
        "reactive_selective",
        "proactive_idle",
        "proactive_soft_limit",
        "{ type = 'staggered', window = '20ms' }",
    ] {
        let settings = [&COLLECTS[..], &[("array.coordination", scheme), SPARE, fails]].concat();
        let summary = ran(&writes(6000), &settings);
        assert_eq!(number(&summary, "/requests/count"), 6000.0, "{scheme}");
        let forced = |drive: usize| number(&summary, &format!("/devices/{drive}/gc/forced"));
        for drive in [0, 2, 3, 4] {
            assert!(forced(drive) > 0.0, "{scheme}: drive {drive} was never told to collect");
        }
        assert!(forced(1) < forced(0), "{scheme}: drive 1 has failed");
    }
}

/// Orders take 200 ms, so that drive 1 fails while some are on their way to it.
#[test]
fn an_order_on_its_way_to_a_drive_that_fails_leaves_its_place_to_be_told_again() {
    for ms in (300..3_000).step_by(450) {
        let fails = format!("{{ type = 'at', drives = [{{ drive = 1, at = '{ms}ms' }}] }}");
        let own = [
            ("array.coordination", "reactive_inclusive"),
            ("array.protocol.latency", "200ms"),
            ("array.failures", &fails),
            SPARE,
        ];
        let summary = ran(&writes(8000), &[&COLLECTS[..], &own].concat());
        let told = number(&summary, "/devices/4/gc/forced");
        assert!(told > 0.0, "a spare that comes after {ms} ms is never told to collect");
    }
}
