//! Each reader on real traces. The expected values were counted by a script of a few lines that
//! shares no code with the readers; they agree with the table of shared/traces/INDEX.md.

use std::path::Path;

use copyback::config::TraceFormat;
use copyback::workload::Operation;
use copyback::workload::trace::TraceSource;

use crate::support::{config, real_trace, repository};

#[derive(Debug, PartialEq)]
struct Facts {
    format: TraceFormat,
    requests: u64,
    reads: u64,
    bytes: u64,
    /// First byte beyond the highest request.
    end: u64,
    duration_ns: u64,
    notes: usize,
}

fn facts(path: &Path) -> Facts {
    let mut source = TraceSource::open(&config(path), u64::MAX).unwrap();
    let format = source.format();
    let mut facts =
        Facts { format, requests: 0, reads: 0, bytes: 0, end: 0, duration_ns: 0, notes: 0 };
    while let Some(request) = source.next_request().unwrap() {
        assert!(request.arrival.as_ns() >= facts.duration_ns);
        facts.requests += 1;
        facts.reads += u64::from(request.operation == Operation::Read);
        facts.bytes += request.length;
        facts.end = facts.end.max(request.offset + request.length);
        facts.duration_ns = request.arrival.as_ns();
    }
    assert_eq!(source.consumed(), 1.0);
    facts.notes = source.notes().len();
    facts
}

fn check(name: &str, expected: &Facts) {
    if let Some(path) = real_trace(name) {
        assert_eq!(facts(&path), *expected, "{name}");
    }
}

#[test]
fn the_trace_that_ships() {
    let expected = Facts {
        format: TraceFormat::Blkreplay,
        requests: 80_794,
        reads: 7187,
        bytes: 1_184_387_072,
        end: 32_556_998_656,
        duration_ns: 3_599_890_074_831,
        notes: 0,
    };
    assert_eq!(facts(&repository().join("examples/linux-mysql.load.gz")), expected);
}

#[test]
fn blkreplay() {
    let expected = Facts {
        format: TraceFormat::Blkreplay,
        requests: 269_007,
        reads: 149_018,
        bytes: 4_692_769_792,
        end: 773_733_978_112,
        duration_ns: 3_600_949_630_130,
        notes: 0,
    };
    check("linux-webserver-2.load.gz", &expected);
}

#[test]
fn msr() {
    let format = TraceFormat::Msr;
    let hm = Facts {
        format,
        requests: 7016,
        reads: 5820,
        bytes: 84_810_240,
        end: 14_906_370_560,
        duration_ns: 148_405_501_300,
        notes: 0,
    };
    check("msr-hm_0-7016req-fragment.csv.gz", &hm);
    let rsrch = Facts {
        format,
        requests: 13_780,
        reads: 42,
        bytes: 171_779_584,
        end: 191_520_501_760,
        duration_ns: 576_557_644_379_100,
        notes: 0,
    };
    check("msr-rsrch_1.csv.gz", &rsrch);
    let wdev = Facts {
        format,
        requests: 1055,
        reads: 0,
        bytes: 5_537_792,
        end: 54_620_086_272,
        duration_ns: 595_003_214_016_900,
        notes: 0,
    };
    check("msr-wdev_1.csv.gz", &wdev);
}

#[test]
fn spc() {
    let expected = Facts {
        format: TraceFormat::Spc,
        requests: 949,
        reads: 183,
        bytes: 2_570_752,
        end: 513_159_680,
        duration_ns: 28_442_623_000,
        notes: 1, // several ASUs
    };
    check("Financial_mini.spc.gz", &expected);
}

/// The sizes of the SPC pieces in DiskSim form count units of 4 KiB; read as the sectors that
/// DiskSim takes them for, their bytes are an eighth of INDEX.md's.
#[test]
fn disksim() {
    let format = TraceFormat::Disksim;
    let financial = Facts {
        format,
        requests: 50_000,
        reads: 29_199,
        bytes: 358_096_896 / 8,
        end: 513_490_944,
        duration_ns: 853_403_229_000,
        notes: 0,
    };
    check("financial1-first-50k.trace.gz", &financial);
    let search = Facts {
        format,
        requests: 50_000,
        reads: 49_990,
        bytes: 775_356_416 / 8,
        end: 17_902_969_856,
        duration_ns: 128_660_993_000,
        notes: 0,
    };
    check("websearch1-first-50k.trace.gz", &search);
    let iozone = Facts {
        format,
        requests: 100_000,
        reads: 0,
        bytes: 36_855_717_888,
        end: 17_255_907_328,
        duration_ns: 936_449_109_000,
        notes: 0,
    };
    check("iozone-100k.trace.gz", &iozone);
}

#[test]
fn look_alikes_are_not_taken_for_disksim() {
    for name in ["ssdsim-example-fin1.ascii.gz", "mqsim-tpcc-small.trace.gz", "DTRS-300s.trace.gz"]
    {
        let Some(path) = real_trace(name) else { continue };
        let error = TraceSource::open(&config(&path), u64::MAX).map(|_| ()).unwrap_err();
        assert!(error.problem.starts_with("no known format has lines like"), "{error}");
    }
}

#[test]
fn spreadsheet_damage_is_named() {
    let Some(path) = real_trace("msr-web_3-noRT.txt.gz") else { return };
    let error = TraceSource::open(&config(&path), u64::MAX).map(|_| ()).unwrap_err();
    let expected = "no known format has lines like \"128166465299039000 \\tRead\\t32256\\t8192\"; \
                    expected one of msr, spc, disksim, blkreplay, which workload.format can name";
    assert_eq!(error.problem, expected);
}
