//! Parquet as a trace: damage, and where it can't be read from.

use std::fs::File;
use std::io::Write;

use copyback_config::{BeyondDevice, TraceFormat, TraceWorkload};
use copyback_workload::Operation;
use copyback_workload::trace::{Dropped, Record, Target, TraceSource, TraceWriter};

use crate::support::{Scratch, config, drain, open_bytes};

const ROWS: u64 = 200_000;

fn good() -> Scratch {
    let scratch = Scratch::path("x.parquet");
    let file = File::create(&scratch.0).unwrap();
    let mut writer = TraceWriter::new(file, &Target::Parquet, Dropped::default(), "test").unwrap();
    for i in 0..ROWS {
        let operation = if i % 3 == 0 { Operation::Read } else { Operation::Write };
        let record = Record::new(i * 1_234_567, operation, i * 7919 % 1_000_000 * 512, 4096);
        writer.add(&record.on(i % 7)).unwrap();
    }
    writer.finish().unwrap();
    scratch
}

/// What reading a file ends with: its requests, or a message.
fn outcome(path: &std::path::Path) -> Result<usize, String> {
    let source = TraceSource::open(&config(path), u64::MAX);
    let read = source.and_then(|mut source| drain(&mut source));
    read.map(|requests| requests.len())
        .map_err(|error| error.to_string().replace(&path.display().to_string(), "PATH"))
}

#[test]
fn reads_all_rows_and_tells_how_far_it_is() {
    let scratch = good();
    let mut source = TraceSource::open(&config(&scratch.0), u64::MAX).unwrap();
    assert_eq!(source.format(), &TraceFormat::Parquet);
    for _ in 0..ROWS / 2 {
        source.next_request().unwrap();
    }
    assert!((source.consumed() - 0.5).abs() < 1e-4, "{}", source.consumed());
    assert_eq!(drain(&mut source).unwrap().len() as u64, ROWS / 2);
    assert_eq!(source.consumed(), 1.0);
}

#[test]
fn rows_are_named_in_messages() {
    let scratch = good();
    let refuse = TraceWorkload { beyond_device: BeyondDevice::Refuse, ..config(&scratch.0) };
    let error =
        TraceSource::open(&refuse, 1 << 20).and_then(|mut source| drain(&mut source)).unwrap_err();
    assert!(error.place.ends_with(":row 2"), "{error}");
    assert!(error.problem.starts_with("offset: found bytes "), "{error}");
}

#[test]
fn a_pipe_or_compression_is_refused() {
    let scratch = good();
    let bytes = std::fs::read(&scratch.0).unwrap();
    let expected = "x.csv:byte 0: found Parquet through a pipe or compression; expected a plain \
                    file, as it is read from its end";
    let piped = open_bytes(&bytes, &config("x.csv")).map(|_| ()).unwrap_err();
    assert_eq!(piped.to_string(), expected);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(&bytes).unwrap();
    let packed = Scratch::file("x.parquet.gz", &gzip.finish().unwrap());
    assert_eq!(outcome(&packed.0).unwrap_err(), expected.replace("x.csv", "PATH"));
}

#[test]
fn another_file_named_parquet_is_refused() {
    let scratch = Scratch::file("x", b"0,8,512,w,1.5\n");
    let named = TraceWorkload { format: Some(TraceFormat::Parquet), ..config(&scratch.0) };
    let error = TraceSource::open(&named, u64::MAX).map(|_| ()).unwrap_err();
    assert_eq!(error.problem, "found a first byte of \"0\"; expected a Parquet file");
}

#[test]
fn damage_is_one_clear_line() {
    let scratch = good();
    let bytes = std::fs::read(&scratch.0).unwrap();
    let mut told_of_nothing = Vec::new();
    for step in 0..200 {
        let mut damaged = bytes.clone();
        let at = 4 + step * (bytes.len() - 4) / 200;
        if step % 2 == 0 {
            damaged.truncate(at);
        } else {
            damaged[at..(at + 8).min(bytes.len())].iter_mut().for_each(|byte| *byte ^= 0xa5);
        }
        let scratch = Scratch::file("damaged.parquet", &damaged);
        match outcome(&scratch.0) {
            Ok(requests) => told_of_nothing.push((step, requests)),
            Err(message) => {
                assert!(message.starts_with("PATH"), "{message}");
                assert!(!message.contains('\n'), "{message}");
            }
        }
    }
    // What is damaged may be of no use to a reader, such as the lowest value of a column.
    assert!(told_of_nothing.len() <= 2, "{told_of_nothing:?}");
    assert!(told_of_nothing.iter().all(|(_, requests)| *requests as u64 == ROWS));
}
