//! Blocks in another cell mode: a toy with six pages a block at three bits a cell has two pages in a block of its cache.

use copyback::ids::{BlockId, Lpn, PlaneId};

use crate::toy::Toy;

/// One static block at one bit a cell.
const STATIC: [(&str, &str); 6] = [
    ("ssd.geometry.pages_per_block", "6"),
    ("ssd.geometry.blocks_per_plane", "10"),
    ("ssd.slc_cache.static", "{ blocks = 1 }"),
    ("ssd.slc_cache.timing", r#"{ read = "5us", program = "50us", erase = "500us" }"#),
    ("ssd.slc_cache.fold_after_idle", "10ms"),
    ("ssd.slc_cache.when_full", "write_past"),
];

fn with(changes: &[(&'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    STATIC.iter().chain(changes).copied().collect()
}

/// Command and data take 1 us and 10 us on the channel.
const IN: u64 = 11_000;

#[test]
fn writes_go_at_the_cache_s_speed_until_it_is_full_and_then_past_it() {
    let mut toy = Toy::new(&STATIC);
    toy.writes(0, &[(1, 0), (2, 1), (3, 2), (4, 3)]);
    toy.assert_ends(1, IN + 50_000);
    toy.assert_ends(2, 2 * (IN + 50_000));
    toy.assert_ends(3, 2 * (IN + 50_000) + IN + 200_000);
    toy.assert_ends(4, 2 * (IN + 50_000) + 2 * (IN + 200_000));
    let state = toy.ssd.backend().ftl.slc_state().expect("the toy has a cache");
    assert_eq!((state.tally.written, state.tally.past, state.valid), (2, 2, 2));
}

#[test]
fn a_page_is_read_in_the_mode_of_its_block() {
    let mut toy = Toy::new(&STATIC);
    toy.writes(0, &[(1, 0), (2, 1), (3, 2)]);
    toy.run_until(1_000_000);
    toy.reads(1_000_000, &[(4, 0), (5, 2)]);
    toy.assert_ends(4, 1_000_000 + 1_000 + 5_000 + 10_000);
    toy.assert_ends(5, 1_000_000 + 16_000 + 1_000 + 20_000 + 10_000);
}

#[test]
fn idle_time_folds_what_is_full_page_by_page_and_gives_the_block_back() {
    let mut toy = Toy::new(&STATIC);
    toy.writes(0, &[(1, 0), (2, 1)]);
    toy.assert_ends(2, 2 * (IN + 50_000));
    // Longer than the wait, by a nanosecond: two moves with copyback, and an erase in the cache's mode.
    let begin = 2 * (IN + 50_000) + 10_000_001;
    let moved = 2 * (5_000 + 200_000);
    toy.run_until(begin + moved + 500_000 - 1);
    let cache = |toy: &Toy| toy.ssd.backend().ftl.slc_state().expect("the toy has a cache");
    assert_eq!((cache(&toy).tally.folded, cache(&toy).tally.erases, cache(&toy).free), (2, 0, 0));
    toy.run_until(begin + moved + 500_000);
    assert_eq!((cache(&toy).tally.folded, cache(&toy).tally.erases, cache(&toy).free), (2, 1, 2));
    assert_eq!((cache(&toy).valid, cache(&toy).died()), (0, 0));
    let ftl = &toy.ssd.backend().ftl;
    assert!(!ftl.is_in_cache(ftl.lookup(Lpn(0)).expect("it was written")));
    assert_eq!(ftl.blocks().erase_count(BlockId(0)), 1);
}

#[test]
fn pages_that_are_written_again_die_in_the_cache_and_cost_no_fold() {
    let mut toy = Toy::new(&STATIC);
    toy.writes(0, &[(1, 0), (2, 1), (3, 1), (4, 0)]);
    toy.run_until(60_000_000);
    let state = toy.ssd.backend().ftl.slc_state().expect("the toy has a cache");
    assert_eq!((state.tally.written, state.tally.past), (2, 2));
    assert_eq!((state.tally.folded, state.tally.erases, state.died()), (0, 1, 2));
}

#[test]
fn a_command_stops_what_idle_time_folds_at_the_next_operation() {
    let mut toy = Toy::new(&STATIC);
    toy.writes(0, &[(1, 0), (2, 1)]);
    toy.run_until(2 * (IN + 50_000));
    let begin = 2 * (IN + 50_000) + 10_000_001;
    // The first page is being read for its move.
    toy.read(begin + 2_000, 3, 0);
    toy.assert_ends(3, begin + 5_000 + 16_000);
    let state = toy.ssd.backend().ftl.slc_state().expect("the toy has a cache");
    assert_eq!((state.tally.folded, state.valid), (0, 2));
    // The wait begins anew.
    toy.run_until(begin + 21_000 + 10_000_000 + 1_000_000);

    let state = toy.ssd.backend().ftl.slc_state().expect("the toy has a cache");
    assert_eq!((state.tally.folded, state.tally.erases, state.free), (2, 1, 2));
}

#[test]
fn a_host_that_waits_gets_the_block_once_it_has_been_folded() {
    let mut toy = Toy::new(&with(&[("ssd.slc_cache.when_full", "wait")]));
    toy.writes(0, &[(1, 0), (2, 1), (3, 2)]);
    let full = 2 * (IN + 50_000);
    let folded = full + 2 * (5_000 + 200_000) + 500_000;
    toy.assert_ends(3, folded + IN + 50_000);
    let state = toy.ssd.backend().ftl.slc_state().expect("the toy has a cache");
    assert_eq!((state.tally.written, state.tally.past, state.tally.folded), (3, 0, 2));
}

#[test]
fn blocks_are_lent_while_the_drive_is_empty_and_come_back_as_it_fills() {
    let mut toy = Toy::new(&with(&[
        ("ssd.slc_cache.static", "{ blocks = 0 }"),
        ("ssd.slc_cache.dynamic", "{ blocks = 4 }"),
        ("ssd.slc_cache.dynamic_until", "0.5"),
    ]));
    let cache = |toy: &Toy| toy.ssd.backend().ftl.slc_state().expect("the toy has a cache");
    assert_eq!((cache(&toy).capacity, cache(&toy).lent), (8, 0));
    // Of 30 logical pages 15 may hold data until none is lent. As a first block is full, three of four may be lent; as a
    // second one is, two.
    let writes: Vec<_> = (0..14).map(|page| (page + 1, page)).collect();
    toy.writes(0, &writes);
    toy.run_until(9_000_000);
    assert_eq!((cache(&toy).tally.written, cache(&toy).tally.past), (4, 10));
    toy.run_until(60_000_000);
    assert_eq!((cache(&toy).lent, cache(&toy).tally.folded, cache(&toy).tally.erases), (0, 4, 2));
}

#[test]
fn a_fold_opens_no_block_in_step_that_the_collection_after_it_needs() {
    let mixed = [("ssd.ftl.over_provisioning", "0.5"), ("ssd.ftl.placement", "one_class")];
    let mut toy = Toy::new(&with(&mixed));
    let (plane, data_pages) = (PlaneId(0), 6);
    let pages = toy.ssd.backend().ftl.limits().logical_pages() as u32;
    let mut seen = [0, 0];
    for request in 0..400_u32 {
        let lpn = if request < pages { request } else { toy.next_random() as u32 % pages };
        let start = u64::from(request) * 15_000_000;
        toy.write(start, request, lpn);
        for step in 0..300 {
            toy.run_until(start + step * 50_000);
            let ftl = &toy.ssd.backend().ftl;
            // Block 0 is the static one.
            if ftl.space()[plane].reclaiming != Some(BlockId(0)) {
                continue;
            }
            let left = u32::from(ftl.blocks().valid_pages(BlockId(0)));
            let has_room = ftl.rooms().has_aligned_room(plane);
            let room = ftl.rooms().free_pages(plane);
            assert_eq!(has_room, room >= left + 2 * data_pages, "{left} of {room}");
            seen[usize::from(has_room)] += 1;
        }
    }
    assert!(seen.iter().all(|times| *times > 0), "{seen:?}");
}

/// Blocks of the cache are folded for no other reason than that their data are in danger.
const REFRESHED: [(&str, &str); 2] =
    [("ssd.slc_cache.fold_after_idle", "10min"), ("ssd.gc.copyback", "true")];

fn refreshed(change: (&'static str, &'static str)) -> Toy {
    let changes = [&REFRESHED[..], &[change]].concat();
    Toy::new(&with(&changes))
}

/// Two moves out of the cache with copyback, and an erase in its mode.
const FOLD: u64 = 2 * (5_000 + 200_000) + 500_000;

#[test]
fn a_block_that_has_been_read_too_often_is_folded() {
    let mut toy = refreshed(("ssd.refresh.reads", "3"));
    toy.writes(0, &[(1, 0), (2, 1)]);
    toy.read(200_000, 3, 0);
    toy.read(300_000, 4, 1);
    toy.run_until(350_000);
    let begun = toy.log.len();
    toy.read(400_000, 5, 0);
    toy.run_until(20_000_000);
    // The read takes 1 us, 5 us and 10 us; then come two moves and the erase.
    let expected = [
        "401000 channel 0",
        "406000 die 0",
        "416000 channel 0",
        "621000 die 0",
        "826000 die 0",
        "1326000 die 0",
    ];
    assert_eq!(toy.log[begun..], expected);
    let counters = toy.ssd.counters();
    assert_eq!((counters.read_reclaims, counters.refreshes, counters.collections), (1, 0, 0));
    assert_eq!((counters.pages_moved, counters.erases), (2, 1));
    let state = toy.ssd.backend().ftl.slc_state().expect("the toy has a cache");
    assert_eq!((state.tally.folded, state.tally.erases, state.free, state.valid), (2, 1, 2, 0));
}

#[test]
fn a_block_whose_first_page_is_too_old_is_folded() {
    let mut toy = refreshed(("ssd.refresh.age", "10ms"));
    toy.writes(0, &[(1, 0), (2, 1)]);
    toy.run_until(10_000_000 + FOLD - 1);
    let counters = toy.ssd.counters();
    assert_eq!((counters.refreshes, counters.pages_moved), (0, 2));
    toy.run_until(10_000_000 + FOLD);
    let counters = toy.ssd.counters();
    assert_eq!((counters.refreshes, counters.erases, counters.collections), (1, 1, 0));
    let state = toy.ssd.backend().ftl.slc_state().expect("the toy has a cache");
    assert_eq!((state.tally.folded, state.tally.erases, state.free), (2, 1, 2));
}

#[test]
fn each_fill_of_the_cache_is_folded_once_when_it_is_too_old() {
    let mut toy = refreshed(("ssd.refresh.age", "10ms"));
    let rounds = 21;
    for round in 0..rounds {
        let request = 2 * round + 1;
        toy.writes(u64::from(round) * 20_000_000, &[(request, 0), (request + 1, 1)]);
    }
    toy.run_until(u64::from(rounds) * 20_000_000);
    // What is folded leaves the versions before it out of date. Three folds fill the first native block; its first page is
    // old then, and what is valid of it goes on to the next one, which is full after two more.
    let natives = (rounds - 1) / 2;
    let counters = toy.ssd.counters();
    assert_eq!(counters.refreshes, u64::from(rounds + natives));
    assert_eq!(counters.pages_moved, u64::from(2 * (rounds + natives)));
    assert_eq!((counters.collections, counters.read_reclaims), (0, 0));
    let state = toy.ssd.backend().ftl.slc_state().expect("the toy has a cache");
    assert_eq!((state.tally.written, state.tally.past), (u64::from(2 * rounds), 0));
    assert_eq!((state.tally.folded, state.tally.erases), (u64::from(2 * rounds), rounds.into()));
}

#[test]
fn commands_do_not_end_what_is_folded_for_the_sake_of_its_data() {
    // The drive also folds in idle time, which it has had for long.
    let idle = [("ssd.slc_cache.fold_after_idle", "1ms"), ("ssd.slc_cache.idle_keeps", "1")];
    let age = ("ssd.refresh.age", "10ms");
    let mut toy = Toy::new(&with(&[idle[0], idle[1], ("ssd.gc.copyback", "true"), age]));
    toy.writes(0, &[(1, 0), (2, 1)]);
    toy.read(10_002_000, 3, 0);
    toy.assert_ends(3, 10_000_000 + FOLD + 31_000);
}

#[test]
fn the_block_with_fewest_valid_pages_is_folded_first() {
    let two = [
        ("ssd.slc_cache.static", "{ blocks = 2 }"),
        ("ssd.slc_cache.idle_keeps", "1"),
        ("ssd.geometry.blocks_per_plane", "16"),
        ("ssd.ftl.over_provisioning", "0.75"),
    ];
    // The second block is filled later, and loses a page to what goes past the cache.
    for (again, folded) in [(0, 1), (2, 1)] {
        let mut toy = Toy::new(&with(&two));
        toy.writes(0, &[(1, 0), (2, 1), (3, 2), (4, 3), (5, again)]);
        toy.run_until(60_000_000);
        let state = toy.ssd.backend().ftl.slc_state().expect("the toy has a cache");
        assert_eq!((state.tally.folded, state.tally.erases, state.died()), (folded, 1, 1));
    }
}
