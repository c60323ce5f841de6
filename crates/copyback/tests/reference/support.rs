//! Configurations and runs.

use copyback::config::{Config, Loader};
use copyback::ids::SsdId;
use copyback::precondition::Preconditioner;
use copyback::{Simulation, Status};
use serde_json::Value;

/// Instants or writes between looks at the state of the work.
const BUDGET: u64 = 1 << 20;

/// A checked configuration.
#[track_caller]
pub fn config(text: &str) -> Config {
    match Loader::new().toml(text, "test", None).load() {
        Ok(config) => config,
        Err(faults) => panic!("{faults}\nin\n{text}"),
    }
}

/// Runs to the end.
pub fn run(config: &Config) -> Simulation {
    let mut simulation = Simulation::new(config, None).expect("nothing to read");
    while simulation.advance(BUDGET).expect("no invariant breaks") == Status::Running {}
    simulation
}

/// Runs to the end and returns the summary.
pub fn summary(text: &str) -> Value {
    run(&config(text)).summary().expect("it has run").to_json()
}

/// Write amplification of random single-page writes without time, in multiples of the logical capacity: those that are
/// `measured`, after the fill and `warm` ones before them. The configuration prepares for just so many.
pub fn untimed_amplification(config: &Config, warm: u64, measured: u64) -> f64 {
    let config = &config.resolve();
    let pages = config.drive.capacity.logical_pages;
    let mut device = Preconditioner::new(config, SsdId(0));
    device.advance(pages * (1 + warm));
    let moved = device.tally().pages_moved;
    device.advance(pages * measured);
    assert!(device.is_done());
    1.0 + (device.tally().pages_moved - moved) as f64 / (pages * measured) as f64
}

#[track_caller]
pub fn number(summary: &Value, pointer: &str) -> f64 {
    let value = summary.pointer(pointer).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("the summary has no number {pointer}"))
}

/// Drive of one die that reads a page in 50 us, while nothing else takes any time, under Poisson reads of a page each with
/// gaps of `gap_ns` in the mean.
pub fn one_die(blocks: u32, requests: u64, gap_ns: f64) -> String {
    format!(
        r#"
        [ssd.geometry]
        channels = 1
        chips_per_channel = 1
        planes_per_die = 1
        blocks_per_plane = {blocks}
        pages_per_block = 16
        page_size = "4KiB"
        [ssd.timing]
        read = "50us"
        command = "0us"
        transfer_rate = "none"
        [ssd.ftl]
        over_provisioning = 0.25
        [host]
        scheduling = "in_order"
        queue_depth = 65536
        [precondition]
        fill = 1.0
        overwrites = 0.0
        [workload]
        type = "synthetic"
        requests = {requests}
        read_share = 1.0
        sequential_share = 0.0
        request_size = "4KiB"
        alignment = "4KiB"
        inter_arrival = {{ type = "exponential", mean = "{gap_ns:.0}ns" }}
        "#
    )
}
