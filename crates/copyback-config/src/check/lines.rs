//! Checks of the choices beside lines over all dies (`ssd.gc.unit`).

use super::*;

/// The faults of a drive with lines.
pub(super) fn check(config: &Resolved, faults: &mut Report) {
    let ssd = &config.ssd;
    if !ssd.gc.has_lines() {
        return;
    }
    shape(config.drive.unit.pages, faults);
    collections(&ssd.gc, faults);
    translation_layer(&ssd.ftl, faults);
    blocks(config, faults);
}

fn shape(pages: u64, faults: &mut Report) {
    if pages > MOST_PAGES_OF_A_UNIT {
        let problem = format!(
            "found a line of {pages} pages; allowed with ssd.gc.unit = \"line\": at most {MOST_PAGES_OF_A_UNIT}, \
             which fewer planes or pages give"
        );
        faults.add("ssd.geometry.pages_per_block", problem);
    }
}

/// Checks `[ssd.gc]` beside lines.
fn collections(gc: &Gc, faults: &mut Report) {
    let mut refuse = |is_so: bool, key: &str, problem: &str| {
        if is_so {
            faults.add(&format!("ssd.gc.{key}"), problem);
        }
    };
    let is_one_lane = matches!(gc.width, Width::Serial | Width::Superblock);
    let problem = "found planes that are collected in step; allowed with ssd.gc.unit = \"line\": \"serial\" or \
                   \"superblock\", as each plane moves its own pages of a line";
    refuse(!is_one_lane, "width", problem);
    let problem = "found a use of idle time; allowed with ssd.gc.unit = \"line\": \"none\", as what is begun in \
                   the idle time of one die is to be ended by all";
    refuse(gc.idle != Idle::None, "idle", problem);
    let problem = "found free blocks that are counted together; allowed with ssd.gc.unit = \"line\": \"plane\", as \
                   every plane has a block of each free line";
    refuse(gc.threshold_scope != ThresholdScope::Plane, "threshold_scope", problem);
    let problem = "found \"free_pages\"; allowed with ssd.gc.unit = \"line\": \"free_blocks\", which are free lines";
    refuse(gc.threshold_unit != ThresholdUnit::FreeBlocks, "threshold_unit", problem);
    let problem = "found a share; allowed with ssd.gc.unit = \"line\": none, as lines are not collected for the \
                   sake of one plane";
    refuse(gc.invalid_threshold.is_some(), "invalid_threshold", problem);
    let loses = matches!(gc.victim, VictimPolicy::Fifo { ineligible: Ineligible::Drop, .. });
    let problem = "found ineligible = \"drop\"; allowed with ssd.gc.unit = \"line\": \"collect\", as a line that \
                   is lost is lost to every plane";
    refuse(loses, "victim", problem);
    let problem = "found a policy that draws; allowed with ssd.gc.unit = \"line\": those that say the same when they \
                   are asked again, as every die may ask while none has room for the line";
    refuse(gc.victim.draws(), "victim", problem);
    let problem = "found a policy in Python; allowed with ssd.gc.unit = \"line\": the others, as such a policy \
                   chooses among the blocks of a plane";
    refuse(matches!(gc.victim, VictimPolicy::Python { .. }), "victim", problem);
}

/// Checks `[ssd.ftl]` beside lines.
fn translation_layer(ftl: &Ftl, faults: &mut Report) {
    if ftl.mapping != Mapping::Page {
        let problem =
            "found one that has blocks of its own; allowed with ssd.gc.unit = \"line\": \"page\"";
        faults.add("ssd.ftl.mapping", problem);
    }
    if ftl.allocation != Allocation::Choice(AllocationChoice::Dynamic) {
        let problem = "found an order; allowed with ssd.gc.unit = \"line\": \"dynamic\", as a die that has filled \
                       its share of a line waits for the others";
        faults.add("ssd.ftl.allocation", problem);
    }
    let problem = match &ftl.placement {
        Placement::Python { .. } => {
            "found a placement in Python; allowed with ssd.gc.unit = \"line\": the others, as such a placement \
             knows the blocks of planes"
        }
        placement if placement.chooses_victims() => {
            "found one that says where victims come from; allowed with ssd.gc.unit = \"line\": the others"
        }
        _ => return,
    };
    faults.add("ssd.ftl.placement", problem);
}

/// Checks features of single blocks beside lines.
fn blocks(config: &Resolved, faults: &mut Report) {
    let ssd = &config.ssd;
    if ssd.wear.static_threshold > 0 {
        let problem = format!(
            "found {}; allowed with ssd.gc.unit = \"line\": 0, as the blocks of a line wear alike",
            ssd.wear.static_threshold
        );
        faults.add("ssd.wear.static_threshold", problem);
    }
    if config.drive.slc.is_some() {
        let problem = "found blocks of a cache; allowed with ssd.gc.unit = \"line\": 0, as they are folded plane \
                       by plane";
        faults.add("ssd.slc_cache", problem);
    }
    if !ssd.refresh.is_none() {
        let problem = "found a limit; allowed with ssd.gc.unit = \"line\": none, as it is a block whose data are \
                       refreshed";
        faults.add("ssd.refresh", problem);
    }
    if ssd.faults.retires_blocks() || ssd.faults.factory_bad_blocks.0 > 0.0 {
        let problem = "found blocks that become bad; allowed with ssd.gc.unit = \"line\": errors of reads alone, as \
                       a block that replaces another has another index";
        faults.add("ssd.faults", problem);
    }
    if ssd.power.is_watched() {
        let problem = "found a drive that may lose its power; allowed with ssd.gc.unit = \"line\": capacitors and \
                       no cuts, as a recovery goes by planes";
        faults.add("ssd.power", problem);
    }
}
