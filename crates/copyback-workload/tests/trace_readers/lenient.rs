//! Damaged rows are skipped and told, if that is asked for.

use std::io::Write;

use copyback_config::{
    BeyondDevice, BlkparseAction, ClockJumps, CsvFormat, TraceFormat, TraceWorkload,
};
use copyback_workload::trace::TraceSource;
use copyback_workload::{InputError, Request};

use crate::support::{GIB, Scratch, config, drain, open_bytes, real_trace};

const SPC: &str = "0,0,512,r,0\n0,8,512,w,1\n";

fn lenient() -> TraceWorkload {
    TraceWorkload { lenient: true, ..config("x.csv") }
}

/// The requests and the notes.
fn read(bytes: &[u8], config: &TraceWorkload) -> Result<(Vec<Request>, Vec<String>), InputError> {
    let mut source = open_bytes(bytes, config)?;
    let requests = drain(&mut source)?;
    Ok((requests, source.notes()))
}

fn refused(bytes: &[u8], config: &TraceWorkload) -> String {
    read(bytes, config).unwrap_err().to_string()
}

#[test]
fn damaged_rows_are_skipped_and_told() {
    let text = format!("{SPC}rubbish\n0,16,0,w,2\n\n0,16,512,w,2\n0,16,1.8E+11,w,3\n");
    let (requests, notes) = read(text.as_bytes(), &lenient()).unwrap();
    assert_eq!(requests.len(), 3);
    let note = "x.csv: 3 damaged rows were skipped, the first at 3: ASU: found \"rubbish\"; expected \
                a whole number";
    assert_eq!(notes, [note]);
}

#[test]
fn by_default_none_is() {
    let text = format!("{SPC}rubbish\n");
    assert!(refused(text.as_bytes(), &config("x.csv")).starts_with("x.csv:3: ASU"));
}

#[test]
fn a_nul_byte_damages_its_line_only() {
    let text = format!("{SPC}\0\0\0\0,512\n0,16,512,w,2\nx\n");
    let (requests, notes) = read(text.as_bytes(), &lenient()).unwrap();
    assert_eq!(requests.len(), 3);
    let note =
        "x.csv: 2 damaged rows were skipped, the first at 3: found a NUL byte; expected text";
    assert_eq!(notes, [note]);
}

#[test]
fn rows_out_of_time_are_damaged() {
    let text = "0,0,512,r,10\n0,0,512,r,99999999\n0,1,512,r,11\n0,2,512,r,5\n0,3,512,r,10.5\n";
    let (requests, notes) = read(text.as_bytes(), &lenient()).unwrap();
    let sectors: Vec<_> = requests.iter().map(|r| r.offset / 512).collect();
    assert_eq!(sectors, [0, 1, 3], "one a year ahead and one 6 s back");
    assert_eq!(
        notes[0],
        "x.csv: 2 damaged rows were skipped, the first at 2: time: found 1157 days after the line \
         before; expected at most 365"
    );
    assert!(notes[1].starts_with("x.csv: 1 request has a time before an earlier line's"));
}

/// A phone's trace: its clock is set from 1970 to 2014 after the first rows, and back a little later.
fn phone() -> String {
    let row = |i: u64| {
        let second = match i {
            0..50 => i,
            50..500 => 1_400_000_000 + i,
            _ => 1_399_990_000 + i,
        };
        format!("0,{i},512,w,{second}\n")
    };
    (0..1000).map(row).collect()
}

#[test]
fn a_clock_that_was_set_loses_nothing_behind_it() {
    let (requests, notes) = read(phone().as_bytes(), &lenient()).unwrap();
    assert_eq!(requests.len(), 1000 - 200, "a hundred rows are doubted at each jump");
    assert_eq!(
        notes[1],
        "x.csv: its clock was set 2 times (the first before line 151): 16203.7 days ahead and 2.7 h \
         back in all, which count for no time"
    );
    let longest = "1h".parse().unwrap();
    let closed = TraceWorkload { clock_jumps: ClockJumps::Close { longest }, ..config("x.csv") };
    let (requests, notes) = read(phone().as_bytes(), &closed).unwrap();
    assert_eq!(requests.len(), 1000);
    assert_eq!(requests[999].arrival.as_ns(), 997 * 1_000_000_000);
    assert_eq!(notes.len(), 1);
    assert!(notes[0].contains("its clock was set 2 times (the first before line 51)"), "{notes:?}");
    assert!(refused(phone().as_bytes(), &config("x.csv")).contains("workload.clock_jumps"));
}

#[test]
fn a_few_pauses_that_most_of_the_time_lies_in_are_told() {
    let text: String =
        (0..300).map(|i| format!("0,{i},512,w,{}\n", i + i / 100 * 2_000_000)).collect();
    let (_, notes) = read(text.as_bytes(), &config("x.csv")).unwrap();
    assert_eq!(
        notes,
        ["x.csv: 46.3 days of its 46.3 days lie in 2 pauses (the longest, 23.1 days, before line \
          101), so that rates over all of it mean little; workload.clock_jumps = \"close\" leaves \
          out pauses of more than an hour"]
    );
    let (_, notes) = read(spc_week().as_bytes(), &config("x.csv")).unwrap();
    assert_eq!(notes, [] as [String; 0], "idle, but evenly");
}

fn spc_week() -> String {
    (0..300).map(|i| format!("0,{i},512,w,{}\n", i * 2000)).collect()
}

#[test]
fn a_file_of_damaged_rows_is_no_trace() {
    let spc = TraceWorkload { format: Some(TraceFormat::Spc), ..lenient() };
    assert_eq!(
        refused(b"a\nb\n", &spc),
        "x.csv: found no requests; expected at least one (x.csv: 2 damaged rows were skipped, the \
         first at 1: ASU: found \"a\"; expected a whole number)"
    );
}

#[test]
fn what_is_not_the_rows_fault_is_never_skipped() {
    let beyond = format!("{SPC}0,99999999,512,w,2\n");
    let refuse = TraceWorkload { beyond_device: BeyondDevice::Refuse, ..lenient() };
    assert!(refused(beyond.as_bytes(), &refuse).starts_with("x.csv:3: offset: found bytes"));
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(SPC.repeat(1000).as_bytes()).unwrap();
    let bytes = gzip.finish().unwrap();
    let cut = refused(&bytes[..bytes.len() - 12], &lenient());
    assert!(cut.contains("the gzip data is cut short or damaged here"), "{cut}");
    let long = format!("{SPC}{}\n", "x".repeat(100_000));
    assert!(refused(long.as_bytes(), &lenient()).contains("found a line of more than 65536 bytes"));
    let csv = CsvFormat {
        time: "ts:us".into(),
        offset: "lba:sectors".into(),
        length: "size:bytes".into(),
        operation: Some("op".into()),
        ..CsvFormat::EMPTY
    };
    let named = TraceWorkload { format: Some(TraceFormat::Csv(csv)), ..lenient() };
    let header = refused(b"ts,sector,size,op\n1,2,512,R\n", &named);
    assert!(header.starts_with("x.csv:1: offset: found no column \"lba\""), "{header}");
}

/// vscsi records of version 1: the one numbered `damaged` has a command that is none.
fn vscsi(damaged: usize) -> Vec<u8> {
    let record = |i: usize| {
        let mut record = [0; 32];
        record[4..8].copy_from_slice(&512_u32.to_le_bytes());
        record[12] = if i == damaged { 0xff } else { 0x28 };
        record[15] = 1;
        record[16] = i as u8;
        record
    };
    (0..5).flat_map(record).collect()
}

#[test]
fn binary_records_of_one_size_can_be_skipped() {
    let (requests, notes) = read(&vscsi(3), &lenient()).unwrap();
    assert_eq!(requests.len(), 4);
    assert!(
        notes[0].starts_with("x.csv: 1 damaged row was skipped, the first at byte 96: "),
        "{notes:?}"
    );
    let mut cut = vscsi(9);
    cut.pop();
    assert_eq!(
        refused(&cut, &lenient()),
        "x.csv:byte 128: found 31 bytes at the end of the file; expected a record of 32"
    );
}

#[test]
fn binary_events_of_any_size_can_not() {
    let mut event = [0_u8; 48];
    event[..4].copy_from_slice(&0x6561_7407_u32.to_le_bytes());
    event[24..28].copy_from_slice(&512_u32.to_le_bytes());
    event[28] = 1;
    let mut bytes = event.repeat(3);
    bytes[96] = 0;
    let blktrace = TraceFormat::Blktrace { action: BlkparseAction::Queued };
    let config = TraceWorkload { format: Some(blktrace), ..lenient() };
    assert!(refused(&bytes, &config).starts_with("x.csv:byte 96: magic number"));
}

#[test]
fn repeated_rounds_do_not_count_again() {
    let text = "0,0,512,r,0\nx\n0,8,512,w,1\n";
    let file = Scratch::file("x.csv", text.as_bytes());
    let duration = Some("10s".parse().unwrap());
    let config = TraceWorkload { duration, path: file.0.clone(), ..lenient() };
    let mut source = TraceSource::open(&config, GIB).unwrap();
    assert_eq!(drain(&mut source).unwrap().len(), 10);
    let notes = source.notes();
    assert!(notes[0].contains("1 damaged row was skipped, the first at 2:"), "{notes:?}");
    assert!(notes[1].ends_with("the trace was started 5 times"), "{notes:?}");
}

#[test]
fn what_the_parser_passed_over_is_told_of_one_round() {
    let mut bytes = vscsi(9);
    bytes[32 + 12] = 0x12;
    bytes[4 * 32 + 24..][..3].copy_from_slice(&1_000_000_u32.to_le_bytes()[..3]);
    let file = Scratch::file("x.vscsi", &bytes);
    let duration = Some("3s".parse().unwrap());
    let config = TraceWorkload { duration, ..config(&file.0) };
    let mut source = TraceSource::open(&config, GIB).unwrap();
    assert_eq!(drain(&mut source).unwrap().len(), 4 + 4 + 3);
    let notes = source.notes();
    assert!(notes[0].ends_with("x.vscsi: 1 commands that move no data were left out"), "{notes:?}");
    assert!(notes[1].ends_with("the trace was started 3 times"), "{notes:?}");
}

#[test]
fn a_trace_that_passed_through_a_spreadsheet() {
    let Some(path) = real_trace("msr-web_3-noRT.txt.gz") else { return };
    let csv = CsvFormat {
        time: "1:100ns".into(),
        operation: Some("2".into()),
        offset: "3:bytes".into(),
        length: "4:bytes".into(),
        read: "Read".into(),
        write: "Write".into(),
        separator: '\t',
        ..CsvFormat::EMPTY
    };
    let config = TraceWorkload { path, format: Some(TraceFormat::Csv(csv)), ..lenient() };
    let mut source = TraceSource::open(&config, u64::MAX).unwrap();
    assert_eq!(drain(&mut source).unwrap().len(), 31_380 - 86);
    let notes = source.notes();
    assert!(notes[0].contains(": 86 damaged rows were skipped, the first at "), "{notes:?}");
}

#[test]
fn rows_of_forty_years_ahead() {
    let Some(path) = real_trace("fillrandom10M.blkparse.txt.gz") else { return };
    let blkparse = TraceFormat::Blkparse { action: BlkparseAction::Issued, fields: None };
    let config = TraceWorkload { path, format: Some(blkparse), ..lenient() };
    let mut source = TraceSource::open(&config, u64::MAX).unwrap();
    let requests = drain(&mut source).unwrap();
    let last = requests.last().unwrap().arrival.as_secs_f64();
    assert!((81.0..82.0).contains(&last), "{last}");
    let notes = source.notes();
    assert!(notes[0].contains(": 20 damaged rows were skipped, the first at 8: "), "{notes:?}");
}
