//! Bytes that a scrub reads: all that the array writes to its drives, once, and the locks that it takes for them.

use std::collections::BTreeSet;

use copyback::layout::{Layout, Missing, Piece, Plan};
use copyback::workload::Operation;
use proptest::prelude::*;

use crate::redundant::{SECTOR, UNIT, arrays};

/// The sectors of all drives that `pieces` cover.
fn sectors(pieces: &[Piece]) -> impl Iterator<Item = (u16, u64)> + '_ {
    let of = |piece: &Piece| (piece.offset / SECTOR..piece.end() / SECTOR, piece.device.0);
    pieces.iter().map(of).flat_map(|(sectors, device)| sectors.map(move |sector| (device, sector)))
}

proptest! {
    #[test]
    fn a_scrub_reads_once_what_a_write_of_the_whole_array_writes(
        config in arrays(),
        units in 1..4_u64,
    ) {
        let layout = Layout::new(&config, 6 * UNIT);
        let none = Missing::default();
        let mut plan = Plan::default();
        layout.plan(Operation::Write, 0..layout.capacity(), &none, &mut plan);
        let written: BTreeSet<_> = sectors(&plan.then).collect();

        let (mut read, mut count) = (BTreeSet::new(), 0);
        let mut offset = 0;
        while offset < layout.used_device_bytes() {
            let bytes = offset..offset + units * UNIT;
            layout.scrub(bytes, &none, &mut plan);
            prop_assert!(plan.then.is_empty());
            let found: Vec<_> = sectors(&plan.first).collect();
            count += found.len();
            // Whoever writes any of these sectors holds one of the stripes, too.
            let stripes = plan.stripes.clone().expect("it reads something");
            prop_assert!(plan.is_shared != config.layout.is_mirrored());
            for sector in 0..layout.capacity() / SECTOR {
                let write = sector * SECTOR..(sector + 1) * SECTOR;
                layout.plan(Operation::Write, write, &none, &mut plan);
                let meets = sectors(&plan.then).any(|place| found.contains(&place));
                let other = plan.stripes.clone().expect("writes hold stripes");
                let conflicts = stripes.start < other.end && other.start < stripes.end;
                prop_assert!(!meets || conflicts, "{sector} of {stripes:?} and {other:?}");
            }
            read.extend(found);
            offset += units * UNIT;
        }
        prop_assert_eq!(count, read.len(), "each sector once");
        prop_assert_eq!(read, written);
    }
}
