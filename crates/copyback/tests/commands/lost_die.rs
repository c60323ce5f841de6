//! A die is lost: its pages are made up for reads, and rebuilt on other dies.

use copyback::ids::{DieId, Lpn};
use copyback::scheduler::Rebuild;
use copyback::ssd::{LostDieReport, Phase};

use crate::toy::{Toy, at};

/// Four dies on one channel, in lines of four blocks with four pages each, one of which holds parity.
const FOUR_DIES: [(&str, &str); 7] = [
    ("ssd.geometry.dies_per_chip", "4"),
    ("ssd.geometry.blocks_per_plane", "16"),
    ("ssd.ftl.over_provisioning", "0.8"),
    ("ssd.ftl.allocation", "\"dynamic\""),
    ("ssd.ftl.placement", "\"one_class\""),
    ("ssd.gc.unit", "\"line\""),
    ("ssd.ftl.rain", "true"),
];

/// Time from one group of writes to the next.
const LONG: u64 = 10_000_000;

/// When the die is lost: nothing is written then.
const AT: &str = "{ die = 1, at = \"500ms\", rebuild_pages = 1 }";
const AT_NS: u64 = 500_000_000;

/// The drive after so many groups of three writes, and everything that comes of them and of the loss.
fn lost(changes: &[(&str, &str)], groups: u32) -> Toy {
    let mut toy = written(changes, groups);
    toy.log.clear();
    toy.run();
    toy
}

fn written(changes: &[(&str, &str)], groups: u32) -> Toy {
    let lost_die = [("ssd.faults.lost_die", AT)];
    let mut toy = Toy::new(&[&FOUR_DIES[..], &lost_die, changes].concat());
    for group in 0..groups {
        let writes = [0, 1, 2].map(|page| (3 * group + page, (3 * group + page) % 36));
        toy.writes(u64::from(group) * LONG, &writes);
    }
    toy.run_until(u64::from(groups) * LONG);
    toy
}

fn die_of(toy: &Toy, lpn: u32) -> Option<DieId> {
    let ftl = &toy.ssd.backend().ftl;
    ftl.lookup(Lpn(lpn)).map(|page| ftl.geometry().die_of_plane(ftl.geometry().plane_of(page)))
}

fn pages_on(toy: &Toy, die: u32) -> Vec<u32> {
    let pages = toy.ssd.backend().ftl.limits().logical_pages() as u32;
    (0..pages).filter(|lpn| die_of(toy, *lpn) == Some(DieId(die))).collect()
}

fn rebuild(toy: &Toy) -> &Rebuild {
    toy.ssd.scheduler().rebuild.as_deref().expect("a die is to be lost")
}

fn report(toy: &Toy) -> LostDieReport {
    rebuild(toy).report(&toy.ssd.backend().ftl)
}

#[test]
fn a_page_is_read_from_the_others_of_its_stripe_and_programmed_on_another_die() {
    let toy = lost(&[], 1);
    // Pages 0 to 2 lie on dies 1 to 3, and their parity on die 0.
    let expected = [
        (21, "die 0"),
        (22, "die 2"),
        (23, "die 3"),
        (31, "channel 0"),
        (41, "channel 0"),
        (51, "channel 0"),
        // Page 0, to die 2.
        (62, "channel 0"),
        (262, "die 2"),
    ];
    let of_arrays = |line: &&String| !line.ends_with("command");
    let log: Vec<_> = toy.log.iter().filter(of_arrays).cloned().collect();
    let all: Vec<_> =
        expected.iter().map(|(us, what)| format!("{} {what}", AT_NS + us * 1000)).collect();
    let found: Vec<_> = log.into_iter().filter(|line| all.contains(line)).collect();
    assert_eq!(found, all, "{:?}", toy.log);
    assert_eq!([0, 1, 2].map(|lpn| die_of(&toy, lpn)), [2, 2, 3].map(|die| Some(DieId(die))));
    let tally = report(&toy).tally;
    assert_eq!((tally.rebuilt, tally.gone, tally.stripe_reads), (1, 0, 3));
    assert_eq!(tally.ended_at.map(|at| at.as_ns()), Some(AT_NS + 262_000));
    let after = tally.ended_at.expect("it has ended");
    assert_eq!(rebuild(&toy).phase(after), Phase::Rebuilt);
}

#[test]
fn one_page_at_a_time_takes_a_read_of_its_stripe_and_a_program_each() {
    let before = written(&[], 12);
    let there = pages_on(&before, 1).len() as u64;
    let toy = lost(&[], 12);
    let tally = report(&toy).tally;
    assert!(there >= 8, "{there}");
    assert_eq!((tally.rebuilt, tally.gone), (there, 0));
    // 1 us for the first command, 20 for the array, 30 for three pages on the channel; 11 and 200 for the program; and
    // parity of stripes that are whole now may be on its way to the channel.
    let (least, took) = (there * 262_000, tally.ended_at.map(|at| at.as_ns() - AT_NS));
    let took = took.expect("it has ended");
    assert!((least..least + there * 211_000).contains(&took), "{took} for {there} pages");
    assert!(pages_on(&toy, 1).is_empty());
    assert_eq!((0..36).filter(|lpn| die_of(&toy, *lpn).is_some()).count(), 36);
}

#[test]
fn many_at_a_time_take_what_the_dies_that_are_left_need_for_it() {
    let own_channels = [
        ("ssd.geometry.dies_per_chip", "1"),
        ("ssd.geometry.channels", "4"),
        ("ssd.geometry.blocks_per_plane", "64"),
        ("ssd.geometry.pages_per_block", "32"),
        ("ssd.timing.register", "\"single\""),
        ("ssd.faults.lost_die", "{ die = 1, at = \"90s\", rebuild_pages = 32 }"),
    ];
    let mut toy = Toy::new(&[&FOUR_DIES[..], &own_channels].concat());
    for group in 0..300_u64 {
        let writes = [0, 1, 2].map(|page| (3 * group as u32 + page, 3 * group as u32 + page));
        toy.writes(group * LONG, &writes);
    }
    toy.run_until(80_000_000_000);
    let before = toy.ssd.counters().parity;
    toy.run();
    let tally = report(&toy).tally;
    assert!(tally.rebuilt > 200 && tally.stripe_reads == 3 * tally.rebuilt, "{tally:?}");
    // Each page takes a read of each die, 31 us, and a program of one of three, 211; and so does parity.
    let parity = toy.ssd.counters().parity - before;
    let programs = (tally.rebuilt + parity) as f64 / 3.0;
    let least = (tally.rebuilt as f64 * 31.0 + programs * 211.0) * 1e3;
    assert!(3 * parity >= tally.rebuilt, "{parity} pages of parity for {}", tally.rebuilt);
    let took = tally.ended_at.zip(tally.lost_at).map(|(ended, lost)| (ended - lost).as_ns() as f64);
    let ratio = took.expect("it has ended") / least;
    assert!((0.98..1.25).contains(&ratio), "{ratio}");
}

#[test]
fn a_rebuild_keeps_to_its_rate() {
    // A page of 4 KiB in 10 ms.
    let rate = "{ die = 1, at = \"500ms\", rebuild_rate = \"409600B/s\" }";
    let toy = lost(&[("ssd.faults.lost_die", rate)], 12);
    let tally = report(&toy).tally;
    let took = tally.ended_at.map(|at| at.as_ns() - AT_NS).expect("it has ended");
    let begun = (tally.rebuilt - 1) * 10_000_000;
    assert!(took > begun && took < begun + 1_000_000, "{took} for {} pages", tally.rebuilt);
}

#[test]
fn a_read_of_a_lost_page_takes_its_stripe_until_it_is_rebuilt() {
    let slow = "{ die = 1, at = \"500ms\", rebuild_rate = \"4096B/s\" }";
    let mut toy = written(&[("ssd.faults.lost_die", slow)], 12);
    let lpns = pages_on(&toy, 1);
    toy.run_until(AT_NS + LONG);
    assert_eq!(rebuild(&toy).phase(at(AT_NS)), Phase::Degraded);
    let last = *lpns.last().expect("there are some");
    assert_eq!(die_of(&toy, last), Some(DieId(1)));
    toy.read(AT_NS + LONG, 900, last);
    toy.run_until(AT_NS + 2 * LONG);
    assert_eq!(toy.ended(900), Some(AT_NS + LONG + 51_000));
    assert_eq!(report(&toy).tally.degraded_reads, 1);
    // What the host writes goes to the dies that are left, and need not be rebuilt.
    let tally = report(&toy).tally;
    for (index, lpn) in lpns.iter().enumerate() {
        toy.write(AT_NS + (3 + index as u64) * LONG, 1000 + index as u32, *lpn);
    }
    toy.run();
    assert!(pages_on(&toy, 1).is_empty());
    assert!(report(&toy).tally.rebuilt <= tally.rebuilt + 1);
}

#[test]
fn a_drive_goes_on_with_stripes_that_are_narrower_by_a_die() {
    let mut toy = lost(&[], 12);
    let before = toy.ssd.counters();
    for group in 0..40_u32 {
        let start = 2 * AT_NS + u64::from(group) * LONG;
        let writes = [0, 1, 2].map(|page| (500 + 3 * group + page, (7 * group + 5 * page) % 36));
        toy.writes(start, &writes);
    }
    toy.run();
    let after = toy.ssd.counters();
    assert!(toy.ssd.backend().ftl.lines().expect("it has lines").tally().freed > 0);
    assert!(pages_on(&toy, 1).is_empty());
    let data =
        (after.host_programs + after.pages_moved) - (before.host_programs + before.pages_moved);
    let parity = after.parity - before.parity;
    // A page of parity for two of data, but for stripes that are open.
    assert!(2 * parity <= data + 8 && data <= 2 * parity + 16, "{parity} for {data}");
    // Of new lines, pages can be made up again.
    let ftl = &toy.ssd.backend().ftl;
    let made_up = |lpn: &u32| {
        let page = ftl.lookup(Lpn(*lpn)).expect("it has been written");
        ftl.others_of_stripe(page).is_some_and(|others| others.len() == 2)
    };
    assert!((0..36).filter(made_up).count() > 18);
}

#[test]
fn what_the_die_has_begun_ends_whatever_that_is() {
    // A die erases a block for 1.5 ms in each of these groups of writes.
    let mut collecting = 0;
    for step in 0..200 {
        let at_ns = 150 * LONG + step * 150_000;
        let lost = format!("{{ die = 1, at = \"{at_ns}ns\" }}");
        let mut toy = Toy::new(&[&FOUR_DIES[..], &[("ssd.faults.lost_die", &*lost)]].concat());
        for group in 0..160_u32 {
            let writes = [0, 1, 2].map(|page| (3 * group + page, (7 * group + 5 * page) % 36));
            toy.writes(u64::from(group) * LONG, &writes);
            if toy.now_ns() < at_ns && at_ns < toy.now_ns() + LONG {
                toy.run_until(at_ns - 1);
                collecting += u32::from(toy.ssd.is_collecting());
            }
        }
        toy.run();
        assert!(pages_on(&toy, 1).is_empty());
        assert_eq!((0..36).filter(|lpn| die_of(&toy, *lpn).is_some()).count(), 36);
        assert_eq!(rebuild(&toy).phase(at(toy.now_ns())), Phase::Rebuilt);
    }
    assert!(collecting >= 8, "{collecting}");
}

#[test]
fn a_host_that_writes_faster_than_pages_are_rebuilt_leaves_room_for_them() {
    // As little spare as a drive may have that loses a die, and all of it in use. What is written then leaves none of the old
    // lines without a page of that die.
    let full = [
        ("ssd.geometry.blocks_per_plane", "24"),
        ("ssd.geometry.pages_per_block", "8"),
        ("ssd.ftl.over_provisioning", "0.65"),
        (
            "ssd.faults.lost_die",
            "{ die = 1, at = \"20s\", rebuild_rate = \"409600B/s\", rebuild_pages = 1 }",
        ),
    ];
    let lost_at = 20_000_000_000;
    let mut toy = Toy::new(&[&FOUR_DIES[..], &full].concat());
    let pages = toy.ssd.backend().ftl.limits().logical_pages() as u32;
    for request in 0..2 * pages {
        let lpn = if request < pages { request } else { toy.next_random() as u32 % pages };
        toy.write(u64::from(request) * 2_000_000, request, lpn);
    }
    toy.run_until(lost_at);
    let there = pages_on(&toy, 1);
    let others: Vec<_> = (0..pages).filter(|lpn| !there.contains(lpn)).collect();
    for (number, lpn) in (0..).zip([&others[..]; 3].concat()) {
        toy.write(lost_at + u64::from(number) * 60_000, 10 * pages + number, lpn);
    }
    toy.run();
    let tally = report(&toy).tally;
    assert_eq!(rebuild(&toy).phase(at(toy.now_ns())), Phase::Rebuilt);
    assert!(!rebuild(&toy).stands_still(toy.ssd.backend()));
    // The host has waited for pages that were rebuilt at their rate.
    assert!(tally.rebuilt >= 10 && tally.gone == 0, "{tally:?}");
    let last = toy.done.iter().map(|done| done.ns).max();
    assert!(last > Some(lost_at + 100_000_000), "{last:?}");
}

#[test]
fn pages_that_are_rebuilt_are_made_room_for_where_collections_wait_for_operations() {
    let full = [
        ("ssd.geometry.blocks_per_plane", "24"),
        ("ssd.geometry.pages_per_block", "8"),
        ("ssd.ftl.over_provisioning", "0.65"),
        ("ssd.gc.start", "before_operation"),
        ("ssd.gc.preemption", "\"paced\""),
        ("ssd.faults.lost_die", "{ die = 1, at = \"20s\" }"),
    ];
    let mut toy = Toy::new(&[&FOUR_DIES[..], &full].concat());
    let pages = toy.ssd.backend().ftl.limits().logical_pages() as u32;
    for request in 0..3 * pages {
        let lpn = if request < pages { request } else { toy.next_random() as u32 % pages };
        toy.write(u64::from(request) * 2_000_000, request, lpn);
    }
    toy.run_until(19_000_000_000);
    let erases = toy.ssd.counters().erases;
    // Nothing more is asked for.
    toy.run();
    assert!(!rebuild(&toy).stands_still(toy.ssd.backend()));
    assert_eq!(rebuild(&toy).phase(at(toy.now_ns())), Phase::Rebuilt);
    assert_eq!(report(&toy).tally.gone, 0);
    assert!(toy.ssd.counters().erases > erases, "it took no collection");
}

#[test]
fn the_pages_of_each_plane_of_the_die_are_rebuilt() {
    let toy = lost(&[("ssd.geometry.planes_per_die", "2")], 60);
    assert_eq!(rebuild(&toy).phase(at(toy.now_ns())), Phase::Rebuilt);
    assert!(pages_on(&toy, 1).is_empty());
    assert_eq!((0..36).filter(|lpn| die_of(&toy, *lpn).is_some()).count(), 36);
}

/// A drive that has just lost a die, and a page there whose stripe is not whole.
struct NotWhole {
    toy: Toy,
    lpn: u32,
    /// Requests before.
    requests: u32,
}

/// Time from one write to the next where the drive is nearly full.
const SHORT: u64 = 600_000;

/// Drives that lost their last die at one of so many times while it was to collect its blocks after the others, of which each had
/// erased its own.
fn not_whole(changes: &[(&str, &str)]) -> Vec<NotWhole> {
    let found: Vec<_> = (0..40).filter_map(|step| not_whole_at(step, changes)).collect();
    assert!(found.len() > 4, "{}", found.len());
    found
}

fn not_whole_at(step: u64, changes: &[(&str, &str)]) -> Option<NotWhole> {
    let at_ns = 1_000_000_000 + step * 1_000_000;
    let lost = format!("{{ die = 3, at = \"{at_ns}ns\", rebuild_rate = \"4096B/s\" }}");
    let full = [
        ("ssd.geometry.blocks_per_plane", "24"),
        ("ssd.geometry.pages_per_block", "8"),
        ("ssd.ftl.over_provisioning", "0.65"),
        ("ssd.gc.rotating", "true"),
        ("ssd.faults.lost_die", &*lost),
    ];
    let mut toy = Toy::new(&[&FOUR_DIES[..], &full, changes].concat());
    let pages = toy.ssd.backend().ftl.limits().logical_pages() as u32;
    let writes = (at_ns / SHORT) as u32;
    for request in 0..writes {
        let lpn = if request < pages { request } else { toy.next_random() as u32 % pages };
        toy.write(u64::from(request) * SHORT, request, lpn);
    }
    toy.run_until(at_ns + 1);
    let ftl = &toy.ssd.backend().ftl;
    let is_gone = |lpn: &u32| {
        let page = ftl.lookup(Lpn(*lpn)).expect("it has been written");
        ftl.others_of_stripe(page).is_none()
    };
    let lpn = pages_on(&toy, 3).into_iter().rfind(is_gone)?;
    Some(NotWhole { toy, lpn, requests: writes })
}

/// Those, once the host has written a part of the page.
fn rest_lost(changes: &[(&str, &str)]) -> Vec<NotWhole> {
    let written = |NotWhole { mut toy, lpn, requests }: NotWhole| {
        let start = toy.now_ns();
        toy.write_part(start, requests, lpn);
        toy.run_until(start + LONG);
        assert!(toy.ended(requests).is_some());
        NotWhole { toy, lpn, requests: requests + 1 }
    };
    not_whole(changes).into_iter().map(written).collect()
}

/// Reads the page, lets everything happen, and returns whether it was in vain.
fn reads_in_vain(toy: &mut Toy, request: u32, lpn: u32) -> bool {
    let start = toy.now_ns();
    toy.read(start, request, lpn);
    toy.run();
    toy.read_in_vain(request)
}

#[test]
fn a_page_that_cannot_be_made_up_is_programmed_with_a_mark_and_lost() {
    for NotWhole { mut toy, lpn, requests } in not_whole(&[]) {
        assert!(reads_in_vain(&mut toy, requests, lpn), "before it is its turn");
        assert_eq!(rebuild(&toy).phase(at(toy.now_ns())), Phase::Rebuilt);
        assert!(report(&toy).tally.gone > 0 && pages_on(&toy, 3).is_empty());
        assert!(reads_in_vain(&mut toy, requests + 1, lpn), "and after it");
        let start = toy.now_ns();
        toy.trim(start, lpn);
        assert!(!reads_in_vain(&mut toy, requests + 2, lpn), "nothing is to be read any more");
    }
}

#[test]
fn a_write_of_a_part_of_a_page_that_cannot_be_made_up_leaves_the_rest_lost() {
    for NotWhole { mut toy, lpn, requests } in rest_lost(&[]) {
        assert!(reads_in_vain(&mut toy, requests, lpn), "what was there is not to be had");
        let start = toy.now_ns();
        toy.write(start, requests + 1, lpn);
        toy.run();
        assert!(!reads_in_vain(&mut toy, requests + 2, lpn), "all of it has been written again");
    }
}

#[test]
fn a_read_around_a_collection_finds_what_is_lost_no_more_than_one_of_its_die() {
    let mut reads_around = 0;
    for found in rest_lost(&[("ssd.ftl.reads_around_gc", "true")]) {
        let NotWhole { mut toy, lpn, requests } = found;
        // Once the die is rebuilt the host need not wait for that.
        toy.run();
        let pages = toy.ssd.backend().ftl.limits().logical_pages() as u32;
        for step in 0..1000 {
            let other = (lpn + 1 + toy.next_random() as u32 % (pages - 1)) % pages;
            let start = toy.now_ns() + SHORT;
            toy.write(start, requests + 2 * step, other);
            toy.read(start + SHORT / 2, requests + 2 * step + 1, lpn);
        }
        toy.run();
        reads_around += toy.ssd.counters().reads_around;
        assert!((0..1000).all(|step| toy.read_in_vain(requests + 2 * step + 1)));
    }
    assert!(reads_around > 0);
}

#[test]
fn a_rebuild_that_was_held_up_goes_on_at_its_rate_and_catches_up_with_nothing() {
    let rate = "{ die = 1, at = \"500ms\", rebuild_rate = \"409600B/s\", rebuild_pages = 1 }";
    let single = ("ssd.timing.register", "\"single\"");
    let mut toy = written(&[("ssd.faults.lost_die", rate), single], 12);
    // Before the second page begins, another die of its stripe has got reads for 31 ms.
    let asked_at = AT_NS + LONG - 100_000;
    let page = pages_on(&toy, 2)[0];
    let reads: Vec<_> = (0..1_000).map(|read| (900 + read, page)).collect();
    toy.reads(asked_at, &reads);
    toy.run();
    let tally = report(&toy).tally;
    let took = tally.ended_at.map(|at| at.as_ns() - AT_NS).expect("it has ended");
    // The third page begins behind these, and each further one a page of 4 KiB at the rate later: 10 ms.
    let begun = asked_at - AT_NS + 31_000_000 + (tally.rebuilt - 3) * LONG;
    assert!(took > begun && took < begun + 1_000_000, "{took} for {} pages", tally.rebuilt);
}
