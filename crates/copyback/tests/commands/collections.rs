//! Collections: the order and the times of their steps, and what waits for them.

use copyback::config::Loader;
use copyback::ftl::Ftl;
use copyback::ids::{BlockId, DieId, Lpn, PlaneId};
use copyback::outside::{Failed, Policy};
use copyback::placement::HostPage;
use copyback::scheduler::when::Admitted;
use copyback::scheduler::when::supply::{DieView, ExternalSchedule};
use copyback::ssd::Part::{GcOtherPlane, GcSamePlane, Late, QueueBehindIo, Service};
use copyback::{Simulation, Status};

use crate::toy::{Toy, at, config};

/// The toy is full and two blocks are free: the next write, the fourth to block 5, opens one of
/// them and calls for a collection. Only page 3 is valid in block 0, the first victim. The block
/// that it is moved to leaves none free, so that block 4 follows, where only page 4 is valid.
pub const BRINK: [u32; 23] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 4, 5, 0, 1];
pub const CALLS: u32 = 2;
const THROUGH_CHANNEL: (&str, &str) = ("ssd.gc.copyback", "false");
const ON_OPERATION: (&str, &str) = ("ssd.gc.start", "before_operation");

fn brink(changes: &[(&str, &str)]) -> Toy {
    let mut toy = Toy::filled(changes, &BRINK);
    toy.write(0, 1, CALLS);
    toy
}

#[test]
fn a_collection_by_copyback_moves_then_erases_and_the_host_waits() {
    let mut toy = brink(&[]);
    toy.assert_ends(1, 211_000);
    toy.write(300_000, 2, 7);
    toy.assert_ends(2, 3_862_000);
    toy.assert_parts(2, &[(GcSamePlane, 3_351_000), (Service, 211_000)]);
    toy.run();
    let expected = [
        "11000 channel 0",
        "211000 die 0",  // the program that called for it
        "431000 die 0",  // page 3: read and program inside the plane
        "1931000 die 0", // erase of block 0
        "2151000 die 0", // page 4
        "3651000 die 0", // erase of block 4
        "3662000 channel 0",
        "3862000 die 0",
    ];
    assert_eq!(toy.log, expected);
    let counters = toy.ssd.counters();
    assert_eq!((counters.collections, counters.copybacks, counters.erases), (2, 2, 2));
    assert_eq!((counters.pages_moved, counters.host_programs), (2, 2));
    assert_eq!(toy.ssd.backend().observer.collecting_until(at(4_000_000)).as_ns(), 3_440_000);
    let erased = |block| toy.ssd.backend().ftl.blocks().erase_count(BlockId(block));
    assert_eq!((0..8).map(erased).collect::<Vec<_>>(), [1, 0, 0, 0, 1, 0, 0, 0]);
}

#[test]
fn a_drive_reports_how_long_a_die_is_busy_with_its_victim() {
    let mut toy = brink(&[THROUGH_CHANNEL]);
    let busy = |toy: &Toy| toy.ssd.busy_time(Lpn(7)).map(|time| time.as_ns());
    toy.run_until(210_999);
    assert_eq!(busy(&toy), None, "the program that calls for a collection is still in the die");
    toy.run_until(211_000);
    // One page: command, tR and transfer; command, transfer and tPROG. Then tBERS.
    let victim = (1_000 + 20_000 + 10_000) + (1_000 + 10_000 + 200_000) + 1_500_000;
    assert_eq!(busy(&toy), Some(victim));
    let erased = |toy: &Toy| toy.ssd.backend().ftl.blocks().erase_count(BlockId(0));
    toy.run_until(211_000 + victim - 1);
    assert_eq!((erased(&toy), busy(&toy)), (0, Some(1_500_000)), "the erase is under way");
    toy.run_until(211_000 + victim);
    assert_eq!(erased(&toy), 1);
    toy.run();
    assert_eq!(busy(&toy), None);
}

#[test]
fn a_collection_that_ends_after_one_victim_lets_an_operation_of_the_host_go_first() {
    let mut toy = brink(&[("ssd.gc.end", "one_victim")]);
    toy.write(300_000, 2, 7);
    toy.write(300_000, 3, 6);
    toy.run();
    let expected = [
        "11000 channel 0",
        "211000 die 0",
        "431000 die 0",  // page 3
        "1931000 die 0", // erase of block 0
        "1942000 channel 0",
        "2142000 die 0", // one write of the host
        "2362000 die 0", // page 4
        "3862000 die 0", // erase of block 4
        "3873000 channel 0",
        "4073000 die 0", // the other
    ];
    assert_eq!(toy.log, expected);
}

/// The host goes on after the victim of one plane, and may fill what is open on the other before that has its turn.
#[test]
fn a_plane_keeps_a_block_for_its_turn_where_the_host_goes_on_after_one_victim() {
    let drives =
        |(planes, soft)| ["fifo", "random", "greedy", "rga"].map(|victim| (planes, soft, victim));
    // One plane has nobody to wait for, and keeps none.
    for (planes, soft, victim) in [(1, 1), (2, 2)].into_iter().flat_map(drives) {
        let text = format!(
            "audit = true
            [ssd.geometry]
            channels = 1
            chips_per_channel = 1
            dies_per_chip = 1
            planes_per_die = {planes}
            blocks_per_plane = 20
            pages_per_block = 3
            page_size = '4KiB'
            [ssd.ftl]
            over_provisioning = 0.14
            placement = 'one_class'
            allocation = 'WPCD'
            [ssd.gc]
            end = 'one_victim'
            soft_threshold = {{ blocks = {soft} }}
            victim = '{victim}'
            [precondition]
            fill = 1.0
            overwrites = 0.0
            [workload]
            type = 'synthetic'
            requests = 1000
            read_share = 0.0
            sequential_share = 0.4
            request_size = '32KiB'
            inter_arrival = '20us'"
        );
        let config = Loader::new().toml(&text, "drive.toml", None).load().expect("sound");
        let mut simulation = Simulation::new(&config, None).expect("sound");
        while simulation.advance(1 << 16).expect("each request finds room") == Status::Running {}
    }
}

#[test]
fn a_copyback_reads_as_long_as_the_page_does_that_it_leaves() {
    // Page 3 of its block is the slowest to read. It goes to the first page of a fresh block, the fastest.
    let by_type = ("ssd.timing.read", "[\"20us\", \"30us\", \"40us\", \"50us\"]");
    for toy in [Toy::filled, Toy::unobserved] {
        let mut toy = toy(&[by_type], &BRINK);
        toy.write(0, 1, CALLS);
        toy.run();
        let moved = toy.log.iter().filter(|line| line.ends_with("die 0")).nth(1);
        assert_eq!(moved, Some(&"461000 die 0".to_owned()), "{:?}", toy.log);
    }
}

#[test]
fn moves_that_nobody_looks_at_take_as_long() {
    let tight = [("ssd.ftl.over_provisioning", "0.3"), ("ssd.geometry.blocks_per_plane", "16")];
    let run = |mut toy: Toy| {
        // Pages of a linear congruence.
        let mut random = 1_u32;
        for request in 0..300 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            toy.write(u64::from(request) * 1_000_000, request, (random >> 16) % 44);
        }
        toy.run();
        (toy.done, toy.ssd.counters().copybacks, toy.ssd.counters().collections)
    };
    let looked_at = run(Toy::filled(&tight, &[]));
    assert!(looked_at.1 > looked_at.2, "{} moves of {} blocks", looked_at.1, looked_at.2);
    assert_eq!(run(Toy::unobserved(&tight, &[])), looked_at);
}

#[test]
fn what_queued_behind_a_collection_is_late() {
    let mut toy = brink(&[]);
    toy.read(300_000, 2, 7);
    // Without the collection the first read would have been over.
    toy.read(400_000, 3, 8);
    toy.assert_ends(2, 3_682_000);
    toy.assert_parts(2, &[(GcSamePlane, 3_351_000), (Service, 31_000)]);
    toy.assert_ends(3, 3_713_000);
    toy.assert_parts(3, &[(GcSamePlane, 3_251_000), (Late, 31_000), (Service, 31_000)]);
}

#[test]
fn what_would_have_queued_anyway_is_not() {
    let mut toy = brink(&[]);
    toy.reads(300_000, &[(2, 7), (3, 8)]);
    toy.assert_ends(3, 3_713_000);
    toy.assert_parts(3, &[(GcSamePlane, 3_351_000), (QueueBehindIo, 31_000), (Service, 31_000)]);
}

#[test]
fn a_collection_through_the_channel_reads_out_and_programs() {
    let mut toy = brink(&[THROUGH_CHANNEL]);
    toy.run();
    let expected = [
        "11000 channel 0",
        "211000 die 0",
        "212000 channel 0", // the command that reads page 3
        "232000 die 0",
        "242000 channel 0", // its data come out
        "253000 channel 0", // and go in
        "453000 die 0",
        "1953000 die 0", // erase of block 0
        "1954000 channel 0",
        "1974000 die 0",
        "1984000 channel 0",
        "1995000 channel 0",
        "2195000 die 0",
        "3695000 die 0",
    ];
    assert_eq!(toy.log, expected);
    let counters = toy.ssd.counters();
    assert_eq!((counters.reads, counters.programs, counters.copybacks), (2, 3, 0));
}

#[test]
fn a_page_that_is_trimmed_while_it_is_carried_is_not_programmed() {
    let mut toy = brink(&[THROUGH_CHANNEL]);
    toy.trim(220_000, 3);
    toy.run();
    assert_eq!(toy.log[4..], ["242000 channel 0", "1742000 die 0"]);
    let counters = toy.ssd.counters();
    assert_eq!((counters.reads, counters.programs, counters.pages_moved), (1, 1, 0));
}

#[test]
fn a_page_that_is_trimmed_before_its_turn_is_not_moved() {
    let mut toy = brink(&[]);
    toy.trim(100_000, 3);
    toy.run();
    assert_eq!(toy.log[1..], ["211000 die 0", "1711000 die 0"]);
    assert_eq!(toy.ssd.counters().pages_moved, 0);
}

#[test]
fn free_collections_change_the_flash_and_take_no_time() {
    let mut toy = brink(&[("ssd.gc.zero_cost", "true")]);
    toy.write(300_000, 2, 7);
    toy.assert_ends(2, 511_000);
    toy.assert_parts(2, &[(Service, 211_000)]);
    let counters = toy.ssd.counters();
    assert_eq!((counters.collections, counters.pages_moved, counters.erases), (2, 2, 2));
    assert_eq!(toy.ssd.backend().observer.collecting_until(at(4_000_000)).as_ns(), 0);
}

#[test]
fn collections_before_operations_let_an_idle_die_be() {
    let mut toy = brink(&[ON_OPERATION]);
    toy.run_until(300_000);
    assert_eq!(toy.log, ["11000 channel 0", "211000 die 0"]);
    toy.write(300_000, 2, 7);
    toy.assert_ends(2, 3_951_000);
    toy.assert_parts(2, &[(GcSamePlane, 3_440_000), (Service, 211_000)]);
    let collections = ["520000 die 0", "2020000 die 0", "2240000 die 0", "3740000 die 0"];
    assert_eq!(toy.log[2..6], collections);
}

#[test]
fn another_plane_of_the_die_waits_for_the_collection_too() {
    // The brink in the first plane; one page in the second.
    let pages: Vec<u32> = BRINK.iter().map(|lpn| 2 * lpn).chain([1]).collect();
    let mut toy = Toy::filled(&[("ssd.geometry.planes_per_die", "2")], &pages);
    toy.write(0, 1, 2 * CALLS);
    toy.read(300_000, 2, 1);
    toy.assert_ends(2, 3_682_000);
    toy.assert_parts(2, &[(GcOtherPlane, 3_351_000), (Service, 31_000)]);
}

#[test]
fn a_collection_waits_for_both_registers_to_be_empty() {
    let mut toy = Toy::filled(&[("ssd.timing.register", "double")], &BRINK);
    toy.writes(0, &[(1, CALLS), (2, 7)]);
    // The second is not let into the cache register: the plane is short of space.
    toy.assert_ends(1, 211_000);
    toy.assert_ends(2, 3_862_000);
    toy.assert_parts(2, &[(GcSamePlane, 3_440_000), (QueueBehindIo, 211_000), (Service, 211_000)]);
}

#[test]
fn dynamic_writes_go_to_another_die_while_one_collects() {
    // Both dies are idle when the write comes; the first is short of space and collects.
    let dynamic =
        [("ssd.geometry.chips_per_channel", "2"), ("ssd.ftl.allocation", "dynamic"), ON_OPERATION];
    let mut toy = Toy::filled(&dynamic, &BRINK);
    toy.write(0, 1, CALLS);
    toy.assert_ends(1, 211_000);
    toy.writes(300_000, &[(2, 7), (3, 8)]);
    toy.run();
    let die_0_collects = toy.log.contains(&"520000 die 0".to_owned());
    assert!(die_0_collects, "{:?}", toy.log);
    assert_eq!((toy.ended(2), toy.ended(3)), (Some(511_000), Some(722_000)), "{:?}", toy.log);
}

#[test]
fn wear_is_levelled_after_a_collection() {
    // Pages 8 to 15 lie still in blocks 2 and 3 while the others wear out.
    let hot = (0..64).map(|write| write % 8);
    let pages: Vec<u32> = (0..16).chain(hot).collect();
    let mut toy = Toy::filled(&[("ssd.wear.static_threshold", "1")], &pages);
    let erases = |toy: &Toy, block| toy.ssd.backend().ftl.blocks().erase_count(BlockId(block));
    assert_eq!([erases(&toy, 2), erases(&toy, 3)], [0, 0]);
    let worn = (0..8).map(|block| erases(&toy, block)).max();
    assert_eq!(worn, Some(3));
    toy.writes(0, &[(1, 0), (2, 1), (3, 2), (4, 3)]);
    toy.run();
    // The fourth write calls for a collection, whose victim has no valid page; then blocks 2 and 3
    // are emptied, four moves and an erase each.
    let collection = toy.log.iter().filter(|line| line.ends_with("die 0")).skip(4);
    let expected = [
        2_344_000, 2_564_000, 2_784_000, 3_004_000, 3_224_000, 4_724_000, 4_944_000, 5_164_000,
        5_384_000, 5_604_000, 7_104_000,
    ];
    assert!(collection.eq(expected.map(|ns| format!("{ns} die 0")).iter()), "{:?}", toy.log);
    assert_eq!(toy.ended(4), Some(844_000));
    let counters = toy.ssd.counters();
    assert_eq!((counters.collections, counters.levelling_runs), (1, 2));
    assert_eq!((counters.pages_moved, counters.erases), (8, 3));
    assert_eq!([erases(&toy, 2), erases(&toy, 3)], [1, 1]);
}

/// Of each drive two blocks lie still, and the first block that has been erased most is collected.
#[test]
fn wear_is_levelled_by_the_numbers_of_blocks() {
    let levelled = |hot: [u32; 4], threshold| {
        let pages = (0..16).chain((0..64).map(|write| hot[0] + write % 8));
        let by_number =
            [("ssd.wear.static_threshold", threshold), ("ssd.wear.compare", "block_numbers")];
        let mut toy = Toy::filled(&by_number, &pages.collect::<Vec<_>>());
        toy.writes(0, &[(1, hot[0]), (2, hot[1]), (3, hot[2]), (4, hot[3])]);
        toy.run();
        let blocks = toy.ssd.backend().ftl.blocks();
        let erases: Vec<_> = (0..8).map(|block| blocks.erase_count(BlockId(block))).collect();
        (toy.ssd.counters().levelling_runs, erases)
    };
    // Blocks 2 and 3 lie still, block 0 wears out: it has a lower number, whatever the threshold.
    for threshold in ["1", "100"] {
        let expected = (2, vec![3, 3, 1, 1, 3, 3, 2, 2]);
        assert_eq!(levelled([0, 1, 2, 3], threshold), expected, "{threshold}");
    }
    // Blocks 0 and 1 lie still, block 2 wears out first: its number is higher by two, and by one.
    for (threshold, runs, still) in [("1", 2, [1, 1]), ("2", 1, [1, 0]), ("3", 0, [0, 0])] {
        let expected = [&still[..], &[3, 3, 3, 3, 2, 2]].concat();
        assert_eq!(levelled([8, 9, 10, 11], threshold), (runs, expected), "{threshold}");
    }
}

#[test]
fn wear_is_levelled_on_every_plane_that_was_collected() {
    // The same on two planes, which are collected in step: two blocks of each lie still.
    let planes = [
        ("ssd.geometry.planes_per_die", "2"),
        ("ssd.gc.width", "blind"),
        ("ssd.wear.static_threshold", "1"),
        ("ssd.geometry.blocks_per_plane", "10"),
        ("ssd.ftl.over_provisioning", "0.6"),
    ];
    let hot = (0..64).map(|write| write % 8);
    let pages = (0..16).chain(hot).flat_map(|page| [2 * page, 2 * page + 1]);
    let mut toy = Toy::filled(&planes, &pages.collect::<Vec<_>>());
    for request in 0..8 {
        toy.write(0, request, request);
    }
    toy.run();
    let counters = toy.ssd.counters();
    assert_eq!((counters.collections, counters.joined), (2, 1));
    assert_eq!(counters.levelling_runs, 4);
    let still =
        [2, 3, 12, 13].map(|block| toy.ssd.backend().ftl.blocks().erase_count(BlockId(block)));
    assert_eq!(still, [1; 4]);
}

/// Two dies, of which the first is short of space with nothing to give: all its pages are valid.
fn nothing_to_give() -> Toy {
    let dynamic = [("ssd.geometry.chips_per_channel", "2"), ("ssd.ftl.allocation", "dynamic")];
    let pages: Vec<u32> = (0..24).collect();
    let mut toy = Toy::filled(&dynamic, &pages);
    toy.write(0, 1, 30);
    toy.run_until(300_000);
    assert_eq!(toy.log, ["11000 channel 0", "211000 die 0"]);
    toy
}

const COLLECTION: [&str; 4] = ["520000 die 0", "740000 die 0", "960000 die 0", "2460000 die 0"];

#[test]
fn a_die_collects_as_soon_as_a_write_elsewhere_leaves_it_something() {
    let mut toy = nothing_to_give();
    toy.write(300_000, 2, 0);
    toy.run();
    assert_eq!(toy.ended(2), Some(511_000));
    let collection: Vec<_> = toy.log.iter().filter(|line| line.ends_with("die 0")).collect();
    assert_eq!(collection[1..], COLLECTION);
}

#[test]
fn a_die_collects_as_soon_as_a_trim_leaves_it_something() {
    let mut toy = nothing_to_give();
    toy.trim(300_000, 0);
    toy.run();
    assert_eq!(toy.log[2..], COLLECTION);
}

/// A schedule from outside that admits the same whenever it is asked.
#[derive(Debug)]
struct Admits(Admitted);

impl Policy for Admits {
    fn memory(&self) -> Result<Vec<u8>, Failed> {
        Ok(Vec::new())
    }

    fn remember(&mut self, _: &[u8]) -> Result<(), Failed> {
        Ok(())
    }
}

impl ExternalSchedule for Admits {
    fn plane_to_collect(&mut self, _: DieId, _: u32) -> Result<Option<u32>, Failed> {
        Ok(None)
    }

    fn admitted(&mut self, _: &DieView) -> Result<Admitted, Failed> {
        Ok(self.0)
    }
}

#[test]
fn a_schedule_from_outside_says_whether_a_read_goes_before_the_erase() {
    let outside = ("ssd.gc.preemption", "{ type = \"python\", policy = \"outside\" }");
    // Page 3 is moved until 431 us; both collections end at 3651 us.
    for (admitted, begins) in [(Admitted::ALL, 431_000), (Admitted::NOTHING, 3_651_000)] {
        let mut toy = Toy::filled(&[outside], &BRINK);
        toy.ssd.supply_schedule(Box::new(Admits(admitted)));
        toy.write(0, 1, CALLS);
        toy.read(300_000, 2, 7);
        toy.assert_ends(2, begins + 31_000);
        toy.run();
    }
}

#[test]
fn a_block_is_lent_to_a_collection_only_if_the_host_has_none_open() {
    let shared = [("ssd.ftl.placement", "one_class"), ("ssd.gc.preemption", "semi_preemptive")];
    let mut ftl = Ftl::new(&config(&shared).resolve(), "ssd/0");
    let plane = PlaneId(0);
    let write = |ftl: &mut Ftl, lpn| {
        let page = HostPage::without_hint(Lpn(lpn));
        let may = ftl.accepts(plane, page);
        if may {
            ftl.write(plane, page, u64::from(lpn) + 1);
        }
        may
    };
    let moved = |ftl: &mut Ftl| {
        let page = ftl.lookup(Lpn(0)).expect("it has been written");
        ftl.relocate(page);
        ftl.space()[plane].lent
    };
    (0..6).for_each(|lpn| assert!(write(&mut ftl, lpn)));
    assert!(!moved(&mut ftl), "the host has opened the block that it goes to");
    // Page by page until the open block is full, and the last free one is left to collections.
    assert!((1..16).cycle().take(40).any(|lpn| !write(&mut ftl, lpn)));
    assert_eq!(ftl.space().free_blocks(plane), 1);
    assert!(moved(&mut ftl), "it opens one");
}
