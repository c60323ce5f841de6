//! Whatever is fed in gives a result or a clear refusal: every reader, the configuration, single
//! settings and saved states. Each target has a function `run` that panics if that is not so.
//! The fuzzer of the folder `fuzz` calls it with inputs of its own; here it gets the saved ones
//! (`fuzz/corpus`) and a number of mutations of them.

#![allow(missing_docs)]

mod config;
mod corpus;
mod mutate;
mod setting;
mod state;
#[path = "../../../copyback-workload/tests/trace_readers/fuzz_target.rs"]
#[allow(dead_code)]
mod trace;

use mutate::Mutator;

/// Mutations of each saved input; COPYBACK_FUZZ_RUNS sets another number.
fn mutations() -> usize {
    std::env::var("COPYBACK_FUZZ_RUNS").map_or(300, |runs| runs.parse().expect("a number"))
}

/// Runs a target on its saved inputs, and on mutations of them.
fn exercise(target: &str, run: fn(&[u8])) {
    let inputs = corpus::inputs(target);
    assert!(!inputs.is_empty(), "{target} has no saved input");
    for (name, input) in &inputs {
        corpus::on_failure(target, name, input, run);
        let mut mutator = Mutator::new(name);
        for _ in 0..mutations() {
            let other = &inputs[mutator.below(inputs.len())].1;
            let mutated = mutator.mutate(input, other);
            corpus::on_failure(target, name, &mutated, run);
        }
    }
}

#[test]
fn traces() {
    exercise("trace", trace::run);
}

#[test]
fn configurations() {
    exercise("config", config::run);
}

#[test]
fn settings() {
    exercise("setting", setting::run);
}

#[test]
fn states() {
    exercise("state", state::run);
}

#[test]
fn every_trace_format_has_a_saved_input() {
    let saved = corpus::inputs("trace");
    let heads: Vec<_> = saved.iter().filter_map(|(_, input)| trace::format(input)).collect();
    for policy in copyback::config::schema::policies() {
        if policy.key == "workload.format" {
            let named = |format| trace::name(format) == policy.name;
            assert!(heads.iter().any(named), "no input of {} in fuzz/corpus/trace", policy.name);
        }
    }
}

#[test]
fn every_damage_of_one_byte_is_survived() {
    state::survive_each_byte_changed();
}
