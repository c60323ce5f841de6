//! Checks of reads around drives that collect (`array.reads_around_gc`).

use super::*;

/// The faults of the choice against the array.
pub(super) fn check(array: &Array, faults: &mut Report) {
    let around = array.reads_around_gc;
    let found = around.name();
    if !around.is_off() && array.layout.parities() == 0 {
        let problem = match array.layout.is_mirrored() {
            true => format!(
                "found {found}; allowed: with parity (raid5, raid6); mirrors: array.mirror_reads = \
                 \"around_collections\""
            ),
            false => format!("found {found}; allowed: with parity to read from (raid5, raid6)"),
        };
        faults.add("array.reads_around_gc", problem);
    }
    if around == ReadsAroundGc::Windows
        && !matches!(array.coordination, Coordination::Staggered { .. })
    {
        let problem = format!("found {found}; allowed: with array.coordination = \"staggered\"");
        faults.add("array.reads_around_gc", problem);
    }
}
