//! Logical blocks with a buffer for writes that would need a merge first: what goes there, and what is
//! cleaned when. A logical block of four pages with d valid ones in the buffer or elsewhere is cleaned by
//! d copies and the erase of the blocks that it has.

use copyback::backend::Merges;
use copyback::ftl::BufferTally;
use copyback::ssd::Part::{GcSamePlane, Service};

use crate::toy::Toy;

const COPY: u64 = 220_000;
const ERASE: u64 = 1_500_000;
const WRITE: u64 = 211_000;
/// One step between two writes.
const PARTIAL: (&str, &str) = ("ssd.gc.preemption", "partial");

/// The toy with so many blocks more, all of them a buffer, and these pages written.
fn toy(buffer: u32, others: &[(&str, &str)], pages: &[u32]) -> Toy {
    let mapping = format!("{{ type = \"buffered_log_block\", buffer = {{ blocks = {buffer} }} }}");
    let blocks = 8 + buffer;
    let over_provisioning = (1.0 - 4.0 / f64::from(blocks)).to_string();
    let blocks = blocks.to_string();
    let mut changes = vec![
        ("ssd.ftl.mapping", &*mapping),
        ("ssd.geometry.blocks_per_plane", &*blocks),
        ("ssd.ftl.over_provisioning", &*over_provisioning),
    ];
    changes.extend(others);
    Toy::filled(&changes, pages)
}

/// The same with every page written in order, then these.
fn after(buffer: u32, others: &[(&str, &str)], rewritten: &[u32]) -> Toy {
    let pages: Vec<u32> = (0..16).chain(rewritten.iter().copied()).collect();
    toy(buffer, others, &pages)
}

/// What the die has done, by what it took: a write's page crosses the channel first.
fn operations(toy: &Toy) -> String {
    let mut before = 0;
    let ends = toy.log.iter().filter_map(|line| line.strip_suffix(" die 0"));
    let spans = ends.map(|ns| {
        let ns: u64 = ns.parse().expect("a time");
        let span = ns - std::mem::replace(&mut before, ns);
        match span {
            WRITE => 'W',
            COPY => 'C',
            ERASE => 'E',
            _ => panic!("nothing takes {span} ns: {:?}", toy.log),
        }
    });
    spans.collect()
}

fn assert_work(toy: &Toy, merges: Merges, copies: u64, erases: u64) {
    let counters = toy.ssd.counters();
    assert_eq!(counters.merges, merges);
    assert_eq!((counters.pages_moved, counters.erases), (copies, erases));
}

fn assert_tally(toy: &Toy, writes: u64, full: u64, most_blocks: u64) {
    assert_eq!(toy.ssd.counters().nv_buffer, BufferTally { writes, full, most_blocks });
}

fn assert_stalled(toy: &Toy, ns: u64) {
    assert_eq!(toy.ssd.counters().stalled.as_ns(), ns.into());
}

#[test]
fn a_write_that_would_need_a_merge_is_taken_at_once_and_the_merge_follows() {
    let mut toy = after(2, &[], &[1, 0, 2, 3]);
    toy.write(0, 1, 2);
    toy.assert_ends(1, WRITE);
    toy.assert_parts(1, &[(Service, WRITE)]);
    toy.run();
    assert_eq!(operations(&toy), "WCCCCEE");
    assert_work(&toy, Merges { cleanings: 1, ..Merges::default() }, 4, 2);
    assert_tally(&toy, 1, 0, 1);
}

#[test]
fn so_is_one_that_would_need_a_switch_and_the_order_is_lost() {
    let mut toy = after(2, &[], &[0, 1, 2, 3]);
    toy.write(0, 1, 2);
    toy.run();
    assert_eq!(operations(&toy), "WCCCCEE");
    assert_work(&toy, Merges { cleanings: 1, ..Merges::default() }, 4, 2);
}

#[test]
fn a_write_that_finds_room_in_its_update_block_leaves_the_buffer_alone() {
    let mut toy = after(2, &[], &[1]);
    toy.write(0, 1, 2);
    toy.run();
    assert_eq!(operations(&toy), "W");
    assert_tally(&toy, 0, 0, 0);
}

#[test]
fn what_is_written_during_a_merge_is_taken_along_if_its_turn_is_still_to_come() {
    let mut toy = after(2, &[PARTIAL], &[1, 0, 2, 3]);
    toy.write(0, 1, 2);
    // Page 0 has been copied when these come, page 3 has not.
    toy.writes(WRITE + 1, &[(2, 0), (3, 3)]);
    toy.run();
    assert_eq!(operations(&toy), "WCWCWCCEE");
    assert_work(&toy, Merges { cleanings: 1, ..Merges::default() }, 4, 2);
    assert_tally(&toy, 3, 0, 1);
}

#[test]
fn what_was_not_leaves_the_buffer_when_that_is_used_up() {
    let mut toy = after(1, &[PARTIAL], &[1, 0, 2, 3]);
    toy.write(0, 1, 2);
    toy.writes(WRITE + 1, &[(2, 0), (3, 3)]);
    toy.run();
    // Page 0 again: the logical block has its data block only.
    assert_eq!(operations(&toy), "WCWCWCCEECCCCE");
    assert_work(&toy, Merges { cleanings: 2, ..Merges::default() }, 8, 3);
}

#[test]
fn a_write_without_a_free_block_for_an_update_block_goes_to_the_buffer() {
    let mut toy = after(2, &[PARTIAL], &[]);
    toy.writes(0, &[(1, 1), (2, 5), (3, 9), (4, 13)]);
    toy.run();
    // The third write leaves one block free, which the merge of the first logical block takes. The fourth
    // logical block needs no merge for its own sake.
    assert_eq!(operations(&toy), "WWWCWCCCEE");
    assert_work(&toy, Merges { full: 1, ..Merges::default() }, 4, 2);
    assert_tally(&toy, 1, 0, 1);
}

#[test]
fn a_logical_block_that_has_no_block_gets_one() {
    let fewer =
        [PARTIAL, ("ssd.geometry.blocks_per_plane", "8"), ("ssd.ftl.over_provisioning", "0.5")];
    let pages: Vec<u32> = (0..12).collect();
    let mut toy = toy(1, &fewer, &pages);
    toy.writes(0, &[(1, 1), (2, 5), (3, 9), (4, 13)]);
    toy.run();
    // Its page is copied and nothing erased. That leaves one block free, so another is merged.
    assert_eq!(operations(&toy), "WWWCWCCCEECCCCCEE");
    assert_work(&toy, Merges { full: 2, cleanings: 1, ..Merges::default() }, 9, 4);
}

#[test]
fn a_block_of_the_buffer_is_erased_when_it_is_full_and_nothing_in_it_is_valid() {
    let mut toy = after(1, &[PARTIAL], &[1, 0, 2, 3]);
    toy.writes(0, &[(1, 0), (2, 1), (3, 2), (4, 3), (5, 0), (6, 1)]);
    toy.run();
    // The fifth write finds the buffer full: the merge is finished, and gives the logical block room for
    // an update block. The erase is a step between the fifth and the sixth.
    assert_eq!(operations(&toy), "WCWCWCWCEEWEW");
    assert_work(&toy, Merges { cleanings: 1, buffer_erases: 1, ..Merges::default() }, 4, 3);
    assert_tally(&toy, 4, 1, 1);
    assert_stalled(&toy, WRITE + COPY + 2 * ERASE);
}

#[test]
fn a_full_buffer_keeps_a_write_until_the_logical_block_of_the_oldest_page_is_merged() {
    let mut toy = after(1, &[PARTIAL], &[1, 0, 2, 3, 5, 4, 6, 7]);
    toy.writes(0, &[(1, 0), (2, 4), (3, 5), (4, 6), (5, 7)]);
    toy.run();
    // The first logical block, whose merge is under way, and then the second.
    assert_eq!(operations(&toy), "WCWCWCWCEECCCCEEWE");
    assert_work(&toy, Merges { cleanings: 2, buffer_erases: 1, ..Merges::default() }, 8, 5);
    assert_tally(&toy, 4, 1, 1);
    let stalled = WRITE + COPY + 2 * ERASE + 4 * COPY + 2 * ERASE;
    assert_stalled(&toy, stalled);
    let copies = 3 * COPY;
    assert_eq!(toy.ended(5), Some(3 * WRITE + copies + stalled + WRITE));
}

#[test]
fn without_preemption_the_next_write_waits_for_the_whole_merge() {
    let mut toy = after(2, &[], &[1, 0, 2, 3]);
    toy.writes(0, &[(1, 2), (2, 12)]);
    toy.assert_ends(1, WRITE);
    toy.assert_ends(2, WRITE + 4 * COPY + 2 * ERASE + WRITE);
}

#[test]
fn a_write_waits_for_one_step_however_long_the_merge_is() {
    let mut toy = after(2, &[PARTIAL], &[1, 0, 2, 3]);
    toy.write(0, 1, 2);
    toy.write(WRITE + COPY / 2, 2, 12);
    toy.assert_ends(2, WRITE + COPY + WRITE);
    toy.assert_parts(2, &[(GcSamePlane, COPY / 2), (Service, WRITE)]);
}

#[test]
fn merges_at_no_cost_do_the_same_work() {
    let mut toy = after(2, &[("ssd.gc.zero_cost", "true")], &[1, 0, 2, 3]);
    toy.write(0, 1, 2);
    toy.assert_ends(1, WRITE);
    assert_work(&toy, Merges { cleanings: 1, ..Merges::default() }, 4, 2);
}

#[test]
fn trimmed_pages_leave_the_buffer() {
    let mut toy = after(2, &[PARTIAL], &[1, 0, 2, 3]);
    toy.write(0, 1, 2);
    for lpn in 0..4 {
        toy.trim(WRITE + 1, lpn);
    }
    toy.run();
    // The first copy has begun already.
    assert_eq!(operations(&toy), "WCEE");
    assert_work(&toy, Merges { cleanings: 1, ..Merges::default() }, 1, 2);
}
