//! Runs whose every flash operation is looked at: they go through each instant step by step, where others
//! pass over what concerns nobody.

use copyback::config::Metrics;

use crate::draw::Case;
use crate::run::{self, Outcome};

/// Runs a case with every operation of the flash kept, which changes nothing.
pub fn to_look_changes_nothing(case: &Case, first: &Outcome) -> Result<(), String> {
    let mut config = case.config.clone();
    config.metrics = Metrics { slowest: Some(1), ..config.metrics };
    let mut observed = run::run(&config, None, 1 << 20)?;
    observed.summary["config_digest"] = first.summary["config_digest"].clone();
    // How many events it takes is the simulator's own affair.
    observed.summary["simulator"]["events"] = first.summary["simulator"]["events"].clone();
    run::same("the run that is looked at", first, &observed)
}
