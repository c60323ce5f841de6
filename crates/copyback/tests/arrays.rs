//! Arrays as wholes: what must hold whatever the drives do.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use copyback::config::{Config, Loader};
use copyback::{Simulation, Status};
use rand::RngExt;
use serde_json::Value;

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

/// A trace of one page writes and reads on four disks, two thirds of them on the second, `renamed`.
fn trace(name: &str, renamed: [usize; DEVICES], pages: u64) -> PathBuf {
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
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("the target directory is writable");
    path
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
            let size = base.device_bytes().to_string();
            let settings = [
                ("workload.path", path.as_str()),
                ("workload.device_layout.size", &size),
                ("array.coordination", coordination),
                ("array.protocol.latency", "10us"),
            ];
            load(&text, &settings)
        };
        let pages = load(&text, &[("workload.path", "x")]).logical_pages();
        let plain = run(&set(&trace("plain.ascii", [0, 1, 2, 3], pages))).summary();
        let moved = run(&set(&trace("moved.ascii", order, pages))).summary();

        for (disk, place) in order.into_iter().enumerate() {
            let device = |summary: &Value, place: usize| {
                without(summary["devices"][place].clone(), &["device"])
            };
            assert_eq!(device(&plain, disk), device(&moved, place), "{coordination}: disk {disk}");
        }
        assert!(plain["gc"]["collections"].as_u64() > Some(100), "{}", plain["gc"]);
        // The deviation of erase counts is a sum of floats, whose last digit depends on the order.
        let [plain, moved] =
            [plain, moved].map(|summary| without(summary, &["devices", "config_digest", "wear"]));
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
