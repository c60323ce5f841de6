//! Random requests through every writer and its reader: what comes back is what the format can hold,
//! by a table that shares nothing with the writers.

use std::collections::BTreeMap;
use std::fs::File;

use copyback_config::units::Duration;
use copyback_config::{CsvFormat, TraceFormat, TraceWorkload};
use copyback_workload::trace::{Dropped, Record, Target, TraceSource, TraceWriter, WriteError};
use copyback_workload::{Handle, Hint, Operation};
use proptest::prelude::*;

use crate::support::{Scratch, config};

/// What a format holds: unit of time, devices, response times, trims and flushes.
struct Held {
    time_ns: u64,
    device: Device,
    response: Response,
    trims_and_flushes: bool,
}

#[derive(PartialEq)]
enum Device {
    None,
    /// Told apart, under another name.
    Renamed,
    Same,
}

enum Response {
    None,
    Optional,
    /// In units of so many nanoseconds.
    Always(u64),
}

fn held(format: &str) -> Held {
    use Device::{Renamed, Same};
    let (time_ns, device, response, trims_and_flushes) = match format {
        "parquet" => (1, Same, Response::Optional, true),
        "msr" => (100, Renamed, Response::Always(100), false),
        "blkreplay" => (1, Device::None, Response::None, true),
        "blkparse" => (1, Same, Response::None, true),
        "fio_iolog" => (1000, Renamed, Response::None, true),
        "alibaba" | "dtrs" => (1000, Same, Response::None, false),
        "tencent" => (1_000_000_000, Same, Response::None, false),
        "systor17" => (1, Same, Response::Optional, false),
        "hp_csv" => (1, Same, Response::Always(1000), false),
        "nexus5" => (1, Device::None, Response::Always(1), false),
        // Its reader knows no columns for devices and response times.
        "csv" => (1, Device::None, Response::None, true),
        "spc" | "disksim" | "fiu" | "pixel6a" | "ssdsim" | "mqsim" | "replayer" => {
            (1, Same, Response::None, false)
        }
        other => panic!("say what {other} holds"),
    };
    Held { time_ns, device, response, trims_and_flushes }
}

/// The format as a reader needs it named.
fn named(format: &str) -> TraceFormat {
    if format == "csv" {
        return TraceFormat::Csv(CsvFormat {
            time: "arrival_ns:ns".into(),
            offset: "offset:bytes".into(),
            length: "bytes:bytes".into(),
            operation: Some("operation".into()),
            read: "read".into(),
            write: "write".into(),
            trim: Some("trim".into()),
            flush: Some("flush".into()),
            ..CsvFormat::EMPTY
        });
    }
    serde_json::from_value(serde_json::json!({ format: {} }))
        .or_else(|_| serde_json::from_value(format.into()))
        .unwrap()
}

fn rounded(ns: u64, unit: u64) -> u64 {
    (ns + unit / 2) / unit * unit
}

/// What should come back of `records`.
fn expected(records: &[Record], held: &Held) -> Vec<Record> {
    let moves = |record: &&Record| matches!(record.operation, Operation::Read | Operation::Write);
    let kept = records.iter().filter(|record| held.trims_and_flushes || moves(record));
    let mut names = BTreeMap::new();
    let mut expected = Vec::new();
    for record in kept {
        let count = names.len() as u64;
        let device = match held.device {
            Device::None => 0,
            Device::Same => record.device,
            Device::Renamed => *names.entry(record.device).or_insert(count),
        };
        let measured = match held.response {
            Response::None => None,
            Response::Optional => record.measured,
            Response::Always(unit) => {
                let ns = record.measured.unwrap_or_default().as_ns();
                Some(Duration::from_ns(rounded(ns, unit)))
            }
        };
        let time_ns = rounded(record.time_ns, held.time_ns);
        let Record { operation, offset, length, .. } = *record;
        let record = Record::new(time_ns, operation, offset, length);
        expected.push(record.on(device).took(measured));
    }
    expected
}

fn write(path: &std::path::Path, target: &Target, records: &[Record]) {
    let dropped = Dropped { trims: true, flushes: true };
    let file = File::create(path).unwrap();
    let mut writer = TraceWriter::new(file, target, dropped, "test").unwrap();
    for record in records {
        writer.add(record).unwrap();
    }
    writer.finish().unwrap();
}

fn read(config: &TraceWorkload, renamed: bool) -> Vec<Record> {
    let mut source = TraceSource::open(config, u64::MAX).unwrap();
    let mut names = BTreeMap::new();
    let mut records = Vec::new();
    while let Some(request) = source.next_request().unwrap() {
        let time_ns = source.origin_ns() + request.arrival.as_ns();
        let count = names.len() as u64;
        let device = match renamed {
            true => *names.entry(source.device()).or_insert(count),
            false => source.device(),
        };
        let record = Record::new(time_ns, request.operation, request.offset, request.length);
        records.push(record.on(device).took(request.measured));
    }
    records
}

/// Requests at increasing times, the first of which every format can hold.
fn requests() -> impl Strategy<Value = Vec<Record>> {
    let operations = prop_oneof![
        4 => Just(Operation::Read),
        4 => Just(Operation::Write),
        1 => Just(Operation::Trim),
        1 => Just(Operation::Flush),
    ];
    let measured = prop::option::of(0_u64..1 << 40);
    let one = (0_u64..1 << 34, operations, 0_u64..1 << 40, 1_u64..10_000, 0_u64..5, measured);
    prop::collection::vec(one, 1..300).prop_map(|rows| {
        // In this century, so that the formats that count from 1970 know theirs.
        let mut time_ns = 1_500_000_000_123_456_789;
        let mut records = Vec::new();
        for (gap_ns, operation, sector, sectors, device, measured) in rows {
            let operation = if records.is_empty() { Operation::Write } else { operation };
            let (offset, length) = match operation {
                Operation::Flush => (0, 0),
                _ => (sector * 512, sectors * 512),
            };
            time_ns += gap_ns;
            let record = Record::new(time_ns, operation, offset, length).on(device);
            records.push(record.took(measured.map(Duration::from_ns)));
        }
        records
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn nothing_is_lost_that_the_format_can_hold(records in requests()) {
        for format in Target::formats() {
            let scratch = Scratch::path(format);
            let target = Target::of(&scratch.0, Some(format)).unwrap();
            write(&scratch.0, &target, &records);
            let held = held(format);
            let config = TraceWorkload { format: Some(named(format)), ..config(&scratch.0) };
            let found = read(&config, held.device == Device::Renamed);
            prop_assert_eq!(found, expected(&records, &held), "{}", format);
        }
    }
}

#[test]
fn placement_handles_in_a_column_of_their_own() {
    let record = |ns: u64| Record::new(ns, Operation::Write, 4096, 512);
    let records: Vec<_> = (0..300_000)
        .map(|ns| record(ns).with((ns % 3 > 0).then_some(Handle((ns % 65_536) as u16))))
        .collect();
    for format in ["parquet", "csv"] {
        let scratch = Scratch::path(format);
        let target = Target::of(&scratch.0, Some(format)).unwrap();
        let file = File::create(&scratch.0).unwrap();
        let mut writer =
            TraceWriter::with_handles(file, &target, Dropped::default(), "test").unwrap();
        records.iter().for_each(|record| writer.add(record).unwrap());
        assert_eq!(writer.finish().unwrap(), [] as [&str; 0]);
        let mut named = named(format);
        if let TraceFormat::Csv(columns) = &mut named {
            columns.handle = Some("handle".into());
        }
        let config = TraceWorkload { format: Some(named), ..config(&scratch.0) };
        let mut source = TraceSource::open(&config, u64::MAX).unwrap();
        assert!(source.names_handles());
        for record in &records {
            let request = source.next_request().unwrap().unwrap();
            assert_eq!(request.hint.and_then(Hint::handle), record.handle, "{format}");
        }
        assert_eq!(source.next_request().unwrap(), None);
    }
}

#[test]
fn handles_that_a_format_has_no_words_for_are_counted() {
    let scratch = Scratch::path("msr");
    let target = Target::of(&scratch.0, Some("msr")).unwrap();
    let file = File::create(&scratch.0).unwrap();
    let mut writer = TraceWriter::with_handles(file, &target, Dropped::default(), "test").unwrap();
    let record = Record::new(1_500_000_000_000_000_000, Operation::Write, 4096, 512);
    writer.add(&record.with(Some(Handle(1)))).unwrap();
    assert!(writer.finish().unwrap().contains(&"1 placement handles were left out".to_owned()));
}

#[test]
fn every_compression() {
    let record = Record::new(5_000_000, Operation::Write, 4096, 512);
    for extension in ["", ".gz", ".bz2", ".zst", ".xz"] {
        let scratch = Scratch::path(&format!("x.spc{extension}"));
        let target = Target::of(&scratch.0, None).unwrap();
        write(&scratch.0, &target, &[record; 10_000]);
        let found = read(&config(&scratch.0), false);
        assert_eq!(found, [record; 10_000], "{extension}");
        let is_plain = std::fs::read(&scratch.0).unwrap().starts_with(b"0,8,512,w,");
        assert_eq!(is_plain, extension.is_empty());
    }
}

#[test]
fn formats_that_can_be_told_are_told() {
    let records: Vec<_> = (0..50)
        .map(|i| {
            Record::new(1_500_000_000_000_000_000 + i * 1_000_007, Operation::Read, i * 512, 4096)
        })
        .collect();
    let must_be_named = ["ssdsim", "mqsim", "dtrs", "csv"];
    for format in Target::formats().filter(|format| !must_be_named.contains(format)) {
        let scratch = Scratch::path(format);
        write(&scratch.0, &Target::of(&scratch.0, Some(format)).unwrap(), &records);
        let source = TraceSource::open(&config(&scratch.0), u64::MAX).unwrap();
        assert_eq!(source.format_name(), format);
    }
}

#[test]
fn a_trim_is_not_dropped_unasked() {
    let scratch = Scratch::path("x.msr");
    let file = File::create(&scratch.0).unwrap();
    let target = Target::of(&scratch.0, None).unwrap();
    let mut writer = TraceWriter::new(file, &target, Dropped::default(), "test").unwrap();
    let trim = Record::new(0, Operation::Trim, 0, 512);
    assert!(matches!(writer.add(&trim), Err(WriteError::Unheld(_))));
}
