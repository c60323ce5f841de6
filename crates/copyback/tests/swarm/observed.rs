//! Runs whose every flash operation is looked at: they go through each instant step by step, where others
//! pass over what concerns nobody.

use copyback::config::Metrics;

use crate::draw::Case;
use crate::run::{self, Outcome};

/// Runs a case with every operation of the flash kept, which changes nothing.
pub fn to_look_changes_nothing(case: &Case, first: &Outcome) -> Result<(), String> {
    let mut config = case.config.clone();
    config.metrics = Metrics { slowest: Some(1), ..config.metrics };
    let mut observed = run::run(&config, None, run::other_steps(case))?;
    observed.summary["config_digest"] = first.summary["config_digest"].clone();
    // How many events it takes is the simulator's own affair.
    observed.summary["simulator"]["events"] = first.summary["simulator"]["events"].clone();
    run::same("the run that is looked at", &in_order(first), &in_order(&observed))
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
