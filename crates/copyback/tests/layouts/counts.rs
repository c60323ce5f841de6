//! What writes pay for parity, against the closed forms.

use copyback::config::Layout;
use copyback::ids::SsdId;
use copyback::layout::{Missing, Piece, Plan};
use copyback::workload::Operation;

use crate::table::{Role, Table};

const UNIT: u64 = 4096;

fn units(pieces: &[Piece]) -> u64 {
    let bytes: u64 = pieces.iter().map(|piece| piece.length).sum();
    assert_eq!(bytes % UNIT, 0);
    bytes / UNIT
}

fn table(kind: Layout, devices: usize) -> Table {
    Table::new(kind, devices, UNIT as usize, UNIT as usize * devices)
}

/// With n data units and m parities, a write of t units reads nothing if t = n, else the less of t + m
/// (read-modify-write) and n - t (reconstruct-write); it writes t + m.
#[test]
fn a_write_reads_the_least() {
    for kind in [Layout::Raid5, Layout::Raid6] {
        for devices in kind.least_devices() as usize..=12 {
            let layout = table(kind, devices).layout();
            let parities = u64::from(kind.parities());
            let data = devices as u64 - parities;
            let mut plan = Plan::default();
            for touched in 1..=data {
                for first in 0..=data - touched {
                    let start = (data + first) * UNIT;
                    let range = start..start + touched * UNIT;
                    layout.plan(Operation::Write, range, &Missing::default(), &mut plan);
                    let reads = (data - touched).min(touched + parities);
                    assert_eq!(units(&plan.first), if touched == data { 0 } else { reads });
                    assert_eq!(units(&plan.then), touched + parities);
                }
            }
        }
    }
}

/// What is read, by role, in the stripe of a write of one unit.
fn roles_read(kind: Layout, devices: usize, missing: &Missing) -> Vec<Role> {
    let (table, mut plan) = (table(kind, devices), Plan::default());
    table.layout().plan(Operation::Write, 0..UNIT, missing, &mut plan);
    let read: Vec<usize> = plan.first.iter().map(|piece| piece.device.index()).collect();
    read.into_iter().map(|device| table.stripes[0][device]).collect()
}

fn lost(devices: &[u16]) -> Missing {
    let mut missing = Missing::default();
    devices.iter().for_each(|device| missing.lose(SsdId(*device)));
    missing
}

#[test]
fn a_small_write_reads_old_data_and_parity() {
    let none = Missing::default();
    assert_eq!(roles_read(Layout::Raid5, 5, &none), [Role::Data(0), Role::P]);
    assert_eq!(roles_read(Layout::Raid6, 8, &none), [Role::Data(0), Role::P, Role::Q]);
    // On a tie, the data that stay.
    assert_eq!(roles_read(Layout::Raid5, 4, &none), [Role::Data(1), Role::Data(2)]);
}

/// Stripe 0 of RAID-5 on five drives is `0 1 2 3 P`, of RAID-6 on six `Q 0 1 2 3 P`.
#[test]
fn what_is_missing_decides_how_a_small_write_is_done() {
    let all_others = [Role::Data(1), Role::Data(2), Role::Data(3)];
    assert_eq!(roles_read(Layout::Raid5, 5, &lost(&[0])), all_others);
    assert_eq!(roles_read(Layout::Raid5, 5, &lost(&[1])), [Role::Data(0), Role::P]);
    assert_eq!(roles_read(Layout::Raid5, 5, &lost(&[4])), []);
    assert_eq!(roles_read(Layout::Raid6, 6, &lost(&[0, 5])), []);
    assert_eq!(roles_read(Layout::Raid6, 6, &lost(&[0, 2])), [Role::Data(0), Role::P]);
    let everything = [Role::Data(2), Role::Data(3), Role::P, Role::Q];
    assert_eq!(roles_read(Layout::Raid6, 6, &lost(&[1, 2])), everything);
}

/// A write that is more than a unit and ends within one: the rows of both units are full in between.
#[test]
fn a_write_is_judged_row_by_row() {
    let (table, mut plan) = (table(Layout::Raid5, 3), Plan::default());
    let layout = table.layout();
    // Rows 0 to 1000 of unit 1, rows 3000 to 4096 of unit 0: nothing in common.
    layout.plan(Operation::Write, 3000..UNIT + 1000, &Missing::default(), &mut plan);
    let written: u64 = plan.then.iter().map(|piece| piece.length).sum();
    assert_eq!(written, 2 * (1000 + UNIT - 3000));
    // Rows 1000 to 3000 of both: only the rest is read.
    layout.plan(Operation::Write, 1000..UNIT + 3000, &Missing::default(), &mut plan);
    let read: u64 = plan.first.iter().map(|piece| piece.length).sum();
    assert_eq!(read, 1000 + UNIT - 3000);
}

#[test]
fn a_lost_unit_is_made_up_from_as_little_as_will_do() {
    let raid6 = table(Layout::Raid6, 6);
    let mut plan = Plan::default();
    for (missing, roles) in [
        (lost(&[1]), vec![Role::Data(1), Role::Data(2), Role::Data(3), Role::P]),
        (lost(&[1, 5]), vec![Role::Data(1), Role::Data(2), Role::Data(3), Role::Q]),
        (lost(&[1, 2]), vec![Role::Data(2), Role::Data(3), Role::P, Role::Q]),
    ] {
        raid6.layout().plan(Operation::Read, 0..UNIT, &missing, &mut plan);
        let read = plan.first.iter().map(|piece| raid6.stripes[0][piece.device.index()]);
        assert_eq!(read.collect::<Vec<_>>(), roles);
        assert_eq!(plan.stripes, Some(0..1));
    }
}
