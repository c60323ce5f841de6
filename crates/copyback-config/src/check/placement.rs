//! What a placement asks of the other choices.

use super::*;

/// The faults of `ssd.ftl.placement`, and of what does not go with it.
pub(super) fn check(config: &Config, faults: &mut Report) {
    let Placement::Oracle { .. } = config.ssd.ftl.placement else { return };
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
