//! Files as they come: compressed, cut short, piped, missing, with any line ends.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use copyback_config::quantity::Size;
use copyback_config::{BlkparseAction, CsvFormat, Loader, TraceFormat, TraceWorkload, Workload};
use copyback_workload::trace::TraceSource;

use crate::support::{GIB, Scratch, compressed, config, drain, message, open_bytes, read};

const LINE: &str = "0,0,512,r,0\n";

fn open(path: &Path) -> Result<TraceSource, String> {
    let place = path.display().to_string();
    TraceSource::open(&config(path), GIB).map_err(|e| e.to_string().replace(&place, "PATH"))
}

#[test]
fn compressions_are_told_by_content() {
    let trace = LINE.repeat(100_000);
    for (name, bytes) in compressed(trace.as_bytes()) {
        assert_eq!(read(&bytes).unwrap().len(), 100_000, "{name}");
        let twice = [&bytes[..], &bytes].concat();
        assert_eq!(read(twice).unwrap().len(), 200_000, "{name}, two members");
    }
}

#[test]
fn compressed_data_that_is_cut_or_damaged_is_named() {
    let mut trace = String::new();
    for i in 0..100_000_u64 {
        trace += &format!("0,{},512,r,{i}\n", i * i * 7919 % 1_000_003);
    }
    for (name, bytes) in compressed(trace.as_bytes()) {
        for length in [7, bytes.len() / 2, bytes.len() - 1] {
            let text = message(&bytes[..length]);
            assert!(text.contains(&format!("the {name} data is cut short or damaged")), "{text}");
        }
        let mut damaged = bytes.clone();
        for byte in &mut damaged[bytes.len() / 2..][..100] {
            *byte ^= 0x55;
        }
        message(&damaged);
    }
}

#[test]
fn gzip_is_read_as_gzip_reads_it() {
    let gzip = |text: &str| {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap()
    };
    let (one, two) = (gzip("0,0,512,r,0\n"), gzip("0,8,512,w,1\n"));
    let read = |parts: &[&[u8]]| {
        let mut source = open_bytes(&parts.concat(), &config("x.csv")).unwrap();
        (drain(&mut source).unwrap().len(), source.notes())
    };
    let zeros = [0; 100_000];
    assert_eq!(read(&[&one, &zeros]), (1, Vec::new()), "padding");
    assert_eq!(read(&[&one, &zeros, &two, &zeros]), (2, Vec::new()));
    let note = "x.csv: 3 bytes behind the gzip data are none, and were ignored";
    assert_eq!(read(&[&one, &two, b"abc"]), (2, vec![note.to_owned()]));
    let cut = [&one[..], &two[..two.len() - 9]].concat();
    assert!(message(cut).contains("the gzip data is cut short or damaged here"));
}

#[test]
fn names_of_columns_may_stand_anywhere() {
    let names = "time,offset,size,type,volume";
    let row = |second: u64| format!("{},8,8,1,7\n", 1_538_323_200 + second);
    let (one, two, three) = (row(0), row(1), row(2));
    let text = format!("{names}\n{one}{two}{names}\n{three}{names}\n");
    let mut source = open_bytes(text.as_bytes(), &config("x.csv")).unwrap();
    assert_eq!(drain(&mut source).unwrap().len(), 3);
    assert_eq!(source.notes(), ["x.csv: 3 lines of column names were passed over"]);
    let fault = message(format!("{one}{two}time,offset\n"));
    assert!(fault.starts_with("x.csv:3: time: found \"time\""), "{fault}");
}

#[test]
fn line_ends_and_marks_of_other_systems() {
    assert_eq!(read("0,0,512,r,0\r\n0,0,512,r,1\n\r\n0,0,512,r,2").unwrap().len(), 3);
    assert_eq!(read("\u{feff}0,0,512,r,0\n").unwrap().len(), 1);
    assert_eq!(read(" 0, 0, 512, r, 0 \n").unwrap().len(), 1);
}

#[test]
fn a_pipe_is_read_and_has_no_progress() {
    let fifo = Scratch::path("fifo");
    let made = std::process::Command::new("mkfifo").arg(&fifo.0).status();
    if !made.is_ok_and(|status| status.success()) {
        println!("skipped: no mkfifo");
        return;
    }
    let path = fifo.0.clone();
    let writer = std::thread::spawn(move || std::fs::write(path, LINE.repeat(50_000)));
    let mut source = TraceSource::open(&config(&fifo.0), GIB).unwrap();
    assert_eq!(drain(&mut source).unwrap().len(), 50_000);
    assert_eq!(source.consumed(), 0.0);
    writer.join().unwrap().unwrap();
}

#[test]
fn files_that_cannot_be_read() {
    let absent = Scratch::path("absent");
    let error = open(&absent.0).err().unwrap();
    assert_eq!(error, "PATH: there is no such file; expected a trace");
    let error = open(&std::env::temp_dir()).err().unwrap();
    assert_eq!(error, "PATH: found a directory; expected a trace file");
    let error = TraceSource::open(&config(""), GIB).err().unwrap().to_string();
    assert_eq!(error, "workload.path: found nothing; expected a trace file");
}

#[cfg(unix)]
#[test]
fn a_file_without_permission() {
    use std::os::unix::fs::PermissionsExt;

    let file = Scratch::file("secret", LINE.as_bytes());
    std::fs::set_permissions(&file.0, PermissionsExt::from_mode(0o000)).unwrap();
    if File::open(&file.0).is_ok() {
        println!("skipped: the superuser may read anything");
        return;
    }
    assert_eq!(open(&file.0).err().unwrap(), "PATH: permission to read it is denied");
}

#[test]
fn files_that_hold_no_request() {
    let expected = "x.csv: found no requests; expected at least one";
    assert_eq!(message(""), expected);
    assert_eq!(message("\n \n\r\n"), expected);
    assert_eq!(message("\u{feff}"), expected);
    for (name, bytes) in compressed(b"") {
        assert_eq!(message(&bytes), expected, "{name}");
    }
    assert_eq!(message("text\nstart ; sector; length ; op\n"), expected);
}

#[test]
fn files_that_are_no_text() {
    let archive = "x.csv: found an archive; expected a single file: unpack it first";
    assert_eq!(message("PK\x03\x04rest"), archive);
    let wide: Vec<u8> = "\u{feff}0,0,512,r,0\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(message(wide), "x.csv: found text in UTF-16; expected ASCII or UTF-8");
    assert_eq!(message("0,0,512,r,0\n0,0,512\0,r,0\n"), "x.csv:2: found a NUL byte; expected text");
    let long = format!("{LINE}{}", "7".repeat(1 << 20));
    assert_eq!(message(long), "x.csv:2: found a line of more than 65536 bytes; expected text");
}

#[test]
fn records_that_are_cut_short_or_wrong_are_named_by_their_place() {
    let mut record = vec![7, 0, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0, 0x2a, 0, 0, 1];
    record.resize(32, 0);
    let cut = &record.repeat(3)[..90];
    assert_eq!(
        message(cut),
        "x.csv:byte 64: found 26 bytes at the end of the file; expected a record of 32"
    );
    let mut marked = record.clone();
    marked[..2].copy_from_slice(b"\xff\xfe");
    assert_eq!(read(&marked).unwrap().len(), 1, "a serial number is no byte-order mark");
    let mut wrong = record.repeat(3);
    wrong[32 * 2 + 12] = 0x41;
    assert_eq!(
        message(wrong),
        "x.csv:byte 64: command: found 0x41; expected a SCSI command to read, write or synchronise \
         the cache, or one that moves no data"
    );
}

/// What a file says of a format, as its reader gets it, or the message.
fn format(text: &str) -> Result<TraceFormat, String> {
    let text = format!("[workload]\ntype = 'trace'\npath = 'x'\nformat = {text}");
    let config = Loader::new().toml(&text, "x.toml", None).load();
    match config.map_err(|faults| faults.to_string())?.workload {
        Workload::Trace(trace) => Ok(trace.format.unwrap()),
        other => panic!("no trace: {other:?}"),
    }
}

#[test]
fn formats_with_keys() {
    let disksim = |bytes| Ok(TraceFormat::Disksim { size_unit: Size(bytes), time_unit: None });
    assert_eq!(format("'disksim'"), disksim(512));
    assert_eq!(format("{ type = 'disksim', size_unit = '4KiB' }"), disksim(4096));
    assert_eq!(
        format("{ type = 'disksim', size_unit = '0B' }").unwrap_err(),
        "x.toml:4: workload.format.size_unit: found 0B; allowed: 1B or more"
    );
    let action = BlkparseAction::Completed;
    let completed = Ok(TraceFormat::Blkparse { action, fields: None });
    assert_eq!(format("{ type = 'blkparse', action = 'C' }"), completed);
    let wrong = format("{ type = 'blktrace', action = 'Z' }").unwrap_err();
    assert_eq!(
        wrong,
        "x.toml:4: workload.format.action: found \"Z\"; did you mean \"Q\"? (allowed: Q, G, I, D, C)"
    );
    let csv = "type = 'csv', time = 't:us', offset = 'at:sectors', length = 'size:4KiB'";
    let read = format(&format!("{{ {csv}, operation = 'op', separator = ';' }}"));
    assert!(matches!(read, Ok(TraceFormat::Csv(CsvFormat { separator: ';', .. }))), "{read:?}");
    assert_eq!(
        format(&format!("{{ {csv}, operation = '' }}")).unwrap_err(),
        "x.toml:4: workload.format.operation: found \"\"; allowed: a column"
    );
}

#[test]
fn settings_that_make_no_sense() {
    let fault = |config: TraceWorkload| {
        open_bytes(LINE.as_bytes(), &config).map(|_| ()).unwrap_err().to_string()
    };
    for scale in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let text = fault(TraceWorkload { time_scale: scale, ..config("x") });
        assert_eq!(text, format!("workload.time_scale: found {scale}; expected a number above 0"));
    }
    let text = fault(TraceWorkload { limit: Some(0), ..config("x") });
    assert_eq!(text, "workload.limit: found 0; expected at least 1");
    let format = Some(TraceFormat::Disksim { size_unit: Size(0), time_unit: None });
    let text = fault(TraceWorkload { format, ..config("x") });
    assert_eq!(text, "workload.format.size_unit: found 0B; expected at least 1B");
}

#[test]
fn what_recorders_put_around_requests_is_passed_over() {
    let event = |ms: u32, sector: u32| {
        format!("  x 1 [000] 300.{ms:03}100: block_rq_issue: 259,3 W 4096 () {sector} + 8 [x]\n")
    };
    let frames = "        ffffffff81000000 submit+0x1c ([kernel.kallsyms])\n\n";
    let file =
        ["version = 6\nCPU 1 is empty\ncpus=2\n", &event(1, 8), frames, &event(2, 64), frames];
    assert_eq!(read(file.concat().as_bytes()).unwrap().len(), 2);
}

#[test]
fn totals_are_told_apart_from_damage() {
    let told = message(b"Linux 6.1.0\n\nDevice  r/s  rkB/s  w/s  wkB/s\nsda 1.00 2.00 3.00 4.00\n");
    assert!(
        told.contains("found iostat's rates of devices: such a file holds no requests"),
        "{told}"
    );
}
