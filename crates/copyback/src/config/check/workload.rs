//! What a workload must satisfy.

use super::*;

/// The faults of `[workload]`.
pub(super) fn check(workload: &Workload, faults: &mut Report) {
    match workload {
        Workload::Trace(workload) => trace("workload", workload, faults),
        Workload::Synthetic(workload) => synthetic::check("workload", workload, faults),
        Workload::Flows(flows) => {
            if flows.flows.is_empty() {
                faults.add("workload.flows", "found an empty list; allowed: 1 flow or more");
            }
            for (index, flow) in flows.flows.iter().enumerate() {
                let key = format!("workload.flows.{index}");
                match flow {
                    Flow::Trace(workload) => trace(&key, workload, faults),
                    Flow::Synthetic(workload) => synthetic::check(&key, workload, faults),
                }
            }
        }
    }
}

fn trace(key: &str, workload: &TraceWorkload, faults: &mut Report) {
    let scale = workload.time_scale;
    if !(scale.is_finite() && scale > 0.0) {
        faults.add(&format!("{key}.time_scale"), format!("found {scale}; allowed: above 0"));
    }
    if workload.path.as_os_str().is_empty() {
        faults.add(&format!("{key}.path"), "found \"\"; allowed: the path of a trace file");
    }
    if let Some(TraceFormat::Disksim { size_unit: Size(0) }) = workload.format {
        faults.add(&format!("{key}.format.size_unit"), "found 0B; allowed: 1B or more");
    }
    if let Some(TraceFormat::Csv(format)) = &workload.format
        && let Err((name, found, allowed)) = format.columns()
    {
        faults.add(&format!("{key}.format.{name}"), format!("found {found}; allowed: {allowed}"));
    }
    faults.at_least_one(&format!("{key}.limit"), workload.limit.unwrap_or(1));
    faults.at_least_one(&format!("{key}.iodepth"), workload.iodepth.unwrap_or(1).into());
}
