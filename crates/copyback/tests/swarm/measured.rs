//! What is measured beside response times, found again from the rows of the requests.

use std::collections::BTreeMap;

use copyback::config::Config;
use copyback::ssd::Activity;
use serde_json::Value;

use crate::check::{buffered, close, equal, holds};
use crate::run::Outcome;

/// Checks the metrics of a finished run.
pub fn check(config: &Config, outcome: &Outcome) -> Result<(), String> {
    worst_responses(config, outcome)?;
    excess_waits(config, outcome)?;
    idle_times(config, outcome)
}

/// Operation, response time and end of each request that moves data.
fn responses(outcome: &Outcome) -> impl Iterator<Item = (u8, u64, u64)> {
    let rows = &outcome.requests;
    let all = (0..rows.len()).map(|row| {
        let response = rows.response_ns[row];
        (rows.operation[row], response, rows.arrival_ns[row] + response)
    });
    all.filter(|(operation, ..)| *operation < 2)
}

fn worst_responses(config: &Config, outcome: &Outcome) -> Result<(), String> {
    let window = config.metrics.worst_window.0.as_ns();
    let mut worst: BTreeMap<u64, [Option<u64>; 2]> = BTreeMap::new();
    for (operation, response, end) in responses(outcome) {
        let found = &mut worst.entry(end / window).or_default()[usize::from(operation)];
        *found = (*found).max(Some(response));
    }
    let us = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e3);
    let found = &outcome.summary["worst_response_us"];
    let rows = found["by_window"].as_array().ok_or("no windows")?;
    equal("windows", &rows.len(), &worst.len())?;
    for (row, (index, [read, write])) in rows.iter().zip(&worst) {
        close("a window", row["start_s"].as_f64().unwrap_or(-1.0), (index * window) as f64 / 1e9)?;
        equal("the worst read", &row["read"].as_f64(), &us(*read))?;
        equal("the worst write", &row["write"].as_f64(), &us(*write))?;
    }
    let most = worst.values().map(|[read, write]| (*read).max(*write)).max().flatten();
    equal("the worst of all", &found["all"]["max"].as_f64(), &us(most))
}

fn excess_waits(config: &Config, outcome: &Outcome) -> Result<(), String> {
    let found = &outcome.summary["excess_wait_us"];
    let Some(bound) = config.metrics.excess_bound else {
        return equal("no bound", found, &Value::Null);
    };
    for (class, of) in [("all", 0..2), ("read", 0..1), ("write", 1..2)] {
        let excess = responses(outcome).filter(|(operation, ..)| of.contains(operation));
        let excess = excess.filter_map(|(_, ns, _)| ns.checked_sub(bound.0.as_ns() + 1));
        let excess: Vec<u64> = excess.map(|less_one| less_one + 1).collect();
        let count = found[class]["count"].as_u64();
        equal("requests beyond the bound", &count, &Some(excess.len() as u64))?;
        let total = found[class]["total"].as_f64().unwrap_or(-1.0);
        close("their excess", total, excess.iter().sum::<u64>() as f64 / 1e3)?;
        let most = excess.iter().max().map(|ns| *ns as f64 / 1e3);
        equal("the greatest", &found[class]["max"].as_f64(), &most)?;
    }
    Ok(())
}

/// The parts of each class of idle periods add up to it, and all of them to the whole.
fn idle_times(config: &Config, outcome: &Outcome) -> Result<(), String> {
    if !config.metrics.idle_time {
        return equal("no account", &outcome.summary["idle_time"], &Value::Null);
    }
    let dies = config.resolve().drive.shape.dies;
    let whole = idle_time(&outcome.summary["idle_time"], dies)?;
    if let Some(devices) = outcome.summary["devices"].as_array() {
        let each: Vec<u64> = devices
            .iter()
            .map(|device| idle_time(&device["idle_time"], dies))
            .collect::<Result<_, _>>()?;
        holds("drives have the same time", each.iter().all(|time| *time == each[0]))?;
        return equal("drive times", &each.iter().sum(), &whole);
    }
    if buffered(config) {
        return Ok(());
    }
    let end = last_end(outcome);
    equal("accounted time", &whole, &end)?;
    let busy = ns(&outcome.summary["idle_time"]["busy_us"])?;
    equal("time with a command", &busy, &time_with_a_request(outcome))
}

/// The time of a drive in nanoseconds: with commands and without.
fn idle_time(found: &Value, dies: u64) -> Result<u64, String> {
    let mut idle = 0;
    for class in ["unused", "short", "long"] {
        let time = ns(&found[class]["us"])?;
        let die_us = found[class]["die_us"].as_object().ok_or("no die times")?;
        let uses = Activity::ALL.map(|activity| match die_us.get(activity.name()) {
            None if activity == Activity::Refresh => Ok(0),
            time => ns(time.ok_or("no time")?),
        });
        let used: u64 = uses.into_iter().sum::<Result<u64, String>>()?;
        equal(&format!("uses of {class} idle time"), &used, &(time * dies))?;
        let some = found[class]["periods"].as_u64() > Some(0);
        holds("periods take time", some == (time > 0))?;
        idle += time;
    }
    equal("idle time", &ns(&found["all"]["us"])?, &idle)?;
    Ok(idle + ns(&found["busy_us"])?)
}

/// Nanoseconds that were written in microseconds.
fn ns(us: &Value) -> Result<u64, String> {
    Ok((us.as_f64().ok_or("no time")? * 1e3).round() as u64)
}

fn last_end(outcome: &Outcome) -> u64 {
    let rows = &outcome.requests;
    let ends = rows.arrival_ns.iter().zip(&rows.response_ns).map(|(start, span)| start + span);
    ends.max().unwrap_or(0)
}

/// How long some request was in the drive or waited for it.
fn time_with_a_request(outcome: &Outcome) -> u64 {
    let rows = &outcome.requests;
    let mut spans: Vec<(u64, u64)> = (0..rows.len())
        .map(|row| (rows.arrival_ns[row], rows.arrival_ns[row] + rows.response_ns[row]))
        .collect();
    spans.sort_unstable();
    let (mut busy, mut until) = (0, 0);
    for (start, end) in spans {
        busy += end.saturating_sub(start.max(until));
        until = until.max(end);
    }
    busy
}

/// Whether a request has taken longer than a bound.
pub fn exceeds_bound(outcome: &Outcome) -> bool {
    outcome.summary["excess_wait_us"]["all"]["count"].as_u64() > Some(0)
}

/// Whether there were idle periods of a class.
pub fn idles(outcome: &Outcome, class: &str) -> bool {
    outcome.summary["idle_time"][class]["periods"].as_u64() > Some(0)
}

/// Whether a die has collected when its drive had no command.
pub fn collects_when_idle(outcome: &Outcome) -> bool {
    let found = &outcome.summary["idle_time"]["all"]["die_us"];
    ["on_demand", "look_ahead", "compaction", "delayed"]
        .iter()
        .any(|activity| found[*activity].as_f64() > Some(0.0))
}
