//! Runs that are looked at in other ways: their figures are the same. Where every flash operation is looked at, they go through
//! each instant step by step, where others pass over what concerns nobody.

use copyback::config::{Metrics, Window, quantity::Time};
use serde_json::Value;

use crate::draw::{Case, Draw};
use crate::run::{self, Outcome};

/// Runs a case with other observers, which changes no figure of the summary; and with every operation of the flash kept beside
/// what is kept already, which changes no row either.
pub fn to_look_changes_nothing(case: &Case, first: &Outcome) -> Result<(), String> {
    let mut draw = Draw::new(case.number, "swarm/observers");
    let keeps_rows = draw.chance(0.5);
    let mut config = case.config.clone();
    config.metrics = match keeps_rows {
        true => with_operations(&mut draw, &config.metrics),
        false => observers(&mut draw, &config.metrics),
    };
    let mut observed = run::run(&config, None, run::other_steps(case))?;
    if keeps_rows {
        observed.summary["config_digest"] = first.summary["config_digest"].clone();
        // How many events it takes is the simulator's own affair.
        observed.summary["simulator"]["events"] = first.summary["simulator"]["events"].clone();
        return run::same("the run that is looked at", &in_order(first), &in_order(&observed));
    }
    match difference("", &figures(&first.summary), &figures(&observed.summary)) {
        Some(problem) => Err(format!("looked at by {:?}: {problem}", config.metrics)),
        None => Ok(()),
    }
}

/// With every operation of the flash looked at.
fn with_operations(draw: &mut Draw, metrics: &Metrics) -> Metrics {
    let timeline = draw.chance(0.3).then(|| window(draw));
    let slowest =
        (timeline.is_none() || draw.chance(0.5)).then(|| draw.small_within(1, 256) as u32);
    let histogram_interval = draw.chance(0.3).then(|| draw.time(500_000, 1_000_000_000));
    Metrics { timeline, slowest, histogram_interval, ..metrics.clone() }
}

/// Any observers in place of those that there were; none, now and then.
fn observers(draw: &mut Draw, metrics: &Metrics) -> Metrics {
    let Metrics { bandwidth_window, worst_window, excess_bound, .. } = *metrics;
    let plain = Metrics { bandwidth_window, worst_window, excess_bound, ..Metrics::default() };
    if draw.chance(0.2) {
        return plain;
    }
    let observed = Metrics {
        interval: draw.chance(0.5).then(|| draw.time(500_000, 1_000_000_000)),
        requests: draw.chance(0.5),
        idle_time: draw.chance(0.5),
        collections: draw.chance(0.5),
        commands: draw.chance(0.5),
        messages: draw.chance(0.5),
        ..plain
    };
    if draw.chance(0.6) { with_operations(draw, &observed) } else { observed }
}

fn window(draw: &mut Draw) -> Window {
    let from = draw.time(1, 50_000_000);
    let to = draw.chance(0.5).then(|| Time(from.0 + draw.time(1, 50_000_000).0));
    Window { from, to }
}

/// A summary without what tells of the observers: the digest of the configuration, the events of the simulator, and idle times.
fn figures(summary: &Value) -> Value {
    let mut summary = summary.clone();
    summary["config_digest"] = Value::Null;
    summary["simulator"]["events"] = Value::Null;
    let drives = summary.get_mut("devices").and_then(Value::as_array_mut).map(std::mem::take);
    let without_idle_time = |mut of: Value| {
        of.as_object_mut().map(|fields| fields.remove("idle_time"));
        of
    };
    if let Some(drives) = drives {
        summary["devices"] = drives.into_iter().map(without_idle_time).collect();
    }
    without_idle_time(summary)
}

/// The first value that differs, and where.
fn difference(path: &str, one: &Value, other: &Value) -> Option<String> {
    match (one, other) {
        (Value::Object(fields), Value::Object(others)) if fields.keys().eq(others.keys()) => fields
            .iter()
            .zip(others.values())
            .find_map(|((key, field), other)| difference(&format!("{path}/{key}"), field, other)),
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            let mut pairs = items.iter().zip(others).enumerate();
            pairs.find_map(|(index, (item, other))| {
                difference(&format!("{path}/{index}"), item, other)
            })
        }
        _ => (one != other).then(|| format!("{path}: {one}, and {other}")),
    }
}

/// The same run with what ended at one instant in an order of its own: the drives of an array get to the end of
/// an instant in the order that suits them.
fn in_order(outcome: &Outcome) -> Outcome {
    let mut outcome = outcome.clone();
    let columns = &mut outcome.requests;
    let order = order_of(columns.len(), |row| {
        let end = columns.arrival_ns[row] + columns.response_ns[row];
        (end, columns.arrival_ns[row], columns.offset[row], columns.operation[row])
    });
    let of_u64 = [
        &mut columns.arrival_ns,
        &mut columns.response_ns,
        &mut columns.measured_ns,
        &mut columns.offset,
    ];
    of_u64.into_iter().for_each(|column| put_in(&order, column));
    put_in(&order, &mut columns.bytes);
    put_in(&order, &mut columns.is_unmeasured);
    put_in(&order, &mut columns.operation);
    put_in(&order, &mut columns.flow);
    put_in(&order, &mut columns.device);
    columns.parts_ns.iter_mut().for_each(|column| put_in(&order, column));

    let columns = &mut outcome.commands;
    let order = order_of(columns.device.len(), |row| {
        let end = columns.arrival_ns[row] + columns.response_ns[row];
        (end, columns.device[row], columns.arrival_ns[row], columns.offset[row])
    });
    put_in(&order, &mut columns.device);
    put_in(&order, &mut columns.arrival_ns);
    put_in(&order, &mut columns.response_ns);
    put_in(&order, &mut columns.host_queue_ns);
    put_in(&order, &mut columns.operation);
    put_in(&order, &mut columns.offset);
    put_in(&order, &mut columns.bytes);
    outcome
}

fn order_of<K: Ord>(rows: usize, key: impl Fn(usize) -> K) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    order.sort_by_key(|row| key(*row));
    order
}

/// Puts the rows of a column in `order`; one that was not kept stays empty.
fn put_in<T: Copy>(order: &[usize], column: &mut Vec<T>) {
    *column = order.iter().filter_map(|row| column.get(*row).copied()).collect();
}
