//! Runs that a rule ends: the same as without the rule up to where it ends them, which the rows of the
//! requests tell.

use copyback::config::quantity::{Limit, Share, Time};
use copyback::config::{
    Config, Idle, RequestCount, RoundLength, SteadyMetric, SteadyStop, Stop, Workload,
};
use serde_json::Value;

use crate::check::{close, equal, holds};
use crate::draw::{Case, Draw};
use crate::run::{self, Outcome};

/// A rule whose rounds a few hundred requests fill, and which is easily met.
pub fn rule(draw: &mut Draw) -> SteadyStop {
    let limit = |draw: &mut Draw| match draw.chance(0.3) {
        true => Limit::None,
        false => Limit::Share(Share(0.05 + draw.share())),
    };
    let window = draw.within(2, 4) as u32;
    SteadyStop {
        metric: draw.of(&[SteadyMetric::Iops, SteadyMetric::Bandwidth, SteadyMetric::MeanResponse]),
        round: match draw.chance(0.5) {
            true => RoundLength::Time(draw.time(200_000, 50_000_000)),
            false => RoundLength::Requests(draw.small_within(1, 60)),
        },
        ramp: if draw.chance(0.7) { Time::default() } else { draw.time(1, 20_000_000) },
        window,
        excursion: Limit::Share(Share(0.05 + draw.share())),
        slope: limit(draw),
        deviation: limit(draw),
        most_rounds: window + draw.small_within(1, 200) as u32,
    }
}

/// Checks a run of the case under a rule against `whole`, the run without one. Returns whether the rule was met.
pub fn a_rule_ends_the_run_where_its_rounds_say(
    case: &Case,
    whole: &Outcome,
) -> Result<bool, String> {
    let mut draw = Draw::new(case.number, "swarm/stop");
    let rule = rule(&mut draw);
    let mut config = case.config.clone();
    config.stop = Stop::SteadyState(rule.clone());
    let stopped = run::run(&config, None, 1 << 20)?;
    let rounds = rounds(&rule, &stopped);
    let found = &stopped.summary["steady_state"];
    let count = found["rounds"].as_u64().unwrap_or_default() as usize;
    let values = found["values"].as_array().ok_or("the rounds have values")?;
    equal("rounds", &values.len(), &count)?;
    for (place, (found, expected)) in values.iter().zip(&rounds).enumerate() {
        match (found.as_f64(), expected.value) {
            (Some(found), Some(expected)) => close(&format!("round {place}"), found, expected)?,
            (found, expected) => equal(&format!("round {place}"), &found, &expected)?,
        }
    }
    let end = rounds.get(count.wrapping_sub(1)).map(|round| round.end_ns);
    what_ended_it(&rule, found, whole, &stopped)?;
    same_until(end.filter(|_| found["ended_by"] != "workload"), whole, &stopped)?;
    without_end(&config, whole, &stopped, found)?;
    Ok(found["reached"] == true)
}

struct Round {
    end_ns: u64,
    value: Option<f64>,
}

/// The rounds that the rows of the requests make.
fn rounds(rule: &SteadyStop, outcome: &Outcome) -> Vec<Round> {
    let ramp = rule.ramp.0.as_ns();
    let rows = &outcome.requests;
    let measured: Vec<_> = (0..rows.len())
        .map(|row| (row, rows.arrival_ns[row] + rows.response_ns[row]))
        .filter(|(row, end)| *end >= ramp && rows.operation[*row] < 2)
        .collect();
    let value = |of: &[(usize, u64)], seconds: f64| {
        let sum = |column: &[u64]| of.iter().map(|(row, _)| column[*row]).sum::<u64>() as f64;
        let a_second = |amount: f64| (seconds > 0.0).then(|| amount / seconds);
        match rule.metric {
            SteadyMetric::Iops => a_second(of.len() as f64),
            SteadyMetric::Bandwidth => a_second(sum(&rows.bytes) / f64::from(1 << 20)),
            _ => (!of.is_empty()).then(|| sum(&rows.response_ns) / of.len() as f64 / 1e3),
        }
    };
    match rule.round {
        RoundLength::Requests(length) => {
            let mut start = ramp;
            let whole = measured.chunks_exact(length as usize);
            whole
                .map(|of| {
                    let end_ns = of.last().map_or(start, |(_, end)| *end);
                    let seconds = (end_ns - start) as f64 / 1e9;
                    start = end_ns;
                    Round { end_ns, value: value(of, seconds) }
                })
                .collect()
        }
        RoundLength::Time(length) => {
            let length = length.0.as_ns();
            let mut rest = &measured[..];
            (0..u64::from(rule.most_rounds))
                .map(|round| {
                    let end_ns = ramp + (round + 1) * length;
                    let (of, after) = rest.split_at(rest.partition_point(|(_, end)| *end < end_ns));
                    rest = after;
                    Round { end_ns, value: value(of, length as f64 / 1e9) }
                })
                .collect()
        }
    }
}

fn what_ended_it(
    rule: &SteadyStop,
    found: &Value,
    whole: &Outcome,
    stopped: &Outcome,
) -> Result<(), String> {
    let window = &found["window"];
    let within = |key: &str, limit: Limit| {
        let value = window[key].as_f64().unwrap_or(f64::INFINITY).abs();
        limit.most().is_none_or(|most| value <= most)
    };
    let is_steady = within("excursion", rule.excursion)
        && within("slope", rule.slope)
        && within("deviation", rule.deviation);
    equal("steady", &found["reached"].as_bool(), &Some(is_steady && window["mean"].is_f64()))?;
    match found["ended_by"].as_str() {
        Some("steady_state") => holds("it was reached", found["reached"] == true),
        Some("most_rounds") => {
            equal("rounds", &found["rounds"].as_u64(), &Some(rule.most_rounds.into()))
        }
        _ => equal("all requests", &stopped.requests.len(), &whole.requests.len()),
    }
}

/// Until `end`, or always, the same requests end at the same times.
fn same_until(end: Option<u64>, whole: &Outcome, stopped: &Outcome) -> Result<(), String> {
    let rows = |outcome: &Outcome| {
        let rows = &outcome.requests;
        let row = |row: usize| {
            let ends = rows.arrival_ns[row] + rows.response_ns[row];
            (ends, rows.flow[row], rows.operation[row], rows.offset[row], rows.response_ns[row])
        };
        let all = (0..rows.len()).map(row);
        all.filter(|row| end.is_none_or(|end| row.0 < end)).collect::<Vec<_>>()
    };
    holds("a rule changes nothing before it ends the run", rows(whole) == rows(stopped))
}

/// If the rule ended the run before its requests did, it does so although they have no end.
fn without_end(
    config: &Config,
    whole: &Outcome,
    stopped: &Outcome,
    found: &Value,
) -> Result<(), String> {
    let mut config = config.clone();
    let Workload::Synthetic(workload) = &mut config.workload else { return Ok(()) };
    // Drives that look ahead would see requests beyond the last.
    let looks_ahead = config.ssd.gc.idle != Idle::None;
    if looks_ahead || stopped.requests.len() == whole.requests.len() {
        return Ok(());
    }
    workload.requests = RequestCount::Unlimited;
    let endless = run::run(&config, None, 1 << 20)?;
    equal("rounds without end", &endless.summary["steady_state"], found)
}
