//! Parity of lines: when it is programmed and where, and when a line is full.

use copyback::collector::job::{Job, Tally, end_line};
use copyback::config::Loader;
use copyback::ftl::Ftl;
use copyback::ids::{DieId, Lpn, PlaneId};
use copyback::metrics::Written;
use copyback::placement::HostPage;
use copyback::ssd::Part::{Bus, Service};
use copyback::units::TotalTime;

use crate::toy::Toy;

/// Three dies on one channel, in lines of three blocks with four pages each, one of which holds parity.
const THREE_DIES: [(&str, &str); 7] = [
    ("ssd.geometry.dies_per_chip", "3"),
    ("ssd.ftl.over_provisioning", "0.75"),
    ("ssd.ftl.allocation", "\"dynamic\""),
    ("ssd.ftl.placement", "\"one_class\""),
    ("ssd.gc.unit", "\"line\""),
    ("ssd.ftl.rain", "true"),
    ("ssd.gc.preemption", "\"none\""),
];

/// Time from one pair of writes to the next.
pub const LONG: u64 = 10_000_000;

/// The drive after so many pairs of writes.
pub fn written(changes: &[(&str, &str)], pairs: u32) -> Toy {
    let mut toy = Toy::new(&[&THREE_DIES[..], changes].concat());
    for pair in 0..pairs {
        let writes = [2 * pair, 2 * pair + 1].map(|lpn| (lpn, lpn % 24));
        toy.writes(u64::from(pair) * LONG, &writes);
    }
    toy
}

fn die_of(toy: &Toy, lpn: u32) -> DieId {
    let ftl = &toy.ssd.backend().ftl;
    let page = ftl.lookup(Lpn(lpn)).expect("it has been written");
    ftl.geometry().die_of_plane(ftl.geometry().plane_of(page))
}

#[test]
fn parity_follows_the_last_page_of_its_stripe_on_a_die_that_takes_no_data() {
    let mut toy = written(&[], 1);
    toy.run();
    let expected = [
        (11, "channel 0"), // page 0
        (22, "channel 0"), // page 1
        (33, "channel 0"), // their parity
        (211, "die 1"),
        (222, "die 2"),
        (233, "die 0"),
    ];
    assert_eq!(toy.log, expected.map(|(us, what)| format!("{} {what}", us * 1000)));
    assert_eq!([0, 1].map(|lpn| die_of(&toy, lpn)), [DieId(1), DieId(2)]);
    assert_eq!(toy.ssd.counters().parity, 1);
}

#[test]
fn parity_of_an_open_stripe_stays_in_dram() {
    let mut toy = Toy::new(&THREE_DIES);
    toy.write(0, 0, 0);
    toy.run();
    assert_eq!((toy.ssd.counters().programs, toy.ssd.counters().parity), (1, 0));
    toy.write(LONG, 1, 1);
    toy.run();
    assert_eq!((toy.ssd.counters().programs, toy.ssd.counters().parity), (3, 1));
}

#[test]
fn the_die_that_holds_parity_goes_round_and_every_second_page_has_one_of_parity() {
    let mut toy = written(&[], 12);
    toy.run();
    let counters = toy.ssd.counters();
    assert_eq!((counters.host_programs, counters.parity, counters.programs), (24, 12, 36));
    assert_eq!(counters.page_write_amplification(), Some(1.5));
    let written = Written::new(24 * 4096, &counters, 4096);
    assert_eq!(written.amplification(), Some(1.5));
    assert_eq!(written.amplification_without(counters.parity * 4096), Some(1.0));
    // Of each line one die has no page of data.
    let without = |line: u32| {
        let ftl = &toy.ssd.backend().ftl;
        let of_line = |lpn: &u32| {
            let page = ftl.lookup(Lpn(*lpn)).expect("it has been written");
            ftl.geometry().block_in_plane(ftl.geometry().block_of(page)) == line
        };
        let dies: Vec<_> = (0..24).filter(of_line).map(|lpn| die_of(&toy, lpn)).collect();
        assert_eq!(dies.len(), 8, "line {line}");
        (0..3).map(DieId).filter(|die| !dies.contains(die)).collect::<Vec<_>>()
    };
    let without = [0, 1, 2].map(without);
    assert_eq!(without.each_ref().map(Vec::len), [1, 1, 1]);
    let mut dies = without.concat();
    dies.sort_unstable();
    assert_eq!(dies, [0, 1, 2].map(DieId));
    toy.ssd.backend().ftl.check().expect("it is sound");
}

#[test]
fn writes_that_other_dies_take_do_not_wait_for_a_free_block() {
    let changes = [
        ("ssd.gc.preemption", "\"semi_preemptive\""),
        ("ssd.gc.soft_threshold", "{ blocks = 4 }"),
        ("ssd.geometry.blocks_per_plane", "10"),
        ("ssd.ftl.over_provisioning", "0.8"),
    ];
    // Lines are full, and no block of any die is missing. One more write opens a line: then each die is short of a block, and the
    // host may open more.
    let mut toy = written(&changes, 24);
    toy.run();
    let erases = toy.ssd.counters().erases;
    // Two pages at a time go to the dies that hold no parity of the line, and the rest waits.
    let writes: Vec<_> = (0..8).map(|n| (100 + n, n)).collect();
    toy.writes(24 * LONG, &writes);
    toy.run();
    assert_eq!(toy.ssd.counters().erases, erases + 3);
    assert_eq!(toy.ssd.counters().stalled, TotalTime::ZERO);
}

#[test]
fn reads_go_before_parity_where_they_go_before_writes() {
    for (scheduling, is_first) in [("read_first", true), ("in_order", false)] {
        let scheduling = format!("\"{scheduling}\"");
        // Lines 0 and 1 are full, and line 2 has its parity on a die that they have data on.
        let mut toy = written(&[("host.scheduling", &scheduling)], 8);
        toy.run();
        let start = 8 * LONG;
        let on_die_2: Vec<_> = (0..16).filter(|lpn| die_of(&toy, *lpn) == DieId(2)).collect();
        toy.read(start, 100, on_die_2[0]);
        toy.writes(start + 5_000, &[(101, 16), (102, 17)]);
        toy.read(start + 5_000, 103, on_die_2[1]);
        toy.run();
        assert!([16, 17].iter().all(|lpn| die_of(&toy, *lpn) != DieId(2)));
        let ended = toy.ended(103).expect("it has been read") - start;
        assert_eq!(ended < 200_000, is_first, "{scheduling}: {ended}");
    }
}

#[test]
fn a_line_is_collected_and_its_parity_erased_with_it() {
    let mut toy = written(&[("ssd.gc.victim", "\"fifo\"")], 40);
    toy.run();
    let ftl = &toy.ssd.backend().ftl;
    ftl.check().expect("it is sound");
    let tally = ftl.lines().expect("it has lines").tally();
    assert!(tally.freed > 0);
    let counters = toy.ssd.counters();
    assert_eq!(counters.erases, 3 * tally.freed);
    let pages = counters.host_programs + counters.pages_moved;
    // Of the stripes that are open no parity is programmed.
    assert!(2 * counters.parity <= pages && pages <= 2 * counters.parity + 8, "{counters:?}");
}

/// Pairs of writes, again and again, until a line is collected: the drive a little after the last of them, and when that is.
fn collecting(changes: &[(&str, &str)]) -> (Toy, u64) {
    let mut toy = written(&[&[("ssd.gc.victim", "\"fifo\"")], changes].concat(), 12);
    for pair in 12..48 {
        let start = u64::from(pair) * LONG;
        toy.writes(start, &[(2 * pair, pair % 24), (2 * pair + 1, (pair + 7) % 24)]);
        toy.run_until(start + 250_000);
        if toy.ssd.is_collecting() {
            return (toy, start + 250_000);
        }
    }
    panic!("nothing is collected");
}

fn dies_at_work(toy: &Toy) -> Vec<DieId> {
    let collecting = &toy.ssd.backend().collecting;
    (0..3).map(DieId).filter(|die| collecting.is_running(*die)).collect()
}

/// Pages on `die` whose stripes can be read.
fn in_whole_stripes(toy: &Toy, die: DieId) -> Vec<u32> {
    let ftl = &toy.ssd.backend().ftl;
    let is_whole = |lpn: &u32| {
        let page = ftl.lookup(Lpn(*lpn)).expect("it has been written");
        ftl.others_of_stripe(page).is_some_and(|others| others.len() == 2)
    };
    (0..24).filter(|lpn| die_of(toy, *lpn) == die).filter(is_whole).collect()
}

#[test]
fn one_die_of_a_line_is_collected_at_a_time_where_they_take_turns() {
    for (rotating, most) in [("true", 1), ("false", 3)] {
        let (mut toy, mut ns) = collecting(&[("ssd.gc.rotating", rotating)]);
        let (mut seen, mut have_been) = (0, Vec::new());
        while toy.ssd.is_collecting() {
            let dies = dies_at_work(&toy);
            seen = seen.max(dies.len());
            have_been.extend(dies);
            ns += 10_000;
            toy.run_until(ns);
        }
        have_been.sort_unstable();
        have_been.dedup();
        assert_eq!((seen, have_been), (most, vec![DieId(0), DieId(1), DieId(2)]), "{rotating}");
    }
}

#[test]
fn a_read_behind_a_collection_is_made_up_from_the_other_dies_of_its_stripe() {
    for (around, reads_around) in [("true", 1), ("false", 0)] {
        let (mut toy, ns) =
            collecting(&[("ssd.gc.rotating", "true"), ("ssd.ftl.reads_around_gc", around)]);
        let die = dies_at_work(&toy)[0];
        let lpn = in_whole_stripes(&toy, die)[0];
        toy.log.clear();
        toy.read(ns, 500, lpn);
        toy.run_until(ns + 50_000);
        let counters = toy.ssd.counters();
        assert_eq!(counters.reads_around, reads_around);
        assert_eq!(counters.stripe_reads, 2 * reads_around);
        if reads_around > 0 {
            // Commands at 1 and 2 us; the arrays read until 21 and 22; pages cross the channel until 31 and 41.
            assert_eq!(toy.ended(500), Some(ns + 41_000));
            let others = (0..3).filter(|other| DieId(*other) != die);
            let dies: Vec<_> = others.map(|other| format!("die {other}")).collect();
            let at = |us: u64, what: &str| format!("{} {what}", ns + us * 1000);
            for expected in
                [at(21, &dies[0]), at(22, &dies[1]), at(31, "channel 0"), at(41, "channel 0")]
            {
                assert!(toy.log.contains(&expected), "{expected}: {:?}", toy.log);
            }
            toy.assert_parts(500, &[(Service, 31_000), (Bus, 10_000)]);
        } else {
            assert!(toy.ended(500).is_none());
        }
        toy.run();
        toy.ssd.backend().ftl.check().expect("it is sound");
    }
}

#[test]
fn a_read_is_not_made_up_while_another_die_of_its_stripe_collects() {
    let (mut toy, ns) = collecting(&[("ssd.ftl.reads_around_gc", "true")]);
    let dies = dies_at_work(&toy);
    assert!(dies.len() > 1);
    let lpn = in_whole_stripes(&toy, dies[0])[0];
    toy.read(ns, 500, lpn);
    toy.run();
    assert_eq!(toy.ssd.counters().reads_around, 0);
}

#[test]
fn a_read_that_waits_when_a_collection_begins_goes_around_it() {
    let settings = [
        ("ssd.gc.rotating", "true"),
        ("ssd.ftl.reads_around_gc", "true"),
        ("host.scheduling", "\"in_order\""),
    ];
    // Just before the collection: its die still programs.
    let (found, ns) = collecting(&settings);
    let die = dies_at_work(&found)[0];
    let lpn = in_whole_stripes(&found, die)[0];
    let start = ns - 250_000;
    let mut toy = written(&[&[("ssd.gc.victim", "\"fifo\"")], &settings[..]].concat(), 12);
    for pair in 12..48 {
        let at = u64::from(pair) * LONG;
        toy.writes(at, &[(2 * pair, pair % 24), (2 * pair + 1, (pair + 7) % 24)]);
        if at == start {
            break;
        }
    }
    toy.read(start + 1_000, 500, lpn);
    toy.run();
    assert_eq!(toy.ssd.counters().reads_around, 1);
}

#[test]
fn a_read_that_cannot_be_corrected_is_made_up_after_it_unless_another_of_its_stripe_cannot_either()
{
    let errors = "{ read_errors = 0.3, retry_levels = 0 }";
    let mut toy = written(&[("ssd.faults", errors)], 12);
    toy.run();
    let (mut corrected, mut told) = (0, (0, 0));
    for lpn in 0..24 {
        let start = u64::from(12 + lpn) * LONG;
        toy.read(start, 100 + lpn, lpn);
        toy.run();
        let counters = toy.ssd.counters();
        let now = (counters.reads_rebuilt, counters.reads_lost);
        let is_corrected = now == told;
        corrected += u64::from(is_corrected);
        told = now;
        // 31 us for a page; two at once share the channel, where the second ends 10 us later.
        let took = if is_corrected { 31_000 } else { 31_000 + 41_000 };
        assert_eq!(toy.ended(100 + lpn), Some(start + took), "page {lpn}");
    }
    let (rebuilt, lost) = told;
    assert_eq!(corrected + rebuilt + lost, 24);
    assert!(corrected > 0 && rebuilt > 0 && lost > 0, "{corrected}, {rebuilt}, {lost}");
    assert_eq!(toy.ssd.counters().stripe_reads, 2 * (rebuilt + lost));
}

#[test]
fn blocks_of_a_line_are_erased_once_all_of_it_has_been_moved_if_they_are_erased_together() {
    for (erase, all_first) in [("\"together\"", true), ("\"as_moved\"", false)] {
        // In turn, as all may be done with their moves before anybody looks.
        let (mut toy, ns) =
            collecting(&[("ssd.gc.line_erase", erase), ("ssd.gc.rotating", "true")]);
        let freed = |toy: &Toy| toy.ssd.backend().ftl.lines().expect("it has lines").tally().freed;
        let space = toy.ssd.backend().ftl.space();
        let victims: Vec<_> = space.planes().filter_map(|plane| space[plane].reclaiming).collect();
        // Of lines that were collected before.
        let before = 3 * freed(&toy);
        let mut left = None;
        for step in 0..30_000 {
            toy.run_until(ns + step * 1_000);
            if toy.ssd.counters().erases > before {
                let ftl = &toy.ssd.backend().ftl;
                let valid = victims.iter().map(|block| u32::from(ftl.blocks().valid_pages(*block)));
                left.get_or_insert_with(|| valid.sum::<u32>());
            }
        }
        assert_eq!(left == Some(0), all_first, "{erase}: {left:?}");
        // However many times a die has begun, its share is one collection.
        let (ended, all) = (toy.ssd.counters(), 3 * freed(&toy));
        assert_eq!((ended.collections, ended.erases), (all, all), "{erase}");
    }
}

/// Three dies of two planes, in lines of six blocks with two pages each, whose dies are collected in turn.
fn in_turn(changes: &[(&str, &str)]) -> Ftl {
    let geometry = "{ channels = 3, chips_per_channel = 1, dies_per_chip = 1, planes_per_die = 2, \
                    blocks_per_plane = 16, pages_per_block = 2 }";
    let loader = Loader::new()
        .set("ssd.geometry", geometry)
        .set("ssd.ftl.over_provisioning", "0.6")
        .set("ssd.ftl.allocation", "dynamic")
        .set("ssd.gc.unit", "line")
        .set("ssd.gc.rotating", "true");
    let loader = changes.iter().fold(loader, |loader, (key, value)| loader.set(key, value));
    let config = loader.load().unwrap_or_else(|faults| panic!("{faults}"));
    Ftl::new(&config.resolve(), "ssd/0")
}

/// Writes these pages, each to the plane whose turn it is.
fn write(ftl: &mut Ftl, pages: impl Iterator<Item = u32>) {
    for (turn, lpn) in (0..).zip(pages) {
        let page = HostPage::without_hint(Lpn(lpn));
        let mut planes = (turn..turn + 6).map(|plane| PlaneId(plane % 6));
        let plane = planes.find(|plane| ftl.accepts(*plane, page)).expect("there is room");
        ftl.write(plane, page, u64::from(turn) + 1);
    }
}

#[test]
fn dies_that_take_turns_end_a_line_whichever_of_its_planes_has_begun() {
    for begins in (0..6).map(PlaneId) {
        let mut ftl = in_turn(&[]);
        write(&mut ftl, (0..36).map(|version| version % 6));
        let mut tally = Tally::default();
        let job = Job::on_demand(begins, &mut ftl).expect("most of a line is invalid");
        job.run_with_levelling(&mut ftl, &mut tally);
        end_line(&mut ftl, &mut tally);
        let freed = ftl.lines().expect("it has lines").tally().freed;
        assert_eq!((freed, tally.erases), (1, 6), "begun by {begins:?}");
    }
}

#[test]
fn a_turn_ends_if_the_host_writes_what_was_left_of_it() {
    for begins in 0..6 {
        let mut ftl = in_turn(&[("ssd.gc.line_erase", "together")]);
        // Of the first line each plane keeps its second page, 6 to 11.
        write(&mut ftl, (0..12).chain(0..6).chain(12..18));
        let mut tally = Tally::default();
        let job = Job::on_demand(PlaneId(begins), &mut ftl).expect("half of a line is invalid");
        job.run_with_levelling(&mut ftl, &mut tally);
        assert_eq!((tally.pages_moved, tally.erases), (1, 0), "all are erased together");
        write(&mut ftl, std::iter::once(6 + (begins ^ 1)));
        end_line(&mut ftl, &mut tally);
        let freed = ftl.lines().expect("it has lines").tally().freed;
        assert_eq!((freed, tally.pages_moved, tally.erases), (1, 5, 6), "begun by plane {begins}");
    }
}
