//! A whole run inside another program: two victim policies on the same drive and load.
//!
//! ```text
//! cargo run --release -p copyback --example embed_a_run
//! ```

use std::error::Error;

use copyback::config::Loader;
use copyback::{Simulation, Status, Summary};

/// A small drive that collects all the time.
const DRIVE: &str = r#"
[ssd.geometry]
channels = 2
blocks_per_plane = 64
pages_per_block = 64

[ssd.ftl]
over_provisioning = 0.2

[workload]
type = "synthetic"
requests = 20_000
request_size = "4KiB"
read_share = 0.3
sequential_share = 0.0
inter_arrival = { type = "exponential", mean = "400us" }
"#;

fn run(victim: &str) -> Result<Summary, Box<dyn Error>> {
    let config = Loader::new().toml(DRIVE, "drive", None).set("ssd.gc.victim", victim).load()?;
    let mut simulation = Simulation::new(&config, None)?;
    // A slice of work at a time, so that a program can show how far it is, or stop.
    while simulation.advance(100_000)? == Status::Running {}
    Ok(simulation.summary().expect("the run has ended"))
}

fn main() -> Result<(), Box<dyn Error>> {
    for victim in ["greedy", "fifo"] {
        let summary = serde_json::to_value(run(victim)?)?;
        let (amplification, tail) =
            (&summary["write_amplification"], &summary["response_us"]["read"]["p99"]);
        println!("{victim:>8}: write amplification {amplification}, 99% of reads within {tail} us");
    }
    Ok(())
}
