//! Bytes that are lost with too many drives, counted sector by sector.

use copyback::config::Array;
use copyback::ids::SsdId;
use copyback::layout::{Layout, Missing, Plan};
use copyback::workload::Operation;
use proptest::prelude::*;

use crate::redundant::{SECTOR, UNIT, arrays};

/// Drives, and first byte on each, that hold what `place` of the array is known by: all copies, or its unit.
fn places(layout: &Layout, sector: u64, plan: &mut Plan, is_mirrored: bool) -> Vec<(SsdId, u64)> {
    let bytes = sector * SECTOR..(sector + 1) * SECTOR;
    let operation = if is_mirrored { Operation::Write } else { Operation::Read };
    layout.plan(operation, bytes, &Missing::default(), plan);
    let pieces = if is_mirrored { &plan.then } else { &plan.first };
    pieces.iter().map(|piece| (piece.device, piece.offset)).collect()
}

/// Whether a sector is lost that lies at `places`.
fn is_lost(config: &Array, missing: &Missing, places: &[(SsdId, u64)]) -> bool {
    let lacks =
        |device: SsdId, offset: u64| missing.from(device).is_some_and(|from| from <= offset);
    let all_gone = places.iter().all(|(device, offset)| lacks(*device, *offset));
    let row = places[0].1;
    let gone = (0..config.devices as u16).filter(|device| lacks(SsdId(*device), row)).count();
    all_gone && (config.layout.parities() == 0 || gone > config.layout.parities() as usize)
}

proptest! {
    #[test]
    fn bytes_are_lost_that_are_on_no_drive_and_follow_from_none(
        config in arrays(),
        gone in prop::collection::vec((0..7_u16, 0..24_u64), 1..5),
    ) {
        let layout = Layout::new(&config, 6 * UNIT);
        let mut missing = Missing::default();
        for (device, sectors) in gone {
            missing.rebuilt(SsdId(device % config.devices as u16), sectors * SECTOR);
        }
        let mut plan = Plan::default();
        let sectors = 0..layout.capacity() / SECTOR;
        let lost = sectors.filter(|sector| {
            let places = places(&layout, *sector, &mut plan, config.layout.is_mirrored());
            is_lost(&config, &missing, &places)
        });
        prop_assert_eq!(layout.lost_bytes(&missing), lost.count() as u64 * SECTOR);
    }
}
