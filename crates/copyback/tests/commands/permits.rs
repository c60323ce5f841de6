//! Collections that somebody asks a drive for, though no plane of it is short of space.

use copyback::collector::permit::{Asked, Until};
use copyback::ids::PlaneId;
use copyback::ssd::Part::{GcSamePlane, Service};

use crate::toy::Toy;

/// Of blocks 0, 1 and 2 only pages 3; 7; 2 and 4 are valid. Block 3 is full, block 4 is open for
/// everybody, and three are free, one more than the soft threshold. Five would be with all data in
/// as few blocks as can be.
const ABOVE: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 4, 5, 6, 0, 1];
const FREE: u32 = 3;
const RESERVE: u32 = 5;
const TIGHT: [(&str, &str); 2] =
    [("ssd.ftl.over_provisioning", "0.75"), ("ssd.ftl.placement", "\"one_class\"")];
/// Of a move by copyback and an erase.
const ONE_BLOCK: u64 = 220_000 + 1_500_000;
const ASKED_AT: u64 = 1_000;

const fn until_target(blocks: u32) -> Asked {
    Asked::until(Until::Target(blocks))
}

const ONCE_REGARDLESS: Asked = Asked { regardless: true, ..Asked::until(Until::Target(0)) };
const IN_IDLE_TIME: Asked = Asked::until(Until::ReserveFull);

fn above(changes: &[(&str, &str)]) -> Toy {
    let changes: Vec<_> = TIGHT.iter().chain(changes).copied().collect();
    let mut toy = Toy::filled(&changes, &ABOVE);
    toy.run_until(ASKED_AT);
    assert_eq!(free(&toy), FREE);
    assert_eq!(toy.log, Vec::<String>::new(), "nothing is short of space");
    toy
}

fn free(toy: &Toy) -> u32 {
    toy.ssd.backend().ftl.space().free_blocks(PlaneId(0)) as u32
}

/// Collections in all, those forced and those in idle time.
fn counts(toy: &Toy) -> (u64, u64, u64) {
    let counters = toy.ssd.counters();
    (counters.collections, counters.forced, counters.idle)
}

#[test]
fn a_plane_that_is_not_short_collects_until_it_has_the_target() {
    let mut toy = above(&[]);
    toy.ask(ASKED_AT, until_target(FREE + 1));
    assert!(toy.ssd.status().asked && toy.ssd.status().collecting);
    toy.run();
    assert_eq!(free(&toy), FREE + 1);
    let status = toy.ssd.status();
    assert!(!status.asked && !status.collecting);
    assert_eq!(toy.log, ["221000 die 0", "1721000 die 0"]);
    assert_eq!(counts(&toy), (1, 1, 0));
}

#[test]
fn a_plane_that_has_the_target_is_left_alone() {
    let mut toy = above(&[]);
    toy.ask(ASKED_AT, until_target(FREE));
    assert!(!toy.ssd.status().asked);
    toy.run();
    assert_eq!(counts(&toy), (0, 0, 0));
}

#[test]
fn regardless_of_the_target_one_block_is_collected() {
    let mut toy = above(&[]);
    toy.ask(ASKED_AT, ONCE_REGARDLESS);
    toy.run();
    assert_eq!(counts(&toy), (1, 1, 0));
    assert!(!toy.ssd.status().asked);
}

#[test]
fn nothing_is_asked_any_more_when_nothing_can_be_gained() {
    let mut toy = Toy::filled(&[], &[0, 1, 2, 3, 4, 5]);
    for asked in [until_target(8), ONCE_REGARDLESS, IN_IDLE_TIME] {
        toy.ask(ASKED_AT, asked);
        assert!(!toy.ssd.status().asked, "{asked:?}");
    }
    toy.run();
    assert_eq!(toy.log, Vec::<String>::new());
}

#[test]
fn idle_time_frees_the_whole_reserve() {
    let mut toy = above(&[]);
    toy.ask(ASKED_AT, IN_IDLE_TIME);
    toy.run();
    // Block 2 has invalid pages, but to move the others would free no block.
    assert_eq!((free(&toy), counts(&toy)), (RESERVE, (2, 0, 2)));
    assert!(!toy.ssd.status().asked);
}

#[test]
fn a_read_ends_idle_time_and_waits_for_what_has_begun() {
    let mut toy = above(&[]);
    toy.ask(ASKED_AT, IN_IDLE_TIME);
    toy.read(300_000, 1, 3);
    assert!(!toy.ssd.status().asked);
    toy.assert_ends(1, ASKED_AT + ONE_BLOCK + 31_000);
    toy.assert_parts(1, &[(GcSamePlane, ASKED_AT + ONE_BLOCK - 300_000), (Service, 31_000)]);
    toy.run();
    assert_eq!(counts(&toy), (1, 0, 1));
}

#[test]
fn a_drive_with_requests_is_not_idle() {
    let mut toy = above(&[]);
    toy.read(ASKED_AT, 1, 3);
    toy.ask(2_000, IN_IDLE_TIME);
    assert!(!toy.ssd.status().asked);
    toy.run();
    assert_eq!(counts(&toy), (0, 0, 0));
}

#[test]
fn what_was_forced_goes_on_when_requests_come() {
    let mut toy = above(&[]);
    toy.ask(ASKED_AT, until_target(FREE + 2));
    toy.read(300_000, 1, 3);
    // A die that collects serves nobody while it is due.
    toy.assert_ends(1, ASKED_AT + 2 * ONE_BLOCK + 31_000);
    toy.run();
    assert_eq!(counts(&toy), (2, 2, 0));
}

#[test]
fn semi_preemptive_collections_yield_whoever_asked() {
    let mut toy = above(&[("ssd.gc.preemption", "\"semi_preemptive\"")]);
    toy.ask(ASKED_AT, until_target(FREE + 2));
    toy.read(10_000, 1, 3);
    // The move that has begun ends first: a read and a write, with a look at the queue after each.
    toy.assert_ends(1, ASKED_AT + 20_600 + 200_600 + 31_000);
    assert_eq!(toy.ssd.counters().preemptions, 1);
    toy.run();
    assert_eq!(counts(&toy), (2, 2, 0));
}

#[test]
fn collections_that_are_no_longer_asked_for_end_after_the_block() {
    let mut toy = above(&[]);
    toy.ask(ASKED_AT, until_target(FREE + 2));
    toy.stop_asking(300_000);
    let status = toy.ssd.status();
    assert!(!status.asked && status.collecting);
    toy.run();
    assert_eq!(toy.log.last().map(String::as_str), Some("1721000 die 0"));
    assert_eq!((free(&toy), counts(&toy)), (FREE + 1, (1, 1, 0)));
}

#[test]
fn free_collections_can_be_asked_for_too() {
    let mut toy = above(&[("ssd.gc.zero_cost", "true")]);
    toy.ask(ASKED_AT, until_target(FREE + 1));
    assert_eq!((free(&toy), counts(&toy)), (FREE + 1, (1, 1, 0)));
    assert!(!toy.ssd.status().asked);
}

#[test]
fn planes_that_join_what_was_asked_for_count_as_joined() {
    let planes = [
        ("ssd.geometry.planes_per_die", "2"),
        ("ssd.commands.multi_plane", "true"),
        ("ssd.gc.width", "\"blind\""),
        ("ssd.ftl.over_provisioning", "0.6"),
    ];
    let pages: Vec<u32> = ABOVE[..14].iter().flat_map(|lpn| [2 * lpn, 2 * lpn + 1]).collect();
    let mut toy = Toy::filled(&planes, &pages);
    toy.ask(ASKED_AT, ONCE_REGARDLESS);
    toy.run();
    let counters = toy.ssd.counters();
    assert_eq!((counters.collections, counters.forced, counters.joined), (2, 1, 1));
    assert_eq!(counters.multi_plane_erases, 1);
}

#[test]
fn asking_again_replaces_what_was_asked() {
    let mut toy = above(&[]);
    toy.ask(ASKED_AT, until_target(FREE + 2));
    toy.ask(300_000, until_target(FREE + 1));
    toy.run();
    assert_eq!(counts(&toy), (1, 1, 0));
}

#[test]
fn the_status_tells_of_planes_that_fall_below_the_thresholds() {
    let mut toy = above(&[("array.protocol.register_margin", "{ blocks = 1 }")]);
    let status = toy.ssd.status();
    assert_eq!((status.below_register, status.crossings, status.free_blocks_min), (0, 0, FREE));
    // Four writes fill the open block, and another is opened.
    toy.writes(ASKED_AT, &[(1, 0), (2, 1), (3, 2), (4, 4)]);
    toy.run_until(900_000);
    let status = toy.ssd.status();
    assert_eq!((status.below_register, status.crossings, status.free_blocks_min), (1, 1, 2));
    assert_eq!((status.short, status.shortages), (0, 0));
    toy.ask(900_000, until_target(FREE));
    assert_eq!(toy.ssd.status().below_register, 1, "until a block has been collected");
    toy.run();
    let status = toy.ssd.status();
    assert_eq!((status.below_register, status.crossings, status.free_blocks_min), (0, 1, FREE));
}

#[test]
fn what_can_still_be_written_is_what_all_planes_can_take_alike() {
    // The first plane has a block less than the second, of whose pages fewer have been written.
    let planes = [TIGHT[0], TIGHT[1], ("ssd.geometry.planes_per_die", "2")];
    let summary = ("ssd.ftl.summary_page", "{ type = \"last_page\", transfer = \"16B\" }");
    for (changes, data_pages) in [(planes.to_vec(), 4), ([&planes[..], &[summary]].concat(), 3)] {
        let mut toy = Toy::filled(&changes, &[0, 2, 4, 6, 8, 1]);
        toy.ask(0, until_target(0));
        let free =
            [PlaneId(0), PlaneId(1)].map(|plane| toy.ssd.backend().ftl.space().free_blocks(plane));
        assert!(free[0] < free[1], "{free:?}");
        let least = free[0] as u64;
        // Of two planes, blocks above the two that must be free, in bytes.
        assert_eq!(toy.ssd.status().writable, 2 * (least - 2) * data_pages * 4096);
    }
}

#[test]
fn planes_that_are_counted_together_go_for_as_many_times_the_target() {
    // Three blocks are free on either plane of a die, of which nothing is short.
    let together = [("ssd.geometry.planes_per_die", "2"), ("ssd.gc.threshold_scope", "\"die\"")];
    let changes = [&TIGHT[..], &together].concat();
    let pages: Vec<u32> = ABOVE.iter().flat_map(|lpn| [2 * lpn, 2 * lpn + 1]).collect();
    for (target, collections) in [(FREE, 0), (FREE + 1, 2)] {
        let mut toy = Toy::filled(&changes, &pages);
        assert_eq!(free(&toy), FREE);
        toy.ask(ASKED_AT, until_target(target));
        toy.run();
        let free: usize = [0, 1]
            .map(|plane| toy.ssd.backend().ftl.space().free_blocks(PlaneId(plane)))
            .iter()
            .sum();
        assert_eq!(free as u32, 2 * target);
        assert_eq!(counts(&toy), (collections, collections, 0));
    }
}
