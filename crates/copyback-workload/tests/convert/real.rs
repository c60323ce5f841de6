//! Real traces to Parquet and back: every request comes back as it was.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use copyback_config::quantity::Size;
use copyback_config::units::Duration;
use copyback_config::{BlkparseAction, TraceFormat, TraceWorkload};
use copyback_workload::Operation;
use copyback_workload::trace::{Dropped, Record, Target, TraceSource, TraceWriter};

use crate::support::{Scratch, config, real_trace};

fn records(config: &TraceWorkload) -> Vec<Record> {
    let mut source = TraceSource::open(config, u64::MAX).unwrap();
    let mut records = Vec::new();
    while let Some(request) = source.next_request().unwrap() {
        let time_ns = source.origin_ns() + request.arrival.as_ns();
        let record = Record::new(time_ns, request.operation, request.offset, request.length);
        records.push(record.on(source.device()).took(request.measured));
    }
    records
}

fn convert(records: &[Record], path: &Path) -> Vec<String> {
    let target = Target::of(path, None).unwrap();
    let file = File::create(path).unwrap();
    let dropped = Dropped { trims: true, flushes: true };
    let mut writer = TraceWriter::new(file, &target, dropped, "real").unwrap();
    records.iter().for_each(|record| writer.add(record).unwrap());
    writer.finish().unwrap()
}

/// Through Parquet, which holds everything.
fn check_parquet(config: &TraceWorkload) -> Vec<Record> {
    let before = records(config);
    let scratch = Scratch::path("real.parquet");
    assert_eq!(convert(&before, &scratch.0), [] as [String; 0]);
    let after = records(&crate::support::config(&scratch.0));
    assert!(before == after, "{}", config.path.display());
    before
}

/// A blkparse trace without the lines of another time that it has.
pub fn without_stray_lines(name: &str) -> Option<Scratch> {
    let mut text = String::new();
    let file = File::open(real_trace(name)?).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut text).unwrap();
    let good: Vec<_> = text.lines().filter(|line| !line.contains(" 1266874889.")).collect();
    Some(Scratch::file("good.blkparse", good.join("\n").as_bytes()))
}

#[test]
fn every_real_trace_through_parquet() {
    let detected = [
        "linux-mysql.load.gz",
        "linux-webserver-2.load.gz",
        "hp-2003-hourly-77-disks.csv.gz",
        "hp-2003-hourly.03126.srt.bz2",
        "ajw.1week.srt.gz",
        "msr-hm_0-7016req-fragment.csv.gz",
        "msr-rsrch_1.csv.gz",
        "msr-wdev_1.csv.gz",
        "Financial_mini.spc.gz",
        "fiu-home1-sample.blkparse.gz",
        "pixel6a-telegram_exec.csv.gz",
        "pixel6a-telegram_precond.csv.gz",
        "nexus5-Installing.txt.gz",
        "nexus5-twitter.txt.gz",
        "tencent-cbs-sample.csv.bz2",
        "cloudPhysicsIO.vscsi.gz",
        "dmcrypt-nvme-sample.blkparse.txt.gz",
    ];
    let units = TraceFormat::Disksim { size_unit: Size(4096), time_unit: None };
    let named = [
        ("DTRS-300s.trace.gz", TraceFormat::Dtrs),
        ("financial1-first-50k.trace.gz", units),
        ("ssdsim-example-fin1.ascii.gz", TraceFormat::Ssdsim),
        ("mqsim-tpcc-small.trace.gz", TraceFormat::Mqsim),
    ];
    for name in detected {
        if let Some(path) = real_trace(name) {
            check_parquet(&config(path));
        }
    }
    for (name, format) in named {
        if let Some(path) = real_trace(name) {
            check_parquet(&TraceWorkload { format: Some(format), ..config(path) });
        }
    }
}

/// Back to its own format and read again.
fn check_own(name: &str, extension: &str, same: impl Fn(&Record) -> Record) {
    let Some(path) = real_trace(name) else { return };
    let before = records(&config(path));
    let scratch = Scratch::path(&format!("real.{extension}"));
    convert(&before, &scratch.0);
    // Hosts of an MSR trace get other names; the disk is the lower half of a device's number.
    let disk = |record: Record| record.on(record.device & u64::from(u32::MAX));
    let after: Vec<_> = records(&config(&scratch.0)).into_iter().map(disk).collect();
    let expected: Vec<_> = before.iter().map(same).map(disk).collect();
    assert!(after == expected, "{name}");
}

#[test]
fn real_traces_to_their_own_format_and_back() {
    let same = |record: &Record| *record;
    check_own("msr-rsrch_1.csv.gz", "msr.gz", same);
    check_own("msr-hm_0-7016req-fragment.csv.gz", "msr.zst", same);
    check_own("Financial_mini.spc.gz", "spc", same);
    check_own("linux-mysql.load.gz", "blkreplay.xz", same);
    check_own("hp-2003-hourly-77-disks.csv.gz", "hp_csv.bz2", same);
    check_own("fiu-home1-sample.blkparse.gz", "fiu", same);
    check_own("pixel6a-telegram_exec.csv.gz", "pixel6a.gz", same);
    check_own("nexus5-twitter.txt.gz", "nexus5.gz", same);
    check_own("tencent-cbs-sample.csv.bz2", "tencent.gz", same);
    check_own("dmcrypt-nvme-sample.blkparse.txt.gz", "blkparse", same);
}

#[test]
fn a_trace_of_another_vendor_in_a_common_format() {
    let own = |record: &Record| {
        let ticks = (record.time_ns + 50) / 100 * 100;
        let measured = record.measured.unwrap_or(Duration::ZERO).as_ns();
        let measured = Duration::from_ns((measured + 50) / 100 * 100);
        Record { time_ns: ticks, measured: Some(measured), ..*record }
    };
    check_own("cloudPhysicsIO.vscsi.gz", "msr", own);
    check_own("hp-2003-hourly.03126.srt.bz2", "msr", own);
}

#[test]
fn the_trims_of_a_trace_are_kept_where_the_format_has_them() {
    let Some(good) = without_stray_lines("fillrandom10M.blkparse.txt.gz") else { return };
    let format = Some(TraceFormat::Blkparse { action: BlkparseAction::Issued, fields: None });
    let before = check_parquet(&TraceWorkload { format, ..config(&good.0) });
    let trims = |records: &[Record]| {
        records.iter().filter(|record| record.operation == Operation::Trim).count()
    };
    assert!(trims(&before) > 0);
    let scratch = Scratch::path("real.blkreplay");
    convert(&before, &scratch.0);
    assert_eq!(trims(&records(&config(&scratch.0))), trims(&before));
}
