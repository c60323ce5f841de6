//! Lines of numbers whose times are in any unit: which is taken, and what is said of it.

use copyback_config::quantity::Size;
use copyback_config::{TimeUnit, TraceFormat, TraceWorkload};
use copyback_workload::InputError;
use copyback_workload::trace::TraceSource;

use crate::support::{config, drain, open_bytes, real_trace};

/// Arrivals of 298.5 requests a second, in nanoseconds: exponential gaps, by inversion.
fn arrivals() -> Vec<u64> {
    let mut state: u64 = 54;
    let mut now = 17_253_250_831_f64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let uniform = ((state >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        now += -uniform.ln() * 1e9 / 298.5;
        now as u64
    };
    (0..2000).map(|_| next()).collect()
}

/// `arrivals` as five columns, with times in `unit` and so many digits behind the point.
fn five_columns(arrivals: &[u64], unit: TimeUnit, digits: usize) -> String {
    let per_unit = 10_u64.pow(unit.places());
    let line = |(row, ns): (usize, &u64)| {
        let fraction = format!("{:0width$}", ns % per_unit, width = unit.places() as usize);
        let fraction = format!("{fraction:0<9}");
        let sector = row * 7919 % 50_000 * 8;
        format!(
            "{}.{} 0 {sector} {} {}\n",
            ns / per_unit,
            &fraction[..digits],
            8 + 8 * (row % 4),
            row % 2
        )
    };
    arrivals.iter().enumerate().map(line).collect()
}

fn rate(source: &mut TraceSource) -> Result<f64, InputError> {
    let requests = drain(source)?;
    let last = requests.last().expect("there are requests").arrival;
    Ok((requests.len() - 1) as f64 * 1e9 / last.as_ns() as f64)
}

/// The rate of a file whose format is detected, and what is said of it.
fn told(text: &str) -> (f64, Vec<String>) {
    let mut source = open_bytes(text.as_bytes(), &config("x")).unwrap();
    (rate(&mut source).unwrap(), source.notes())
}

#[test]
fn the_unit_is_taken_that_makes_sense_and_told() {
    let arrivals = arrivals();
    for (unit, digits, name) in [
        (TimeUnit::S, 9, "seconds (9 digits behind the point)"),
        (TimeUnit::S, 7, "seconds (7 digits behind the point)"),
        (TimeUnit::S, 6, "seconds (in milliseconds, 29"),
        (TimeUnit::S, 3, "seconds (in milliseconds, 29"),
        (TimeUnit::Ms, 6, "milliseconds (as those of disksim)"),
        (TimeUnit::Ms, 3, "milliseconds (as those of disksim)"),
        (TimeUnit::Ms, 1, "milliseconds (as those of disksim)"),
        (TimeUnit::Us, 3, "microseconds (in milliseconds, 2.9"),
        (TimeUnit::Us, 1, "microseconds (in milliseconds, 2.9"),
    ] {
        let (rate, notes) = told(&five_columns(&arrivals, unit, digits));
        assert!((rate / 298.5 - 1.0).abs() < 0.05, "{rate} requests a second for {name}");
        assert_eq!(notes.len(), 1, "{notes:?}");
        assert!(notes[0].contains(&format!("times were taken for {name}")), "{notes:?}");
        assert!(notes[0].contains("time_unit"), "{notes:?}");
    }
}

#[test]
fn nothing_is_said_of_a_unit_that_the_user_or_the_format_names() {
    let text = five_columns(&arrivals(), TimeUnit::Ms, 6);
    let named = |time_unit, text: &str| {
        let format = TraceFormat::Disksim { size_unit: Size(512), time_unit };
        let config = TraceWorkload { format: Some(format), ..config("x") };
        let mut source = open_bytes(text.as_bytes(), &config).unwrap();
        (rate(&mut source).unwrap(), source.notes())
    };
    assert_eq!(named(None, &text).1, [] as [String; 0]);
    let seconds = five_columns(&arrivals(), TimeUnit::S, 9);
    let (rate, notes) = named(Some(TimeUnit::S), &seconds);
    assert!((rate / 298.5 - 1.0).abs() < 0.05, "{rate}");
    assert_eq!(notes, [] as [String; 0]);
    let (rate, notes) = named(None, &seconds);
    assert!(rate > 2e5, "the format says milliseconds");
    assert!(notes[0].contains("they look like seconds"), "{notes:?}");
    let spc = "0,303567,3584,w,0.000000\n0,303568,512,r,0.5\n";
    assert_eq!(told(spc).1, [] as [String; 0]);
}

#[test]
fn times_of_a_format_that_no_drive_can_have_seen_are_told() {
    let line = |i: u64| format!("1,W,{},4096,{}.{:09}\n", i * 4096, i / 300, i % 300 * 3_333_333);
    let text: String = (0..500).map(line).collect();
    let (_, notes) = told(&text);
    assert!(notes[0].contains("its times, in the unit of alibaba, make 300"), "{notes:?}");
    assert!(notes[0].contains("workload.time_scale"), "{notes:?}");
}

#[test]
fn latencies_of_an_old_fio_are_told() {
    let notes = |latency: u64| {
        let line =
            |row: u64| format!("{}, {}, 0, 4096, {}, 0\n", 1 + row, latency + row, 4096 * row);
        let text: String = (0..40).map(line).collect();
        let config = TraceWorkload { format: Some(TraceFormat::FioLatency), ..config("x") };
        let mut source = open_bytes(text.as_bytes(), &config).unwrap();
        drain(&mut source).unwrap();
        source.notes()
    };
    assert_eq!(notes(88_042), [] as [String; 0]);
    let of_us = notes(88);
    assert!(of_us[0].contains("40 of its 40 latencies"), "{of_us:?}");
}

/// Traces whose first requests come in bursts or seldom, and in which form their times look like milliseconds. Which
/// unit was taken is told of these, too.
const HARD: [(&str, TimeUnit); 7] = [
    ("ajw.1week.srt.gz", TimeUnit::S),
    ("linux-mysql.load.gz", TimeUnit::Us),
    ("linux-webserver-2.load.gz", TimeUnit::Us),
    ("msr-rsrch_1.csv.gz", TimeUnit::S),
    ("msr-rsrch_1.csv.gz", TimeUnit::Us),
    ("msr-wdev_1.csv.gz", TimeUnit::S),
    ("pixel6a-telegram_precond.csv.gz", TimeUnit::Us),
];

/// Every form in which the requests of published traces may stand in five columns.
#[test]
fn published_traces_in_any_unit_are_read_right() {
    for name in [
        "Financial_mini.spc.gz",
        "cloudPhysicsIO.vscsi.gz",
        "fiu-home1-sample.blkparse.gz",
        "hp-2003-hourly-77-disks.csv.gz",
        "iozone-100k.trace.gz",
        "linux-mysql.load.gz",
        "linux-webserver-2.load.gz",
        "msr-hm_0-7016req-fragment.csv.gz",
        "msr-rsrch_1.csv.gz",
        "msr-wdev_1.csv.gz",
        "ajw.1week.srt.gz",
        "nexus5-Installing.txt.gz",
        "nexus5-twitter.txt.gz",
        "pixel6a-telegram_exec.csv.gz",
        "pixel6a-telegram_precond.csv.gz",
    ] {
        let Some(path) = real_trace(name) else { continue };
        let config = TraceWorkload { limit: Some(2000), ..config(path) };
        let mut source = TraceSource::open(&config, u64::MAX).unwrap();
        let requests = drain(&mut source).unwrap();
        let arrivals: Vec<_> = requests.iter().map(|request| request.arrival.as_ns()).collect();
        let last = *arrivals.last().expect("it has requests");
        for (unit, digits) in [
            (TimeUnit::S, 9),
            (TimeUnit::S, 6),
            (TimeUnit::Ms, 6),
            (TimeUnit::Ms, 3),
            (TimeUnit::Us, 3),
            (TimeUnit::Us, 1),
        ] {
            let text = five_columns(&arrivals, unit, digits);
            let mut source = open_bytes(text.as_bytes(), &crate::support::config("x")).unwrap();
            let requests = drain(&mut source).unwrap();
            let read = requests.last().expect("it has requests").arrival;
            let ratio = read.as_ns() as f64 / last as f64;
            let is_right = (ratio - 1.0).abs() < 0.01;
            let is_hard = HARD.contains(&(name, unit)) && digits < 9;
            assert_eq!(is_right, !is_hard, "{name} in {unit:?} with {digits} digits: {ratio}");
            assert_eq!(
                source.notes().iter().filter(|note| note.contains("times were taken")).count(),
                1
            );
        }
    }
}
