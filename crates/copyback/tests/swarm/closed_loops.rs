//! Closed loops keep their depth: a request arrives when one of its flow has ended, wherever it waits then.

use copyback::config::{Config, Flow, RateLimit, ThinkTime};

use crate::check::holds;
use crate::run::Outcome;

/// Checks the arrivals of each flow that is a closed loop against the ends of its requests. The k-th takes the place that
/// came free first, so that as many have arrived and not ended as the loop is deep, until the last arrival.
pub fn check(config: &Config, outcome: &Outcome) -> Result<(), String> {
    let rejected = outcome.summary.pointer("/faults/rejected/writes");
    if rejected.and_then(serde_json::Value::as_u64).unwrap_or(0) > 0 {
        // Requests that are not carried out have no row.
        return Ok(());
    }
    let flows = config.workload.flows();
    let closed = flows.iter().enumerate().filter(|(_, flow)| flow.ramp().0.as_ns() == 0);
    for (index, flow) in closed {
        if let Some(iodepth) = flow.iodepth() {
            keeps_its_depth(outcome, index, (iodepth as usize, is_limited(flow)))?;
        }
    }
    Ok(())
}

/// Of each flow, whether its device's queue always has a place for its requests: those that come through it are of closed
/// loops which are together no deeper.
pub fn always_fit(config: &Config) -> Vec<bool> {
    let flows = config.workload.flows();
    // Queues share the command slots, if there are such. With a low watermark none is fetched for a while behind the last one.
    let (rooms, places) = match config.host.command_slots {
        Some(slots) if !config.host.low_watermark.is_all() => (1, slots - 1),
        Some(slots) => (1, slots),
        None => (flows.len().min(config.host.queues as usize), config.host.depth()),
    };
    let fits = |room: usize| {
        let own = flows.iter().skip(room).step_by(rooms);
        let depths: Option<Vec<u64>> = own.map(|flow| flow.iodepth().map(u64::from)).collect();
        depths.is_some_and(|depths| depths.iter().sum::<u64>() <= places.into())
    };
    (0..flows.len()).map(|flow| fits(flow % rooms)).collect()
}

/// Whether requests wait for something beside a place.
fn is_limited(flow: &Flow) -> bool {
    match flow {
        Flow::Trace(_) => false,
        Flow::Synthetic(workload) => {
            workload.rate != RateLimit::None || workload.thinktime != ThinkTime::None
        }
    }
}

fn keeps_its_depth(
    outcome: &Outcome,
    flow: usize,
    (iodepth, is_limited): (usize, bool),
) -> Result<(), String> {
    let rows = &outcome.requests;
    let own = || (0..rows.len()).filter(|row| usize::from(rows.flow[*row]) == flow);
    let mut arrivals: Vec<u64> = own().map(|row| rows.arrival_ns[row]).collect();
    let mut ends: Vec<u64> =
        own().map(|row| rows.arrival_ns[row] + rows.response_ns[row]).collect();
    arrivals.sort_unstable();
    ends.sort_unstable();
    let start = arrivals.first().copied().unwrap_or(0);
    for (place, arrival) in arrivals.iter().enumerate() {
        let free = place.checked_sub(iodepth).map_or(start, |before| ends[before]);
        let fits = if is_limited { *arrival >= free } else { *arrival == free };
        let what =
            format!("request {place} of flow {flow} arrives at {arrival}, its place at {free}");
        holds(&what, fits)?;
    }
    Ok(())
}
