//! Swarm: from one number a random device, workload and seed, with every invariant audited as the
//! run goes. What fails is named by its number and replayed by one command:
//!
//! ```text
//! COPYBACK_SWARM_REPLAY=<number> cargo test -p copyback --test swarm -- --nocapture
//! ```
//!
//! `COPYBACK_SWARM_RUNS` says how many runs there are, `COPYBACK_SWARM_SEED` the first number;
//! `COPYBACK_SWARM_CUTS` how many of drives that lose their power, of which each has some ten cuts.

mod around;
mod array;
mod array_power;
mod check;
mod choices;
mod closed_loops;
mod counts;
mod coverage;
mod digests;
mod draw;
mod examine;
mod failures;
mod faults;
mod features;
mod flows;
mod interrupted;
mod lines;
mod measured;
mod merges;
mod mirrors;
mod newer;
mod observed;
mod oracle;
mod pairs;
mod pool;
mod power;
mod rain;
mod ramped;
mod resumed;
mod run;
mod side_by_side;
mod state_file;
mod stopped;
mod translation;
mod upkeep;
mod victims;
mod whole;
mod workload;
mod written;

use std::path::Path;

use draw::Case;

/// Runs of each test that draws cases, unless `COPYBACK_SWARM_RUNS` says otherwise: enough to meet what is seldom.
/// `make test-long` has five times as many.
const RUNS: u64 = 4_000;

fn environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}: found {text:?}; allowed: a number")))
}

fn numbers() -> std::ops::Range<u64> {
    if let Some(number) = environment("COPYBACK_SWARM_REPLAY") {
        return number..number + 1;
    }
    let first = environment("COPYBACK_SWARM_SEED").unwrap_or(0);
    first..first + environment("COPYBACK_SWARM_RUNS").unwrap_or(RUNS)
}

/// The first half of `numbers`: of what has nothing seldom to meet.
const fn half(numbers: &std::ops::Range<u64>) -> std::ops::Range<u64> {
    numbers.start..numbers.start + (numbers.end - numbers.start).div_ceil(2)
}

#[test]
fn random_devices_and_workloads() {
    let numbers = numbers();
    let runs = numbers.end - numbers.start;
    let replay = environment("COPYBACK_SWARM_REPLAY").is_some();
    let met = pool::each(numbers, move |number| {
        let mut case = Case::draw(number);
        if replay {
            println!("{}", case.config.to_toml());
            case.keep_traces();
        }
        case.write_traces();
        let outcome = pool::guarded(|| examine::examine(&case));
        let failed = outcome.map_err(|problem| case.failure(problem));
        failed.map(|met| (case.draws, met))
    });
    let draws: u64 = met.iter().map(|(draws, _)| draws).sum();
    println!("{runs} runs, {} draws refused", draws - runs);
    let met: Vec<_> = met.into_iter().map(|(_, met)| met).collect();
    coverage::print(&met);
    if runs >= RUNS {
        assert!(draws < 2 * runs, "most draws must make sense: {draws} for {runs} runs");
        coverage::check(&met);
    }
}

#[test]
fn choices_that_somebody_makes() {
    let numbers = numbers();
    let runs = numbers.end - numbers.start;
    let ran = pool::each(numbers.start..numbers.start + runs.div_ceil(20), whole_run);
    let counts: counts::Counts = ran.into_iter().collect();
    println!("{} of {} whole runs count", counts.counted, counts.runs);
    assert!(runs < RUNS || 4 * counts.counted > counts.runs);
    for bytes in whole::saved() {
        let outcome = pool::guarded(|| whole::examine(&bytes));
        outcome.unwrap_or_else(|problem| panic!("{}", whole::failure(&bytes, problem).description));
    }
}

#[test]
#[ignore = "a search: a part of `make search-on`"]
fn whole_runs_of_drawn_bytes() {
    let (ran, failures) = pool::those_that_hold(numbers(), whole_run);
    let counts: counts::Counts = ran.into_iter().collect();
    println!("{} of {} whole runs count", counts.counted, counts.runs);
    // What a search has run counts, whatever it has found beside that.
    if let Some(folder) = std::env::var_os("COPYBACK_FUZZ_COUNTS") {
        counts.write(Path::new(&folder));
    }
    assert!(failures.is_empty(), "{}", pool::report(failures));
}

/// Runs what the random bytes of a number choose, and checks it.
fn whole_run(number: u64) -> Result<whole::Ran, pool::Failure> {
    let bytes = whole::bytes(number);
    pool::guarded(|| whole::examine(&bytes)).map_err(|problem| whole::failure(&bytes, problem))
}

#[test]
fn random_arrays() {
    let numbers = numbers();
    let runs = numbers.end - numbers.start;
    // Arrays are several drives each: fewer of them.
    let numbers = numbers.start..numbers.start + runs.div_ceil(8);
    let replay = environment("COPYBACK_SWARM_REPLAY").is_some();
    let met = pool::each(numbers, move |number| {
        let mut case = Case::draw_array(number);
        if replay {
            println!("{}", case.config.to_toml());
            case.keep_traces();
        }
        case.write_traces();
        let outcome = pool::guarded(|| array::examine(&case));
        outcome.map_err(|problem| case.failure(problem))
    });
    array::coverage(&met, runs >= RUNS);
}

#[test]
fn random_faults() {
    let numbers = numbers();
    let runs = numbers.end - numbers.start;
    // Nearly all that they meet, the others meet as well: fewer of them.
    let numbers = numbers.start..numbers.start + runs.div_ceil(5);
    let replay = environment("COPYBACK_SWARM_REPLAY").is_some();
    let met = pool::each(numbers, move |number| {
        let mut case = Case::draw_faults(number);
        if replay {
            println!("{}", case.config.to_toml());
            case.keep_traces();
        }
        case.write_traces();
        let outcome = pool::guarded(|| faults::examine(&case));
        outcome.map_err(|problem| case.failure(problem))
    });
    faults::coverage(&met, runs >= RUNS);
}

#[test]
fn random_drives_with_lines() {
    let numbers = numbers();
    let runs = numbers.end - numbers.start;
    let numbers = numbers.start..numbers.start + runs.div_ceil(4);
    let replay = environment("COPYBACK_SWARM_REPLAY").is_some();
    let met = pool::each(numbers, move |number| {
        let mut case = Case::draw_lines(number);
        if replay {
            println!("{}", case.config.to_toml());
            case.keep_traces();
        }
        case.write_traces();
        let outcome = pool::guarded(|| rain::examine(&case));
        outcome.map_err(|problem| case.failure(problem))
    });
    rain::coverage(&met, runs >= RUNS);
}

#[test]
fn drives_that_lose_their_power() {
    let numbers = numbers();
    let runs =
        environment("COPYBACK_SWARM_CUTS").unwrap_or((numbers.end - numbers.start).div_ceil(20));
    let numbers = numbers.start..numbers.start + runs;
    let replay = environment("COPYBACK_SWARM_REPLAY").is_some();
    let met = pool::each(numbers, move |number| {
        let mut case = Case::draw_with_cuts(number);
        if replay {
            println!("{}", case.config.to_toml());
            case.keep_traces();
        }
        case.write_traces();
        let outcome = pool::guarded(|| power::examine(&case));
        outcome.map_err(|problem| case.failure(problem))
    });
    power::print(&met);
    if runs >= RUNS / 20 {
        power::check_coverage(&met);
    }
}

#[test]
#[ignore = "every kind of case once more: a part of `make test-long`"]
fn pairs_of_features_meet() {
    pairs::check(numbers());
}

#[test]
fn the_page_of_pairs_is_fresh() {
    pairs::check_page();
}

#[test]
#[ignore = "compares with a file that an earlier run has written"]
fn results_are_those_of_an_earlier_run() {
    let file = std::env::var_os("COPYBACK_DIGESTS").expect("COPYBACK_DIGESTS names a file");
    digests::check(&numbers(), Path::new(&file));
}

#[test]
fn an_erase_that_waits_for_no_program_loses_what_was_durable() {
    assert!(power::lost_without_waiting(false) > 0);
    assert_eq!(power::lost_without_waiting(true), 0);
}

#[test]
fn a_translation_layer_against_a_map() {
    pool::each(half(&numbers()), |number| {
        let case = Case::draw(number);
        pool::guarded(|| oracle::drive(&case)).map_err(|problem| case.failure(problem))
    });
}

#[test]
fn interrupted_merges_against_a_map() {
    let numbers = numbers();
    let cases = half(&numbers);
    let runs = cases.end - cases.start;
    let met = pool::each(cases, |number| {
        let case = Case::draw(number);
        pool::guarded(|| interrupted::drive(&case)).map_err(|problem| case.failure(problem))
    });
    let put_off: u64 = met.iter().map(|met| met.put_off).sum();
    let written: u64 = met.iter().map(|met| met.written_meanwhile).sum();
    println!("{put_off} merges put off, {written} writes while one was under way");
    let are_all = numbers.end - numbers.start >= RUNS;
    assert!(!are_all || put_off > 2 * runs && written > 20 * runs);
}

#[test]
fn damaged_checkpoints_are_refused() {
    let cases = 0..if environment("COPYBACK_SWARM_REPLAY").is_some() { 0 } else { 20 };
    pool::each(cases, |number| {
        let case = Case::draw(number);
        case.write_traces();
        pool::guarded(|| resumed::damage(&case)).map_err(|problem| case.failure(problem))
    });
}

#[test]
fn damaged_states_are_refused() {
    let cases = 0..if environment("COPYBACK_SWARM_REPLAY").is_some() { 0 } else { 20 };
    pool::each(cases, |number| {
        let case = Case::draw(number);
        case.write_traces();
        pool::guarded(|| state_file::damage(&case)).map_err(|problem| case.failure(problem))
    });
}
