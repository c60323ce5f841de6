//! Each reader on real traces. The expected values were counted by a script of a few lines that
//! shares no code with the readers; they agree with the table that is kept with the traces.

use std::io::Read;
use std::path::Path;

use copyback_config::quantity::Size;
use copyback_config::{BlkparseAction, CsvFormat, TimeUnit, TraceFormat, TraceWorkload};
use copyback_workload::Operation;
use copyback_workload::trace::TraceSource;

use crate::support::{config, drain, real_trace, repository};

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

fn facts(mut source: TraceSource) -> Facts {
    let format = source.format().clone();
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

/// A file in a format that is detected.
fn detected(path: &Path) -> TraceSource {
    TraceSource::open(&config(path), u64::MAX).unwrap()
}

/// Detects the format.
fn check(name: &str, expected: &Facts) {
    if let Some(path) = real_trace(name) {
        assert_eq!(facts(detected(&path)), *expected, "{name}");
    }
}

/// Names the format that is expected.
fn check_named(name: &str, expected: &Facts) {
    let Some(path) = real_trace(name) else { return };
    let config = TraceWorkload { format: Some(expected.format.clone()), ..config(path) };
    let source = TraceSource::open(&config, u64::MAX).unwrap();
    assert_eq!(facts(source), *expected, "{name}");
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
    assert_eq!(facts(detected(&repository().join("examples/linux-mysql.load.gz"))), expected);
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
    let hm = Facts {
        format: TraceFormat::Msr,
        requests: 7016,
        reads: 5820,
        bytes: 84_810_240,
        end: 14_906_370_560,
        duration_ns: 148_405_501_300,
        notes: 0,
    };
    check("msr-hm_0-7016req-fragment.csv.gz", &hm);
    let rsrch = Facts {
        format: TraceFormat::Msr,
        requests: 13_780,
        reads: 42,
        bytes: 171_779_584,
        end: 191_520_501_760,
        duration_ns: 576_557_644_379_100,
        notes: 0,
    };
    check("msr-rsrch_1.csv.gz", &rsrch);
    let wdev = Facts {
        format: TraceFormat::Msr,
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

/// The sizes of the SPC pieces in DiskSim form count units of 4 KiB.
#[test]
fn disksim() {
    let expected = Facts {
        format: TraceFormat::Disksim { size_unit: Size(4096), time_unit: None },
        requests: 50_000,
        reads: 29_199,
        bytes: 358_096_896,
        end: 513_494_528,
        duration_ns: 853_403_229_000,
        notes: 0,
    };
    check_named("financial1-first-50k.trace.gz", &expected);
    let expected = Facts {
        format: TraceFormat::Disksim { size_unit: Size(4096), time_unit: None },
        requests: 50_000,
        reads: 49_990,
        bytes: 775_356_416,
        end: 17_902_977_024,
        duration_ns: 128_660_993_000,
        notes: 0,
    };
    check_named("websearch1-first-50k.trace.gz", &expected);
    let expected = Facts {
        format: TraceFormat::Disksim { size_unit: Size(512), time_unit: Some(TimeUnit::Ms) },
        requests: 100_000,
        reads: 0,
        bytes: 36_855_717_888,
        end: 17_255_907_328,
        duration_ns: 936_449_109_000,
        // Which units were taken.
        notes: 1,
    };
    check("iozone-100k.trace.gz", &expected);
}

#[test]
fn five_numbers() {
    let expected = Facts {
        format: TraceFormat::Ssdsim,
        requests: 10_000,
        reads: 4_077,
        bytes: 55_279_104,
        end: 513_235_456,
        duration_ns: 259_601_203_125,
        notes: 1,
    };
    check_named("ssdsim-example-fin1.ascii.gz", &expected);
    let expected = Facts {
        format: TraceFormat::Mqsim,
        requests: 6_999,
        reads: 4_381,
        bytes: 59_718_656,
        end: 232_713_410_560,
        duration_ns: 136_489_000,
        notes: 1,
    };
    check_named("mqsim-tpcc-small.trace.gz", &expected);
    let expected = Facts {
        format: TraceFormat::Mqsim,
        requests: 24_783,
        reads: 24_779,
        bytes: 382_117_888,
        end: 17_902_723_072,
        duration_ns: 60_055_212_000,
        notes: 1,
    };
    check_named("mqsim-wsrch-small.trace.gz", &expected);
    let expected = Facts {
        format: TraceFormat::Dtrs,
        requests: 127_043,
        reads: 113_123,
        bytes: 7_197_860_864,
        end: 164_509_362_176,
        duration_ns: 299_999_516_000,
        notes: 0,
    };
    check_named("DTRS-300s.trace.gz", &expected);
}

#[test]
fn fiu() {
    let expected = Facts {
        format: TraceFormat::Fiu,
        requests: 1_000,
        reads: 0,
        bytes: 4_096_000,
        end: 386_892_173_312,
        duration_ns: 69_066_621_014,
        notes: 0,
    };
    check("fiu-home1-sample.blkparse.gz", &expected);
}

/// Its second line lies a second before the first, and so does the clock of 1,297 lines.
#[test]
fn tencent() {
    let expected = Facts {
        format: TraceFormat::Tencent,
        requests: 50_000,
        reads: 24_521,
        bytes: 1_518_392_320,
        end: 1_669_048_770_560,
        duration_ns: 0,
        notes: 2,
    };
    check("tencent-cbs-sample.csv.bz2", &expected);
}

#[test]
fn hp_csv() {
    let expected = Facts {
        format: TraceFormat::HpCsv,
        requests: 43_000,
        reads: 10_568,
        bytes: 682_204_160,
        end: 17_616_773_120,
        duration_ns: 3_699_144_533_000,
        notes: 1,
    };
    check("hp-2003-hourly-77-disks.csv.gz", &expected);
}

/// Read as any CSV, the HP piece says the same as with the reader of its own.
#[test]
fn csv() {
    let format = TraceFormat::Csv(CsvFormat {
        time: "time_s:s".into(),
        offset: "offset_bytes:bytes".into(),
        length: "bytes:bytes".into(),
        operation: Some("op".into()),
        read: "R".into(),
        write: "W".into(),
        ..CsvFormat::EMPTY
    });
    let expected = Facts {
        format,
        requests: 43_000,
        reads: 10_568,
        bytes: 682_204_160,
        end: 17_616_773_120,
        duration_ns: 3_699_144_533_000,
        notes: 0,
    };
    check_named("hp-2003-hourly-77-disks.csv.gz", &expected);
}

/// The SRT of the 77 disks agrees with its CSV to the byte and microsecond.
#[test]
fn hp_srt() {
    let expected = Facts {
        format: TraceFormat::HpSrt,
        requests: 43_000,
        reads: 10_568,
        bytes: 682_204_160,
        end: 17_616_773_120,
        duration_ns: 3_699_144_533_000,
        notes: 1,
    };
    check("hp-2003-hourly.03126.srt.bz2", &expected);
    let expected = Facts {
        format: TraceFormat::HpSrt,
        requests: 44_519,
        reads: 13_040,
        bytes: 263_305_216,
        end: 334_876_672,
        duration_ns: 603_064_588_892_000,
        notes: 1,
    };
    check("ajw.1week.srt.gz", &expected);
}

#[test]
fn vscsi() {
    let expected = Facts {
        format: TraceFormat::Vscsi,
        requests: 113_872,
        reads: 46_974,
        bytes: 4_205_978_112,
        end: 33_584_938_496,
        duration_ns: 7_200_089_885_000,
        notes: 0,
    };
    check("cloudPhysicsIO.vscsi.gz", &expected);
}

#[test]
fn phones() {
    let expected = Facts {
        format: TraceFormat::Pixel6a,
        requests: 251_879,
        reads: 24_094,
        bytes: 6_302_400_512,
        end: 127_775_170_560,
        duration_ns: 7_474_114_590_000,
        notes: 0,
    };
    check("pixel6a-telegram_exec.csv.gz", &expected);
    let expected = Facts {
        format: TraceFormat::Pixel6a,
        requests: 5_320,
        reads: 0,
        bytes: 146_984_960,
        end: 79_103_234_048,
        duration_ns: 1_034_855_553_000,
        notes: 0,
    };
    check("pixel6a-telegram_precond.csv.gz", &expected);
    let expected = Facts {
        format: TraceFormat::Nexus5,
        requests: 17_952,
        reads: 312,
        bytes: 1_695_171_072,
        end: 29_677_748_736,
        duration_ns: 977_826_970_565,
        notes: 1,
    };
    check("nexus5-Installing.txt.gz", &expected);
    let expected = Facts {
        format: TraceFormat::Nexus5,
        requests: 13_807,
        reads: 1_591,
        bytes: 193_281_024,
        end: 29_085_716_480,
        duration_ns: 855_762_968_112,
        notes: 1,
    };
    check("nexus5-twitter.txt.gz", &expected);
}

/// Of the 248 requests 23 are flushes, which INDEX.md does not count.
#[test]
fn blkparse() {
    let expected = Facts {
        format: TraceFormat::Blkparse { action: BlkparseAction::Queued, fields: None },
        requests: 248,
        reads: 0,
        bytes: 1_181_696,
        end: 391_002_484_736,
        duration_ns: 25_017_676_409,
        notes: 0,
    };
    check("dmcrypt-nvme-sample.blkparse.txt.gz", &expected);
    let expected = Facts {
        format: TraceFormat::Blkparse { action: BlkparseAction::Issued, fields: None },
        requests: 142,
        reads: 0,
        bytes: 1_181_696,
        end: 391_002_484_736,
        duration_ns: 25_017_676_565,
        notes: 0,
    };
    check_named("dmcrypt-nvme-sample.blkparse.txt.gz", &expected);
    let expected = Facts {
        format: TraceFormat::Blkparse { action: BlkparseAction::Completed, fields: None },
        requests: 142,
        reads: 0,
        bytes: 1_181_696,
        end: 391_002_484_736,
        duration_ns: 24_994_503_110,
        notes: 0,
    };
    check_named("dmcrypt-nvme-sample.blkparse.txt.gz", &expected);
}

/// Twenty events of this piece have times that lie 40 years ahead. They are refused; without them
/// and the 2054 discards, INDEX.md's 51,681 requests remain.
#[test]
fn blkparse_with_discards() {
    let name = "fillrandom10M.blkparse.txt.gz";
    let Some(path) = real_trace(name) else { return };
    let problem = |config: &TraceWorkload| {
        let outcome = TraceSource::open(config, u64::MAX).and_then(|mut source| drain(&mut source));
        outcome.unwrap_err().to_string().replace(&path.display().to_string(), "PATH")
    };
    assert_eq!(
        problem(&config(&path)),
        "PATH: action: found no request with Q, only D; expected one (workload.format = { type = \
         \"blkparse\", action = ... } chooses)"
    );
    let format = TraceFormat::Blkparse { action: BlkparseAction::Issued, fields: None };
    let issued = TraceWorkload { format: Some(format.clone()), ..config(&path) };
    assert_eq!(
        problem(&issued),
        "PATH:15: time: found 1266874889.6951792 s before an earlier line's; expected lines in order \
         of time (up to 1 s back is tolerated; workload.clock_jumps = \"close\" takes more for a \
         clock that was set)"
    );
    let mut text = String::new();
    let file = std::fs::File::open(&path).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let good: Vec<_> = text.lines().filter(|line| !line.contains(" 1266874889.")).collect();
    let bytes = good.join("\n").into_bytes();
    let source = TraceSource::from_bytes(bytes, &issued, u64::MAX).unwrap();
    let expected = Facts {
        format,
        requests: 51_681 + 2054,
        reads: 21,
        bytes: 16_047_136_768,
        end: 2_155_872_256,
        duration_ns: 81_078_837_885,
        notes: 1, // inversions
    };
    assert_eq!(facts(source), expected);
}

#[test]
fn look_alikes_are_not_taken_for_disksim() {
    for name in ["ssdsim-example-fin1.ascii.gz", "mqsim-tpcc-small.trace.gz", "DTRS-300s.trace.gz"]
    {
        let Some(path) = real_trace(name) else { continue };
        let error = TraceSource::open(&config(&path), u64::MAX).map(|_| ()).unwrap_err();
        assert!(error.problem.starts_with("no format is certain for lines like"), "{error}");
        for format in ["disksim (", "ssdsim (", "dtrs ("] {
            assert!(error.problem.contains(format), "{error}");
        }
    }
}

#[test]
fn spreadsheet_damage_is_named() {
    let Some(path) = real_trace("msr-web_3-noRT.txt.gz") else { return };
    let error = TraceSource::open(&config(&path), u64::MAX).map(|_| ()).unwrap_err();
    let expected = "no known format has lines like \"128166465299039000 \\tRead\\t32256\\t8192\"; \
                    expected one of msr, spc, disksim, blkreplay, blkparse, block_events, fio_iolog, \
                    fio_latency, biosnoop, etw, fiu, alibaba, tencent, systor17, hp_csv, pixel6a, \
                    nexus5, ssdsim, mqsim, dtrs, replayer, flashnet, csv, libcachesim_csv, hp_srt, vscsi, \
                    blktrace, libcachesim, parquet, which workload.format can name";
    assert_eq!(error.problem, expected);
}

#[test]
fn measured_response_times() {
    let check = |name: &str, count: usize, sum_ns: u64, most_ns: u64| {
        let Some(path) = real_trace(name) else { return };
        let requests = drain(&mut detected(&path)).unwrap();
        let measured: Vec<u64> =
            requests.iter().filter_map(|request| request.measured).map(|m| m.as_ns()).collect();
        assert_eq!(measured.len(), count, "{name}");
        assert_eq!(measured.iter().sum::<u64>(), sum_ns, "{name}");
        assert_eq!(measured.into_iter().max(), Some(most_ns), "{name}");
    };
    check("msr-hm_0-7016req-fragment.csv.gz", 7016, 11_236_812_800, 55_242_900);
    check("msr-rsrch_1.csv.gz", 13_780, 5_401_443_700, 18_706_400);
    check("hp-2003-hourly-77-disks.csv.gz", 43_000, 202_895_267_000, 247_607_000);
    check("hp-2003-hourly.03126.srt.bz2", 43_000, 202_895_267_000, 247_607_000);
    check("nexus5-Installing.txt.gz", 17_952, 180_317_278_928, 641_236_251);
    check("nexus5-twitter.txt.gz", 13_807, 28_646_619_801, 124_511_510);
}
