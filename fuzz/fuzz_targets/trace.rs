#![no_main]
//! See the module that is named here.

#[allow(dead_code)]
#[path = "../../crates/copyback-workload/tests/trace_readers/fuzz_target.rs"]
mod trace;

libfuzzer_sys::fuzz_target!(|data: &[u8]| trace::run_one(data));
