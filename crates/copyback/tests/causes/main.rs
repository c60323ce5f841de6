//! Is the share that garbage collection is said to have in the mean response what it costs? The same run with
//! collections that take no time tells: its mean response is what is left without them.

mod cases;

use copyback::config::{Config, Loader};
use copyback::{Simulation, Status};
use serde_json::Value;

use cases::{CASES, Case, DRIVE, OPEN_LOOP};

/// Points by which share and cost may differ. The largest difference seen is 2.7, where a slow channel is shared.
const TOLERANCE: f64 = 0.03;

impl Case {
    fn is_closed_loop(&self) -> bool {
        self.changes.iter().any(|(key, _)| *key == "workload.iodepth")
    }

    /// Whether it has a workload of its own.
    fn is_whole(&self) -> bool {
        self.changes.iter().any(|(key, _)| *key == "workload")
    }

    fn config(&self, zero_cost: bool) -> Config {
        let zero_cost = ("ssd.gc.zero_cost", if zero_cost { "true" } else { "false" });
        let open_loop = (!self.is_closed_loop() && !self.is_whole()).then_some(&OPEN_LOOP);
        let changes = open_loop.into_iter().chain(self.changes).chain([&zero_cost]);
        let loader = Loader::new().toml(DRIVE, "causes.toml", None);
        let loader = changes.fold(loader, |loader, (key, value)| loader.set(key, value));
        loader.load().unwrap_or_else(|error| panic!("{}: {error:?}", self.name))
    }

    /// The summary of an audited run: the parts of each response add up to it.
    fn run(&self, zero_cost: bool) -> Value {
        let config = Config { audit: true, ..self.config(zero_cost) };
        let mut simulation = Simulation::new(&config, None).expect("the configuration runs");
        while simulation.advance(1_000_000).expect("the run goes on") == Status::Running {}
        simulation.summary().expect("it has run").to_json()
    }

    /// The share of the mean response that collections are said to have, and what they cost.
    fn said_and_cost(&self) -> (f64, f64) {
        let (run, bound) = (self.run(false), self.run(true));
        let mean = |summary| number(summary, "/response_us/all/mean");
        (share_of_gc(&run), 1.0 - mean(&bound) / mean(&run))
    }
}

fn number(summary: &Value, pointer: &str) -> f64 {
    summary.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("no {pointer}"))
}

fn share_of_gc(summary: &Value) -> f64 {
    let parts = ["gc_same_plane", "gc_other_plane", "late"];
    let time = parts.iter().map(|part| number(summary, &format!("/breakdown_us/{part}")));
    time.sum::<f64>() / number(summary, "/response_us/all/mean")
}

#[test]
fn the_share_of_collections_is_what_they_cost() {
    let open = CASES.iter().filter(|case| !case.is_closed_loop());
    let off: Vec<_> = open
        .filter_map(|case| {
            let (said, cost) = case.said_and_cost();
            println!("{:40} said {said:.3} cost {cost:.3}", case.name);
            ((said - cost).abs() > TOLERANCE).then_some((case.name, said, cost))
        })
        .collect();
    assert!(off.is_empty(), "name, share said, share that collections cost: {off:#?}");
}

/// Without collections the requests of a closed loop come faster, and so wait more for one another: the share is
/// a bound of what could be gained.
#[test]
fn in_a_closed_loop_collections_cost_no_more_than_is_said() {
    for case in CASES.iter().filter(|case| case.is_closed_loop()) {
        let (said, cost) = case.said_and_cost();
        println!("{:40} said {said:.3} cost {cost:.3}", case.name);
        assert!(cost < said + TOLERANCE, "{}: said {said}, cost {cost}", case.name);
    }
}
