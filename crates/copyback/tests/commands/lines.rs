//! Lines over all dies: opened, filled, collected and freed together.

use copyback::ids::{BlockId, Lpn, PlaneId};
use copyback::ssd::Part::{GcSamePlane, Service};

use crate::toy::Toy;

/// Two dies on one channel, in lines of two blocks with four pages each. Of the eight lines three hold all pages.
const TWO_DIES: [(&str, &str); 7] = [
    ("ssd.geometry.dies_per_chip", "2"),
    ("ssd.ftl.over_provisioning", "0.625"),
    ("ssd.ftl.allocation", "\"dynamic\""),
    ("ssd.ftl.placement", "\"one_class\""),
    ("ssd.gc.unit", "\"line\""),
    ("ssd.gc.victim", "\"fifo\""),
    ("ssd.gc.preemption", "\"none\""),
];

/// Time from one write to the next.
const LONG: u64 = 10_000_000;
/// What is written again: of line 0 pages 3 to 7 stay valid, of which 4 and 6 lie on die 0.
const AGAIN: [u32; 8] = [0, 1, 2, 8, 9, 16, 17, 18];

/// A drive that `writes` have been written to, one after the other: they go to the dies in turn.
fn written(changes: &[(&str, &str)], writes: impl Iterator<Item = u32>) -> (Toy, u64) {
    let mut toy = Toy::new(&[&TWO_DIES[..], changes].concat());
    let mut ns = 0;
    for (request, lpn) in writes.enumerate() {
        toy.write(ns, request as u32, lpn);
        ns += LONG;
    }
    (toy, ns)
}

/// All pages have been written once, some of them twice more and six of these a third time: lines 0 to 4 are full, line 5
/// has one page left on each die, and lines 6 and 7 are free. Line 0 was filled first.
fn brink(changes: &[(&str, &str)]) -> (Toy, u64) {
    written(changes, (0..24).chain(AGAIN).chain(AGAIN).chain(AGAIN.into_iter().take(6)))
}

fn free(toy: &Toy) -> [usize; 2] {
    [0, 1].map(|plane| toy.ssd.backend().ftl.space().free_blocks(PlaneId(plane)))
}

/// The block and the offset that a page lies at.
fn place(toy: &Toy, lpn: u32) -> Option<(u32, u32)> {
    let ftl = &toy.ssd.backend().ftl;
    let page = ftl.lookup(Lpn(lpn))?;
    Some((ftl.geometry().block_of(page).0, ftl.geometry().page_offset(page)))
}

#[test]
fn blocks_of_a_line_are_opened_and_freed_together_and_each_die_moves_its_own_pages() {
    let (mut toy, ns) = brink(&[]);
    assert_eq!((free(&toy), toy.ssd.counters().collections), ([2, 2], 0));
    toy.run_until(ns - 1);
    toy.log.clear();
    // It fills the block of line 5 on die 0, which opens line 6 on both: one is left, and two are wanted.
    toy.write(ns, 100, 17);
    assert_eq!(free(&toy), [1, 1]);
    toy.run_until(ns + LONG);
    let expected = [
        (11, "channel 0"),
        (211, "die 0"),  // the write
        (220, "die 1"),  // page 3 of line 0, to the last page of line 5 there
        (431, "die 0"),  // page 4, to line 6
        (440, "die 1"),  // page 5, to line 6
        (651, "die 0"),  // page 6
        (660, "die 1"),  // page 7
        (2151, "die 0"), // each erases its block
        (2160, "die 1"),
    ];
    let expected = expected.map(|(us, what)| format!("{} {what}", ns + us * 1000));
    assert_eq!(toy.log, expected);
    assert_eq!([4, 6].map(|lpn| place(&toy, lpn)), [(6, 0), (6, 1)].map(Some));
    assert_eq!([3, 5, 7].map(|lpn| place(&toy, lpn)), [(13, 3), (14, 0), (14, 1)].map(Some));
    let erased = |block| toy.ssd.backend().ftl.blocks().erase_count(BlockId(block));
    assert_eq!((0..16).map(erased).sum::<u32>(), 2);
    assert_eq!([0, 8].map(erased), [1, 1]);
    assert_eq!(free(&toy), [2, 2]);
    let tally = toy.ssd.backend().ftl.lines().expect("it has lines").tally();
    assert_eq!((tally.victims, tally.valid_pages, tally.victim_pages, tally.freed), (1, 5, 8, 1));
    toy.run();
}

#[test]
fn a_line_is_not_free_until_the_last_die_has_erased_its_block() {
    let (mut toy, ns) = brink(&[]);
    toy.write(ns, 100, 17);
    toy.run_until(ns + 2_159_999);
    assert_eq!(free(&toy), [1, 1]);
    toy.run_until(ns + 2_160_000);
    assert_eq!(free(&toy), [2, 2]);
    toy.run();
}

#[test]
fn a_die_that_has_done_its_share_serves_the_host_while_the_other_collects() {
    let (mut toy, ns) = brink(&[]);
    toy.write(ns, 100, 17);
    // Die 0 is through at 2,151 us, and die 1 nine later.
    toy.read(ns + 2_000_000, 101, 4);
    toy.read(ns + 2_000_000, 102, 3);
    toy.run();
    assert_eq!(
        [101, 102].map(|request| toy.ended(request)),
        [2_182, 2_192].map(|us| Some(ns + us * 1000))
    );
    toy.assert_parts(101, &[(GcSamePlane, 151_000), (Service, 31_000)]);
}

#[test]
fn greedy_chooses_the_line_with_fewest_valid_pages_in_all() {
    let (mut toy, ns) = brink(&[("ssd.gc.victim", "\"greedy\"")]);
    toy.write(ns, 100, 17);
    toy.run();
    // Lines 3 and 4 hold what has been written again since: nothing but pages 16 and 17, and what came last.
    let tally = toy.ssd.backend().ftl.lines().expect("it has lines").tally();
    assert_eq!((tally.victims, tally.valid_pages), (1, 0));
    let erased = |block| toy.ssd.backend().ftl.blocks().erase_count(BlockId(block));
    assert_eq!([3, 11].map(erased), [1, 1]);
}

#[test]
fn a_read_before_the_next_move_goes_first_where_collections_yield() {
    let (mut toy, ns) = brink(&[("ssd.gc.preemption", "{ type = \"partial\", steps = 1 }")]);
    toy.write(ns, 100, 17);
    toy.read(ns + 300_000, 101, 11);
    toy.run();
    // Die 1 ends the second of its three moves first.
    assert_eq!(place(&toy, 11).map(|(block, _)| block / 8), Some(1));
    assert_eq!(toy.ended(101), Some(ns + 440_000 + 31_000));
    assert_eq!(free(&toy), [2, 2]);
}
