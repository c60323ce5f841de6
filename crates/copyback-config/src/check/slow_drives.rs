//! Checks of drives that are slow for a while.

use super::*;

/// The faults of slow drives.
pub(super) fn check(array: &Array, faults: &mut Report) {
    if !array.slow.is_empty() && array.devices == 1 {
        let problem = "found slow drives where there is one; allowed: with several (array.devices)";
        faults.add("array.slow", problem);
    }
    for (place, slow) in array.slow.iter().enumerate() {
        let key = |name: &str| format!("array.slow[{place}].{name}");
        if slow.drive >= array.drives() {
            let last = array.drives().saturating_sub(1);
            faults.add(&key("drive"), format!("found drive {}; allowed: 0 to {last}", slow.drive));
        }
        if slow.lasts.0.is_zero() {
            faults.add(&key("for"), "found 0s; allowed: more");
        }
        if let Some(before) = array.slow[..place].iter().position(|other| other.overlaps(slow)) {
            let problem = format!(
                "found {}, within array.slow[{before}] of the same drive; allowed: before or after it",
                slow.at
            );
            faults.add(&key("at"), problem);
        }
    }
}
