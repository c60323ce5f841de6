//! Blocks that are collected for the sake of their data: after many reads, and after a long time.
//!
//! A read takes 31 us (command 1, array 20, data 10), a write 211 us, a copy inside the plane 220 us, an erase 1500 us.

use copyback::ssd::Part::{GcSamePlane, Service};

use crate::toy::Toy;

const TWO_PER_BLOCK: (&str, &str) = ("ssd.geometry.pages_per_block", "2");

/// A die whose first block holds pages 0 and 1; the second is open.
fn toy(changes: &[(&str, &str)]) -> Toy {
    let mut all = vec![TWO_PER_BLOCK, ("ssd.gc.copyback", "true")];
    all.extend(changes);
    let mut toy = Toy::new(&all);
    toy.write(0, 1, 0);
    toy.write(300_000, 2, 1);
    toy.assert_ends(2, 511_000);
    toy
}

#[test]
fn the_read_that_is_one_too_many_calls_for_a_collection() {
    let mut toy = toy(&[("ssd.refresh.reads", "3")]);
    toy.read(600_000, 3, 0);
    toy.read(700_000, 4, 1);
    toy.run();
    assert_eq!(toy.ssd.counters().erases, 0);
    let begun = toy.log.len();
    toy.read(800_000, 5, 0);
    toy.assert_ends(5, 831_000);
    toy.run();
    // Channel and array of the read, its data, two copies and the erase.
    let expected = [
        "801000 channel 0",
        "821000 die 0",
        "831000 channel 0",
        "1051000 die 0",
        "1271000 die 0",
        "2771000 die 0",
    ];
    assert_eq!(toy.log[begun..], expected);
    let counters = toy.ssd.counters();
    assert_eq!((counters.read_reclaims, counters.refreshes, counters.collections), (1, 0, 0));
    assert_eq!((counters.pages_moved, counters.erases), (2, 1));
    // In their new block they have been read no more.
    toy.read(3_000_000, 6, 0);
    toy.read(3_100_000, 7, 0);
    toy.run();
    assert_eq!(toy.ssd.counters().read_reclaims, 1);
    toy.read(3_200_000, 8, 0);
    toy.run();
    assert_eq!(toy.ssd.counters().read_reclaims, 2);
}

#[test]
fn the_host_is_served_between_two_such_collections() {
    let mut toy = toy(&[("ssd.refresh.reads", "1")]);
    // The second comes while the block of the first is collected, and finds its page elsewhere: that block is due next.
    toy.read(600_000, 3, 0);
    toy.read(700_000, 4, 0);
    toy.read(700_001, 5, 1);
    // The collection holds the die until 2571 us.
    toy.assert_ends(4, 2_602_000);
    toy.assert_parts(4, &[(Service, 31_000), (GcSamePlane, 1_871_000)]);
    toy.run();
    assert_eq!(toy.ssd.counters().read_reclaims, 3);
}

#[test]
fn a_block_is_refreshed_when_its_first_page_is_too_old_though_nobody_asks() {
    let mut toy = toy(&[("ssd.refresh.age", "10ms")]);
    let begun = toy.log.len();
    toy.run_until(20_000_000);
    // Page 0 was programmed when its die took the command, at once: ten milliseconds later its block is emptied.
    let expected = ["10220000 die 0", "10440000 die 0", "11940000 die 0"];
    assert_eq!(toy.log[begun..], expected);
    let counters = toy.ssd.counters();
    assert_eq!((counters.read_reclaims, counters.refreshes), (0, 1));
    // The new block is as old as that, and so on.
    toy.run_until(42_000_000);
    assert_eq!(toy.ssd.counters().refreshes, 4);
}

#[test]
fn a_block_that_was_collected_meanwhile_is_not_refreshed() {
    let mut toy = toy(&[
        ("ssd.refresh.age", "10ms"),
        ("ssd.gc.soft_threshold", "{ blocks = 5 }"),
        ("ssd.ftl.over_provisioning", "0.85"),
    ]);
    // Both pages of the first block are out of date, which is erased as blocks are short.
    for (index, page) in [0, 1, 0, 1].into_iter().enumerate() {
        toy.write(1_000_000 + index as u64 * 2_000_000, 10 + index as u32, page);
    }
    toy.run_until(9_000_000);
    assert!(toy.ssd.counters().collections > 0);
    toy.run_until(10_500_000);
    assert_eq!(toy.ssd.counters().refreshes, 0);
}
