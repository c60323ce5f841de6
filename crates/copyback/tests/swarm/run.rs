//! A run, from the configuration to everything that it returns.

use std::path::Path;

use copyback::array::SentMessage;
use copyback::config::Config;
use copyback::metrics::{CommandColumns, RequestColumns, SeriesColumns};
use copyback::precondition::Preparation;
use copyback::{Error, Simulation, Status, state};
use serde_json::Value;

use crate::draw::Case;

/// Instants after which a run of a few hundred requests has certainly gone astray.
const ENDLESS: u64 = 20_000_000;
/// What is said of a run that gets on all the same: requests come seldom, and there is much to do between two of them.
pub const TOO_LONG: &str = "the run is longer than is looked at";

/// What a run returns.
#[derive(Clone)]
pub struct Outcome {
    pub summary: Value,
    pub series: SeriesColumns,
    pub requests: RequestColumns,
    pub commands: CommandColumns,
    pub messages: Vec<SentMessage>,
    pub distributions: Vec<(String, Vec<(f64, f64)>)>,
}

/// Runs `config` to its end, `budget` steps at a time.
pub fn run(config: &Config, state: Option<&Path>, budget: u64) -> Result<Outcome, String> {
    let simulation = Simulation::new(config, state).map_err(|error| error.to_string())?;
    run_to_end(simulation, budget)
}

/// Runs a simulation to its end, `budget` steps at a time.
pub fn run_to_end(mut simulation: Simulation, budget: u64) -> Result<Outcome, String> {
    let failed = |error: Error| error.to_string();
    let (mut requests, mut steps, mut last) = (RequestColumns::default(), 0, 0);
    while simulation.advance(budget).map_err(failed)? == Status::Running {
        let completed = simulation.take_requests();
        steps += budget;
        if !completed.is_empty() {
            last = steps;
        }
        append(&mut requests, completed);
        // One that is full lets a run get no further than an instant at a time.
        drop(simulation.take_timeline());
        if steps > ENDLESS.max(100 * budget) {
            let problem = if last > steps / 2 { TOO_LONG } else { "the run does not end" };
            return Err(format!("{problem}: {:?}", simulation.progress()));
        }
    }
    append(&mut requests, simulation.take_requests());
    Ok(Outcome::of(&mut simulation, requests))
}

impl Outcome {
    /// That of a simulation which has ended, and of which these rows of requests have been taken.
    pub fn of(simulation: &mut Simulation, requests: RequestColumns) -> Self {
        Self {
            summary: simulation.summary().expect("it has run").to_json(),
            series: simulation.series(),
            requests,
            commands: simulation.take_commands(),
            messages: simulation.take_messages(),
            distributions: simulation.distributions(),
        }
    }
}

pub fn append(all: &mut RequestColumns, mut new: RequestColumns) {
    all.arrival_ns.append(&mut new.arrival_ns);
    all.response_ns.append(&mut new.response_ns);
    all.offset.append(&mut new.offset);
    all.bytes.append(&mut new.bytes);
    all.operation.append(&mut new.operation);
    all.flow.append(&mut new.flow);
    for (all, new) in all.parts_ns.iter_mut().zip(&mut new.parts_ns) {
        all.append(new);
    }
}

/// A device of `config`, prepared.
pub fn prepared(config: &Config) -> Preparation {
    let mut device = Preparation::new(&config.resolve());
    while !device.is_done() {
        device.advance(1000);
    }
    device
}

/// The run of a case on a device that has been saved and loaded.
pub fn from_saved(case: &Case) -> Result<Outcome, String> {
    let path = case.file("state");
    let device = prepared(&case.config);
    state::save(&case.config.resolve(), &device, &path).map_err(|error| error.to_string())?;
    run(&case.config, Some(&path), 1 << 20)
}

/// Runs a case a second time, in other steps: it returns the same.
pub fn again_is_the_same(case: &Case, first: &Outcome) -> Result<(), String> {
    let again = run(&case.config, None, other_steps(case))?;
    same("the second run", first, &again)
}

/// How many steps a second run of a case goes at once: few, and seldom as many as another's.
pub const fn other_steps(case: &Case) -> u64 {
    1 + case.number % 97
}

/// Whether two runs have returned the same, to the last bit.
pub fn same(what: &str, first: &Outcome, second: &Outcome) -> Result<(), String> {
    let differs = |part: &str| Err(format!("{what} differs in its {part}"));
    if first.summary != second.summary {
        return Err(format!("{what} differs:\n{}\n{}", first.summary, second.summary));
    }
    if !are_same_series(&first.series, &second.series) {
        return differs("series");
    }
    if first.requests != second.requests {
        return differs("requests");
    }
    if first.messages != second.messages {
        return differs("messages");
    }
    if first.commands != second.commands {
        return differs("commands");
    }
    if first.distributions != second.distributions {
        return differs("distributions");
    }
    Ok(())
}

/// By bits: a mean of nothing is NaN, which differs from itself.
fn are_same_series(first: &SeriesColumns, second: &SeriesColumns) -> bool {
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    first.len() == second.len()
        && first
            .iter()
            .zip(second)
            .all(|((name, values), (other, others))| name == other && bits(values) == bits(others))
}
