//! Orderings that physics demands, whatever the seed: collections that cost nothing are the best that
//! there is, yielding helps reads, joining planes saves time when they would have to collect soon
//! anyway, and none of it changes how much is moved but through the order of things.

mod traces;

use copyback::config::{Config, Loader};
use copyback::{Simulation, Status};
use serde_json::Value;

/// A small device of two planes a die, nearly always collecting.
const DEVICE: &str = r#"
[ssd.geometry]
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 64
pages_per_block = 64
page_size = "4KiB"
[ssd.timing]
read = "40us"
program = "200us"
erase = "1500us"
transfer_rate = "200MT/s"
[ssd.ftl]
over_provisioning = 0.2
placement = "one_class"
[ssd.gc]
soft_threshold = 0.05
[host]
queue_depth = 32
"#;

/// Random writes and reads that come one by one.
const SYNTHETIC: &str = r#"
[workload]
type = "synthetic"
requests = 8_000
request_size = "4KiB"
read_share = 0.4
sequential_share = 0.0
inter_arrival = { type = "exponential", mean = "400us" }
"#;

const NONE: &[(&str, &str)] = &[];
const ZERO_COST: &[(&str, &str)] = &[("ssd.gc.zero_cost", "true")];
const YIELDING: &[(&str, &str)] = &[("ssd.gc.preemption", "semi_preemptive")];
const EVERY_SWITCH: &[(&str, &str)] = &[(
    "ssd.gc.preemption",
    "{ type = \"semi_preemptive\", merge = true, reorder = true, pipeline = true }",
)];
const BLIND: &[(&str, &str)] = &[("ssd.gc.width", "{ type = \"blind\" }")];
const THRESHOLD: &[(&str, &str)] =
    &[("ssd.gc.width", "{ type = \"threshold\", margin = { blocks = 1 } }")];
const CACHED: &[(&str, &str)] =
    &[("ssd.gc.width", "{ type = \"threshold\", margin = { blocks = 1 }, cache = \"1MiB\" }")];
const SUSPEND: &[(&str, &str)] = &[("ssd.commands.suspend", "{ type = \"program_erase\" }")];
const SCHEMES: [&[(&str, &str)]; 7] =
    [NONE, YIELDING, EVERY_SWITCH, BLIND, THRESHOLD, CACHED, SUSPEND];

const SEEDS: u64 = 20;

fn config(workload: &str, seed: u64, changes: &[(&str, &str)]) -> Config {
    let text = format!("seed = {seed}\n{DEVICE}\n{workload}");
    let loader = Loader::new().toml(&text, "orderings.toml", None);
    let loader = changes.iter().fold(loader, |loader, (key, value)| loader.set(key, value));
    loader.load().expect("the configuration is valid")
}

/// The summary of a run.
fn run(workload: &str, seed: u64, changes: &[(&str, &str)]) -> Value {
    let mut simulation =
        Simulation::new(&config(workload, seed, changes), None).expect("the trace can be read");
    while simulation.advance(1_000_000).expect("the run goes on") == Status::Running {}
    simulation.summary().expect("it has run").to_json()
}

fn number(summary: &Value, pointer: &str) -> f64 {
    summary.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {pointer}"))
}

fn mean(summary: &Value, class: &str) -> f64 {
    number(summary, &format!("/response_us/{class}/mean"))
}

fn over_seeds(check: impl Fn(u64)) {
    (0..SEEDS).for_each(check);
}

#[test]
fn nothing_beats_collections_that_cost_nothing() {
    over_seeds(|seed| {
        let bound = mean(&run(SYNTHETIC, seed, ZERO_COST), "all");
        for scheme in SCHEMES {
            let found = mean(&run(SYNTHETIC, seed, scheme), "all");
            assert!(bound <= found, "seed {seed}, {scheme:?}: {found} us, bound {bound} us");
        }
    });
}

#[test]
fn yielding_never_lengthens_the_mean_read() {
    over_seeds(|seed| {
        let patient = mean(&run(SYNTHETIC, seed, NONE), "read");
        for scheme in [YIELDING, EVERY_SWITCH, SUSPEND] {
            let found = mean(&run(SYNTHETIC, seed, scheme), "read");
            assert!(
                found <= patient,
                "seed {seed}, {scheme:?}: {found} us instead of {patient} us"
            );
        }
    });
}

#[test]
fn yielding_changes_write_amplification_only_through_the_order_of_things() {
    over_seeds(|seed| {
        let patient = number(&run(SYNTHETIC, seed, NONE), "/page_write_amplification");
        for scheme in [YIELDING, EVERY_SWITCH, SUSPEND] {
            let found = number(&run(SYNTHETIC, seed, scheme), "/page_write_amplification");
            let change = (found / patient - 1.0).abs();
            assert!(change < 0.05, "seed {seed}, {scheme:?}: {found} instead of {patient}");
        }
    });
}

/// The fewest free blocks that a plane ever had.
fn fewest_free_blocks(workload: &str, seed: u64, changes: &[(&str, &str)]) -> f64 {
    let mut simulation =
        Simulation::new(&config(workload, seed, changes), None).expect("nothing is read");
    while simulation.advance(1_000_000).expect("the run goes on") == Status::Running {}
    let series = simulation.series();
    let fewest = series.iter().find(|(name, _)| *name == "free_blocks_min");
    let (_, fewest) = fewest.expect("the series has free blocks");
    fewest.iter().copied().fold(f64::INFINITY, f64::min)
}

#[test]
fn free_blocks_run_out_only_without_a_hard_threshold() {
    // Three times the load, so that collections hardly get their turn.
    let dense = SYNTHETIC.replace("400us", "130us").replace("0.4", "0.1");
    let hard = [YIELDING, &[("ssd.gc.hard_threshold", "{ blocks = 3 }")]].concat();
    over_seeds(|seed| {
        let (free, guarded) = (YIELDING, hard.as_slice());
        assert!(fewest_free_blocks(&dense, seed, free) < 1.0, "seed {seed}: never short");
        assert!(fewest_free_blocks(&dense, seed, guarded) >= 1.0, "seed {seed}: run out");
    });
}
