//! Drives without capacitors: a unit is safe when its page is programmed, and a page is filled up if somebody waits for that.

use copyback::config::Loader;
use serde_json::Value;

use crate::{COMMAND, DIE, PROGRAM, READ, UNIT, number, run};

const UNPROTECTED: [(&str, &str); 5] = [
    ("ssd.power.protection", "'none'"),
    ("ssd.buffer.capacity", "'256KiB'"),
    ("ssd.buffer.latency", "'0s'"),
    ("workload.read_share", "0.0"),
    ("audit", "true"),
];

fn unprotected(settings: &[(&str, &str)]) -> Value {
    run(DIE, &[&UNPROTECTED, settings].concat())
}

/// A write of `size`, and a flush behind it.
fn flushed(size: &str) -> Value {
    unprotected(&[
        ("workload.request_size", size),
        ("workload.iodepth", "1"),
        ("workload.flush_every", "1"),
    ])
}

#[test]
fn what_nothing_fills_up_is_refused_by_name() {
    for (key, value, told) in [
        ("ssd.buffer.capacity", "'0B'", "ssd.buffer.capacity: found 0B; allowed with"),
        (
            "ssd.ftl.mapping",
            "{ type = 'demand_paged', cache = '1KiB' }",
            "ssd.ftl.mapping: found \"demand_paged\"; allowed with",
        ),
        ("ssd.gc.unit", "'line'", "ssd.gc.unit: found \"line\"; allowed with"),
    ] {
        let settings = UNPROTECTED.into_iter().chain([(key, value)]);
        let loader = Loader::new().toml(DIE, "drive.toml", None);
        let loader = settings.fold(loader, |loader, (key, value)| loader.set(key, value));
        let faults = loader.load().expect_err(key).to_string();
        assert!(faults.contains(told), "{faults}");
    }
}

#[test]
fn a_flush_ends_when_the_pages_that_it_waits_for_are_programmed() {
    for (size, expected, padding) in [
        // Three units are missing: their page is programmed with nothing there.
        ("'4KiB'", (COMMAND + UNIT) + (COMMAND + PROGRAM), 3.0),
        ("'12KiB'", (COMMAND + 3.0 * UNIT) + (COMMAND + PROGRAM), 1.0),
        ("'16KiB'", COMMAND + 4.0 * UNIT + PROGRAM, 0.0),
        (
            "'24KiB'",
            (COMMAND + 4.0 * UNIT + PROGRAM) + (COMMAND + 2.0 * UNIT) + (COMMAND + PROGRAM),
            2.0,
        ),
    ] {
        let summary = flushed(size);
        assert_eq!(number(&summary, "/response_us/flush/max"), expected, "{size}");
        let found = summary.pointer("/flash/padding").map_or(0.0, |found| found.as_f64().unwrap());
        assert_eq!(found, padding, "{size}");
    }
}

#[test]
fn a_commit_of_a_unit_writes_a_whole_page() {
    let summary = unprotected(&[
        ("workload.request_size", "'4KiB'"),
        ("workload.requests", "200"),
        ("workload.iodepth", "1"),
        ("workload.flush_every", "1"),
    ]);
    assert_eq!(number(&summary, "/write_amplification"), 4.0);
    assert_eq!(number(&summary, "/page_write_amplification"), 1.0);
    assert_eq!(number(&summary, "/flash/padding"), 600.0);
    let response = (COMMAND + UNIT) + (COMMAND + PROGRAM);
    assert_eq!(number(&summary, "/response_us/flush/min"), response);
    assert_eq!(number(&summary, "/response_us/flush/max"), response);
}

/// Each commit covers parts of one unit or of two, which lie on other dies and are read at other times.
#[test]
fn units_of_one_flush_go_to_one_page() {
    let summary = unprotected(&[
        ("ssd.geometry.channels", "4"),
        ("workload.request_size", "'2560B'"),
        ("workload.requests", "200"),
        ("workload.iodepth", "1"),
        ("workload.flush_every", "1"),
        ("precondition.fill", "0.5"),
    ]);
    assert_eq!(number(&summary, "/write_amplification"), 16_384.0 / 2560.0);
}

#[test]
fn writes_that_nobody_flushes_fill_their_pages() {
    let summary = unprotected(&[
        ("workload.request_size", "'4KiB'"),
        ("workload.requests", "400"),
        ("workload.iodepth", "16"),
        ("workload.sequential_share", "0.0"),
    ]);
    assert_eq!(summary.pointer("/flash/padding"), None);
}

/// Random overwrites of a full drive with little room, which a buffer as small as this hands on.
fn overwritten(buffer: &str, more: &[(&str, &str)]) -> Value {
    let load = [
        ("ssd.buffer.capacity", buffer),
        ("ssd.ftl.over_provisioning", "0.2203"),
        ("workload.request_size", "'4KiB'"),
        ("workload.requests", "20000"),
        ("workload.sequential_share", "0.0"),
        ("precondition.fill", "1.0"),
        ("precondition.overwrites", "1.0"),
    ];
    unprotected(&[&load, more].concat())
}

#[test]
fn neither_an_erase_nor_a_full_buffer_waits_for_units_that_nobody_sends() {
    for buffer in ["'4KiB'", "'12KiB'", "'16KiB'", "'64KiB'"] {
        let summary = overwritten(buffer, &[]);
        assert_eq!(number(&summary, "/requests/writes"), 20_000.0, "{buffer}");
        assert!(number(&summary, "/gc/collections") > 100.0, "{buffer}");
        assert!(number(&summary, "/flash/padding") > 0.0, "{buffer}");
    }
    // A buffer of one unit gives each page a single one.
    let summary = overwritten("'4KiB'", &[]);
    assert!(number(&summary, "/flash/padding") >= 3.0 * 20_000.0);
}

#[test]
fn what_was_flushed_is_there_after_a_cut() {
    for more in [
        &[][..],
        &[("workload.flush_every", "3")],
        &[("ssd.gc.preemption", "'semi_preemptive'"), ("workload.flush_every", "7")],
        &[("ssd.power.paired_pages", "2")],
    ] {
        let cuts = ("ssd.power.cuts", "{ type = 'random', count = 40, mean_interval = '100ms' }");
        let summary = overwritten("'64KiB'", &[more, &[cuts]].concat());
        assert!(number(&summary, "/power_loss/cuts") >= 20.0, "{more:?}");
        assert!(number(&summary, "/power_loss/torn_pages") > 0.0, "{more:?}");
        assert_eq!(number(&summary, "/power_loss/durable_pages_lost"), 0.0, "{more:?}");
        assert_eq!(number(&summary, "/power_loss/flushed_pages_lost"), 0.0, "{more:?}");
    }
}

/// An array read brings all units of a page, so that the scan reads the array once for them.
#[test]
fn a_scan_reads_each_page_once_whatever_units_are_in_it() {
    let summary = unprotected(&[
        ("ssd.power.cuts", "{ type = 'at', times = ['1ns'] }"),
        ("ssd.power.metadata", "'4KiB'"),
        ("workload.read_share", "1.0"),
        ("precondition.fill", "1.0"),
    ]);
    // Of 32 blocks of 16 pages 24 are full; of eight the first page is seen to be erased.
    let full = 24.0 * 16.0 * (READ + 4.0 * (COMMAND + UNIT));
    let erased = 8.0 * (READ + COMMAND + UNIT);
    let expected = (full + erased) * 1e-3;
    assert_eq!(number(&summary, "/power_loss/recovery_ms/mean"), expected);
}

/// Room for two units, each of which reads what it does not cover, on some die or other, and both of which a flush waits for, as do
/// further writes for room: neither is programmed before the other has come, and both go to one page.
#[test]
fn a_page_is_not_filled_up_for_want_of_room_while_others_still_read_what_they_do_not_cover() {
    let summary = unprotected(&[
        ("ssd.geometry.channels", "4"),
        ("ssd.buffer.capacity", "'8KiB'"),
        ("workload.request_size", "'2KiB'"),
        ("workload.requests", "400"),
        ("workload.iodepth", "8"),
        ("workload.flush_every", "2"),
        ("workload.sequential_share", "0.0"),
        ("precondition.fill", "1.0"),
    ]);
    let ratio = number(&summary, "/flash/padding") / number(&summary, "/flash/host_programs");
    assert!((0.95..=1.05).contains(&ratio), "{ratio} units are missing for each that is there");
}
