//! Room that parity takes.

use crate::Ssd;

/// Blocks or pages of all dies, less those that hold parity.
pub(super) fn without_parity(ssd: &Ssd, dies: u64, all: u64) -> u64 {
    // Fewer than two dies are refused, elsewhere.
    let dies = dies.max(2);
    if ssd.ftl.rain { all.saturating_mul(dies - 1) / dies } else { all }
}

/// Blocks or pages of all dies, less those that hold parity and those of a die that will be lost.
pub(super) fn without_parity_and_lost(ssd: &Ssd, dies: u64, all: u64) -> u64 {
    match ssd.ftl.rain && ssd.faults.lost_die.is_some() {
        true => all.saturating_mul(dies.max(3) - 2) / dies.max(3),
        false => without_parity(ssd, dies, all),
    }
}
