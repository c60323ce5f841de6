//! Does the model contain the classic? The preset `disksim-msr` on the validation workloads of
//! DiskSim 4.0 with the MSR SSD add-on, against the results that its own validation prints.
//!
//! The workloads come from a generator that draws the same random numbers as DiskSim's: the
//! expected values of the shorter runs are those of its validation (`ssdmodel/valid`), the counts
//! and maxima those of a build of it.

mod generator;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use copyback::config::Loader;
use copyback::{Simulation, Status};
use generator::Synthetic;
use serde_json::Value;
use tempfile::NamedTempFile;

/// Instants between looks at the state of the simulation.
const BUDGET: u64 = 1 << 20;

fn trace(workload: &Synthetic) -> NamedTempFile {
    let mut file = BufWriter::new(NamedTempFile::new().expect("there is room for files"));
    for request in generator::requests(workload) {
        writeln!(file, "{request}").expect("there is room for the trace");
    }
    file.into_inner().expect("there is room for the trace")
}

fn run(workload: &Synthetic) -> Value {
    replay(trace(workload).path())
}

fn replay(path: &Path) -> Value {
    let quoted = serde_json::to_string(path).expect("a path for files is text");
    let config = Loader::new()
        .preset(Some("disksim-msr"))
        .set("workload.type", "trace")
        .set("workload.path", &quoted)
        .set("workload.format", "disksim")
        .load()
        .expect("the preset is valid");
    let mut simulation = Simulation::new(&config, None).expect("the trace opens");
    while simulation.advance(BUDGET).expect("the trace is valid") == Status::Running {}
    simulation.summary().expect("it has run").to_json()
}

fn number(summary: &Value, pointer: &str) -> f64 {
    summary.pointer(pointer).and_then(Value::as_f64).expect("the summary has this number")
}

#[track_caller]
fn assert_within(what: &str, found: f64, expected: f64, tolerance: f64) {
    let error = found / expected - 1.0;
    println!("{what}: {found} (DiskSim {expected}, {:+.3}%)", error * 100.0);
    assert!(error.abs() <= tolerance, "{what}: {found}, DiskSim has {expected}");
}

const MEAN: &str = "/response_us/all/mean";

#[test]
fn random_writes_5m() {
    let workload = Synthetic { requests: 5_000_000, sequential: false, reads: false };
    let summary = run(&workload);
    assert_within("mean", number(&summary, MEAN), 593.438, 0.02);
    assert_within("stddev", number(&summary, "/response_us/all/stddev"), 970.446, 0.02);
    assert_within("erases", number(&summary, "/flash/erases"), 143_179.0, 0.01);
    assert_within("moves", number(&summary, "/gc/pages_moved"), 1_929_239.0, 0.01);
    assert_within("page writes", number(&summary, "/flash/programs"), 7_913_348.0, 1e-5);
    // Its percentiles: 3.250551 ms at 95%, 4.957507 at 99%, 5.632507 at 99.9%.
    assert_within("p95", number(&summary, "/response_us/all/p95"), 3250.551, 0.02);
    assert_within("p99", number(&summary, "/response_us/all/p99"), 4957.507, 0.02);
    assert_within("p99.9", number(&summary, "/response_us/all/p99_9"), 5632.507, 0.02);
}

#[test]
#[ignore = "long"]
fn sequential_writes_5m() {
    let workload = Synthetic { requests: 5_000_000, sequential: true, reads: false };
    let summary = run(&workload);
    assert_within("mean", number(&summary, MEAN), 334.365, 0.02);
    assert_within("erases", number(&summary, "/flash/erases"), 77_493.0, 0.01);
    assert_eq!(number(&summary, "/gc/pages_moved"), 0.0);
}

/// Without collections the runs differ only in what is not modelled: there a completion message
/// waits for a transfer under way on the host bus, at most 1.9 us.
#[test]
fn runs_without_collections() {
    for (name, sequential, reads, mean, max) in [
        ("sr250k", true, true, 132.511, 135.805),
        ("sw250k", true, false, 310.895, 522.476),
        ("rr250k", false, true, 136.118, 485.446),
        ("rw250k", false, false, 329.458, 1579.052),
    ] {
        let summary = run(&Synthetic { requests: 250_000, sequential, reads });
        assert_within(name, number(&summary, MEAN), mean, 2e-4);
        assert_within(name, number(&summary, "/response_us/all/max"), max, 2e-2);
    }
}

/// The IOzone trace of its validation may not be shipped: set COPYBACK_TRACES to the folder that
/// has it. Requests wait in the driver there, too, so the mean is that of its whole I/O system.
#[test]
fn iozone() {
    let name = "iozone-100k.trace.gz";
    let folder = std::env::var_os("COPYBACK_TRACES").map(PathBuf::from);
    let Some(path) = folder.map(|folder| folder.join(name)).filter(|path| path.exists()) else {
        println!("skipped: {name} is absent (set COPYBACK_TRACES to its folder)");
        return;
    };
    let summary = replay(&path);
    assert_within("mean", number(&summary, MEAN), 6416.810, 0.02);
    assert_within("erases", number(&summary, "/flash/erases"), 129_772.0, 0.01);
    assert_eq!(number(&summary, "/gc/pages_moved"), 0.0);
}
