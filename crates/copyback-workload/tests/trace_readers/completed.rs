//! Traces whose rows stand in order of completion, caches' traces, and formats that take keys.

use copyback_config::quantity::{Size, Time};
use copyback_config::{BeyondDevice, CsvFormat, ReadOrWrite, TraceFormat, TraceWorkload};
use copyback_workload::Operation;

use crate::support::{compressed, config, drain, message, open_bytes, read, read_as};

/// The second request took longer than the first, and the third was issued between the two.
const BIOSNOOP: &str = "\
TIME(s)     COMM           PID    DISK    T SECTOR     BYTES   LAT(ms)
0.000000    fio            1950   sda     R 8          4096       0.10
2.000100    Web Content    1950   sda     W 16         4096    2000.00
2.000200    kworker/0:1H   19     sda     R 24         8192       0.50
";

fn sectors_and_us(text: &str, config: &TraceWorkload) -> Vec<(u64, u64)> {
    let mut source = open_bytes(text.as_bytes(), config).unwrap();
    let requests = drain(&mut source).unwrap();
    assert_eq!(source.notes(), [] as [String; 0]);
    let pairs = requests.iter().map(|r| (r.offset / 512, r.arrival.as_ns() / 1000));
    pairs.collect()
}

#[test]
fn requests_arrive_when_they_were_issued() {
    let expected = [(8, 0), (16, 200), (24, 1_999_800)];
    assert_eq!(sectors_and_us(BIOSNOOP, &config("x")), expected);
    let measured: Vec<_> = read(BIOSNOOP).unwrap().iter().map(|r| r.measured.unwrap()).collect();
    assert_eq!(
        measured.iter().map(|m| m.as_ns() / 1000).collect::<Vec<_>>(),
        [100, 2_000_000, 500]
    );
    let late = BIOSNOOP.replace("2.000200", "1.000200").replace("   0.50", " 999.00");
    assert_eq!(sectors_and_us(&late, &config("x")), [(8, 0), (16, 200), (24, 1300)]);
}

#[test]
fn they_are_repeated_as_they_arrived() {
    let config = TraceWorkload { duration: Some(Time::from_us(5_000_000)), ..config("x") };
    let mut source = open_bytes(BIOSNOOP.as_bytes(), &config).unwrap();
    let requests = drain(&mut source).unwrap();
    assert_eq!(requests.len(), 6);
    assert_eq!(requests[3].offset, 8 * 512);
    assert!(requests.is_sorted_by_key(|request| request.arrival));
}

#[test]
fn faults_name_the_line_of_the_request() {
    let refuse = TraceWorkload { beyond_device: BeyondDevice::Refuse, ..config("x") };
    let far = BIOSNOOP.replace("W 16  ", "W 99999999");
    let error = open_bytes(far.as_bytes(), &refuse).and_then(|mut source| drain(&mut source));
    assert_eq!(error.unwrap_err().place, "x:3");
    assert!(message(BIOSNOOP.replace("R 24", "R x")).starts_with("x.csv:4: sector: found \"x\""));
    let slow = BIOSNOOP.replace("2.000200", "90.0002").replace("   0.50", "89999.0");
    assert!(read(&slow).is_ok(), "what is held at the end is put in order");
}

#[test]
fn requests_that_took_very_long_are_told() {
    let rows = "0, 1000000, 0, 4096, 0, 0\n70000, 1000000, 0, 4096, 4096, 0\n\
                70001, 69000000000, 0, 4096, 8192, 0\n140000, 1000000, 0, 4096, 0, 0\n";
    let error = read_as(TraceFormat::FioLatency, rows.as_bytes()).map(|requests| requests.len());
    assert_eq!(error, Ok(4), "held for a minute, the third is in time");
    let rows = rows.replace(
        "140000, 1000000, 0, 4096, 0, 0",
        "140000, 1, 0, 4096, 0, 0\n140001, 139000000000, 0, 512, 0, 0",
    );
    let error = read_as(TraceFormat::FioLatency, rows.as_bytes()).unwrap_err().to_string();
    assert!(error.starts_with("x.csv:5: time: found "), "{error}");
}

#[test]
fn a_log_of_latencies_has_to_be_named() {
    let message = message("12, 88042, 1, 4096, 65536, 0\n13, 88042, 0, 4096, 65536, 0\n");
    assert!(message.contains("no format is certain for lines like"), "{message}");
    assert!(message.contains("fio_latency (4.0 KiB a request"), "{message}");
}

fn objects() -> Vec<u8> {
    let record = |(time, object, next): (u32, u64, i64)| {
        let head = time.to_le_bytes().into_iter().chain(object.to_le_bytes());
        head.chain(4096_u32.to_le_bytes()).chain(next.to_le_bytes()).collect::<Vec<_>>()
    };
    [(7, 64, 3), (7, 128, -1), (8, 64, 4), (9, 64, -1)].into_iter().flat_map(record).collect()
}

#[test]
fn traces_of_caches_are_told_and_need_what_they_lack() {
    let problem = message(objects());
    assert!(problem.starts_with("x.csv:byte 0: the trace of a cache says neither"), "{problem}");
    assert!(problem.contains("type = \"libcachesim\""), "{problem}");
    let operation = Some(ReadOrWrite::Write);
    let format = TraceFormat::Libcachesim { operation, object_unit: Some(Size(512)) };
    let plain = read_as(format.clone(), &objects()).unwrap();
    let facts =
        plain.iter().map(|r| (r.arrival.as_ns(), r.operation, r.offset)).collect::<Vec<_>>();
    let write =
        |seconds: u64, sector: u64| (seconds * 1_000_000_000, Operation::Write, sector * 512);
    assert_eq!(facts, [write(0, 64), write(0, 128), write(1, 64), write(2, 64)]);
    for (name, bytes) in compressed(&objects()) {
        assert_eq!(read_as(format.clone(), &bytes).as_ref(), Ok(&plain), "{name}");
    }
    let nothing = TraceFormat::Libcachesim { operation, object_unit: Some(Size(0)) };
    let error = read_as(nothing, &objects()).unwrap_err().to_string();
    assert_eq!(error, "workload.format.object_unit: found 0B; expected at least 1B");
    assert!(message("# time,object,size\n1,2,3\n").contains("type = \"libcachesim_csv\""));
}

#[test]
fn formats_of_blkparse_that_tell_too_little_are_refused() {
    let format: TraceFormat =
        serde_json::from_str(r#"{"blkparse":{"fields":"%D %T %d %S"}}"#).unwrap();
    let error = read_as(format, b"8,0 1 R 8\n").unwrap_err().to_string();
    assert_eq!(
        error,
        "workload.format.fields: found \"%D %T %d %S\"; expected a format of blkparse -f with %T, %d, \
         %S and %n or %N, each once, and text or a blank between two fields, such as \"%D %T.%t %a \
         %d %S %n\""
    );
}

#[test]
fn runs_of_blanks_separate_columns() {
    let format = CsvFormat {
        time: "time:s".into(),
        offset: "lba:sectors".into(),
        length: "len:sectors".into(),
        operation: Some("rw".into()),
        read: "R".into(),
        write: "W".into(),
        separator: ' ',
        ..CsvFormat::EMPTY
    };
    let text = "  time   lba\t\tlen rw\n\t0.5 8   8  R\n 0.75\t \t16 8\tW  \n";
    let requests = read_as(TraceFormat::Csv(format), text.as_bytes()).unwrap();
    let facts = requests.iter().map(|r| (r.arrival.as_ns(), r.operation, r.offset, r.length));
    let expected = [(0, Operation::Read, 4096, 4096), (250_000_000, Operation::Write, 8192, 4096)];
    assert_eq!(facts.collect::<Vec<_>>(), expected);
}
