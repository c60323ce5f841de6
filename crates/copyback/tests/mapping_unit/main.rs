//! Units of mapping that are smaller than a page: exact times on one die, and write amplification beside a drive
//! whose pages are as small.

mod without_capacitors;

use copyback::config::Loader;
use copyback::{Simulation, Status};
use serde_json::Value;

/// One die, whose pages of 16 KiB hold four units. A transfer of one takes 4 us.
const DIE: &str = r#"
seed = 1
[ssd.geometry]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 32
pages_per_block = 16
page_size = "16KiB"
[ssd.timing]
read = "50us"
program = "800us"
erase = "3ms"
transfer_rate = "1024MB/s"
command = "1us"
[ssd.ftl]
mapping_unit = "4KiB"
allocation = "dynamic"
over_provisioning = 0.25
[ssd.gc]
copyback = false
soft_threshold = { blocks = 2 }
[workload]
type = "synthetic"
requests = 1
sequential_share = 1.0
[precondition]
fill = 0.0
overwrites = 0.0
[metrics]
requests = true
"#;

const COMMAND: f64 = 1.0;
const UNIT: f64 = 4.0;
const READ: f64 = 50.0;
const PROGRAM: f64 = 800.0;

fn run(device: &str, settings: &[(&str, &str)]) -> Value {
    let loader = Loader::new().toml(device, "drive.toml", None);
    let loader = settings.iter().fold(loader, |loader, (key, value)| loader.set(key, value));
    let config = loader.load().unwrap_or_else(|faults| panic!("{faults}"));
    let mut simulation = Simulation::new(&config, None).expect("nothing to read");
    while simulation.advance(1 << 20).expect("no invariant breaks") == Status::Running {}
    simulation.summary().expect("it has run").to_json()
}

fn number(summary: &Value, pointer: &str) -> f64 {
    let value = summary.pointer(pointer).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("the summary has no number {pointer}"))
}

/// The response of one request of `size`, in microseconds.
fn response(kind: &str, size: &str, settings: &[(&str, &str)]) -> f64 {
    let share = if kind == "read" { "1.0" } else { "0.0" };
    let mut all = vec![("workload.request_size", size), ("workload.read_share", share)];
    all.extend(settings);
    number(&run(DIE, &all), &format!("/response_us/{kind}/max"))
}

#[test]
fn a_page_is_programmed_when_its_last_unit_has_come() {
    assert_eq!(response("write", "'4KiB'", &[]), COMMAND + UNIT);
    assert_eq!(response("write", "'12KiB'", &[]), COMMAND + 3.0 * UNIT);
    assert_eq!(response("write", "'16KiB'", &[]), COMMAND + 4.0 * UNIT + PROGRAM);
    // The die takes four units, programs them, and then takes the other two.
    let six = 2.0 * COMMAND + 6.0 * UNIT + PROGRAM;
    assert_eq!(response("write", "'24KiB'", &[]), six);
}

#[test]
fn a_die_takes_one_page_at_a_time_even_if_programs_take_no_time() {
    let free = [("ssd.timing.program", "'0s'")];
    assert_eq!(response("write", "'24KiB'", &free), 2.0 * COMMAND + 6.0 * UNIT);
}

#[test]
fn an_array_read_brings_all_units_of_a_page() {
    let full = [("precondition.fill", "1.0")];
    assert_eq!(response("read", "'4KiB'", &full), COMMAND + READ + UNIT);
    assert_eq!(response("read", "'16KiB'", &full), READ + 4.0 * (COMMAND + UNIT));
    assert_eq!(response("read", "'32KiB'", &full), 2.0 * READ + 8.0 * (COMMAND + UNIT));
}

#[test]
fn striped_planes_hold_as_many_units_together() {
    let planes = [("ssd.geometry.planes_per_die", "2"), ("ssd.gc.width", "'superblock'")];
    assert_eq!(response("write", "'16KiB'", &planes), COMMAND + 4.0 * UNIT);
    assert_eq!(response("write", "'32KiB'", &planes), COMMAND + 8.0 * UNIT + PROGRAM);
}

#[test]
fn a_drive_writes_as_often_as_one_whose_pages_are_as_small() {
    let load = [
        ("workload.requests", "60000"),
        ("workload.request_size", "'4KiB'"),
        ("workload.read_share", "0.0"),
        ("workload.sequential_share", "0.0"),
        ("precondition.fill", "1.0"),
        ("precondition.overwrites", "3.0"),
    ];
    let units = run(DIE, &load);
    let mut small = load.to_vec();
    small.extend([("ssd.geometry.page_size", "'4KiB'"), ("ssd.geometry.pages_per_block", "64")]);
    let pages = run(&DIE.replace("mapping_unit = \"4KiB\"\n", ""), &small);
    let amplification = |summary| number(summary, "/page_write_amplification");
    assert_eq!(amplification(&units), amplification(&pages));
    assert!(amplification(&units) > 1.5);
    assert_eq!(number(&units, "/flash/host_programs"), 60_000.0);
}

#[test]
fn what_is_about_whole_pages_is_refused_by_name() {
    for (key, value, told) in [
        (
            "ssd.ftl.mapping_unit",
            "'16KiB'",
            "ssd.ftl.mapping_unit: found 16KiB; allowed: a power of two",
        ),
        (
            "ssd.ftl.mapping_unit",
            "'3KiB'",
            "ssd.ftl.mapping_unit: found 3KiB; allowed: a power of two",
        ),
        (
            "ssd.gc.copyback",
            "true",
            "ssd.gc.copyback: found true; allowed with ssd.ftl.mapping_unit: false",
        ),
        ("ssd.power.protection", "'none'", "ssd.buffer.capacity: found 0B; allowed with"),
        ("ssd.refresh.reads", "1000", "ssd.refresh.reads: found a count of reads; allowed with"),
        ("ssd.ftl.mapping", "'log_block'", "ssd.ftl.mapping: found one that binds pages to blocks"),
        (
            "ssd.ftl.summary_page",
            "{ type = 'last_page', transfer = '512B' }",
            "ssd.ftl.summary_page: found a summary page",
        ),
        ("ssd.faults.erase_failures", "0.001", "ssd.faults: found faults of the flash"),
    ] {
        let loader = Loader::new().toml(DIE, "drive.toml", None).set(key, value);
        let faults = loader.load().expect_err(key).to_string();
        assert!(faults.contains(told), "{faults}");
    }
}
