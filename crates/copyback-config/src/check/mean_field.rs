//! Checks of a drive that a mean-field model lays out (`precondition.valid_pages`).

use super::*;

const KEY: &str = "precondition.valid_pages";

/// The faults of choices for which there is no such model, or whose blocks are not filled one after the other.
pub(super) fn check(config: &Resolved, faults: &mut Report) {
    let Some(model) = &config.mean_field else { return };
    let ssd = &config.ssd;
    let places_alike = matches!(ssd.ftl.placement, Placement::OneClass | Placement::HostAndGcApart);
    for (is_allowed, allowed) in [
        (model.victims.is_some(), "ssd.gc.victim = greedy, fifo, rga, random or random+"),
        (ssd.ftl.mapping == Mapping::Page, "ssd.ftl.mapping = \"page\""),
        (
            matches!(ssd.ftl.allocation, Allocation::Order(_)),
            "a static ssd.ftl.allocation (\"CWDP\")",
        ),
        (places_alike, "ssd.ftl.placement = \"one_class\" or \"host_and_gc_apart\""),
        (ssd.ftl.summary_page == SummaryPage::None, "ssd.ftl.summary_page = \"none\""),
        (ssd.ftl.mapping_unit.is_none(), "no ssd.ftl.mapping_unit"),
        (!ssd.gc.has_lines(), "ssd.gc.unit = \"block\""),
        (config.drive.slc.is_none(), "no ssd.slc_cache"),
        (ssd.faults.are_none(), "no ssd.faults"),
    ] {
        if !is_allowed {
            faults.add(KEY, format!("found \"mean_field\"; allowed with {allowed}"));
        }
    }
}

/// The faults of a drive that has no room for what is laid out.
pub(super) fn space(config: &Resolved, faults: &mut Report) {
    let Some(model) = &config.mean_field else { return };
    let blocks = u64::from(model.blocks_per_part);
    if blocks == 0 {
        let problem = format!("found {}; allowed: fewer parts, or more blocks", model.parts);
        return faults.add(&format!("{KEY}.parts"), problem);
    }
    let room = blocks * config.drive.pages.data_per_block * u64::from(model.parts);
    let of_room = room as f64 / config.drive.capacity.most_of_a_plane as f64;
    let fill = config.precondition.fill.0;
    let most = of_room.min(fill / model.occupancy);
    if fill >= most {
        let problem = format!(
            "found {fill} with valid_pages = \"mean_field\"; allowed: below {:.3}, as blocks stay free to ssd.gc.soft_threshold",
            (most * 1000.0).floor() / 1000.0
        );
        faults.add("precondition.fill", problem);
    }
}
