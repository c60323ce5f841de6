//! What a buffer of writes and partial collections do to whole runs (P-FTL of Jung, Prabhakar, Kandemir,
//! Middleware 2012), beside log-block mapping without them. Random writes to an eighth of a drive of the
//! paper's flash come at equal distances, so that each waits for collections alone while they keep up.

use copyback::config::Loader;
use copyback::{Simulation, Status};
use serde_json::Value;

/// One plane of the paper's flash.
const DRIVE: &str = r#"
seed = 1
[ssd.geometry]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = 96
pages_per_block = 128
page_size = "4KiB"
[ssd.timing]
read = "183.2us"
program = "860.36us"
erase = "2ms"
transfer_rate = "none"
command = "0s"
[ssd.ftl]
over_provisioning = 0.33
[ssd.gc]
soft_threshold = { blocks = 2 }
[workload]
type = "synthetic"
requests = 20000
request_size = "4KiB"
read_share = 0.0
sequential_share = 0.0
footprint = 0.125
[precondition]
fill = 1.0
"#;

const READ: f64 = 183.2;
const PROGRAM: f64 = 860.36;
const ERASE: f64 = 2000.0;
/// All pages of a logical block are copied, and both of its blocks are erased.
const MERGE: f64 = 128.0 * (READ + PROGRAM) + 2.0 * ERASE;

fn run(mapping: &str, preemption: &str, inter_arrival: &str) -> Value {
    let settings = [
        ("ssd.ftl.mapping", mapping),
        ("ssd.gc.preemption", preemption),
        ("workload.inter_arrival", inter_arrival),
    ];
    let loader = Loader::new().toml(DRIVE, "drive.toml", None);
    let loader = settings.iter().fold(loader, |loader, (key, value)| loader.set(key, value));
    let config = loader.load().unwrap_or_else(|faults| panic!("{faults}"));
    let mut simulation = Simulation::new(&config, None).expect("nothing to read");
    while simulation.advance(1 << 20).expect("no invariant breaks") == Status::Running {}
    simulation.summary().expect("it has run").to_json()
}

fn buffered(blocks: u32, inter_arrival: &str) -> Value {
    let mapping = format!("{{ type = 'buffered_log_block', buffer = {{ blocks = {blocks} }} }}");
    run(&mapping, "partial", inter_arrival)
}

fn number(summary: &Value, pointer: &str) -> f64 {
    let value = summary.pointer(pointer).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("the summary has no number {pointer}"))
}

fn worst(summary: &Value) -> f64 {
    number(summary, "/response_us/write/max")
}

#[test]
fn a_write_waits_for_one_step_and_not_for_a_merge() {
    let log_block = run("'log_block'", "none", "4ms");
    assert!(worst(&log_block) > MERGE, "{}", worst(&log_block));
    let buffered = buffered(16, "4ms");
    assert_eq!(number(&buffered, "/mapping/nv_buffer/full"), 0.0);
    let merges = |summary| number(summary, "/gc/collections");
    println!("{} instead of {} collections", merges(&buffered), merges(&log_block));
    assert!(number(&buffered, "/mapping/nv_buffer/merges") > 50.0, "{}", buffered["mapping"]);
    assert!(worst(&buffered) <= ERASE + PROGRAM, "{}", worst(&buffered));
}

#[test]
fn without_the_buffer_partial_collections_leave_a_merge_to_wait_for() {
    let partial = run("'log_block'", "partial", "4ms");
    assert!(worst(&partial) > MERGE, "{}", worst(&partial));
}

#[test]
fn a_buffer_that_is_too_small_thrashes_and_waits_grow_longer_than_without_one() {
    let (buffered, log_block) = (buffered(1, "4ms"), run("'log_block'", "none", "4ms"));
    assert!(number(&buffered, "/mapping/nv_buffer/full") > 0.0);
    assert!(number(&buffered, "/gc/stalled_us") > 0.0);
    // Merges that miss the writes behind them call for one another.
    let collections = |summary| number(summary, "/gc/collections");
    assert!(collections(&buffered) > collections(&log_block));
    assert!(worst(&buffered) > worst(&log_block));
}

/// Steps between writes that come faster than both together keep them waiting, with room in the buffer.
#[test]
fn no_buffer_helps_against_more_writes_than_steps_leave_time_for() {
    let buffered = buffered(16, "1500us");
    assert_eq!(number(&buffered, "/mapping/nv_buffer/full"), 0.0);
    assert!(worst(&buffered) > MERGE, "{}", worst(&buffered));
}
