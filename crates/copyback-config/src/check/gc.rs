//! Checks of collections and the commands that they use.

use super::*;

/// The faults of `[ssd.gc]` and `[ssd.commands]`.
pub(super) fn check(config: &Resolved, faults: &mut Report) {
    let ssd = &config.ssd;
    if let VictimPolicy::Python { policy, parameters } = &ssd.gc.victim {
        python::check("ssd.gc.victim", policy, parameters, faults);
    }
    commands(ssd, faults);
    preemption(&ssd.gc, faults);
    idle(&ssd.gc, faults);
    width(ssd, config.drive.shape.planes_per_command, faults);
    if ssd.gc.threshold_unit == ThresholdUnit::FreePages && !ssd.ftl.mapping.is_page_mapping() {
        let problem = "found \"free_pages\"; allowed: \"free_blocks\", as with this mapping (ssd.ftl.mapping) \
                       an open block's pages are free for its own logical blocks only";
        faults.add("ssd.gc.threshold_unit", problem);
    }
    faults.share("ssd.gc.least_invalid", ssd.gc.least_invalid);
    if ssd.gc.least_invalid != Share::default() && !ssd.ftl.mapping.is_page_mapping() {
        let problem = "found a share; allowed: 0, as with this mapping (ssd.ftl.mapping) merges are called for by \
                       logical blocks that are used up, not by invalid pages";
        faults.add("ssd.gc.least_invalid", problem);
    }
    move_order(config, faults);
    if let Some(share) = ssd.gc.invalid_threshold {
        faults.share_above_zero("ssd.gc.invalid_threshold", share, true);
        if !ssd.ftl.mapping.is_page_mapping() {
            let problem = "found a share; allowed: none, as with this mapping (ssd.ftl.mapping) merges, not invalid \
                           pages, call for collections";
            faults.add("ssd.gc.invalid_threshold", problem);
        }
    }
}

/// Orders of moves that the victims do not have.
fn move_order(config: &Resolved, faults: &mut Report) {
    let MoveOrder::ByLun { luns } = config.ssd.gc.move_order else { return };
    let pages = config.drive.pages.data_per_block;
    if luns < 2 || u64::from(luns) > pages {
        let problem = format!("found {luns}; allowed: 2 to {pages}, the pages of a block");
        faults.add("ssd.gc.move_order.luns", problem);
    }
    let Some(instead) = moves_otherwise(&config.ssd) else { return };
    let problem = format!("found \"by_lun\"; allowed: \"as_written\", as {instead}");
    faults.add("ssd.gc.move_order", problem);
}

/// Reason for which something else decides which page is moved next, if it does.
const fn moves_otherwise(ssd: &Ssd) -> Option<&'static str> {
    if !ssd.ftl.mapping.is_page_mapping() {
        return Some("with this mapping (ssd.ftl.mapping) merges copy logical blocks");
    }
    match (ssd.gc.unit, &ssd.gc.width) {
        (GcUnit::Line, _) => Some("each die moves its own pages of a line (ssd.gc.unit)"),
        (_, Width::Blind { .. } | Width::Threshold { .. }) => {
            Some("several planes move pages at one offset together (ssd.gc.width)")
        }
        (_, Width::Serial | Width::Superblock) => None,
    }
}

/// Pulses between which operations are suspended.
fn pulses(ssd: &Ssd, faults: &mut Report) {
    let Suspend::ProgramErase { program_pulse, erase_pulse, .. } = ssd.commands.suspend else {
        return;
    };
    for (name, pulse) in [("program_pulse", program_pulse), ("erase_pulse", erase_pulse)] {
        if pulse == Some(Time::default()) {
            faults.add(&format!("ssd.commands.suspend.{name}"), "found 0s; allowed: more than 0s");
        }
    }
}

fn commands(ssd: &Ssd, faults: &mut Report) {
    pulses(ssd, faults);
    let planes = ssd.geometry.planes_per_die;
    if let Some(group) = ssd.commands.planes_per_command
        && (group == 0 || !planes.is_multiple_of(group))
    {
        let problem = format!("found {group}; allowed: a divisor of the {planes} planes of a die");
        faults.add("ssd.commands.planes_per_command", problem);
    }
}

fn preemption(gc: &Gc, faults: &mut Report) {
    match &gc.preemption {
        Preemption::Python { policy, parameters, .. } => {
            python::check("ssd.gc.preemption", policy, parameters, faults);
        }
        Preemption::SemiPreemptive {
            merge,
            reorder,
            reorder_writes,
            high_priority_writes,
            priority_flows,
            ..
        } => {
            for (key, reorders) in [("reorder", *reorder), ("reorder_writes", *reorder_writes)] {
                if reorders && !merge {
                    let problem = "found true; allowed: with merge = true, as a page is moved out of \
                                   turn only to serve the request for it from the register";
                    faults.add(&format!("ssd.gc.preemption.{key}"), problem);
                }
            }
            if !high_priority_writes && let Some(flow) = priority_flows.first() {
                let problem =
                    format!("found flow {flow}; allowed: with high_priority_writes = true");
                faults.add("ssd.gc.preemption.priority_flows", problem);
            }
        }
        Preemption::Paced { set_point, .. } => return set_point_of_pace(*set_point, faults),
        _ => return,
    }
    if gc.start == GcStart::BeforeOperation {
        let problem = "found \"before_operation\"; allowed: \"at_once\", as a collection that may yield \
                       to every operation would never begin before one";
        faults.add("ssd.gc.start", problem);
    }
}

/// Closer to either end a step of the ratio is steeper than free space can be told.
fn set_point_of_pace(set_point: Share, faults: &mut Report) {
    if !(0.05..=0.95).contains(&set_point.0) {
        let problem = format!(
            "found {}; allowed: a share from 0.05 to 0.95 of the way to the soft threshold",
            set_point.0
        );
        faults.add("ssd.gc.preemption.set_point", problem);
    }
}

fn idle(gc: &Gc, faults: &mut Report) {
    if gc.idle != Idle::None && gc.zero_cost {
        let problem = "found a use of idle time for collections that take no time (ssd.gc.zero_cost); \
                       allowed: \"none\"";
        faults.add("ssd.gc.idle", problem);
    }
    let Some(advance) = gc.idle.in_advance() else { return };
    let InAdvance { margin, short_idle, long_idle, .. } = advance;
    if short_idle > long_idle {
        let problem =
            format!("found {long_idle}; allowed: at least the short_idle of {short_idle}");
        faults.add("ssd.gc.idle.long_idle", problem);
    }
    if let Some(share) = margin.share() {
        faults.share("ssd.gc.idle.margin", share);
    }
}

fn width(ssd: &Ssd, group: u32, faults: &mut Report) {
    if ssd.gc.width == Width::Serial {
        return;
    }
    if let Width::Threshold { margin, .. } = ssd.gc.width
        && let Some(share) = margin.share()
    {
        faults.share("ssd.gc.width.margin", share);
    }
    if group < 2 {
        let problem = "found a width of several planes; allowed: \"serial\", as no multi-plane command \
                       joins planes of this device (ssd.commands)";
        faults.add("ssd.gc.width", problem);
    }
    let page = ssd.geometry.page_size;
    if let Width::Blind { cache } | Width::Threshold { cache, .. } = ssd.gc.width
        && cache != Size(0)
        && cache < page
    {
        let problem = format!("found {cache}; allowed: 0, or at least one page of {page}");
        faults.add("ssd.gc.width.cache", problem);
    }
    let maps_whole = ssd.ftl.mapping_unit.is_none();
    if ssd.gc.width == Width::Superblock
        && maps_whole
        && page.0.saturating_mul(group.into()) > LARGEST_PAGE
    {
        let problem = format!(
            "found superblocks with pages of {group} times {page}; allowed: 32KiB in all \
             (ssd.commands.planes_per_command makes them narrower, ssd.ftl.mapping_unit maps parts of them)"
        );
        faults.add("ssd.gc.width", problem);
    }
}
