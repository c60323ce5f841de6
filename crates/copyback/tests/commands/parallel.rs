//! Collections of both planes of a die (figures 5 and 6, and the cost equation, of Shahidi et al.,
//! SC 2016). A read takes 20 us, a program 200 us, an erase 1.5 ms.

use copyback::ids::{Lpn, PlaneId};

use crate::toy::Toy;

/// Pages 0 to 15 of each plane; then the first block of the second plane is punched.
fn fill(punched: &[u32]) -> Vec<u32> {
    // Block 0 of the first plane keeps its pages 1, 2 and 3. One more write calls for a collection.
    let first = (0..16).chain([0, 4, 8, 12, 0, 4, 8, 12, 0, 4, 8]).map(|page| 2 * page);
    let second = (0..16).chain(punched.iter().copied()).map(|page| 2 * page + 1);
    first.chain(second).collect()
}

/// The page whose write calls for a collection.
pub const CALLS: u32 = 24;

/// Two planes, of which one more write has both collected.
pub fn about_to_collect(width: &str, punched: &[u32], others: &[(&str, &str)]) -> Toy {
    let mut changes = vec![
        ("ssd.geometry.planes_per_die", "2"),
        ("ssd.gc.victim", "fifo"),
        ("ssd.gc.width", width),
        ("ssd.ftl.placement", "one_class"),
        ("ssd.geometry.blocks_per_plane", "9"),
        ("ssd.ftl.over_provisioning", "0.5555"),
    ];
    changes.extend(others);
    Toy::filled(&changes, &fill(punched))
}

/// The collection has begun at 211 us.
pub fn collecting(width: &str, punched: &[u32], others: &[(&str, &str)]) -> Toy {
    let mut toy = about_to_collect(width, punched, others);
    toy.write(0, 1, CALLS);
    toy.run_until(211_000);
    assert_eq!(toy.log, ["11000 channel 0", "211000 die 0"]);
    toy.log.clear();
    toy
}

fn moves(toy: &Toy) -> [u64; 5] {
    let moves = toy.ssd.counters().moves;
    [moves.together, moves.paired, moves.single_demanding, moves.single_other, moves.cached]
}

#[test]
fn a_serial_collection_leaves_the_other_plane_alone() {
    let mut toy = collecting("serial", &[1], &[]);
    toy.run_until(2_000_000);
    assert_eq!(moves(&toy), [0, 0, 3, 0, 0]);
    toy.run_until(2_371_000);
    let expected = ["431000 die 0", "651000 die 0", "871000 die 0", "2371000 die 0"];
    assert_eq!(toy.log, expected);
    assert_eq!(toy.ssd.counters().multi_plane_erases, 0);
}

/// K_a (t_R + t_W) + K_b (2 t_R + t_W) + K_c (t_R + t_W), then the erase.
fn cost_ns(aligned: u64, paired: u64, surplus: u64) -> u64 {
    aligned * 220_000 + paired * 240_000 + surplus * 220_000 + 1_500_000
}

#[test]
fn aligned_pages_first_then_pairs() {
    // Pages 1, 2 and 3 here, 0, 2 and 3 there.
    let mut toy = collecting("blind", &[1], &[]);
    let end = 211_000 + cost_ns(2, 1, 0);
    toy.run_until(end - 1);
    let moved = moves(&toy);
    toy.run_until(end);
    let expected = [
        "231000 die 0", // pages 2, read together
        "431000 die 0", // written together
        "451000 die 0", // pages 3
        "651000 die 0",
        "671000 die 0",  // page 1 here
        "691000 die 0",  // page 0 there
        "891000 die 0",  // written together
        "2391000 die 0", // both blocks erased
    ];
    assert_eq!(toy.log, expected);
    assert_eq!(moved, [4, 2, 0, 0, 0]);
    let counters = toy.ssd.counters();
    assert_eq!((counters.multi_plane_reads, counters.multi_plane_programs), (2, 3));
    assert_eq!((counters.multi_plane_erases, counters.erases), (1, 2));
}

#[test]
fn then_what_is_left_on_the_demanding_plane() {
    let mut toy = collecting("blind", &[0, 1, 2], &[]);
    let end = 211_000 + cost_ns(1, 0, 2);
    toy.run_until(end - 1);
    let moved = moves(&toy);
    toy.run_until(end);
    let expected = [
        "231000 die 0", // pages 3
        "431000 die 0",
        "451000 die 0", // page 1 here
        "651000 die 0",
        "671000 die 0", // page 2 here
        "871000 die 0",
        "2371000 die 0",
    ];
    assert_eq!(toy.log, expected);
    assert_eq!(moved, [2, 0, 2, 0, 0]);
}

#[test]
fn or_on_the_other() {
    // All four pages of the other plane's block are valid: it has lost none of them.
    let mut toy = collecting("blind", &[4, 5], &[]);
    let end = 211_000 + cost_ns(3, 0, 1);
    toy.run_until(end - 1);
    let moved = moves(&toy);
    toy.run_until(end);
    let expected = [
        "231000 die 0",
        "431000 die 0",
        "451000 die 0",
        "651000 die 0",
        "671000 die 0",
        "871000 die 0",
        "891000 die 0", // page 0 there
        "1091000 die 0",
        "2591000 die 0",
    ];
    assert_eq!(toy.log, expected);
    assert_eq!(moved, [6, 0, 0, 1, 0]);
}

#[test]
fn over_the_channel_each_page_crosses_twice() {
    let mut toy = collecting("blind", &[1], &[("ssd.gc.copyback", "false")]);
    toy.run_until(500_000);
    let expected = [
        "212000 channel 0", // one command
        "232000 die 0",
        "252000 channel 0", // two pages out
        "273000 channel 0", // one command and two pages in
        "473000 die 0",
        "474000 channel 0",
        "494000 die 0",
    ];
    assert_eq!(toy.log, expected);
}

#[test]
fn surplus_pages_wait_in_dram_until_the_die_is_idle() {
    let mut toy = collecting("{ type = \"blind\", cache = \"8KiB\" }", &[0, 1, 2], &[]);
    toy.run_until(1_992_999);
    let moved = moves(&toy);
    toy.run_until(1_993_000);
    let expected = [
        "231000 die 0",
        "431000 die 0",
        "432000 channel 0",
        "452000 die 0",
        "462000 channel 0", // page 1 is in DRAM
        "463000 channel 0",
        "483000 die 0",
        "493000 channel 0", // page 2
        "1993000 die 0",
    ];
    assert_eq!(toy.log, expected);
    assert_eq!(moved, [2, 0, 0, 0, 2]);
    toy.read(1_993_000, 2, 2);
    assert_eq!(toy.ended(2), Some(1_993_000), "page 1 of the first plane comes from DRAM");
    assert_eq!(toy.ssd.counters().cached_reads, 1);
    toy.run();
    assert_eq!(toy.ssd.backend().ftl.staged().len(), 0);
    let counters = toy.ssd.counters();
    assert_eq!(counters.programs - counters.host_programs, 2);
}

#[test]
fn what_the_dram_cannot_take_is_moved_alone() {
    let mut toy = collecting("{ type = \"blind\", cache = \"4KiB\" }", &[0, 1, 2], &[]);
    toy.run_until(2_000_000);
    assert_eq!(moves(&toy), [2, 0, 1, 0, 1]);
}

#[test]
fn a_plane_joins_below_the_threshold_only() {
    // The soft threshold is two free blocks, and the second plane has four.
    for (margin, joins) in [("{ blocks = 2 }", false), ("{ blocks = 3 }", true)] {
        let width = format!("{{ type = \"threshold\", margin = {margin} }}");
        let mut toy = collecting(&width, &[1], &[]);
        toy.run_until(2_391_000);
        assert_eq!(toy.ssd.counters().multi_plane_erases > 0, joins, "margin {margin}");
    }
}

/// The same on a die of `planes`, of which the first two are filled.
fn fill_two_of(planes: u32, punched: &[u32]) -> Vec<u32> {
    fill(punched).iter().map(|lpn| lpn / 2 * planes + lpn % 2).collect()
}

/// Three planes, of which the first two have been collected, so that the third is behind them.
fn out_of_step(width: &str) -> Toy {
    let changes = [
        ("ssd.geometry.planes_per_die", "3"),
        ("ssd.geometry.blocks_per_plane", "9"),
        ("ssd.ftl.over_provisioning", "0.5555"),
        ("ssd.ftl.placement", "one_class"),
        ("ssd.gc.victim", "fifo"),
        ("ssd.gc.width", width),
    ];
    let mut toy = Toy::filled(&changes, &fill_two_of(3, &[1]));
    toy.write(0, 1, CALLS / 2 * 3);
    toy.run();
    let [together, paired, ..] = moves(&toy);
    assert_eq!((together, paired), (4, 2), "the third plane holds nothing");
    let offsets =
        [0, 1, 2].map(|plane| toy.ssd.backend().ftl.space().next_aligned_offset(PlaneId(plane)));
    assert_eq!(offsets, [3, 3, 0]);
    toy
}

#[test]
fn planes_that_are_out_of_step_are_collected_page_by_page() {
    let mut toy = out_of_step("blind");
    let [together, paired, ..] = moves(&toy);
    // Now it has something to be collected, and joins the next collection of the first.
    for (request, page) in (2..).zip([0, 1, 2, 3, 0]) {
        toy.write(100_000_000, request, 3 * page + 2);
    }
    let joined = toy.ssd.counters().joined;
    for request in 10..20 {
        toy.write(u64::from(request) * 100_000_000, request, request % 4 * 12);
        toy.run();
    }
    assert!(toy.ssd.counters().joined > joined);
    assert_eq!(moves(&toy)[..2], [together, paired]);
}

#[test]
fn pages_of_planes_out_of_step_wait_in_dram() {
    let mut toy = out_of_step("{ type = \"blind\", cache = \"64KiB\" }");
    for (request, page) in (2..).zip([0, 1, 2, 3, 0]) {
        toy.write(100_000_000, request, 3 * page + 2);
    }
    let [joined, moved] = [toy.ssd.counters().joined, toy.ssd.counters().pages_moved];
    let alone = moves(&toy);
    toy.write(1_000_000_000, 10, 24);
    toy.run();
    let counters = toy.ssd.counters();
    assert_eq!(counters.joined, joined + 1, "the third plane is collected with another");
    assert_eq!((counters.pages_moved - moved, toy.ssd.backend().ftl.staged().len()), (6, 0));
    assert_eq!(
        moves(&toy),
        [alone[0], alone[1], alone[2], alone[3], 6],
        "all of them wait in DRAM"
    );
}

#[test]
fn groups_of_two_on_a_die_of_four_planes() {
    let four = [
        ("ssd.geometry.planes_per_die", "4"),
        ("ssd.geometry.blocks_per_plane", "9"),
        ("ssd.ftl.over_provisioning", "0.5555"),
        ("ssd.commands.planes_per_command", "2"),
        ("ssd.ftl.placement", "one_class"),
    ];
    let mut changes = vec![("ssd.gc.victim", "fifo"), ("ssd.gc.width", "blind")];
    changes.extend(four);
    let mut toy = Toy::filled(&changes, &fill_two_of(4, &[1]));
    toy.write(0, 1, 2 * CALLS);
    let end = 211_000 + cost_ns(2, 1, 0);
    toy.run_until(end - 1);
    let moved = moves(&toy);
    toy.run_until(end);
    assert_eq!(moved, [4, 2, 0, 0, 0], "planes 0 and 1 only: 2 and 3 are empty");
    assert_eq!(toy.ssd.counters().multi_plane_erases, 1);
}

#[test]
fn a_superblock_reads_and_writes_both_planes_at_once() {
    let changes = [("ssd.geometry.planes_per_die", "2"), ("ssd.gc.width", "superblock")];
    let mut toy = Toy::new(&changes);
    toy.write(0, 1, 0);
    toy.assert_ends(1, 1_000 + 2 * 10_000 + 200_000);
    let counters = toy.ssd.counters();
    assert_eq!((counters.programs, counters.multi_plane_programs), (2, 1));
}

#[test]
fn what_waits_in_dram_at_a_cut_is_read_back_with_the_mapping() {
    let cut_later = ("ssd.power.cuts", "{ type = 'at', times = ['1h'] }");
    // The mapping has 32 entries of 4 bytes, which are a page; a page takes 31 us. The erase is under way, and is finished.
    for (cache, pages) in [("8KiB", 3), ("4KiB", 2)] {
        let width = format!("{{ type = \"blind\", cache = \"{cache}\" }}");
        let mut toy = collecting(&width, &[0, 1, 2], &[cut_later]);
        let cut = toy.cut_power(1_000_000);
        assert_eq!((cut.time.pages_read, cut.time.time.as_ns()), (pages, pages * 31_000));
        assert!((0..16).all(|page| toy.ssd.backend().ftl.has_data(Lpn(2 * page))));
    }
}
