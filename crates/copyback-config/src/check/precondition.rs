//! Checks of the preparation of drives.

use super::*;

/// The faults of `precondition`.
pub(super) fn check(config: &Config, faults: &mut Report) {
    let precondition = &config.precondition;
    faults.share("precondition.fill", precondition.fill);
    steady::overwrites(&precondition.overwrites, faults);
    let writes = || config.workload.flows().iter().any(Flow::may_write);
    if precondition.addresses == Overwritten::Workload && !writes() {
        faults.add("precondition.addresses", WRITES_NOTHING);
    }
}
