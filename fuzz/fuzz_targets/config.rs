#![no_main]
//! See the module that is named here.

#[allow(dead_code)]
#[path = "../../crates/copyback/tests/fuzz/config.rs"]
mod config;

libfuzzer_sys::fuzz_target!(|data: &[u8]| config::run(data));
