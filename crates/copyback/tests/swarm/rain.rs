//! Drives whose lines have parity.

use copyback::config::Config;
use copyback::config::quantity::Share;

use crate::draw::Draw;

/// Gives lines parity, if there are any and dies enough, on a drive with as many logical pages that has more blocks for it.
pub fn draw(config: &mut Config, number: u64, name: &str) {
    let mut draw = Draw::new(number, &format!("{name}/rain"));
    let ssd = &mut config.ssd;
    ssd.gc.rotating = ssd.has_lines() && draw.chance(0.5);
    let shape = &ssd.geometry;
    let dies = shape.channels * shape.chips_per_channel * shape.dies_per_chip;
    if !ssd.has_lines() || dies < 3 || ssd.ftl.mapping_unit.is_some() || draw.chance(0.4) {
        return;
    }
    ssd.ftl.rain = true;
    ssd.ftl.reads_around_gc = draw.chance(0.6);
    let before = f64::from(ssd.geometry.blocks_per_plane);
    let with_parity = (ssd.geometry.blocks_per_plane * dies).div_ceil(dies - 1);
    ssd.geometry.blocks_per_plane = with_parity + ssd.ftl.placement.classes();
    let logical = (1.0 - ssd.ftl.over_provisioning.0) * before;
    ssd.ftl.over_provisioning = Share(1.0 - logical / f64::from(ssd.geometry.blocks_per_plane));
}
