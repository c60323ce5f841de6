//! Checks of the choices beside a placement.

use super::*;

const KEY: &str = "ssd.ftl.placement";

/// The faults of `ssd.ftl.placement`, and of what does not go with it.
pub(super) fn check(config: &Resolved, faults: &mut Report) {
    match &config.ssd.ftl.placement {
        Placement::Oracle { .. } => check_oracle(config, faults),
        Placement::Generations { .. } => check_sizes(config, faults),
        Placement::Python { policy, classes, host_classes, parameters } => {
            python::check(KEY, policy, parameters, faults);
            if let Some(found) = host_classes.filter(|of_host| of_host >= classes) {
                let problem =
                    format!("found {found}; allowed: fewer than classes, which is {classes}");
                faults.add(&format!("{KEY}.host_classes"), problem);
            }
        }
        _ => {}
    }
    check_queue(config, faults);
    check_units(config, faults);
    if let VictimPolicy::CostHotness { least_invalid } = config.ssd.gc.victim {
        check_hotness(&config.ssd, least_invalid, faults);
    }
    check_foresight(&config.ssd, faults);
}

/// Checks that the future is known to a placement that sorts by it.
fn check_oracle(config: &Config, faults: &mut Report) {
    if let Some(found) = unforeseeable(config) {
        let problem = format!(
            "found \"oracle\" with {found}; allowed: one drive and one flow, no write buffer, no cut of \
             power, nothing that ends the run before its requests do, so that all writes are known before"
        );
        faults.add(KEY, problem);
    }
}

/// Generations of fixed sizes must leave blocks for the last.
fn check_sizes(config: &Resolved, faults: &mut Report) {
    let sizes: u64 = config.drive.blocks.generations.iter().copied().map(u64::from).sum();
    let blocks = config.ssd.geometry.blocks_per_plane;
    if sizes >= u64::from(blocks) {
        let problem = format!(
            "found {sizes} blocks in all; allowed: fewer than the {blocks} of a plane, so that the last generation \
             has some"
        );
        faults.add("ssd.ftl.placement.sizes", problem);
    }
}

/// A queue of the whole plane does not go with victims by groups.
fn check_queue(config: &Config, faults: &mut Report) {
    let Ssd { ftl, gc, .. } = &config.ssd;
    let is_plain = match gc.victim {
        VictimPolicy::Fifo { .. } => gc.victim == VictimPolicy::FIFO,
        _ => true,
    };
    if ftl.placement.chooses_victims() && ftl.mapping.is_page_mapping() && !is_plain {
        let problem = "found \"fifo\" with queued_when or ineligible beside a placement that says where victims come \
                       from; allowed: \"fifo\" without them, or another policy"
            .to_owned();
        faults.add("ssd.gc.victim", problem);
    }
}

/// Reclaim units of several blocks are victims as a whole.
fn check_units(config: &Resolved, faults: &mut Report) {
    let (ssd, unit) = (&config.ssd, &config.drive.unit);
    let blocks = unit.together;
    if blocks == 1 {
        return;
    }
    let pages = u64::from(blocks).saturating_mul(unit.pages);
    if pages > MOST_PAGES_OF_A_UNIT {
        let problem = format!(
            "found {blocks}, which hold {pages} pages; allowed: at most {}, with up to {MOST_PAGES_OF_A_UNIT} pages",
            (MOST_PAGES_OF_A_UNIT / unit.pages).max(1)
        );
        faults.add(&format!("{KEY}.reclaim_unit"), problem);
    }
    let with = "allowed with reclaim units of several blocks";
    if ssd.gc.least_invalid.0 > 0.0 {
        let problem = format!(
            "found {}; {with}: 0, as a unit is reclaimed to its end, whatever is in its blocks",
            ssd.gc.least_invalid
        );
        faults.add("ssd.gc.least_invalid", problem);
    }
    let found = match &ssd.gc.victim {
        VictimPolicy::Fifo { .. } if ssd.gc.victim != VictimPolicy::FIFO => {
            "\"fifo\" with queued_when or ineligible; ".to_owned()
                + with
                + ": \"fifo\" without them"
        }
        VictimPolicy::Python { .. } => {
            format!("a policy in Python; {with}: the others, as it knows single blocks")
        }
        _ => return,
    };
    faults.add("ssd.gc.victim", format!("found {found}"));
}

/// Hotness is what one placement knows, and so is the victim policy that asks for it.
fn check_hotness(ssd: &Ssd, least_invalid: Share, faults: &mut Report) {
    faults.share("ssd.gc.victim.least_invalid", least_invalid);
    if !matches!(ssd.ftl.placement, Placement::Sfs { .. }) || !ssd.ftl.mapping.is_page_mapping() {
        let problem = "found \"cost_hotness\"; allowed: with a page mapping and ssd.ftl.placement = \"sfs\", which \
                       knows how hot blocks are";
        faults.add("ssd.gc.victim", problem);
    }
}

/// Checks that the future is known to a victim policy that chooses by it, which one placement provides.
fn check_foresight(ssd: &Ssd, faults: &mut Report) {
    let knows =
        matches!(ssd.ftl.placement, Placement::Oracle { .. }) && ssd.ftl.mapping.is_page_mapping();
    if ssd.gc.victim == VictimPolicy::Foresight && !knows {
        let problem = "found \"foresight\"; allowed: with a page mapping and ssd.ftl.placement = \"oracle\", which \
                       knows from a pass over the workload when pages die";
        faults.add("ssd.gc.victim", problem);
    }
}

/// Reason why the order in which pages are written is not known before the run, if there is one.
fn unforeseeable(config: &Config) -> Option<String> {
    let (devices, flows) = (config.array.devices, config.workload.flows().len());
    if devices > 1 {
        return Some(format!("{devices} drives"));
    }
    if flows > 1 {
        return Some(format!("{flows} flows"));
    }
    if config.ssd.buffer.capacity.0 > 0 {
        return Some("a write buffer".to_owned());
    }
    if config.ssd.power.cuts != Cuts::None {
        return Some("cuts of power".to_owned());
    }
    (config.stop != Stop::None).then(|| "a rule that ends the run".to_owned())
}
