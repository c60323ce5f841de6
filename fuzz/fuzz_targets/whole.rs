#![no_main]
//! See the module `whole`. Runs that count are counted in the folder that `COPYBACK_FUZZ_COUNTS` names, a file for each
//! process.

#![allow(dead_code)]

#[path = "../../crates/copyback/tests/swarm/array.rs"]
mod array;
#[path = "../../crates/copyback/tests/swarm/check.rs"]
mod check;
#[path = "../../crates/copyback/tests/swarm/choices.rs"]
mod choices;
#[path = "../../crates/copyback/tests/swarm/closed_loops.rs"]
mod closed_loops;
#[path = "../../crates/copyback/tests/swarm/counts.rs"]
mod counts;
#[path = "../../crates/copyback/tests/swarm/coverage.rs"]
mod coverage;
#[path = "../../crates/copyback/tests/swarm/draw.rs"]
mod draw;
#[path = "../../crates/copyback/tests/swarm/examine.rs"]
mod examine;
#[path = "../../crates/copyback/tests/swarm/faults.rs"]
mod faults;
#[path = "../../crates/copyback/tests/swarm/features.rs"]
mod features;
#[path = "../../crates/copyback/tests/swarm/flows.rs"]
mod flows;
#[path = "../../crates/copyback/tests/swarm/interrupted.rs"]
mod interrupted;
#[path = "../../crates/copyback/tests/swarm/lines.rs"]
mod lines;
#[path = "../../crates/copyback/tests/swarm/measured.rs"]
mod measured;
#[path = "../../crates/copyback/tests/swarm/merges.rs"]
mod merges;
#[path = "../../crates/copyback/tests/swarm/newer.rs"]
mod newer;
#[path = "../../crates/copyback/tests/swarm/observed.rs"]
mod observed;
#[path = "../../crates/copyback/tests/swarm/oracle.rs"]
mod oracle;
#[path = "../../crates/copyback/tests/swarm/pool.rs"]
mod pool;
#[path = "../../crates/copyback/tests/swarm/power.rs"]
mod power;
#[path = "../../crates/copyback/tests/swarm/rain.rs"]
mod rain;
#[path = "../../crates/copyback/tests/swarm/ramped.rs"]
mod ramped;
#[path = "../../crates/copyback/tests/swarm/resumed.rs"]
mod resumed;
#[path = "../../crates/copyback/tests/swarm/run.rs"]
mod run;
#[path = "../../crates/copyback/tests/swarm/side_by_side.rs"]
mod side_by_side;
#[path = "../../crates/copyback/tests/swarm/state_file.rs"]
mod state_file;
#[path = "../../crates/copyback/tests/swarm/stopped.rs"]
mod stopped;
#[path = "../../crates/copyback/tests/swarm/translation.rs"]
mod translation;
#[path = "../../crates/copyback/tests/swarm/victims.rs"]
mod victims;
#[path = "../../crates/copyback/tests/swarm/whole.rs"]
mod whole;
#[path = "../../crates/copyback/tests/swarm/workload.rs"]
mod workload;
#[path = "../../crates/copyback/tests/swarm/written.rs"]
mod written;

#[path = "../noted.rs"]
mod noted;

libfuzzer_sys::fuzz_target!(|data: &[u8]| match whole::examine(data) {
    Ok(ran) => noted::note(ran),
    Err(problem) => panic!("{}", whole::failure(data, problem).description),
});
