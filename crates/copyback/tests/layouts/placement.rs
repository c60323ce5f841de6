//! Every byte of every request goes to the right drive and offset, once.

use std::collections::BTreeSet;
use std::ops::Range;

use copyback::config::Layout;
use copyback::ids::SsdId;
use copyback::layout::{Missing, Piece, Plan};
use copyback::workload::Operation;
use proptest::prelude::*;

use crate::table::{Role, Table};

type Bytes = BTreeSet<(usize, usize)>;

/// The bytes of `pieces`, none of them twice, neighbours in one piece.
pub fn bytes(pieces: &[Piece], operation: Operation) -> Bytes {
    let mut bytes = Bytes::new();
    for piece in pieces {
        assert_eq!(piece.operation, operation);
        assert!(piece.length > 0, "{piece:?} is empty");
        for offset in piece.offset..piece.end() {
            let is_new = bytes.insert((piece.device.index(), offset as usize));
            assert!(is_new, "{piece:?} comes again at {offset}");
        }
        let is_next = |other: &&Piece| other.device == piece.device && other.offset == piece.end();
        assert_eq!(pieces.iter().find(is_next), None, "follows {piece:?} in a piece of its own");
    }
    bytes
}

/// The parity bytes that belong to data bytes.
fn parity_of(table: &Table, data: &Bytes) -> Bytes {
    let roles = table.parity_roles();
    let of = |&(_, offset): &(usize, usize)| {
        roles.iter().map(move |role| (table.device_of(offset, *role), offset))
    };
    data.iter().flat_map(of).collect()
}

/// The bytes of all whole stripes within a range.
fn whole_stripes(table: &Table, range: &Range<usize>) -> Bytes {
    let width = (table.devices - table.parities()) * table.unit;
    let is_whole =
        |number: &usize| range.start <= number * width && (number + 1) * width <= range.end;
    let stripes = (0..table.stripes.len()).filter(is_whole);
    let rows = stripes.flat_map(|number| number * table.unit..(number + 1) * table.unit);
    rows.flat_map(|offset| (0..table.devices).map(move |device| (device, offset))).collect()
}

prop_compose! {
    fn tables()(
        kind in prop::sample::select(vec![
            Layout::Single, Layout::Jbod, Layout::Raid0, Layout::Raid5, Layout::Raid6,
        ]),
        more in 0..6_usize,
        unit in 1..9_usize,
        device_bytes in 20..70_usize,
    ) -> Table {
        let devices = if kind == Layout::Single { 1 } else { kind.least_devices() as usize + more };
        Table::new(kind, devices, unit, device_bytes)
    }
}

prop_compose! {
    fn requests()(table in tables(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>())
        -> (Table, Range<usize>) {
        let ends = [from.index(table.places.len() + 1), to.index(table.places.len() + 1)];
        let range = ends[0].min(ends[1])..ends[0].max(ends[1]);
        (table, range)
    }
}

proptest! {
    #[test]
    fn the_address_space_is_all_places_for_data(table in tables()) {
        prop_assert_eq!(table.layout().capacity(), table.places.len() as u64);
        prop_assert_eq!(table.layout().devices(), table.devices);
    }

    #[test]
    fn each_byte_goes_to_its_place_once((table, range) in requests()) {
        let (layout, none) = (table.layout(), Missing::default());
        let (start, end) = (range.start as u64, range.end as u64);
        let data: Bytes = table.places[range.clone()].iter().copied().collect();
        let mut plan = Plan::default();

        layout.plan(Operation::Read, start..end, &none, &mut plan);
        prop_assert_eq!(bytes(&plan.first, Operation::Read), data.clone());
        prop_assert!(plan.then.is_empty());
        prop_assert_eq!(&plan.stripes, &None);

        layout.plan(Operation::Write, start..end, &none, &mut plan);
        let parity = parity_of(&table, &data);
        let written: Bytes = data.union(&parity).copied().collect();
        prop_assert_eq!(bytes(&plan.then, Operation::Write), written);
        let reads = bytes(&plan.first, Operation::Read);
        let rows: BTreeSet<usize> = data.iter().map(|(_, offset)| *offset).collect();
        prop_assert!(reads.iter().all(|(_, offset)| rows.contains(offset)));
        prop_assert!(table.parities() > 0 || reads.is_empty());

        layout.plan(Operation::Trim, start..end, &none, &mut plan);
        let trimmed = if table.parities() == 0 { data } else { whole_stripes(&table, &range) };
        prop_assert!(plan.first.is_empty());
        prop_assert_eq!(bytes(&plan.then, Operation::Trim), trimmed);
    }

    #[test]
    fn what_is_seen_at_once_to_be_one_piece_is_the_whole_plan((table, range) in requests()) {
        let (layout, mut plan) = (table.layout(), Plan::default());
        let bytes = range.start as u64..range.end as u64;
        let is_in_one_unit = !range.is_empty()
            && table.kind.is_striped()
            && range.start / table.unit == (range.end - 1) / table.unit;
        for operation in [Operation::Read, Operation::Write, Operation::Trim, Operation::Flush] {
            layout.plan(operation, bytes.clone(), &Missing::default(), &mut plan);
            let only = layout.only_piece(operation, bytes.clone());
            if let Some(only) = only {
                let planned: Vec<Piece> = plan.first.iter().chain(plan.then.iter()).copied().collect();
                prop_assert_eq!(planned, [only]);
                prop_assert_eq!(&plan.stripes, &None);
            }
            prop_assert!(only.is_some() || !is_in_one_unit || operation != Operation::Read);
        }
    }

    #[test]
    fn who_touches_parity_holds_its_stripes((table, range) in requests()) {
        let layout = table.layout();
        let (start, end) = (range.start as u64, range.end as u64);
        let mut plan = Plan::default();
        layout.plan(Operation::Write, start..end, &Missing::default(), &mut plan);
        let touched: BTreeSet<u64> = table.places[range]
            .iter()
            .map(|(_, offset)| (offset / table.unit) as u64)
            .collect();
        let held: BTreeSet<u64> = plan.stripes.clone().into_iter().flatten().collect();
        prop_assert_eq!(held, if table.parities() > 0 { touched } else { BTreeSet::new() });
    }
}

#[test]
fn a_flush_goes_to_every_drive_that_is_there() {
    let layout = Table::new(Layout::Raid6, 5, 4, 40).layout();
    let (mut missing, mut plan) = (Missing::default(), Plan::default());
    missing.lose(SsdId(1));
    missing.rebuilt(SsdId(3), 4);
    layout.plan(Operation::Flush, 0..0, &missing, &mut plan);
    let flushed: Vec<u16> = plan.then.iter().map(|piece| piece.device.0).collect();
    assert_eq!(flushed, [0, 2, 3, 4]);
    assert!(plan.then.iter().all(|piece| piece.operation == Operation::Flush));
    assert!(plan.first.is_empty());
}

#[test]
fn a_long_request_is_one_piece_a_drive() {
    let table = Table::new(Layout::Raid0, 8, 4096, 4096 * 32);
    let mut plan = Plan::default();
    for start in [0, 4096, 5 * 4096, 1000] {
        table.layout().plan(
            Operation::Write,
            start..start + (510 << 10),
            &Missing::default(),
            &mut plan,
        );
        assert_eq!(plan.then.len(), 8);
    }
}

/// The drawings that are found in descriptions of left-symmetric arrays of five drives.
#[test]
fn five_drives_are_as_they_are_drawn() {
    let drawn = [
        (
            Layout::Raid5,
            ["0 1 2 3 P", "5 6 7 P 4", "10 11 P 8 9", "15 P 12 13 14", "P 16 17 18 19"],
        ),
        (Layout::Raid6, ["Q 0 1 2 P", "3 4 5 P Q", "7 8 P Q 6", "11 P Q 9 10", "P Q 12 13 14"]),
    ];
    for (kind, rows) in drawn {
        let table = Table::new(kind, 5, 1, 5);
        let data = 5 - table.parities();
        for (number, row) in rows.iter().enumerate() {
            let name = |role: &Role| match role {
                Role::P => "P".to_owned(),
                Role::Q => "Q".to_owned(),
                Role::Data(unit) => (number * data + unit).to_string(),
            };
            let found: Vec<String> = table.stripes[number].iter().map(name).collect();
            assert_eq!(found.join(" "), *row);
        }
    }
}
