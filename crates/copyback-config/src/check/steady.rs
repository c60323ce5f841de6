//! Checks of a run that goes on until a measure is steady.

use super::*;
use quantity::Limit;

/// The faults of `precondition.overwrites`.
pub(super) fn overwrites(overwrites: &Overwrites, faults: &mut Report) {
    let key = "precondition.overwrites";
    match overwrites {
        Overwrites::Fixed(times) => {
            if !(times.is_finite() && *times >= 0.0) {
                faults.add(key, format!("found {times}; allowed: 0 or more"));
            }
        }
        Overwrites::UntilSteady { round, window, excursion, slope, deviation, most_rounds } => {
            if !(round.is_finite() && *round > 0.0) {
                faults.add(&format!("{key}.round"), format!("found {round}; allowed: above 0"));
            }
            rule(key, *window, [*excursion, *slope, *deviation], *most_rounds, faults);
        }
    }
}

/// The faults of `stop`, and requests that only it could end.
pub(super) fn stop(config: &Config, faults: &mut Report) {
    two_rules(config, faults);
    match &config.stop {
        Stop::None => endless(&config.workload, faults),
        Stop::ReadOnly => mortal(&config.ssd, faults),
        Stop::SteadyState(stop) => {
            if stop.round == RoundLength::Time(Time::default()) {
                faults.add("stop.round", "found 0s; allowed: more than 0s, or 1 request or more");
            }
            let limits = [stop.excursion, stop.slope, stop.deviation];
            rule("stop", stop.window, limits, stop.most_rounds, faults);
        }
    }
}

/// A run is ended by one measure: that of `stop`, or of a workload until it has settled.
fn two_rules(config: &Config, faults: &mut Report) {
    let flows = config.workload.flows();
    let settles = flows.iter().position(|flow| flow.rounds().is_some());
    if let (Stop::SteadyState(_), Some(index)) = (&config.stop, settles) {
        let key = format!("{}.requests", config.workload.flow_key(index));
        let problem =
            "found \"until_settled\" beside stop = \"steady_state\"; allowed: one of them";
        faults.add(&key, problem);
    }
}

/// A drive becomes read-only only if its blocks become bad.
fn mortal(ssd: &Ssd, faults: &mut Report) {
    if !ssd.faults.retires_blocks() {
        let problem = "found \"read_only\" with flash whose blocks never become bad; allowed: with \
                       ssd.faults.endurance_spread, program_failures or erase_failures";
        faults.add("stop", problem);
    }
}

/// Without a rule that ends the run, each flow must end by itself.
fn endless(workload: &Workload, faults: &mut Report) {
    for (index, flow) in workload.flows().iter().enumerate() {
        if flow.is_endless() {
            let key = format!("{}.requests", workload.flow_key(index));
            let problem = "found \"unlimited\"; allowed: a number, a duration or an io_size beside \
                           it, or a stop that ends the run (stop = \"steady_state\")";
            faults.add(&key, problem);
        }
    }
}

fn rule(key: &str, window: u32, limits: [Limit; 3], most_rounds: u32, faults: &mut Report) {
    if most_rounds < window {
        let problem = format!("found {most_rounds}; allowed: at least the window of {window}");
        faults.add(&format!("{key}.most_rounds"), problem);
    }
    let names = ["excursion", "slope", "deviation"];
    for (name, limit) in names.iter().zip(limits) {
        if limit.most().is_some_and(|most| !(most.is_finite() && most > 0.0)) {
            let found = limit.most().unwrap_or_default();
            let problem = format!("found {found}; allowed: above 0, or \"none\"");
            faults.add(&format!("{key}.{name}"), problem);
        }
    }
    if limits.iter().all(|limit| *limit == Limit::None) {
        let problem = "found \"none\" for excursion, slope and deviation; allowed: a limit on one \
                       or more";
        faults.add(&format!("{key}.excursion"), problem);
    }
}
