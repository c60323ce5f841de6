//! Runs that are interrupted at random instants, while drives are prepared or afterwards, kept in a file, and gone on
//! with by another simulation: the same as those that are not.

use copyback::config::{Config, Metrics, Stop, Window, quantity::Time};
use copyback::{Simulation, Status};

use crate::check::{equal, holds};
use crate::draw::{Case, Draw};
use crate::run::{self, Outcome, append};
use crate::stopped::rule;

/// Interruptions of a run, at most.
const MOST: u64 = 6;

/// Interrupts the run of a case and goes on with it. Returns how often.
pub fn interruptions_change_nothing(case: &Case, first: &Outcome) -> Result<u64, String> {
    let mut draw = Draw::new(case.number, "swarm/resumed");
    let steps = first.number("/simulator/events").max(1);
    if draw.chance(0.6) {
        let (resumed, texts, count) = interrupted(&case.config, case, steps, &mut draw)?;
        equal("texts", &texts, &Texts::default())?;
        run::same("the run that was interrupted", first, &resumed)?;
        return Ok(count);
    }
    let mut config = looked_at(&case.config);
    if draw.chance(0.3) {
        config.stop = Stop::SteadyState(rule(&mut draw));
    }
    let (whole, expected, _) = interrupted(&config, case, u64::MAX, &mut draw)?;
    let (resumed, found, count) = interrupted(&config, case, steps, &mut draw)?;
    run::same("the run that was looked at and interrupted", &whole, &resumed)?;
    if found != expected {
        return Err("timeline, log or slowest requests differ".to_owned());
    }
    Ok(count)
}

/// With all that can be kept of a run.
fn looked_at(config: &Config) -> Config {
    let mut config = config.clone();
    config.metrics = Metrics {
        histogram_interval: Some(Time::from_us(1_000)),
        timeline: Some(Window::default()),
        slowest: Some(5),
        ..config.metrics
    };
    config
}

/// What a run has written as it went, and the slowest requests.
#[derive(Debug, Default, PartialEq)]
struct Texts {
    timeline: Vec<u8>,
    log: Vec<u8>,
    slowest: String,
}

impl Texts {
    fn take(&mut self, simulation: &mut Simulation) {
        self.timeline.append(&mut simulation.take_timeline());
        self.log.append(&mut simulation.take_latency_log());
    }
}

/// The slowest requests so far. To tell of them takes longer than to simulate some.
fn slowest(simulation: &Simulation) -> String {
    simulation.slowest().map(|slowest| slowest.to_string()).unwrap_or_default()
}

/// A run that is interrupted every now and then if it takes about so many steps.
fn interrupted(
    config: &Config,
    case: &Case,
    steps: u64,
    draw: &mut Draw,
) -> Result<(Outcome, Texts, u64), String> {
    let path = case.file("run.checkpoint");
    let failed = |error: copyback::Error| error.to_string();
    let most = (steps / 4).clamp(1, 1 << 20);
    let mut simulation = Simulation::new(config, None).map_err(failed)?;
    let (mut requests, mut texts, mut count) = Default::default();
    while simulation.advance(draw.small_within(1, most)).map_err(failed)? == Status::Running {
        append(&mut requests, simulation.take_requests());
        texts = taken(texts, &mut simulation);
        if count < MOST && steps < u64::MAX && draw.chance(0.2) {
            let (before, slowest_before) = (simulation.progress(), slowest(&simulation));
            simulation.write_checkpoint(&path, "a note").map_err(failed)?;
            drop(simulation);
            let (resumed, found) = Simulation::resume(config, &path).map_err(failed)?;
            equal("the note", &found.note.as_str(), &"a note")?;
            let now = resumed.progress();
            let progress = [now, before].map(|at| (at.simulated, at.requests, at.page_operations));
            equal("the progress", &progress[0], &progress[1])?;
            equal("the slowest so far", &slowest(&resumed), &slowest_before)?;
            simulation = resumed;
            count += 1;
        }
    }
    append(&mut requests, simulation.take_requests());
    texts = taken(texts, &mut simulation);
    texts.slowest = slowest(&simulation);
    Ok((Outcome::of(&mut simulation, requests), texts, count))
}

fn taken(mut texts: Texts, simulation: &mut Simulation) -> Texts {
    texts.take(simulation);
    texts
}

/// Changes and cuts a checkpoint here and there: each time it is refused.
pub fn damage(case: &Case) -> Result<(), String> {
    let path = case.file("run.checkpoint");
    let failed = |error: copyback::Error| error.to_string();
    let mut draw = Draw::new(case.number, "swarm/damaged");
    let mut simulation = Simulation::new(&case.config, None).map_err(failed)?;
    while draw.chance(0.8) && simulation.advance(500).map_err(failed)? == Status::Running {}
    simulation.write_checkpoint(&path, "").map_err(failed)?;
    let whole = std::fs::read(&path).map_err(|error| error.to_string())?;
    for _ in 0..20 {
        let mut bytes = whole.clone();
        let place = draw.within(0, whole.len() as u64 - 1) as usize;
        match draw.chance(0.5) {
            true => bytes.truncate(place),
            false => bytes[place] ^= 1 << draw.within(0, 7),
        }
        std::fs::write(&path, &bytes).map_err(|error| error.to_string())?;
        let problem = match Simulation::resume(&case.config, &path) {
            Ok(_) => return Err(format!("it was read although byte {place} is another")),
            Err(error) => error.to_string(),
        };
        let is_told = problem.contains(": damaged: ") || problem.contains(": not a checkpoint: ");
        holds(&format!("a clear refusal, not {problem}"), is_told)?;
        let other = Config { seed: case.config.seed ^ 1, ..case.config.clone() };
        std::fs::write(&path, &whole).map_err(|error| error.to_string())?;
        let refused = Simulation::resume(&other, &path).map(drop).map_err(failed);
        let expected = format!(
            "{}: of another configuration; expected one of a run with the same settings",
            path.display()
        );
        equal("with another configuration", &refused, &Err(expected))?;
    }
    Ok(())
}
