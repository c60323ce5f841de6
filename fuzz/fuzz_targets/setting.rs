#![no_main]
//! See the modules that are named here.

#[allow(dead_code)]
#[path = "../../crates/copyback/tests/fuzz/config.rs"]
mod config;
#[path = "../../crates/copyback/tests/fuzz/setting.rs"]
mod setting;

libfuzzer_sys::fuzz_target!(|data: &[u8]| setting::run(data));
