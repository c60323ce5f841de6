//! Idle time where logical pages are bound to blocks (Jung, Prabhakar, Kandemir, Middleware 2012): update
//! blocks that are replaced, merges that are owed, looked ahead to, or done in long idle periods. The toy
//! has four logical blocks of four pages, and sixteen blocks.

use copyback::backend::Merges;
use copyback::ids::{BlockId, Lpn, PlaneId};
use copyback::ssd::Announced;
use copyback::ssd::Part::{GcSamePlane, Service};

use crate::toy::{Toy, at};

const LOG_BLOCK: &str = "\"log_block\"";
/// Two superblocks of two logical blocks each, which may hold two blocks more.
const SUPERBLOCK: &str = "{ type = \"superblock\", data_blocks = 2, update_blocks = 2 }";
const DELAYED: &str = "\"delayed\"";
const ADVANCED: &str = "{ type = \"advanced\", long_idle = \"50ms\" }";
const LOAD: u64 = 20_000;
const PROGRAM: u64 = 200_000;
const COPY: u64 = LOAD + PROGRAM;
const ERASE: u64 = 1_500_000;
const WRITE: u64 = 211_000;
const READ: u64 = 31_000;
const NOW: u64 = 1_000;
/// The pages of a logical block, out of order.
const SHUFFLED: [u32; 4] = [1, 0, 2, 3];

/// The toy with every page written in order, then these.
fn drive(mapping: &str, idle: &str, others: &[(&str, &str)], rewritten: &[u32]) -> Toy {
    let mut changes = vec![
        ("ssd.geometry.blocks_per_plane", "16"),
        ("ssd.ftl.over_provisioning", "0.75"),
        ("ssd.ftl.mapping", mapping),
        ("ssd.gc.idle", idle),
    ];
    changes.extend(others);
    let pages: Vec<u32> = (0..16).chain(rewritten.iter().copied()).collect();
    Toy::filled(&changes, &pages)
}

/// Writes these pages at once. Returns when the last has ended, if nothing is in the way.
fn burst(toy: &mut Toy, ns: u64, pages: &[u32]) -> u64 {
    let writes: Vec<_> = (100..).zip(pages.iter().copied()).collect();
    toy.writes(ns, &writes);
    ns + pages.len() as u64 * WRITE
}

/// When the steps of the die have ended, from `start` on.
fn ends(start: u64, spans: &[u64]) -> Vec<u64> {
    let mut now = start;
    let mut end = |span: &u64| {
        now += span;
        now
    };
    spans.iter().map(&mut end).collect()
}

/// The steps of a merge of so many copies and erases.
fn steps(copies: usize, erases: usize) -> Vec<u64> {
    let copies = [LOAD, PROGRAM].repeat(copies);
    copies.into_iter().chain(vec![ERASE; erases]).collect()
}

fn die_after(toy: &Toy, ns: u64) -> Vec<u64> {
    let ended = |line: &String| line.strip_suffix(" die 0")?.parse().ok();
    toy.log.iter().filter_map(ended).filter(|end| *end > ns).collect()
}

fn free(toy: &Toy) -> usize {
    toy.ssd.backend().ftl.space().free_blocks(PlaneId(0))
}

fn block_of(toy: &Toy, lpn: u32) -> BlockId {
    toy.ssd
        .backend()
        .ftl
        .geometry()
        .block_of(toy.ssd.backend().ftl.lookup(Lpn(lpn)).expect("it holds data"))
}

fn merges(switch: u64, partial: u64, full: u64, compactions: u64) -> Merges {
    Merges { switch, partial, full, compactions, ..Merges::default() }
}

#[track_caller]
fn assert_work(toy: &Toy, expected: Merges, copies: u64, erases: u64) {
    let counters = toy.ssd.counters();
    assert_eq!(counters.merges, expected);
    assert_eq!((counters.pages_moved, counters.erases), (copies, erases));
}

/// Collections in all, looked ahead to, in long idle periods, and caught up.
fn counts(toy: &Toy) -> [u64; 4] {
    let counters = toy.ssd.counters();
    [counters.collections, counters.look_ahead, counters.compacted, counters.delayed]
}

fn writes(ns: u64, first: u32, pages: u32) -> Announced {
    Announced { arrival: at(ns), first: Lpn(first), pages, writes: true }
}

// Update block replacement and retroactive compaction.

#[test]
fn an_update_block_that_is_used_up_is_replaced_and_the_merge_caught_up() {
    let mut toy = drive(LOG_BLOCK, DELAYED, &[], &SHUFFLED);
    toy.write(0, 1, 2);
    toy.assert_ends(1, WRITE);
    toy.assert_parts(1, &[(Service, WRITE)]);
    toy.run();
    // Data block, update block and delay block into a fresh one.
    assert_eq!(die_after(&toy, WRITE), ends(WRITE, &steps(4, 3)));
    assert_work(&toy, merges(0, 0, 1, 0), 4, 3);
    assert_eq!((counts(&toy), toy.ssd.counters().put_off), ([1, 0, 0, 1], 1));
    assert_eq!(free(&toy), 12);
}

#[test]
fn however_many_blocks_were_replaced_a_merge_copies_each_page_once() {
    for replaced in 1..8_usize {
        let mut toy = drive(LOG_BLOCK, DELAYED, &[], &SHUFFLED);
        let pages: Vec<u32> = SHUFFLED.into_iter().cycle().take(4 * replaced - 3).collect();
        let last = burst(&mut toy, 0, &pages);
        toy.run();
        assert_eq!(toy.ended(100 + pages.len() as u32 - 1), Some(last), "{replaced} replaced");
        assert_eq!(die_after(&toy, last), ends(last, &steps(4, replaced + 2)));
        assert_work(&toy, merges(0, 0, 1, 0), 4, replaced as u64 + 2);
        assert_eq!((free(&toy), toy.ssd.counters().put_off), (12, 1));
    }
}

#[test]
fn a_delay_block_in_order_takes_the_rest_or_the_place_of_the_data_block() {
    for written in 1..=4_usize {
        let mut toy = drive(LOG_BLOCK, DELAYED, &[], &SHUFFLED);
        let last = burst(&mut toy, 0, &[0, 1, 2, 3][..written]);
        toy.run();
        assert_eq!(die_after(&toy, last), ends(last, &steps(4 - written, 2)));
        let expected = if written == 4 { merges(1, 0, 0, 0) } else { merges(0, 1, 0, 0) };
        assert_work(&toy, expected, 4 - written as u64, 2);
        assert_eq!(free(&toy), 12);
    }
}

#[test]
fn data_update_and_delay_block_are_read_where_the_newest_copy_lies() {
    let mut toy = drive(LOG_BLOCK, DELAYED, &[], &[1, 0, 1, 0]);
    burst(&mut toy, 0, &[1]);
    let blocks: Vec<BlockId> = (0..4).map(|lpn| block_of(&toy, lpn)).collect();
    assert_eq!(blocks[2], blocks[3], "the data block");
    assert!(blocks[0] != blocks[1] && blocks[0] != blocks[2] && blocks[1] != blocks[2]);
    // The audit compares versions.
    toy.reads(WRITE, &[(1, 0), (2, 1), (3, 2), (4, 3)]);
    toy.run();
    let merged: Vec<BlockId> = (0..4).map(|lpn| block_of(&toy, lpn)).collect();
    assert!(merged.iter().all(|block| *block == merged[0] && !blocks.contains(block)));
}

#[test]
fn debts_are_settled_oldest_first() {
    let mut toy = drive(LOG_BLOCK, DELAYED, &[], &[9, 8, 10, 11, 5, 4, 6, 7, 1, 0, 2, 3]);
    let last = burst(&mut toy, 0, &[4, 9, 0]);
    toy.run_until(last);
    let before = [0, 4, 8].map(|lpn| block_of(&toy, lpn));
    // The delay block of the second logical block is in order so far; then the third is merged in full.
    toy.run_until(last + 3 * COPY + 2 * ERASE);
    assert_work(&toy, merges(0, 1, 0, 0), 3, 2);
    toy.run_until(last + 7 * COPY + 5 * ERASE);
    assert_work(&toy, merges(0, 1, 1, 0), 7, 5);
    let now = [0, 4, 8].map(|lpn| block_of(&toy, lpn));
    assert_eq!([0, 1, 2].map(|place| before[place] != now[place]), [false, false, true]);
    toy.run();
    assert_work(&toy, merges(0, 2, 1, 0), 10, 7);
    assert_eq!(toy.ssd.counters().put_off, 3);
}

/// Of eight blocks four are data blocks and one is an update block. Two may replace it; one is kept.
#[test]
fn a_merge_is_on_demand_when_the_host_may_open_no_other_block() {
    let small = [("ssd.geometry.blocks_per_plane", "8"), ("ssd.ftl.over_provisioning", "0.5")];
    let mut toy = drive(LOG_BLOCK, DELAYED, &small, &SHUFFLED);
    burst(&mut toy, 0, &[1, 0, 2, 3, 1, 0, 2, 3]);
    toy.assert_ends(104, 5 * WRITE);
    // The fifth has opened the last block that the host may: data block and replaced ones are given
    // back for one, and the delay block, too.
    let work = 4 * COPY + 4 * ERASE;
    toy.assert_ends(105, 6 * WRITE + work);
    toy.run();
    let counters = toy.ssd.counters();
    assert_eq!(counters.collections - counters.idle, 1, "{counters:?}");
    assert_eq!(free(&toy), 3);
}

#[test]
fn without_delays_the_write_waits_for_the_merge() {
    let mut toy = drive(LOG_BLOCK, ADVANCED, &[], &SHUFFLED);
    toy.write(0, 1, 2);
    toy.assert_ends(1, 4 * COPY + 2 * ERASE + WRITE);
}

#[test]
fn a_superblock_gets_a_block_beyond_its_own_and_is_compacted_later() {
    // Two data blocks with three valid pages each, one update block without and one with two.
    let mut toy = drive(SUPERBLOCK, DELAYED, &[], &[0, 4, 0, 4, 0, 4, 0, 4]);
    toy.write(0, 1, 1);
    toy.assert_ends(1, WRITE);
    toy.run();
    let spans = [steps(2, 1), steps(3, 1), steps(0, 1), steps(2, 1)].concat();
    // The delay block is wholly valid so far: it stays, and takes the pages.
    assert_eq!(die_after(&toy, WRITE), ends(WRITE, &spans));
    assert_work(&toy, merges(0, 0, 0, 1), 7, 4);
    assert_eq!((counts(&toy), toy.ssd.counters().put_off), ([1, 0, 0, 1], 1));
    assert_eq!(free(&toy), 12);
}

// Interruptions.

/// A request that comes while a merge of several copies and erases is caught up.
fn interrupted(idle: &str, rewritten: &[u32], request: impl Fn(&mut Toy, u64), service: u64) {
    let spans = steps(4, 3);
    let mut begins = WRITE;
    for ended in ends(WRITE, &spans) {
        for arrives in [begins + 1, (begins + ended) / 2, ended - 1] {
            let mut toy = drive(LOG_BLOCK, idle, &[], rewritten);
            toy.write(0, 1, 2);
            toy.run_until(arrives - 1);
            request(&mut toy, arrives);
            toy.assert_ends(2, ended + service);
            toy.assert_parts(2, &[(GcSamePlane, ended - arrives), (Service, service)]);
            toy.run();
            assert_eq!(toy.ssd.counters().preemptions, 1);
            assert_eq!(counts(&toy)[3], 1);
        }
        begins = ended;
    }
}

#[test]
fn a_read_that_comes_during_any_step_of_a_merge_waits_for_that_step_only() {
    interrupted(DELAYED, &SHUFFLED, |toy, ns| toy.read(ns, 2, 13), READ);
    interrupted(DELAYED, &SHUFFLED, |toy, ns| toy.read(ns, 2, 3), READ);
}

#[test]
fn a_write_that_comes_during_any_step_of_a_merge_waits_for_that_step_only() {
    // To another logical block, and to each page of the one that is merged.
    for lpn in [13, 0, 1, 2, 3] {
        interrupted(DELAYED, &SHUFFLED, |toy, ns| toy.write(ns, 2, lpn), WRITE);
    }
}

#[test]
fn what_is_written_during_a_merge_is_not_copied_and_goes_to_the_next_update_block() {
    let mut toy = drive(LOG_BLOCK, DELAYED, &[], &SHUFFLED);
    toy.write(0, 1, 2);
    // Page 0 has been copied, page 1 has been read out.
    toy.write(WRITE + COPY + 1, 2, 1);
    toy.run();
    let resumed = WRITE + COPY + LOAD + WRITE;
    assert_eq!(toy.ended(2), Some(resumed));
    assert_eq!(die_after(&toy, resumed), ends(resumed, &steps(2, 3)));
    assert_work(&toy, merges(0, 0, 1, 0), 3, 3);
    let geometry = toy.ssd.backend().ftl.geometry();
    let place =
        |lpn| geometry.page_offset(toy.ssd.backend().ftl.lookup(Lpn(lpn)).expect("it holds data"));
    assert_eq!([0, 1, 2, 3].map(place), [0, 0, 2, 3]);
    assert_ne!(block_of(&toy, 1), block_of(&toy, 0));
    assert_eq!(free(&toy), 11, "four data blocks and an update block");
}

#[test]
fn a_merge_in_advance_is_interrupted_by_a_write_of_its_own_logical_block_too() {
    let mut toy = drive(LOG_BLOCK, ADVANCED, &[], &SHUFFLED);
    toy.announce(NOW, &[writes(NOW + 10_000_000, 2, 1)]);
    toy.write(NOW + 1, 1, 2);
    toy.assert_ends(1, NOW + LOAD + WRITE);
    toy.run();
    assert_work(&toy, merges(0, 0, 1, 0), 3, 2);
    assert_eq!(counts(&toy), [1, 1, 0, 0]);
}

#[test]
fn a_compaction_that_is_interrupted_leaves_the_superblock_a_fresh_block() {
    let spans = [steps(2, 1), steps(3, 1), steps(0, 1), steps(2, 1)].concat();
    let mut begins = WRITE;
    for ended in ends(WRITE, &spans) {
        for lpn in 0..8 {
            let mut toy = drive(SUPERBLOCK, DELAYED, &[], &[0, 4, 0, 4, 0, 4, 0, 4]);
            toy.write(0, 1, 1);
            toy.write(begins + 1, 2, lpn);
            toy.assert_ends(2, ended + WRITE);
            toy.run();
            assert!(toy.ssd.counters().pages_moved <= 7);
        }
        begins = ended;
    }
}

// Look-ahead.

/// What look-ahead begins at [`NOW`] if a command that writes `pages` from `first` on arrives after `gap`.
fn looked_ahead(toy: &mut Toy, gap: u64, (first, pages): (u32, u32)) -> u64 {
    toy.announce(NOW, &[writes(NOW + gap, first, pages)]);
    toy.run_until(NOW + gap);
    let counters = toy.ssd.counters();
    assert_eq!(counters.collections, counters.look_ahead);
    counters.look_ahead
}

#[test]
fn a_merge_is_looked_ahead_to_if_it_fits_and_not_if_it_is_a_nanosecond_too_long() {
    let cases = [
        // Used up out of order, and in order.
        (LOG_BLOCK, &SHUFFLED[..], (2, 1), 4, 2),
        (LOG_BLOCK, &[0, 1, 2, 3], (2, 1), 0, 1),
        // One page is left for two, in order so far; two for three, out of order.
        (LOG_BLOCK, &[0, 1, 2], (2, 2), 1, 1),
        (LOG_BLOCK, &[1, 0], (0, 3), 4, 2),
        (SUPERBLOCK, &[0, 4, 0, 4, 0, 4, 0, 4], (2, 1), 8, 4),
        // Two pages are left, and three come.
        (SUPERBLOCK, &[0, 4, 0, 4, 0, 4], (1, 3), 6, 3),
    ];
    for (mapping, rewritten, command, copies, erases) in cases {
        let merge = copies * COPY + erases * ERASE;
        let mut toy = drive(mapping, ADVANCED, &[], rewritten);
        assert_eq!(looked_ahead(&mut toy, merge, command), 1, "{rewritten:?}");
        assert_eq!(die_after(&toy, 0).last(), Some(&(NOW + merge)), "{rewritten:?}");
        let counters = toy.ssd.counters();
        assert_eq!((counters.pages_moved, counters.erases), (copies, erases), "{rewritten:?}");
        let mut toy = drive(mapping, ADVANCED, &[], rewritten);
        assert_eq!(looked_ahead(&mut toy, merge - 1, command), 0, "{rewritten:?}");
        assert_eq!(toy.log.len(), 0);
    }
}

#[test]
fn writes_that_find_room_in_their_group_call_for_nothing() {
    for (mapping, rewritten, command) in [
        (LOG_BLOCK, &[1, 0][..], (2, 2)),
        // There is no update block yet.
        (LOG_BLOCK, &[], (0, 4)),
        // Another block may be opened.
        (SUPERBLOCK, &[0, 4, 0, 4], (0, 4)),
        (SUPERBLOCK, &[0, 4, 0, 4, 0, 4], (0, 2)),
    ] {
        let mut toy = drive(mapping, ADVANCED, &[], rewritten);
        assert_eq!(looked_ahead(&mut toy, 20_000_000, command), 0, "{rewritten:?}");
        assert_eq!(toy.log.len(), 0);
    }
}

#[test]
fn as_many_merges_as_fit_and_one_that_does_not_makes_way_for_one_that_does() {
    let merge = 4 * COPY + 2 * ERASE;
    let both = [SHUFFLED, SHUFFLED.map(|lpn| lpn + 4)].concat();
    for (gap, expected) in [(2 * merge, 2), (2 * merge - 1, 1), (merge - 1, 0)] {
        let mut toy = drive(LOG_BLOCK, ADVANCED, &[], &both);
        // The last page of one logical block and the first of the next.
        assert_eq!(looked_ahead(&mut toy, gap, (3, 2)), expected, "a gap of {gap}");
    }
    let mut toy = drive(LOG_BLOCK, ADVANCED, &[], &[1, 0, 2, 3, 4, 5, 6, 7]);
    assert_eq!(looked_ahead(&mut toy, ERASE, (3, 2)), 1);
    assert_work(&toy, merges(1, 0, 0, 0), 0, 1);
}

#[test]
fn writes_that_open_more_blocks_than_are_left_call_for_an_eviction() {
    let small = [("ssd.geometry.blocks_per_plane", "8"), ("ssd.ftl.over_provisioning", "0.5")];
    // Three blocks are free, one more than the soft threshold; two logical blocks open one each.
    for (pages, expected) in [(4, 0), (5, 1), (8, 1)] {
        let mut toy = drive(LOG_BLOCK, ADVANCED, &small, &[0]);
        assert_eq!(looked_ahead(&mut toy, 20_000_000, (4, pages)), expected, "{pages} pages");
        assert_work(&toy, merges(0, expected, 0, 0), 3 * expected, expected);
    }
    let mut toy = drive(LOG_BLOCK, ADVANCED, &small, &[0]);
    assert_eq!(looked_ahead(&mut toy, 3 * COPY + ERASE - 1, (4, 5)), 0);
}

// Proactive compaction.

/// The first logical block is used up, the second has an update block with room: two blocks are free.
fn nearly_short(idle: &str) -> Toy {
    let small = [("ssd.geometry.blocks_per_plane", "8"), ("ssd.ftl.over_provisioning", "0.5")];
    drive(LOG_BLOCK, idle, &small, &[1, 0, 2, 3, 5])
}

fn long_idle(margin: u32) -> String {
    format!("{{ type = \"advanced\", long_idle = \"1ms\", margin = {{ blocks = {margin} }} }}")
}

#[test]
fn long_idle_periods_merge_what_is_used_up_below_the_threshold_only() {
    let mut toy = nearly_short(&long_idle(0));
    toy.announce(NOW, &[]);
    toy.run_until(100_000_000);
    assert_eq!((toy.log.len(), free(&toy)), (0, 2));
    for margin in [1, 9] {
        let mut toy = nearly_short(&long_idle(margin));
        toy.announce(NOW, &[]);
        toy.run();
        // The update block that has room stays, however few blocks are free.
        assert_eq!(die_after(&toy, 0), ends(1_000_001, &steps(4, 2)), "a margin of {margin}");
        assert_eq!((free(&toy), counts(&toy)), (3, [1, 0, 1, 0]));
    }
}

#[test]
fn groups_are_compacted_in_the_order_in_which_they_were_used_up() {
    let mut toy = drive(LOG_BLOCK, &long_idle(10), &[], &[]);
    let last = burst(&mut toy, 0, &[9, 8, 10, 11, 0, 1, 2, 3, 5, 4, 6, 7]);
    toy.run();
    // The second is switched, and would be the first by price.
    let spans = [steps(4, 2), steps(0, 1)].concat();
    assert_eq!(die_after(&toy, last), ends(last + 1_000_001, &spans));
    // All that over-provisioning reserves but an open block.
    assert_eq!((free(&toy), counts(&toy)), (11, [2, 0, 2, 0]));
}

#[test]
fn a_superblock_that_is_used_up_is_compacted_in_a_long_idle_period() {
    let small = [("ssd.geometry.blocks_per_plane", "8"), ("ssd.ftl.over_provisioning", "0.5")];
    let mut toy = drive(SUPERBLOCK, &long_idle(1), &small, &[0, 4, 0, 4, 0, 4, 0, 4]);
    toy.announce(NOW, &[]);
    toy.run();
    let spans = [steps(3, 1), steps(3, 1), steps(0, 1), steps(2, 1)].concat();
    assert_eq!(die_after(&toy, 0), ends(1_000_001, &spans));
    assert_work(&toy, merges(0, 0, 0, 1), 8, 4);
    assert_eq!((free(&toy), counts(&toy)), (4, [1, 0, 1, 0]));
}

#[test]
fn both_together_settle_debts_then_look_ahead_then_compact() {
    let idle = "{ type = \"advanced_delayed\", long_idle = \"20ms\", margin = { blocks = 11 } }";
    let rewritten = [0, 4, 8, 12].map(|first| SHUFFLED.map(|lpn| lpn + first)).concat();
    let mut toy = drive(LOG_BLOCK, idle, &[], &rewritten);
    toy.write(0, 1, 2);
    let debt = 4 * COPY + 3 * ERASE;
    let ahead = 4 * COPY + 2 * ERASE;
    toy.announce(WRITE, &[writes(WRITE + debt + ahead, 4, 1)]);
    toy.run_until(WRITE + debt);
    assert_eq!(counts(&toy), [1, 0, 0, 1]);
    toy.run_until(WRITE + debt + ahead);
    assert_eq!(counts(&toy), [2, 1, 0, 1]);
    toy.announce(WRITE + debt + ahead, &[]);
    toy.run();
    assert_eq!((free(&toy), counts(&toy)), (11, [3, 1, 1, 1]));
}
