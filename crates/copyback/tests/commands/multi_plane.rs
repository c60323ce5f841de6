//! Commands that join the planes of a die.

use copyback::ssd::Part::{QueueBehindIo, Service};

use crate::toy::Toy;

/// Two planes; even pages go to the first, odd ones to the second.
const PLANES: (&str, &str) = ("ssd.geometry.planes_per_die", "2");
const SINGLE: (&str, &str) = ("ssd.commands.multi_plane", "false");

#[test]
fn reads_of_one_offset_share_a_command() {
    let mut toy = Toy::filled(&[PLANES], &[0, 1]);
    toy.reads(0, &[(1, 0), (2, 1)]);
    toy.assert_ends(1, 41_000);
    assert_eq!(toy.ended(2), Some(41_000));
    // Both wait for the data of both.
    toy.assert_parts(2, &[(Service, 41_000)]);
    let counters = toy.ssd.counters();
    assert_eq!((counters.reads, counters.multi_plane_reads), (2, 1));
    assert_eq!(toy.log, ["1000 channel 0", "21000 die 0", "41000 channel 0"]);
}

#[test]
fn reads_of_different_offsets_do_not() {
    let mut toy = Toy::filled(&[PLANES], &[0, 2, 1]);
    toy.reads(0, &[(1, 2), (2, 1)]);
    toy.assert_ends(1, 31_000);
    toy.assert_ends(2, 62_000);
    assert_eq!(toy.ssd.counters().multi_plane_reads, 0);
}

#[test]
fn reads_of_one_plane_do_not() {
    let mut toy = Toy::filled(&[PLANES], &[0, 2, 1]);
    toy.reads(0, &[(1, 0), (2, 2)]);
    toy.assert_ends(1, 31_000);
    toy.assert_ends(2, 62_000);
}

#[test]
fn programs_of_one_offset_share_a_command() {
    let mut toy = Toy::new(&[PLANES]);
    toy.writes(0, &[(1, 0), (2, 1), (3, 2)]);
    toy.assert_ends(1, 221_000);
    assert_eq!(toy.ended(2), Some(221_000));
    toy.assert_ends(3, 432_000);
    toy.assert_parts(3, &[(QueueBehindIo, 221_000), (Service, 211_000)]);
    let counters = toy.ssd.counters();
    assert_eq!((counters.programs, counters.multi_plane_programs), (3, 1));
}

#[test]
fn programs_of_different_offsets_do_not() {
    // The first plane is at offset 1, the second at 0.
    let mut toy = Toy::filled(&[PLANES], &[0]);
    toy.writes(0, &[(1, 2), (2, 1)]);
    toy.assert_ends(1, 211_000);
    toy.assert_ends(2, 422_000);
    assert_eq!(toy.ssd.counters().multi_plane_programs, 0);
}

#[test]
fn chips_without_multi_plane_commands_join_nothing() {
    let mut toy = Toy::filled(&[PLANES, SINGLE], &[0, 1]);
    toy.reads(0, &[(1, 0), (2, 1)]);
    toy.assert_ends(2, 62_000);
    toy.writes(62_000, &[(3, 2), (4, 3)]);
    toy.assert_ends(3, 273_000);
    toy.assert_ends(4, 484_000);
}

#[test]
fn dynamic_writes_fill_the_planes_of_a_die_together() {
    let mut toy = Toy::new(&[PLANES, ("ssd.ftl.allocation", "dynamic")]);
    toy.writes(0, &[(1, 7), (2, 7)]);
    toy.assert_ends(1, 221_000);
    assert_eq!(toy.ended(2), Some(221_000));
    assert_eq!(toy.ssd.counters().multi_plane_programs, 1);
}

#[test]
fn a_block_that_is_filled_costs_its_summary_page() {
    // Three data pages and the summary: 1 us over the channel and a program.
    let summary = ("ssd.ftl.summary_page", "{ type = 'last_page', transfer = 410 }");
    let mut toy = Toy::filled(&[summary, ("ssd.ftl.over_provisioning", "0.7")], &[0, 1]);
    toy.write(0, 1, 2);
    // 410 bytes take 1000.98 ns, rounded up.
    toy.assert_ends(1, 211_000 + 200_000 + 1_001);
    toy.write(500_000, 2, 3);
    toy.assert_ends(2, 711_000);
}
