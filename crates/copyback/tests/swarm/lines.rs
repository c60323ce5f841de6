//! Drives whose blocks are managed in lines over all dies.

use copyback::config::quantity::Share;
use copyback::config::resolved::Drive;
use copyback::config::{
    Allocation, AllocationChoice, Config, GcUnit, Idle, Ineligible, Mapping, QueuedWhen,
    ThresholdScope, ThresholdUnit, VictimPolicy, Width,
};

use crate::draw::Draw;

/// Makes lines of the blocks of `config`, if that goes with the rest, on a drive with as many logical pages that has more
/// blocks for open ones. What does not go with lines and is easily left out is.
pub fn draw(draw: &mut Draw, config: &mut Config) {
    let ssd = &mut config.ssd;
    let faults = &ssd.faults;
    if ssd.ftl.mapping != Mapping::Page
        || Drive::of(ssd).slc.is_some()
        || ssd.power.is_watched()
        || faults.retires_blocks()
        || faults.factory_bad_blocks.0 > 0.0
        || ssd.ftl.placement.chooses_victims()
    {
        return;
    }
    ssd.gc.unit = GcUnit::Line;
    ssd.ftl.allocation = Allocation::Choice(AllocationChoice::Dynamic);
    if ssd.gc.width != Width::Superblock {
        ssd.gc.width = Width::Serial;
    }
    ssd.gc.idle = Idle::None;
    ssd.gc.threshold_scope = ThresholdScope::Plane;
    ssd.gc.threshold_unit = ThresholdUnit::FreeBlocks;
    ssd.gc.invalid_threshold = None;
    if let VictimPolicy::Fifo { ineligible: Ineligible::Drop, .. } = ssd.gc.victim {
        let queued_when = draw.of(&[QueuedWhen::Filled, QueuedWhen::Opened]);
        ssd.gc.victim = VictimPolicy::Fifo { queued_when, ineligible: Ineligible::Collect };
    }
    if ssd.gc.victim.draws() {
        ssd.gc.victim = VictimPolicy::Greedy;
    }
    ssd.wear.static_threshold = 0;
    ssd.refresh = Default::default();
    let before = f64::from(ssd.geometry.blocks_per_plane);
    ssd.geometry.blocks_per_plane += ssd.ftl.placement.classes() + 2;
    let logical = (1.0 - ssd.ftl.over_provisioning.0) * before;
    let after = f64::from(ssd.geometry.blocks_per_plane);
    ssd.ftl.over_provisioning = Share(1.0 - logical / after);
}
