//! The write hole with real bytes: what is read wrongly where the parities of a write were cut off, and after a resync.

use std::ops::Range;

use copyback::config::Layout;
use copyback::layout::Missing;
use proptest::prelude::*;

use crate::bytes::Bytes;
use crate::redundant::{UNIT, arrays};
use crate::table::Table;

const LAYOUTS: [(Layout, usize); 4] =
    [(Layout::Raid5, 3), (Layout::Raid5, 5), (Layout::Raid6, 4), (Layout::Raid6, 6)];

/// An array of many bytes that differ, with units of so many.
fn array((layout, devices): (Layout, usize), unit: usize) -> Bytes {
    let mut array = Bytes::new(Table::new(layout, devices, unit, unit * (devices + 1)));
    let bytes: Vec<u8> = (0..array.capacity()).map(|at| (at * 37 + at / 7) as u8).collect();
    array.write(0, &bytes);
    array
}

/// Bytes of `range` of which every one differs from what an [`array`] holds.
fn changed(range: &Range<usize>) -> Vec<u8> {
    range.clone().map(|at| !((at * 37 + at / 7) as u8)).collect()
}

/// Cuts off the parities of a write of `range`; every byte of it changes.
fn torn(array: &mut Bytes, range: &Range<usize>) -> Vec<Range<u64>> {
    array.write_without_parity(range.start, &changed(range))
}

/// Writes from every byte on, of lengths in turn, to each layout with units of so many bytes.
fn writes(unit: usize) -> impl Iterator<Item = ((Layout, usize), Range<usize>)> {
    LAYOUTS.into_iter().flat_map(move |kind| {
        let capacity = array(kind, unit).capacity();
        let lengths = [1, 3, 5, 9, 17, 31].into_iter().cycle();
        let ranges = (0..capacity).zip(lengths);
        ranges.map(move |(start, length)| (kind, start..capacity.min(start + length)))
    })
}

#[test]
fn the_hole_is_what_reads_wrongly_beside_the_written_bytes() {
    let unit = 4;
    for kind in LAYOUTS {
        let capacity = array(kind, unit).capacity();
        // Ranges within a unit: of two units in a row the changes would cancel out.
        let inside =
            (0..capacity).flat_map(|start| (start + 1..=start + unit).map(move |end| start..end));
        for range in inside.filter(|range| range.start / unit == (range.end - 1) / unit) {
            let mut holes = 0;
            for lost in 0..kind.1 {
                let mut array = array(kind, unit);
                let torn = torn(&mut array, &range);
                assert_eq!(array.hole_bytes(&torn), 0, "nothing is missing");
                array.lose(lost);
                let hole = array.hole_bytes(&torn);
                assert_eq!(array.wrong_bytes(&range) as u64, hole, "{kind:?} {range:?} {lost}");
                holes += hole;
            }
            // Each of the other data units in turn.
            let others = (kind.1 - 1 - usize::from(kind.0.parities() as u16)) as u64;
            assert_eq!(holes, others * range.len() as u64, "{kind:?} {range:?}");
        }
    }
}

#[test]
fn no_more_reads_wrongly_than_the_hole_and_nothing_after_a_resync() {
    let unit = 4;
    for (kind, range) in writes(unit) {
        for lost in 0..kind.1 {
            let mut whole = array(kind, unit);
            let parts = torn(&mut whole, &range);
            let mut resynced = array(kind, unit);
            torn(&mut resynced, &range);
            resynced.resync(&parts, unit * 2);
            whole.lose(lost);
            let wrong = whole.wrong_bytes(&range) as u64;
            assert!(wrong <= whole.hole_bytes(&parts), "{kind:?} {range:?} {lost}");
            resynced.lose(lost);
            assert_eq!(resynced.wrong_bytes(&(0..0)), 0, "{kind:?} {range:?} {lost}");
        }
    }
}

#[test]
fn a_journal_makes_good_whatever_pieces_of_a_write_have_reached_the_drives() {
    let unit = 4;
    for (kind, range) in writes(unit) {
        for reached in 0_u32..8 {
            let mut array = array(kind, unit);
            let reaches = |piece| reached >> (piece % 3) & 1 == 1;
            let (torn, logged) = array.write_in_part(range.start, &changed(&range), reaches);
            array.replay(&torn, &logged, unit * 2);
            array.lose(range.start % kind.1);
            assert_eq!(array.wrong_bytes(&(0..0)), 0, "{kind:?} {range:?} {reached}");
        }
    }
}

proptest! {
    #[test]
    fn bytes_that_change_lie_in_the_stripes_that_are_held(
        config in arrays(),
        start in 0..20 * UNIT,
        length in 1..8 * UNIT,
    ) {
        use copyback::layout::{Layout, Plan};
        use copyback::workload::Operation;

        let layout = Layout::new(&config, 6 * UNIT);
        let start = start % layout.capacity();
        let bytes = start..layout.capacity().min(start + length);
        let mut plan = Plan::default();
        for operation in [Operation::Write, Operation::Trim] {
            layout.plan(operation, bytes.clone(), &Missing::default(), &mut plan);
            let changed = layout.changed(operation, bytes.clone());
            prop_assert_eq!(plan.then.is_empty(), changed.is_empty(), "{:?}", operation);
            if changed.is_empty() {
                continue;
            }
            prop_assert!(bytes.start <= changed.start && changed.end <= bytes.end);
            // Each drive takes as many bytes in all as the copies or stripes of these have.
            let taken: u64 = plan.then.iter().map(|piece| piece.length).sum();
            let copies = u64::from(config.copies_of_data());
            let data = copies * (changed.end - changed.start);
            match config.layout.parities() {
                0 => prop_assert_eq!(taken, data),
                parities => prop_assert!(taken > data && taken <= data * (1 + u64::from(parities))),
            }
            for part in layout.by_stripe(changed) {
                prop_assert!(part.start < part.end);
            }
        }
        for operation in [Operation::Read, Operation::Flush] {
            prop_assert!(layout.changed(operation, bytes.clone()).is_empty());
        }
    }
}
