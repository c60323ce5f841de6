//! Parity of lines: when it is programmed and where, and when a line is full.

use copyback::ids::{DieId, Lpn};

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
const LONG: u64 = 10_000_000;

/// The drive after so many pairs of writes.
fn written(changes: &[(&str, &str)], pairs: u32) -> Toy {
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
    ftl.geometry.die_of_plane(ftl.geometry.plane_of(page))
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
    assert_eq!(counters.write_amplification(), Some(1.5));
    assert_eq!(counters.write_amplification_without_parity(), Some(1.0));
    // Of each line one die has no page of data.
    let without = |line: u32| {
        let ftl = &toy.ssd.backend().ftl;
        let of_line = |lpn: &u32| {
            let page = ftl.lookup(Lpn(*lpn)).expect("it has been written");
            ftl.geometry.block_in_plane(ftl.geometry.block_of(page)) == line
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
    let tally = ftl.line_tally().expect("it has lines");
    assert!(tally.freed > 0);
    let counters = toy.ssd.counters();
    assert_eq!(counters.erases, 3 * tally.freed);
    let pages = counters.host_programs + counters.pages_moved;
    // Of the stripes that are open no parity is programmed.
    assert!(2 * counters.parity <= pages && pages <= 2 * counters.parity + 8, "{counters:?}");
}
