//! Checks of a drive that loses its power.

use super::*;

/// The faults of `[ssd.power]`, each key for itself.
pub(super) fn check(power: &Power, geometry: &Geometry, faults: &mut Report) {
    let (metadata, page) = (power.metadata, geometry.page_size);
    if metadata == Size(0) || metadata > page {
        let problem = format!("found {metadata}; allowed: 1B to the page size of {page}");
        faults.add("ssd.power.metadata", problem);
    }
    match &power.cuts {
        Cuts::None | Cuts::OnCommand => {}
        Cuts::At { times } => {
            let in_order = times.windows(2).all(|pair| pair[0] < pair[1]);
            if times.is_empty() || !in_order {
                let problem = "found none, or some out of order; allowed: one or more, each later than \
                               the one before";
                faults.add("ssd.power.cuts.times", problem);
            }
        }
        Cuts::Random { mean_interval, .. } => {
            if *mean_interval == Time::default() {
                faults.add("ssd.power.cuts.mean_interval", "found 0s; allowed: more than 0s");
            }
        }
    }
}

/// Checks for choices that do not go with a drive that loses its power.
pub(super) fn companions(config: &Resolved, faults: &mut Report) {
    let Config { ssd, array, .. } = &**config;
    if ssd.power.protection == Protection::None && config.drive.pages.in_cache_of_width > 0 {
        let problem = "found some; allowed: 0B with ssd.power.protection = \"none\", as a page whose block \
                       is erased while it is in DRAM would be lost with the power";
        faults.add("ssd.gc.width.cache", problem);
    }
    if ssd.power.protection == Protection::None && ssd.gc.zero_cost {
        let problem = "found true; allowed: false with ssd.power.protection = \"none\", as an erase that \
                       takes no time cannot wait for a program";
        faults.add("ssd.gc.zero_cost", problem);
    }
    if ssd.power.is_watched() && !ssd.faults.are_none() {
        let problem = "found some; allowed: none with ssd.power.cuts or ssd.power.protection = \"none\", as a \
                       recovery does not know of blocks that have become bad";
        faults.add("ssd.faults", problem);
    }
    if ssd.power.cuts == Cuts::None {
        return;
    }
    if matches!(ssd.gc.victim, VictimPolicy::Python { .. }) {
        let problem = "found a policy in Python, which may remember what is lost with the power; allowed \
                       with ssd.power.cuts: the others";
        faults.add("ssd.gc.victim", problem);
    }
    if matches!(ssd.gc.preemption, Preemption::Python { .. }) {
        let problem = "found a policy in Python, which may remember what is lost with the power; allowed \
                       with ssd.power.cuts: the others";
        faults.add("ssd.gc.preemption", problem);
    }
    if array.coordination != Coordination::Uncoordinated {
        let problem = "found a coordinator, which may remember what is lost with the power; allowed with \
                       ssd.power.cuts: \"uncoordinated\"";
        faults.add("array.coordination", problem);
    }
}
