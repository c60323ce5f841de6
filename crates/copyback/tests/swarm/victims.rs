//! Drives whose FIFO drops what it refuses: some lose all victims of a plane, and say so.

use copyback::config::{Config, Ineligible, VictimPolicy};

use crate::draw::Case;
use crate::{pool, run};

/// Whether the drive of a case runs out of victims. Anything else that stops it is for the case itself to tell.
pub fn run_out(case: &Case) -> bool {
    if !drops(&case.config) {
        return false;
    }
    case.write_traces();
    let outcome = pool::guarded(|| run::run(&case.config, None, 1 << 20));
    outcome.is_err_and(|problem| problem.starts_with("ssd.gc.victim: \"fifo\" with ineligible"))
}

fn drops(config: &Config) -> bool {
    matches!(config.ssd.gc.victim, VictimPolicy::Fifo { ineligible: Ineligible::Drop, .. })
}
