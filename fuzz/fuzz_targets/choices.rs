#![no_main]
//! See the module `beside`: a run beside the second model of choices.

#![allow(dead_code)]

#[path = "../../crates/copyback/tests/second_model/allocation.rs"]
mod allocation;
#[path = "../../crates/copyback/tests/second_model/beside.rs"]
mod beside;
#[path = "../../crates/copyback/tests/swarm/choices.rs"]
mod choices;
#[path = "../../crates/copyback/tests/second_model/draw.rs"]
mod draw;
#[path = "../../crates/copyback/tests/second_model/free.rs"]
mod free;
#[path = "../../crates/copyback/tests/second_model/levelling.rs"]
mod levelling;
#[path = "../../crates/copyback/tests/second_model/model.rs"]
mod model;
#[path = "../../crates/copyback/tests/second_model/placement.rs"]
mod placement;
#[path = "../../crates/copyback/tests/second_model/shape.rs"]
mod shape;
#[path = "../../crates/copyback/tests/second_model/state.rs"]
mod state;
#[path = "../../crates/copyback/tests/second_model/thresholds.rs"]
mod thresholds;
#[path = "../../crates/copyback/tests/second_model/victims.rs"]
mod victims;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Err(problem) = beside::examine(data) {
        panic!("{problem}");
    }
});
