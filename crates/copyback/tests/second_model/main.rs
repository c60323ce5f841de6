//! A second model of the choices that the simulator makes: which plane, block and page. It is naive and slow, knows no time
//! but what it is told, and was written from the documentation by somebody who had not read the engine. It is told what a
//! drive does, and says at the first choice that differs what it would have chosen.
//!
//! ```text
//! COPYBACK_SECOND_REPLAY=<number> cargo test -p copyback --test second_model -- --nocapture
//! ```
//!
//! `COPYBACK_SECOND_RUNS` says how many random drives there are, `COPYBACK_SECOND_SEED` the first number.

mod allocation;
mod draw;
mod free;
mod levelling;
mod model;
mod placement;
mod shape;
mod state;
mod thresholds;
mod victims;

use copyback::config::Config;
use copyback::{Simulation, Status};

use model::{Compared, Model};

/// Random drives of a usual run.
const RUNS: u64 = 2_000;
/// Failures that are listed.
const LISTED: usize = 60;

fn environment(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}: found {text:?}; allowed: a number")))
}

/// Runs a configuration beside the second model. Returns what was compared, or the first difference.
fn run_beside(config: &Config) -> Result<Compared, String> {
    let mut simulation = Simulation::new(config, None).map_err(|error| error.to_string())?;
    simulation.tell_choices();
    let mut model = Model::new(config);
    loop {
        let status = simulation.advance(50);
        for told in simulation.take_told().into_iter().flatten() {
            model.listen(told)?;
        }
        let failed = |error: copyback::Error| format!("{error}{}", model.state.describe_victims());
        if status.map_err(failed)? != Status::Running {
            return model.end();
        }
    }
}

fn examine(number: u64) -> Result<Compared, String> {
    let (config, _) = draw::case(number);
    let outcome = std::panic::catch_unwind(|| run_beside(&config));
    let outcome = outcome.unwrap_or_else(|_| Err("panic".to_owned()));
    outcome.map_err(|problem| {
        let (first, rest) = problem.split_once('\n').unwrap_or((&problem, ""));
        format!("{first}\n    {}\n{rest}", in_brief(&config))
    })
}

/// The keys that say most about a drive's choices.
fn in_brief(config: &Config) -> String {
    let (ftl, gc) = (&config.ssd.ftl, &config.ssd.gc);
    format!(
        "{:?}, {:?}, {:?}, {:?}, {:?}, {:?}, {:?}, {:?}, {:?}",
        ftl.allocation, ftl.placement, gc.victim, gc.preemption, gc.idle, gc.width, gc.threshold_unit,
        gc.end, config.ssd.wear
    )
}

#[test]
fn drives_choose_what_the_text_says() {
    if let Some(number) = environment("COPYBACK_SECOND_REPLAY") {
        let (config, refused) = draw::case(number);
        println!("{}\n{refused} draws before it made no sense", config.to_toml());
        println!("{:#?}", run_beside(&config));
        return;
    }
    let first = environment("COPYBACK_SECOND_SEED").unwrap_or(0);
    let runs = environment("COPYBACK_SECOND_RUNS").unwrap_or(RUNS);
    let numbers: Vec<u64> = (first..first + runs).collect();
    let halves: Vec<_> = numbers
        .chunks(numbers.len().div_ceil(2))
        .map(|half| {
            let half = half.to_vec();
            std::thread::spawn(move || {
                half.into_iter().map(|number| (number, examine(number))).collect::<Vec<_>>()
            })
        })
        .collect();
    let outcomes: Vec<_> =
        halves.into_iter().flat_map(|half| half.join().expect("panics are caught")).collect();
    let mut compared = Compared::new();
    for (what, count) in outcomes.iter().flat_map(|(_, outcome)| outcome.iter().flatten()) {
        *compared.entry(what).or_default() += count;
    }
    compared.iter().for_each(|(what, count)| println!("{count:9} {what}"));
    let failures: Vec<_> = outcomes
        .iter()
        .filter_map(|(number, outcome)| Some((number, outcome.as_ref().err()?)))
        .collect();
    let list: String = failures
        .iter()
        .take(LISTED)
        .map(|(number, problem)| format!("{number}: {problem}\n"))
        .collect();
    assert!(failures.is_empty(), "{} of {runs} drives choose something else\n{list}", failures.len());
}
