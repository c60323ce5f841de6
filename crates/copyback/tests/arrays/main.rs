//! Arrays as wholes: what must hold whatever the drives do.

mod fail_fast;
mod failures;
mod meetings;
mod mirrors;
mod power;
mod repairs;
mod scrubs;
mod slow_drives;

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use copyback::config::{Config, Loader};
use copyback::executor::{Executor, Job};
use copyback::{Simulation, Status};
use rand::RngExt;
use serde_json::Value;
use tempfile::NamedTempFile;

/// Small drives whose choices follow from what is written alone, so that any two are alike.
const DRIVES: &str = r#"
audit = true
[ssd.geometry]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 24
pages_per_block = 8
page_size = "4KiB"
[ssd.ftl]
over_provisioning = 0.3
[ssd.gc]
soft_threshold = { blocks = 3 }
[precondition]
fill = 1.0
overwrites = 0
[array]
layout = "jbod"
devices = 4
[workload]
type = "trace"
path = ""
format = "ssdsim"
device_layout = { type = "concatenate", size = "DRIVE" }
"#;
const DEVICES: usize = 4;

fn load(text: &str, settings: &[(&str, &str)]) -> Config {
    let loader = Loader::new().toml(text, "arrays.toml", None);
    let loader = settings.iter().fold(loader, |loader, (key, value)| loader.set(key, value));
    loader.load().unwrap_or_else(|faults| panic!("{faults}"))
}

fn run(config: &Config) -> Simulation {
    let mut simulation = Simulation::new(config, None).expect("a trace that it needs is there");
    while simulation.advance(1 << 20).expect("the audit finds nothing") == Status::Running {}
    simulation
}

/// A file of this test's own: the suite may run several times at once.
fn written(text: &str) -> NamedTempFile {
    let file = NamedTempFile::new().expect("there is room for files");
    std::fs::write(&file, text).expect("the file is ours");
    file
}

/// A trace of one page writes and reads on four disks, two thirds of them on the second, `renamed`.
fn trace(renamed: [usize; DEVICES], pages: u64) -> NamedTempFile {
    let mut stream = copyback::rng::stream(7, "arrays");
    let mut text = String::new();
    // The first requests name the disks in the order of the drives, in which they are placed.
    for disk in 0..DEVICES {
        writeln!(text, "{} {disk} 0 8 1", 1000 * disk).expect("text grows");
    }
    for request in 0..6000u64 {
        let disk = if stream.random_range(0..3) > 0 { 1 } else { stream.random_range(0..4) };
        let (page, operation) = (stream.random_range(0..pages), stream.random_range(0..4) / 3);
        let at = 1_000_000 + request * 120_000;
        writeln!(text, "{at} {} {} 8 {operation}", renamed[disk], page * 8).expect("text grows");
    }
    written(&text)
}

fn without(mut value: Value, keys: &[&str]) -> Value {
    if let Some(members) = value.as_object_mut() {
        keys.iter().for_each(|key| drop(members.remove(*key)));
    }
    value
}

/// Drives that trade places trade results, and the array as a whole gives the same.
#[test]
fn the_order_of_drives_does_not_matter() {
    let order = [2, 0, 3, 1];
    for coordination in ["uncoordinated", "reactive_inclusive", "reactive_selective"] {
        let text = DRIVES.replace("DRIVE", "1MiB");
        let set = |path: &Path| {
            let path = path.to_str().expect("a plain path").to_owned();
            let base = load(&text, &[("workload.path", &path)]);
            let size = base.resolve().drive.capacity.bytes.to_string();
            let settings = [
                ("workload.path", path.as_str()),
                ("workload.device_layout.size", &size),
                ("array.coordination", coordination),
                ("array.protocol.latency", "10us"),
            ];
            load(&text, &settings)
        };
        let pages = load(&text, &[("workload.path", "x")]).resolve().drive.capacity.logical_pages;
        let result = |renamed| {
            run(&set(trace(renamed, pages).path())).summary().expect("it has run").to_json()
        };
        let (plain, moved) = (result([0, 1, 2, 3]), result(order));

        for (disk, place) in order.into_iter().enumerate() {
            let device = |summary: &Value, place: usize| {
                without(summary["devices"][place].clone(), &["device"])
            };
            assert_eq!(device(&plain, disk), device(&moved, place), "{coordination}: disk {disk}");
        }
        assert!(plain["gc"]["collections"].as_u64() > Some(100), "{}", plain["gc"]);
        // Which drive held its requests longest is said by its place.
        let longest = "/verdict/holds/longest_spell/device";
        let [held, renamed] = [&plain, &moved].map(|summary| summary.pointer(longest));
        let place = held.and_then(Value::as_u64).map(|disk| order[disk as usize] as u64);
        assert_eq!(place, renamed.and_then(Value::as_u64), "{coordination}");
        // The deviation of erase counts is a sum of floats, whose last digit depends on the order.
        let [plain, moved] = [plain, moved].map(|mut summary| {
            summary.pointer_mut(longest).map(Value::take);
            without(summary, &["devices", "config_digest", "wear"])
        });
        for (key, value) in plain.as_object().expect("a summary is a table") {
            assert_eq!(*value, moved[key], "{coordination}: {key}");
        }
    }
}

/// A drive that goes on by itself comes back when it begins or stops to collect.
#[test]
fn drives_collect_at_the_same_times_whoever_looks() {
    let collections = |settings: &[(&str, &str)]| {
        let workload = "{ type = 'synthetic', requests = 3000, request_size = '4KiB', read_share = 0.0, \
                        inter_arrival = '2ms' }";
        let all = [&[("workload", workload), ("metrics.collections", "true")], settings].concat();
        let columns = run(&load(DRIVES, &all)).take_collections();
        (columns.device, columns.begin_ns, columns.end_ns)
    };
    let looked_at = collections(&[("metrics.slowest", "1")]);
    assert!(looked_at.0.len() > 100, "{} times", looked_at.0.len());
    assert!(collections(&[]) == looked_at, "the times differ");
}

/// Four small drives of one die each; a page of the trace is a unit of a stripe.
const RAID5: &str = r#"
audit = true
[ssd.geometry]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 24
pages_per_block = 8
page_size = "4KiB"
[ssd.ftl]
over_provisioning = 0.3
[ssd.gc]
soft_threshold = { blocks = 3 }
[precondition]
fill = 1.0
overwrites = 0
[array]
layout = "raid5"
devices = 4
stripe = "4KiB"
reads_around_gc = true
[workload]
type = "trace"
path = ""
format = "ssdsim"
"#;

/// Writes to these pages of every fourth stripe in turn, all of which lie on the first drive, and reads of the
/// page that was written, while its drive may collect.
fn reads_behind_writes(pages: &[u64], settings: &[(&str, &str)]) -> Value {
    let stripes = 4 * 3;
    let mut text = String::new();
    for request in 0..1200_u64 {
        let page = stripes * (request % 32) + pages[request as usize % pages.len()];
        let at = request * 20_000_000;
        writeln!(text, "{at} 0 {} 8 0", page * 8).expect("text grows");
        for later in 1..5 {
            writeln!(text, "{} 0 {} 8 1", at + later * 700_000, page * 8).expect("text grows");
        }
    }
    let file = written(&text);
    let path = [("workload.path", file.path().to_str().expect("a plain path"))];
    run(&load(RAID5, &[&path, settings].concat())).summary().expect("it has run").to_json()
}

#[test]
fn a_read_goes_around_a_collection_unless_another_is_in_its_way() {
    let around = |summary: &Value| summary["array"]["reads_around_gc"].as_u64();
    let longest = |summary: &Value| summary["response_us"]["read"]["max"].as_f64();
    // Whose parity lies on one drive after the other: only the first collects at a time.
    let alone = reads_behind_writes(&[0, 4, 8], &[]);
    assert!(around(&alone) > Some(10), "{}", alone["array"]);
    assert!(longest(&alone) < Some(100.0), "{}", alone["response_us"]["read"]);
    // Whose parity lies on the fourth: that one writes what the first writes, and collects when it does.
    let both = reads_behind_writes(&[0], &[]);
    assert_eq!(around(&both), Some(0));
    assert!(longest(&both) > Some(1_000.0), "no read was behind a collection");
}

/// Does jobs the last one first, each on a thread of its own.
#[derive(Debug)]
struct Backwards(usize);

impl Executor for Backwards {
    fn width(&self) -> usize {
        self.0
    }

    fn run(&self, jobs: Vec<Job<'_>>) {
        std::thread::scope(|scope| {
            for job in jobs.into_iter().rev() {
                scope.spawn(job);
            }
        });
    }
}

/// An array whose drives are prepared at random, and run with `width` of them prepared at a time.
fn prepared(width: usize, settings: &[(&str, &str)]) -> Result<Value, String> {
    let text = written("0 0 0 8 0\n1000 1 8 8 1\n");
    let path = text.path().display().to_string();
    let path = format!("\"{path}\"");
    let random = [
        ("workload.path", path.as_str()),
        ("workload.device_layout", "\"shared\""),
        ("precondition.overwrites", "1.5"),
    ];
    let config = load(DRIVES, &[&random[..], settings].concat());
    let mut simulation = Simulation::new(&config, None).map_err(|fault| fault.to_string())?;
    simulation.work_on(Arc::new(Backwards(width)));
    // Slices that no drive is ready after.
    while simulation.advance(37).map_err(|fault| fault.to_string())? == Status::Running {}
    let summary = simulation.summary().expect("the run has ended").to_json();
    // The trace is another file in each run.
    Ok(without(summary, &["config_digest", "notes"]))
}

/// However many are prepared at a time, and in whatever order.
#[test]
fn drives_that_are_prepared_side_by_side_are_those_prepared_in_turn() {
    let in_turn = prepared(1, &[]).expect("sound drives can be prepared");
    for width in [2, 3, DEVICES + 1] {
        assert!(prepared(width, &[]).as_ref() == Ok(&in_turn), "{width} at a time");
    }
}

/// The same drive is named, though a later one may be the first to wear out.
#[test]
fn the_first_drive_that_wears_out_is_named_however_many_are_prepared() {
    let worn = [
        ("ssd.endurance.rated_cycles", "5"),
        ("ssd.faults.endurance_spread", "0.3"),
        ("precondition.overwrites", "60"),
    ];
    let in_turn = prepared(1, &worn).expect_err("the flash lasts for fewer erases");
    assert!(in_turn.contains("drive 0 becomes read-only"), "{in_turn}");
    for width in [2, DEVICES] {
        assert_eq!(prepared(width, &worn), Err(in_turn.clone()), "{width} at a time");
    }
}

#[test]
fn of_two_writes_of_a_stripe_the_second_tells_that_it_waited_for_the_first() {
    let file = written("0 0 0 8 0\n0 0 8 8 0\n");
    let path = file.path().to_str().expect("a plain path");
    let simulation = run(&load(RAID5, &[("workload.path", path), ("metrics.slowest", "1")]));
    let slowest = &simulation.slowest().expect("it is kept")[0];
    assert_eq!(slowest["request"], 1);
    let waits = slowest["waits"].as_array().expect("a list");
    let for_stripe: Vec<_> = waits.iter().filter(|wait| wait["for"] == "stripe").collect();
    assert!(matches!(for_stripe[..], [wait] if wait["behind"]["request"] == 0), "{slowest}");
}
