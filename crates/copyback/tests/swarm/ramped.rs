//! Runs of which the first requests are not measured: the drive does the same, and what is told of the rest can be.

use copyback::config::{Config, Flow, Workload, quantity::Time};

use crate::check::equal;
use crate::draw::{Case, Draw};
use crate::run::{self, Outcome};

/// Runs a case whose flows have a ramp. It is audited, and so is its summary.
pub fn a_ramp_is_only_not_measured(case: &Case, first: &Outcome) -> Result<(), String> {
    let mut draw = Draw::new(case.number, "swarm/ramp");
    let end_ns = first.requests.arrival_ns.iter().max().copied().unwrap_or(0);
    let ramp = draw.time(1, 2 * end_ns.max(1));
    let ramped = run::run(&with_ramp(&case.config, ramp), None, 1 << 20)?;
    let requests = |outcome: &Outcome| {
        let of = |key: &str| outcome.summary["requests"][key].as_u64().unwrap_or(0);
        ["count", "trims", "flushes", "of_ramp"].map(of).iter().sum::<u64>()
    };
    equal("requests, measured or not", &requests(&ramped), &requests(first))?;
    let work = "/simulator/page_operations";
    equal("page operations", &ramped.number(work), &first.number(work))
}

fn with_ramp(config: &Config, time: Time) -> Config {
    let mut config = config.clone();
    let of_flow = |flow: &mut Flow| match flow {
        Flow::Trace(trace) => trace.ramp = time,
        Flow::Synthetic(synthetic) => synthetic.ramp = time,
    };
    match &mut config.workload {
        Workload::Trace(trace) => trace.ramp = time,
        Workload::Synthetic(synthetic) => synthetic.ramp = time,
        Workload::Flows(several) => several.flows.iter_mut().for_each(of_flow),
    }
    config
}
