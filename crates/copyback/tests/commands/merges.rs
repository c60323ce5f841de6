//! Merges of logical blocks that have blocks of their own: which pages are copied, which blocks are
//! erased, and when. The toy has four logical blocks of four pages; a page is copied inside its plane in
//! 220 us, and a block is erased in 1500 us.

use copyback::backend::Merges;
use copyback::ssd::Part::{GcSamePlane, Service};

use crate::toy::{Toy, at};

const LOG_BLOCK: (&str, &str) = ("ssd.ftl.mapping", "log_block");
/// Two superblocks of two logical blocks each, which may hold two blocks more.
const SUPERBLOCK: (&str, &str) =
    ("ssd.ftl.mapping", "{ type = \"superblock\", data_blocks = 2, update_blocks = 2 }");
const COPY: u64 = 220_000;
const ERASE: u64 = 1_500_000;
const WRITE: u64 = 211_000;

/// The toy with every page written in order, then these.
fn after(changes: &[(&str, &str)], rewritten: &[u32]) -> Toy {
    let pages: Vec<u32> = (0..16).chain(rewritten.iter().copied()).collect();
    Toy::filled(changes, &pages)
}

fn dies(toy: &Toy) -> Vec<String> {
    toy.log.iter().filter(|line| line.contains("die")).cloned().collect()
}

/// The ends of operations of the die, one after the other from `start` on.
fn ends(start: u64, spans: &[u64]) -> Vec<String> {
    let mut now = start;
    let mut end = |span: &u64| {
        now += span;
        format!("{now} die 0")
    };
    spans.iter().map(&mut end).collect()
}

fn assert_work(toy: &Toy, merges: Merges, copies: u64, erases: u64) {
    let counters = toy.ssd.counters();
    assert_eq!(counters.merges, merges);
    assert_eq!((counters.pages_moved, counters.erases), (copies, erases));
}

#[test]
fn blocks_written_in_order_are_data_blocks_without_any_merge() {
    let mut toy = Toy::new(&[LOG_BLOCK]);
    for lpn in 0..16 {
        toy.write(u64::from(lpn) * 300_000, lpn, lpn);
    }
    toy.run();
    assert_eq!(toy.ended(15), Some(15 * 300_000 + WRITE));
    assert_work(&toy, Merges::default(), 0, 0);
    assert_eq!(toy.ssd.backend().ftl.space().free_blocks_by_plane().sum::<usize>(), 4);
}

#[test]
fn an_update_block_filled_in_order_is_switched_when_the_next_write_comes() {
    let mut toy = after(&[LOG_BLOCK], &[0, 1, 2, 3]);
    toy.run_until(1_000);
    assert_eq!(toy.log.len(), 0, "not before it is needed");
    toy.write(1_000, 1, 2);
    toy.assert_ends(1, 1_000 + ERASE + WRITE);
    toy.assert_parts(1, &[(GcSamePlane, ERASE), (Service, WRITE)]);
    assert_eq!(toy.log, ["1501000 die 0", "1512000 channel 0", "1712000 die 0"]);
    assert_work(&toy, Merges { switch: 1, ..Merges::default() }, 0, 1);
    assert_eq!(toy.ssd.backend().observer.collecting_until(at(2_000_000)).as_ns(), ERASE.into());
}

/// Writes of three logical blocks leave one block free: the first of them is merged.
#[test]
fn an_update_block_in_order_so_far_is_merged_in_part() {
    for written in 1..4_u32 {
        let pages: Vec<u32> = (0..written).chain([4]).collect();
        let mut toy = after(&[LOG_BLOCK, ("ssd.gc.victim", "fifo")], &pages);
        toy.write(0, 1, 8);
        toy.assert_ends(1, WRITE);
        toy.run();
        let rest = (4 - written) as usize;
        let spans: Vec<u64> = [WRITE].into_iter().chain(vec![COPY; rest]).chain([ERASE]).collect();
        assert_eq!(dies(&toy), ends(0, &spans), "{written} pages written");
        assert_work(&toy, Merges { partial: 1, ..Merges::default() }, rest as u64, 1);
    }
}

#[test]
fn an_update_block_out_of_order_is_merged_in_full() {
    let mut toy = after(&[LOG_BLOCK, ("ssd.gc.victim", "fifo")], &[1, 4]);
    toy.write(0, 1, 8);
    toy.run();
    let spans = [WRITE, COPY, COPY, COPY, COPY, ERASE, ERASE];
    assert_eq!(dies(&toy), ends(0, &spans));
    assert_work(&toy, Merges { full: 1, ..Merges::default() }, 4, 2);
}

#[test]
fn a_full_update_block_out_of_order_is_merged_in_full_before_the_next_write() {
    let mut toy = after(&[LOG_BLOCK], &[1, 0, 2, 3]);
    toy.write(0, 1, 2);
    toy.assert_ends(1, 4 * COPY + 2 * ERASE + WRITE);
    toy.assert_parts(1, &[(GcSamePlane, 4 * COPY + 2 * ERASE), (Service, WRITE)]);
    assert_work(&toy, Merges { full: 1, ..Merges::default() }, 4, 2);
}

#[test]
fn over_the_channel_each_page_of_a_merge_is_read_and_programmed() {
    let mut toy = after(&[LOG_BLOCK, ("ssd.gc.copyback", "false")], &[0, 1, 2, 4]);
    toy.write(0, 1, 8);
    toy.run();
    let expected = [
        "11000 channel 0",
        "211000 die 0",
        "212000 channel 0", // the command that reads page 3
        "232000 die 0",
        "242000 channel 0", // its data come out
        "253000 channel 0", // and go in, to the last page of the update block
        "453000 die 0",
        "1953000 die 0", // the data block
    ];
    assert_eq!(toy.log, expected);
    assert_work(&toy, Merges { partial: 1, ..Merges::default() }, 1, 1);
}

#[test]
fn greedy_merges_what_copies_least_and_fifo_what_was_opened_first() {
    // The first logical block would be merged in full, the second in part with one page to copy.
    for (victim, copies, erases) in [("greedy", 1, 1), ("fifo", 4, 2)] {
        let mut toy = after(&[LOG_BLOCK, ("ssd.gc.victim", victim)], &[1, 4, 5, 6]);
        toy.write(0, 1, 8);
        toy.run();
        let counters = toy.ssd.counters();
        assert_eq!((counters.pages_moved, counters.erases), (copies, erases), "{victim}");
    }
}

#[test]
fn a_logical_block_without_data_block_is_merged_from_its_update_block_alone() {
    let mut toy = Toy::filled(&[LOG_BLOCK], &[3, 1, 1, 3]);
    toy.write(0, 1, 0);
    let copies = 2;
    toy.assert_ends(1, copies * COPY + ERASE + WRITE);
    assert_work(&toy, Merges { full: 1, ..Merges::default() }, copies, 1);
}

#[test]
fn pages_that_hold_no_data_are_not_copied_and_their_places_stay_empty() {
    let mut toy = after(&[LOG_BLOCK], &[1, 0, 3, 0]);
    toy.trim(0, 2);
    toy.write(0, 1, 0);
    let copies = 3;
    toy.assert_ends(1, copies * COPY + 2 * ERASE + WRITE);
    assert_work(&toy, Merges { full: 1, ..Merges::default() }, copies, 2);
    // Page 3 lies at its place in the new data block, behind the empty one.
    let geometry = toy.ssd.backend().ftl.geometry();
    let page = toy.ssd.backend().ftl.lookup(copyback::ids::Lpn(3)).expect("it holds data");
    assert_eq!(geometry.page_offset(page), 3);
    toy.run();
}

#[test]
fn a_logical_block_that_has_been_trimmed_is_erased_and_nothing_copied() {
    let mut toy = after(&[LOG_BLOCK], &[1, 0, 4]);
    for lpn in 0..4 {
        toy.trim(0, lpn);
    }
    toy.write(0, 1, 8);
    toy.run();
    assert_eq!(dies(&toy), ends(0, &[WRITE, ERASE, ERASE]));
    assert_work(&toy, Merges { full: 1, ..Merges::default() }, 0, 2);
}

#[test]
fn a_merge_that_yields_keeps_its_own_logical_block_and_lets_others_go() {
    let semi = ("ssd.gc.preemption", "{ type = \"semi_preemptive\", poll = \"0s\" }");
    let mut toy = after(&[LOG_BLOCK, semi], &[1, 0, 2, 3]);
    // The merge has begun when the others come: a read of the die, and a write of another block.
    toy.write(0, 1, 2);
    toy.read(10_000, 2, 12);
    toy.write(10_000, 3, 4);
    // The first copy is read in 20 us, then written.
    toy.assert_ends(2, 20_000 + 200_000 + 31_000);
    toy.run();
    let ended = |request| toy.ended(request).expect("it has ended");
    // Writes of a plane keep their order: the one that waits for the merge holds back the next.
    assert_eq!(ended(1), 4 * COPY + 31_000 + 2 * ERASE + WRITE);
    assert_eq!(ended(3), ended(1) + WRITE);
    assert!(toy.ssd.counters().preemptions > 0);
}

#[test]
fn merges_at_no_cost_do_the_same_work() {
    let mut toy = after(&[LOG_BLOCK, ("ssd.gc.zero_cost", "true")], &[1, 0, 2, 3]);
    toy.write(0, 1, 2);
    toy.assert_ends(1, WRITE);
    assert_work(&toy, Merges { full: 1, ..Merges::default() }, 4, 2);
}

#[test]
fn wear_is_levelled_by_merging_the_least_worn_block() {
    // Pages 8 to 15 lie still in two data blocks while the others wear out.
    let hot: Vec<u32> = (0..64).map(|write| write % 8).collect();
    let mut toy = after(&[LOG_BLOCK, ("ssd.wear.static_threshold", "1")], &hot);
    toy.writes(0, &[(1, 0), (2, 1), (3, 2), (4, 3), (5, 0)]);
    toy.run();
    let counters = toy.ssd.counters();
    assert_eq!(counters.levelling_runs, 2);
    assert_eq!(counters.merges.full, 2, "the two cold blocks are copied whole");
    assert_eq!(counters.pages_moved, 8);
}

#[test]
fn a_superblock_is_compacted_when_it_may_open_no_more_blocks() {
    // Both data blocks have lost a page; of the update blocks, one holds nothing and one two pages.
    let mut toy = after(&[SUPERBLOCK], &[0, 4, 0, 4, 0, 4, 0, 4]);
    toy.run_until(0);
    assert_eq!(toy.log.len(), 0, "not before it is needed");
    toy.write(0, 1, 1);
    let spans = [
        COPY, COPY, COPY, ERASE, // pages 1, 2 and 3 and their block
        COPY, COPY, COPY, ERASE, // 5, 6 and 7
        ERASE, // the first update block
        COPY, COPY, ERASE, // 0 and 4
    ];
    let all = spans.iter().sum::<u64>();
    toy.assert_ends(1, all + WRITE);
    toy.assert_parts(1, &[(GcSamePlane, all), (Service, WRITE)]);
    assert_eq!(dies(&toy)[..12], ends(0, &spans));
    assert_work(&toy, Merges { compactions: 1, ..Merges::default() }, 8, 4);
}

#[test]
fn a_block_that_is_wholly_valid_stays_out_of_a_compaction() {
    let mut toy = after(&[SUPERBLOCK], &[0, 1, 0, 1, 0, 1, 0, 1]);
    toy.write(0, 1, 2);
    // Pages 2 and 3 of the first data block, and 0 and 1 of the last update block.
    let work = 4 * COPY + 3 * ERASE;
    toy.assert_ends(1, work + WRITE);
    assert_work(&toy, Merges { compactions: 1, ..Merges::default() }, 4, 3);
}

#[test]
fn a_superblock_fills_the_block_that_a_compaction_has_left_open() {
    let mut toy = after(&[SUPERBLOCK], &[0, 0, 0, 0, 0, 0, 0, 0]);
    toy.trim(0, 1);
    toy.write(0, 1, 0);
    // Pages 2 and 3 and the last page 0: one place is left, for the write.
    toy.assert_ends(1, 3 * COPY + 3 * ERASE + WRITE);
    assert_eq!(toy.ssd.backend().ftl.space().free_blocks_by_plane().sum::<usize>(), 4);
    toy.run();
}

#[test]
fn the_superblock_that_moves_least_for_a_block_is_compacted_when_free_blocks_run_short() {
    // The second superblock would move four pages for one block.
    let mut toy = after(&[SUPERBLOCK], &[12, 13, 12, 0, 1, 2, 3]);
    toy.write(0, 1, 0);
    toy.run();
    // The first has a block that is empty, and one that has just lost page 0: three for two.
    assert_eq!(dies(&toy), ends(0, &[WRITE, ERASE, COPY, COPY, COPY, ERASE]));
    assert_work(&toy, Merges { compactions: 1, ..Merges::default() }, 3, 2);
}
