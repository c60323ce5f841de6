//! What is demanded of the cases of one drive, and how often.

use copyback::config::{Mapping, Placement};

use crate::draw::Case;
use crate::{array, check, coverage, observed, ramped, resumed, run, stopped, translation};

/// One in this many cases is also run from a saved state.
pub const STATE_EVERY: u64 = 5;
/// One in so many is interrupted and gone on with.
pub const INTERRUPT_EVERY: u64 = 3;
/// One in so many is run again without the requests of a ramp being measured.
pub const RAMP_EVERY: u64 = 8;
/// One in so many is run again with somebody looking at every operation of the flash.
pub const LOOK_EVERY: u64 = 2;

/// Everything that is demanded of one case. Returns what the case has met.
pub fn examine(case: &Case) -> Result<coverage::Met, String> {
    let config = &case.config;
    let first = run::run(config, None, 1 << 20)?;
    check::check(case, &first)?;
    run::again_is_the_same(case, &first)?;
    if case.number.is_multiple_of(STATE_EVERY) {
        run::same("the run from a saved state", &first, &run::from_saved(case)?)?;
    }
    if case.number % STATE_EVERY == 1 {
        array::one_drive_is_the_drive(case, &first)?;
    }
    if case.number.is_multiple_of(LOOK_EVERY) {
        observed::to_look_changes_nothing(case, &first)?;
    }
    if case.number.is_multiple_of(RAMP_EVERY) {
        ramped::a_ramp_is_only_not_measured(case, &first)?;
    }
    if case.number.is_multiple_of(INTERRUPT_EVERY) {
        resumed::interruptions_change_nothing(case, &first)?;
    }
    // What a rule leaves of the requests is not foreseen.
    let may_stop = !matches!(config.ssd.ftl.placement, Placement::Oracle { .. });
    let stopped = case.number % STATE_EVERY == 3
        && may_stop
        && stopped::a_rule_ends_the_run_where_its_rounds_say(case, &first)?;
    if config.ssd.ftl.mapping == Mapping::Page && case.number % STATE_EVERY == 2 {
        translation::a_cached_table_is_a_table_in_ram(case, &first)?;
    }
    Ok(coverage::met(config, &first, stopped))
}
