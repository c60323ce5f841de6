//! Demand-paged mapping: when translation pages are read and written, and who waits for it.
//!
//! A read takes 31 us (command 1, array 20, data 10), a write 211 us (command and data 11, array 200).
//! Four entries make a translation page.

use copyback::config::Loader;
use copyback::ssd::Part::{Service, Translation};
use copyback::{Simulation, Status};

use crate::toy::Toy;

const DEMAND_PAGED: (&str, &str) = ("ssd.ftl.mapping.type", "demand_paged");
const ENTRY: (&str, &str) = ("ssd.ftl.mapping.entry", "1KiB");
const BLOCKS: (&str, &str) = ("ssd.geometry.blocks_per_plane", "16");
const OVER_PROVISIONING: (&str, &str) = ("ssd.ftl.over_provisioning", "0.75");

/// An empty drive of 16 logical and 4 translation pages, whose cache has room for `entries`.
fn toy(entries: u32) -> Toy {
    let cache = (8 * entries).to_string();
    let cache = ("ssd.ftl.mapping.cache", cache.as_str());
    Toy::new(&[DEMAND_PAGED, cache, ENTRY, BLOCKS, OVER_PROVISIONING])
}

#[test]
fn each_miss_costs_what_the_paper_says() {
    let mut toy = toy(2);
    // Translation pages that have never been written need no fetch.
    toy.write(0, 1, 0);
    toy.assert_ends(1, 211_000);
    toy.write(300_000, 2, 4);
    toy.assert_ends(2, 511_000);
    // A hit, which makes page 4 the one used longest ago.
    toy.read(600_000, 3, 0);
    toy.assert_ends(3, 631_000);
    toy.assert_parts(3, &[(Service, 31_000)]);
    // Page 4 has changed: its translation page is written first.
    toy.write(700_000, 4, 8);
    toy.assert_ends(4, 1_122_000);
    toy.assert_parts(4, &[(Translation, 211_000), (Service, 211_000)]);
    // Page 0 is written back, page 4 fetched.
    toy.read(1_200_000, 5, 4);
    toy.assert_ends(5, 1_473_000);
    toy.assert_parts(5, &[(Translation, 242_000), (Service, 31_000)]);
    // Page 8 is written back, page 5 fetched from where page 4 was.
    toy.write(1_500_000, 6, 5);
    toy.assert_ends(6, 1_953_000);
    toy.assert_parts(6, &[(Translation, 242_000), (Service, 211_000)]);
    toy.write(2_000_000, 7, 4);
    toy.assert_ends(7, 2_211_000);
    // Page 5 leaves: its translation page is read, and written with what has changed of page 4 as well.
    toy.read(2_300_000, 8, 8);
    toy.assert_ends(8, 2_604_000);
    toy.assert_parts(8, &[(Translation, 273_000), (Service, 31_000)]);
    // So page 4 can leave without being written.
    toy.read(2_700_000, 9, 0);
    toy.assert_ends(9, 2_762_000);
    toy.assert_parts(9, &[(Translation, 31_000), (Service, 31_000)]);
    toy.run();
    let expected = [
        // The translation page is read,
        "2301000 channel 0",
        "2321000 die 0",
        "2331000 channel 0",
        // and written;
        "2342000 channel 0",
        "2542000 die 0",
        // that of page 8 is read,
        "2543000 channel 0",
        "2563000 die 0",
        "2573000 channel 0",
        // and page 8.
        "2574000 channel 0",
        "2594000 die 0",
        "2604000 channel 0",
    ];
    let from = toy.log.iter().position(|line| line == expected[0]).expect("page 5 is written back");
    assert_eq!(toy.log[from..from + expected.len()], expected);
    let counters = toy.ssd.counters();
    let mapping = counters.mapping;
    assert_eq!((mapping.hits, mapping.misses), (2, 7));
    assert_eq!((mapping.evictions, mapping.dirty_evictions), (5, 4));
    assert_eq!((mapping.reads, mapping.writes), (5, 4));
    assert_eq!((counters.host_programs, counters.programs, counters.reads), (5, 9, 9));
    assert_eq!(counters.page_write_amplification(), Some(9.0 / 5.0));
}

#[test]
fn misses_of_one_translation_page_share_its_fetch_and_its_write_back() {
    let mut toy = toy(4);
    for page in 0..8 {
        toy.write(u64::from(page) * 1_000_000, page, page);
    }
    // Page 4 has driven out page 0; pages 1 to 3 were written back with it.
    let before = toy.ssd.counters().mapping;
    assert_eq!((before.reads, before.writes, before.dirty_evictions), (0, 1, 1));
    // Pages 4 and 5 leave for pages 0 and 1.
    toy.reads(9_000_000, &[(10, 0), (11, 1)]);
    toy.assert_ends(10, 9_273_000);
    toy.assert_ends(11, 9_304_000);
    toy.assert_parts(10, &[(Translation, 242_000), (Service, 31_000)]);
    toy.run();
    let after = toy.ssd.counters().mapping;
    assert_eq!((after.reads, after.writes, after.dirty_evictions), (1, 2, 3));
}

#[test]
fn operations_on_one_page_wait_for_one_fetch_and_keep_their_order() {
    let mut toy = toy(1);
    toy.write(0, 1, 0);
    toy.write(1_000_000, 2, 4);
    // Page 4 is written back, and page 0 fetched.
    toy.writes(2_000_000, &[(3, 0), (4, 0)]);
    toy.assert_ends(3, 2_453_000);
    toy.assert_ends(4, 2_664_000);
    toy.run();
    let mapping = toy.ssd.counters().mapping;
    assert_eq!((mapping.hits, mapping.misses, mapping.reads, mapping.writes), (0, 4, 1, 2));
}

#[test]
fn part_of_a_page_is_updated_once_its_mapping_is_known() {
    let mut toy = toy(1);
    toy.write(0, 1, 0);
    toy.write(1_000_000, 2, 4);
    toy.write_part(2_000_000, 3, 0);
    // Write back 211, fetch 31, read 31, write 211.
    toy.assert_ends(3, 2_484_000);
    toy.assert_parts(3, &[(Translation, 242_000), (Service, 242_000)]);
    toy.run();
}

#[test]
fn a_trim_takes_no_time_but_its_translation_page_is_written() {
    let mut toy = toy(1);
    toy.write(0, 1, 0);
    toy.write(1_000_000, 2, 4);
    toy.run_until(2_000_000);
    let before = toy.log.len();
    toy.trim(2_000_000, 0);
    toy.run();
    let expected = [
        "2001000 channel 0",
        "2021000 die 0",
        "2031000 channel 0",
        "2042000 channel 0",
        "2242000 die 0",
    ];
    assert_eq!(toy.log[before..], expected);
    // Of page 4 the cache holds the entry.
    toy.trim(3_000_000, 4);
    toy.run();
    assert_eq!(toy.log.len(), before + expected.len());
}

#[test]
fn translation_pages_of_moved_pages_are_written_once_a_block() {
    // Five logical pages, translation page 5 for 0 to 3, 6 for 4; collections start below six free
    // blocks of eleven, with the oldest.
    let mut toy = Toy::new(&[
        DEMAND_PAGED,
        ("ssd.ftl.mapping.cache", "8B"),
        ENTRY,
        ("ssd.geometry.blocks_per_plane", "11"),
        ("ssd.ftl.over_provisioning", "0.875"),
        ("ssd.gc.soft_threshold", "{ blocks = 6 }"),
        ("ssd.gc.hard_threshold", "{ blocks = 1 }"),
        ("ssd.gc.victim", "fifo"),
        ("ssd.gc.copyback", "true"),
    ]);
    // The first block: pages 0 and 4, and page 1 twice. Page 1 fills three more. Another block has the
    // translation pages, and one has been opened for what comes.
    for (index, page) in [0, 4].into_iter().chain([1; 14]).enumerate() {
        toy.write(index as u64 * 1_000_000, index as u32, page);
    }
    toy.assert_ends(15, 15_211_000);
    let begun = toy.log.len();
    toy.run();
    let expected = [
        // Pages 0 and 4, which have no entry in the cache, are copied, and their block is erased.
        "15431000 die 0",
        "15651000 die 0",
        "17151000 die 0",
        // The next holds nothing.
        "18651000 die 0",
        // Both translation pages are read,
        "18652000 channel 0",
        "18672000 die 0",
        "18682000 channel 0",
        "18683000 channel 0",
        "18703000 die 0",
        "18713000 channel 0",
        // and written.
        "18724000 channel 0",
        "18924000 die 0",
        "18935000 channel 0",
        "19135000 die 0",
    ];
    assert_eq!(toy.log[begun..], expected);
    let counters = toy.ssd.counters();
    assert_eq!((counters.pages_moved, counters.copybacks, counters.erases), (2, 2, 2));
    // Before that page 5 was fetched once, and both were written once.
    assert_eq!((counters.mapping.reads, counters.mapping.writes), (3, 4));
    // The entry of page 1, the only one in the cache, was written with that of page 0 and may leave: the
    // new place of page 0 is fetched.
    toy.read(20_000_000, 20, 0);
    toy.assert_ends(20, 20_062_000);
    toy.assert_parts(20, &[(Translation, 31_000), (Service, 31_000)]);
    toy.run();
}

#[test]
fn a_segment_brings_all_of_its_entries_and_is_written_without_being_read() {
    // One place, for the four entries of a translation page.
    let mut toy = Toy::new(&[
        DEMAND_PAGED,
        ("ssd.ftl.mapping.unit", "segment"),
        ("ssd.ftl.mapping.cache", "4KiB"),
        ENTRY,
        BLOCKS,
        OVER_PROVISIONING,
    ]);
    toy.write(0, 1, 0);
    toy.assert_ends(1, 211_000);
    // Its entry came with that of page 0.
    toy.write(300_000, 2, 1);
    toy.assert_ends(2, 511_000);
    // The first segment leaves, for one that is nowhere yet.
    toy.write(600_000, 3, 4);
    toy.assert_ends(3, 1_022_000);
    toy.assert_parts(3, &[(Translation, 211_000), (Service, 211_000)]);
    // It comes back, for both its pages by one fetch; the second leaves by one write, which reads nothing before.
    toy.reads(1_100_000, &[(4, 0), (5, 1)]);
    toy.assert_ends(4, 1_373_000);
    toy.assert_ends(5, 1_404_000);
    toy.assert_parts(4, &[(Translation, 242_000), (Service, 31_000)]);
    // Nothing of it has changed, so it leaves without being written.
    toy.read(1_500_000, 6, 4);
    toy.assert_ends(6, 1_562_000);
    toy.run();
    let mapping = toy.ssd.counters().mapping;
    assert_eq!((mapping.hits, mapping.misses), (1, 5));
    assert_eq!((mapping.evictions, mapping.dirty_evictions), (3, 2));
    assert_eq!((mapping.reads, mapping.writes), (2, 2));
}

#[test]
fn entries_of_moved_pages_wait_while_there_is_room_for_them() {
    // Logical pages 0 to 4, in translation pages 5 and 6, as above, with collections of the oldest block.
    let with_room_for = |unwritten: &str| {
        let mut toy = Toy::new(&[
            DEMAND_PAGED,
            ("ssd.ftl.mapping.cache", "8B"),
            ("ssd.ftl.mapping.unwritten", unwritten),
            ENTRY,
            ("ssd.geometry.blocks_per_plane", "11"),
            ("ssd.ftl.over_provisioning", "0.875"),
            ("ssd.gc.soft_threshold", "{ blocks = 6 }"),
            ("ssd.gc.hard_threshold", "{ blocks = 1 }"),
            ("ssd.gc.victim", "fifo"),
            ("ssd.gc.copyback", "true"),
        ]);
        // The first block holds pages 0 and 4, which are moved when it is collected.
        for (index, page) in [0, 4].into_iter().chain([1; 14]).enumerate() {
            toy.write(index as u64 * 1_000_000, index as u32, page);
        }
        toy.run();
        let counters = toy.ssd.counters();
        assert_eq!(counters.pages_moved, 2);
        counters.mapping.writes
    };
    // Page 0 and page 4 were written back when they left the cache. Then both translation pages are out of date by
    // an entry each: the first is written if there is room for one only, neither if there is room for both.
    assert_eq!(with_room_for("0B"), 4);
    assert_eq!(with_room_for("8B"), 3);
    assert_eq!(with_room_for("16B"), 2);
}

#[test]
fn a_wait_for_the_mapping_is_told_before_its_request_ends() {
    // Nothing has been written: each read waits for its mapping and ends, at one instant.
    let config = Loader::new()
        .set("ssd.ftl.mapping", "{ type = \"demand_paged\", cache = 2000 }")
        .set("ssd.ftl.over_provisioning", "0.3")
        .set("ssd.geometry.blocks_per_plane", "32")
        .set("host.command_overhead", "1us")
        .set("workload.requests", "50")
        .set("workload.read_share", "1.0")
        .set("precondition.fill", "0.0")
        .set("metrics.slowest", "3")
        .load();
    let config = config.unwrap_or_else(|faults| panic!("{faults}"));
    let mut simulation = Simulation::new(&config, None).expect("the workload opens");
    while simulation.advance(1000).expect("the run is sound") == Status::Running {}
    assert_eq!(simulation.summary().expect("it has run").to_json()["requests"]["count"], 50);
    assert!(simulation.slowest().is_some());
}
