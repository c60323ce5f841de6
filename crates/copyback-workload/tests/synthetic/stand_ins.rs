//! The stand-ins for traces that cannot be had: what they generate has the statistics that were
//! published, and the page that says how close they are is fresh.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;

use copyback_config::{Loader, SyntheticWorkload, Workload, presets};
use copyback_workload::synthetic::Generator;
use copyback_workload::{Operation, Request};

use crate::support::{GIB, space};

const PUBLISHED: &str = include_str!("published.csv");
const STATISTICS: usize = 7;
/// How far, in parts of the published value, each statistic may lie from it: shares and sizes by the
/// rounding of what was published and the number of draws, rates by the number of bursts.
const TOLERANCES: [f64; STATISTICS] = [0.02, 0.02, 0.02, 0.03, 0.05, 0.02, 0.03];
/// So many bursts that rates are within that.
const REQUESTS: u64 = 2_000_000;
/// The longest of the idle times that agc-dgc-2012 calls short, and the shortest that it calls long.
const SHORT_IDLE_NS: u64 = 15_200_000;
const LONG_IDLE_NS: u64 = 1_000_000_000;

struct Row {
    preset: String,
    published: [Option<f64>; STATISTICS],
    source: String,
}

fn rows() -> Vec<Row> {
    let row = |line: &str| {
        let (cells, source) = match line.split_once('"') {
            Some((cells, source)) => (cells, source.trim_end_matches('"')),
            None => line.rsplit_once(',').unwrap(),
        };
        let mut cells = cells.split(',');
        let preset = cells.next().unwrap().to_owned();
        let published = std::array::from_fn(|_| cells.next().unwrap().parse().ok());
        Row { preset, published, source: source.to_owned() }
    };
    PUBLISHED.lines().skip(1).map(row).collect()
}

fn workload(preset: &str) -> SyntheticWorkload {
    let config = Loader::new().set("workload.preset", preset).load().unwrap();
    match config.workload {
        Workload::Synthetic(workload) => workload,
        other => panic!("{preset} is not synthetic: {other:?}"),
    }
}

/// Sums over requests.
#[derive(Default)]
struct Measured {
    requests: [u64; 2],
    bytes: [u64; 2],
    random_writes: u64,
    next_write: u64,
    last_ns: u64,
    idle: u64,
    long_idle: u64,
}

impl Measured {
    fn of(config: &SyntheticWorkload) -> Self {
        let mut generator =
            Generator::new(config, space(128 * GIB), 1, "workload/0", "workload").unwrap();
        let mut measured = Self::default();
        while let Some(request) = generator.next_request().unwrap() {
            measured.add(&request);
        }
        measured
    }

    fn add(&mut self, request: &Request) {
        let gap = request.arrival.as_ns() - self.last_ns;
        self.last_ns = request.arrival.as_ns();
        self.idle += u64::from(gap > SHORT_IDLE_NS);
        self.long_idle += u64::from(gap > LONG_IDLE_NS);
        let is_write = request.operation == Operation::Write;
        if is_write {
            self.random_writes += u64::from(request.offset != self.next_write);
            self.next_write = request.offset + request.length;
        }
        self.requests[usize::from(is_write)] += 1;
        self.bytes[usize::from(is_write)] += request.length;
    }

    /// In the order of the columns. What has no requests has no statistic.
    fn statistics(&self) -> [Option<f64>; STATISTICS] {
        let ratio = |a: u64, b: u64| (b > 0).then(|| a as f64 / b as f64);
        let ([reads, writes], [read, written]) = (self.requests, self.bytes);
        let all = reads + writes;
        [
            ratio(100 * reads, all),
            ratio(read + written, 1024 * all),
            ratio(read, 1024 * reads),
            ratio(written, 1024 * writes),
            ratio(all - 1, self.last_ns).map(|rate| rate * 1e9),
            ratio(100 * self.random_writes, writes),
            ratio(100 * self.long_idle, self.idle),
        ]
    }
}

/// Four digits that count.
fn number(value: f64) -> String {
    let digits = if value == 0.0 { 0 } else { 3 - value.abs().log10().floor() as i32 };
    format!("{value:.*}", digits.clamp(0, 6) as usize)
}

#[test]
fn every_stand_in_is_measured() {
    let rows: Vec<_> = rows().into_iter().map(|row| row.preset).collect();
    let stand_ins = presets::workloads().iter().filter(|p| p.name.starts_with("stand-in-"));
    assert_eq!(rows, stand_ins.map(|preset| preset.name).collect::<Vec<_>>());
}

/// The table in `docs/workloads.md` is rewritten if `COPYBACK_UPDATE` is set.
#[test]
fn stand_ins_have_the_published_statistics() {
    let mut table = String::from(HEAD);
    let mut far = Vec::new();
    for row in rows() {
        let config = workload(&row.preset);
        // Two drives have so few requests that these are their statistics; more say what they tend to.
        let found =
            Measured::of(&SyntheticWorkload { requests: REQUESTS.into(), ..config }).statistics();
        write!(table, "| `{}` |", row.preset).unwrap();
        for ((published, found), tolerance) in row.published.iter().zip(found).zip(TOLERANCES) {
            write!(table, " {} |", cell(*published, found)).unwrap();
            let Some(published) = published else { continue };
            let found = found.unwrap_or(f64::NAN);
            if (found - published).abs() > tolerance * published {
                far.push(format!("{}: {found}, published {published}", row.preset));
            }
        }
        writeln!(table, " {} |", row.source).unwrap();
    }
    assert!(far.is_empty(), "{}", far.join("\n"));
    assert_fresh(&table);
}

const HEAD: &str = "\
| preset | reads % | KB | KB a read | KB a write | requests/s | random writes % | long idle % | published in |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

/// The published value and the generated one; if none is published, that it is a guess.
fn cell(published: Option<f64>, found: Option<f64>) -> String {
    match (published, found) {
        (_, None) => "-".into(),
        (None, Some(found)) => format!("({})", number(found)),
        (Some(published), Some(found)) => format!("{published} → {}", number(found)),
    }
}

fn assert_fresh(table: &str) {
    let page = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/workloads.md");
    let text = fs::read_to_string(&page).unwrap();
    let (begin, end) = ("<!-- measured by the test stand_ins -->\n", "<!-- end -->");
    let (before, rest) = text.split_once(begin).unwrap();
    let (old, after) = rest.split_once(end).unwrap();
    if std::env::var_os("COPYBACK_UPDATE").is_some() {
        fs::write(&page, format!("{before}{begin}{table}{end}{after}")).unwrap();
    } else {
        let update = "COPYBACK_UPDATE=1 cargo test -p copyback --test synthetic stand_ins";
        assert_eq!(old, table, "docs/workloads.md is stale: run {update}");
    }
}
