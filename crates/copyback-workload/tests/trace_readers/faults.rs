//! The messages, word for word: file, line, field, what was found, what is allowed.

use copyback_config::quantity::Size;
use copyback_config::{BeyondDevice, TraceFormat, TraceWorkload};

use crate::support::{config, drain, message, open_bytes, read_as};

const SPC: &str = "0,0,512,r,0\n0,8,512,w,1\n";

fn after_spc(line: &str) -> String {
    message(format!("{SPC}{line}\n"))
}

#[test]
fn fields() {
    assert_eq!(
        after_spc("0,8,abc,r,1"),
        "x.csv:3: size: found \"abc\"; expected a whole number of bytes"
    );
    assert_eq!(
        after_spc("0,-8,512,r,1"),
        "x.csv:3: LBA: found \"-8\"; expected a whole number of 512-byte sectors"
    );
    assert_eq!(
        after_spc("0,8,512,r,1e3"),
        "x.csv:3: time: found \"1e3\"; expected a number of seconds"
    );
    assert_eq!(after_spc("0,8,512,rw,1"), "x.csv:3: operation: found \"rw\"; expected r or w");
    assert_eq!(after_spc("0,8,0,r,1"), "x.csv:3: size: found \"0\"; expected at least one byte");
    assert_eq!(
        after_spc("0,36893488147419103232,512,r,1"),
        "x.csv:3: LBA: found \"36893488147419103232\"; expected a smaller number"
    );
}

#[test]
fn columns() {
    assert_eq!(
        after_spc("0,8,512"),
        "x.csv:3: columns: found 3; expected at least 5 columns (ASU,LBA,bytes,op,seconds)"
    );
    assert_eq!(
        after_spc("# a comment"),
        "x.csv:3: ASU: found \"# a comment\"; expected a whole number"
    );
}

#[test]
fn a_damaged_first_line_is_named_too() {
    assert_eq!(
        message(format!("0,8,12x,r,0\n{SPC}")),
        "x.csv:1: size: found \"12x\"; expected a whole number of bytes"
    );
}

#[test]
fn addresses() {
    let refused = |line: &str| {
        let config = TraceWorkload { beyond_device: BeyondDevice::Refuse, ..config("x.csv") };
        let text = format!("{SPC}{line}\n");
        let mut source = open_bytes(text.as_bytes(), &config).unwrap();
        drain(&mut source).unwrap_err().to_string()
    };
    assert_eq!(
        refused("0,2097152,512,w,1"),
        "x.csv:3: offset: found bytes 1073741824 to 1073742336; expected them within the device's \
         1073741824 (workload.beyond_device = \"wrap\" folds \
         them, \"compact\" closes the gaps)"
    );
    assert_eq!(
        refused("0,2097151,1024,w,1"),
        "x.csv:3: offset: found bytes 1073741312 to 1073742336; expected them within the device's \
         1073741824 (workload.beyond_device = \"wrap\" folds \
         them, \"compact\" closes the gaps)"
    );
    for problem in [refused("0,0,1073741825,w,1"), after_spc("0,0,1073741825,w,1")] {
        assert_eq!(
            problem,
            "x.csv:3: size: found 1073741825 bytes; expected at most the device's 1073741824"
        );
    }
}

#[test]
fn times() {
    let line = "0,8,512,w,3\n0,8,512,w,1.5";
    assert_eq!(
        after_spc(line),
        "x.csv:4: time: found 1.5 s before an earlier line's; expected lines in order of time (up \
         to 1 s back is tolerated; workload.clock_jumps = \"close\" takes more for a clock that was set)"
    );
    assert_eq!(
        after_spc("0,8,512,w,18000000000"),
        "x.csv:3: time: found more than 292 years after the first request; expected less"
    );
}

#[test]
fn formats() {
    assert_eq!(
        message("hello world\n"),
        "x.csv: no known format has lines like \"hello world\"; expected one of msr, spc, disksim, \
         blkreplay, blkparse, block_events, fio_iolog, fio_latency, biosnoop, etw, fiu, alibaba, tencent, \
         systor17, hp_csv, pixel6a, nexus5, ssdsim, mqsim, dtrs, replayer, flashnet, csv, libcachesim_csv, hp_srt, \
         vscsi, blktrace, libcachesim, parquet, which workload.format can name"
    );
    let fault = |format| read_as(format, b"1\tRead\t1.8E+11\t8192\n").unwrap_err().to_string();
    assert_eq!(
        fault(TraceFormat::Msr),
        "x.csv:1: filetime: found \"1\\tRead\\t1.8E+11\\t8192\"; expected a whole number of 100 ns \
         ticks since 1601"
    );
    assert_eq!(
        fault(TraceFormat::Disksim { size_unit: Size(512), time_unit: None }),
        "x.csv:1: device: found \"Read\"; expected a whole number"
    );
    assert_eq!(
        fault(TraceFormat::Blkreplay),
        "x.csv:1: time: found \"1\\tRead\\t1.8E+11\\t8192\"; expected a number of seconds"
    );
    let no_start = read_as(TraceFormat::Blkreplay, b"only text\n").unwrap_err().to_string();
    assert_eq!(
        no_start,
        "x.csv: found no line \"start ; sector; length ; op\"; expected it between the text and \
         the requests"
    );
}
