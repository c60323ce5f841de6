#![no_main]
//! See the module that is named here.

#[allow(dead_code)]
#[path = "../../crates/copyback/tests/fuzz/state.rs"]
mod state;

libfuzzer_sys::fuzz_target!(|data: &[u8]| state::run(data));
