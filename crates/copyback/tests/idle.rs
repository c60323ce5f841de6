//! What using idle time does to whole runs: on stand-ins for the paper's workloads (Jung, Prabhakar,
//! Kandemir, Middleware 2012), and beside what must not change.

use copyback::config::Loader;
use copyback::{Simulation, Status};
use serde_json::Value;

/// The paper's drive with 1 GiB instead of 64, under a page mapping.
const SMALL: [(&str, &str); 7] = [
    ("ssd.ftl.mapping", "\"page\""),
    ("ssd.gc.victim", "\"greedy\""),
    ("precondition.overwrites", "1.0"),
    ("ssd.geometry.blocks_per_plane", "128"),
    ("ssd.ftl.over_provisioning", "0.08"),
    ("ssd.gc.soft_threshold", "{ blocks = 4 }"),
    ("workload.requests", "20000"),
];

fn run(workload: &str, settings: &[(&str, &str)]) -> Value {
    let loader = Loader::new().preset(Some("agc-dgc-2012-64gb")).set("workload.preset", workload);
    let settings = SMALL.iter().chain(settings);
    let loader = settings.fold(loader, |loader, (key, value)| loader.set(key, value));
    let config = loader.load().unwrap_or_else(|faults| panic!("{faults}"));
    let mut simulation = Simulation::new(&config, None).expect("nothing to read");
    while simulation.advance(1 << 20).expect("no invariant breaks") == Status::Running {}
    simulation.summary().expect("it has run").to_json()
}

fn number(summary: &Value, pointer: &str) -> f64 {
    let value = summary.pointer(pointer).and_then(Value::as_f64);
    value.unwrap_or_else(|| panic!("the summary has no number {pointer}"))
}

#[test]
fn delayed_collections_are_no_more_than_those_on_demand() {
    for workload in ["stand-in-msnfs-1", "stand-in-msnfs-4", "stand-in-msnfs-5"] {
        let baseline = run(workload, &[]);
        let collections = number(&baseline, "/gc/collections");
        assert!(collections > 500.0, "{workload}: {collections}");
        let no_margin = "{ type = \"advanced_delayed\", margin = { blocks = 0 } }";
        for idle in ["\"delayed\"", no_margin] {
            let delayed = run(workload, &[("ssd.gc.idle", idle)]);
            let found = number(&delayed, "/gc/collections");
            assert!(found <= collections, "{workload}, {idle}: {found} instead of {collections}");
            // All of them in idle time: nobody waits for more than a step.
            assert_eq!(number(&delayed, "/gc/on_demand"), 0.0, "{workload}, {idle}");
            let worst = |summary| number(summary, "/response_us/all/max");
            assert!(worst(&delayed) < 0.01 * worst(&baseline), "{workload}, {idle}");
        }
    }
}

/// Blocks that are kept free above the threshold are blocks that collections cannot leave invalid pages
/// in: greedy finds fuller victims.
#[test]
fn a_margin_costs_collections_and_more_margin_more() {
    let counts = [0, 1, 3].map(|margin| {
        let idle = format!("{{ type = \"advanced_delayed\", margin = {{ blocks = {margin} }} }}");
        number(&run("stand-in-msnfs-4", &[("ssd.gc.idle", &idle)]), "/gc/collections")
    });
    println!("{counts:?}");
    assert!(counts.is_sorted() && counts[0] < counts[2], "{counts:?}");
}

/// Pages that are written while a merge is owed need not be copied, and a group that gives several blocks
/// back is worth more than one that gives one.
#[test]
fn merges_in_idle_time_are_no_more_than_those_on_demand() {
    let superblock = "{ type = \"superblock\", data_blocks = 2, update_blocks = 8 }";
    for mapping in ["log_block", superblock] {
        for workload in ["stand-in-msnfs-0", "stand-in-msnfs-5"] {
            let measured = |idle| {
                let fewer = ("workload.requests", "8000");
                run(workload, &[fewer, ("ssd.ftl.mapping", mapping), ("ssd.gc.idle", idle)])
            };
            let baseline = measured("none");
            let work = |summary: &Value| {
                ["/gc/collections", "/gc/erases", "/gc/pages_moved"].map(|key| number(summary, key))
            };
            assert!(work(&baseline)[0] > 500.0, "{mapping}, {workload}");
            for idle in ["advanced", "delayed", "advanced_delayed"] {
                let found = measured(idle);
                let no_more =
                    work(&found).iter().zip(work(&baseline)).all(|(now, most)| *now <= most);
                assert!(no_more, "{mapping}, {workload}, {idle}: {:?}", work(&found));
                let on_demand = number(&found, "/gc/on_demand");
                assert!(on_demand < work(&baseline)[0], "{mapping}, {workload}, {idle}");
            }
        }
    }
}
