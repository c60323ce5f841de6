//! What a placement asks of the other choices.

use super::*;

/// The faults of `ssd.ftl.placement`, and of what does not go with it.
pub(super) fn check(config: &Config, faults: &mut Report) {
    let Placement::Oracle { width, growth, .. } = config.ssd.ftl.placement else { return };
    for (key, value, least) in [("width", width, 0.0), ("growth", growth, 1.0)] {
        let is_allowed = value.is_finite() && value >= least && value > 0.0;
        if !is_allowed {
            let allowed = if least > 0.0 { "1 or more" } else { "a number above 0" };
            let problem = format!("found {value}; allowed: {allowed}");
            faults.add(&format!("ssd.ftl.placement.{key}"), problem);
        }
    }
    if let Some(found) = unforeseeable(config) {
        let problem = format!(
            "found \"oracle\" with {found}; allowed: one drive and one flow, no write buffer, no cut of \
             power, nothing that ends the run before its requests do, so that all writes are known before"
        );
        faults.add("ssd.ftl.placement", problem);
    }
}

/// What keeps the order in which pages are written from being known before the run, if anything does.
fn unforeseeable(config: &Config) -> Option<String> {
    let (devices, flows) = (config.array.devices, config.workload.flows().len());
    if devices > 1 {
        return Some(format!("{devices} drives"));
    }
    if flows > 1 {
        return Some(format!("{flows} flows"));
    }
    if config.ssd.buffer.capacity.0 > 0 {
        return Some("a write buffer".to_owned());
    }
    if config.ssd.power.cuts != Cuts::None {
        return Some("cuts of power".to_owned());
    }
    (config.stop != Stop::None).then(|| "a rule that ends the run".to_owned())
}
