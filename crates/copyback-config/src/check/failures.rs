//! Checks of drives that fail in a run, and of spares.

use super::*;

/// The faults of failures and spares.
pub(super) fn check(array: &Array, faults: &mut Report) {
    spares(array, faults);
    if array.failures == Failures::None {
        return;
    }
    if array.devices == 1 {
        let problem = "found failures of one drive; allowed: with several (array.devices)";
        faults.add("array.failures", problem);
    }
    match &array.failures {
        Failures::None => {}
        Failures::EndOfLife => {}
        Failures::At { drives } => at_times(array, drives, faults),
        Failures::Random { life, .. } => {
            if life.0.is_zero() {
                faults.add("array.failures.life", "found 0s; allowed: more");
            }
        }
    }
}

/// The faults of failures against those of the drives' flash.
pub(super) fn against_flash(config: &Config, faults: &mut Report) {
    if config.array.failures == Failures::EndOfLife && !config.ssd.faults.retires_blocks() {
        let problem = "found \"end_of_life\" of drives whose blocks never fail; allowed: with ssd.faults.endurance_spread, \
                       program_failures or erase_failures";
        faults.add("array.failures", problem);
    }
}

fn at_times(array: &Array, drives: &[Failure], faults: &mut Report) {
    let all = array.members();
    for (place, Failure { drive, .. }) in drives.iter().enumerate() {
        let key = format!("array.failures.drives[{place}].drive");
        if *drive >= all {
            let last = all.saturating_sub(1);
            faults.add(&key, format!("found drive {drive}; allowed: 0 to {last}"));
        }
        if array.failed.contains(drive) {
            let problem =
                format!("found drive {drive}, which is lost from the start (array.failed)");
            faults.add(&key, problem);
        }
        if drives[..place].iter().any(|before| before.drive == *drive) {
            faults.add(&key, format!("found drive {drive} twice; allowed: once"));
        }
    }
}

fn spares(array: &Array, faults: &mut Report) {
    let found = array.spares;
    if found == 0 {
        return;
    }
    if array.failures == Failures::None {
        faults.add("array.spares", format!("found {found}; allowed: with array.failures"));
    } else if array.rebuild == Rebuild::None || !array.layout.is_redundant() {
        let problem = format!(
            "found {found}; allowed: with array.rebuild, and copies or parity to rebuild from"
        );
        faults.add("array.spares", problem);
    }
}
