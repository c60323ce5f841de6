//! Partial collections: so many steps between two operations of the host. Copies take 220 us, the erase
//! 1500 us, a read of the host 31 us.

use copyback::ssd::Part::{GcSamePlane, Service};

use crate::semi_preemptive;
use crate::toy::Toy;

/// When the three copies and the erase of the victim have ended, if nothing comes between.
const ENDS: [u64; 4] = [431_000, 651_000, 871_000, 2_371_000];

/// A collection has begun at 211 us.
fn collecting(steps: u32, others: &[(&str, &str)]) -> Toy {
    let preemption = format!("{{ type = \"partial\", steps = {steps} }}");
    semi_preemptive::collecting(&preemption, others)
}

/// When the array of the die has ended an operation.
fn dies(toy: &Toy) -> Vec<u64> {
    let ends = toy.log.iter().filter_map(|line| line.strip_suffix(" die 0"));
    ends.map(|ns| ns.parse().expect("a time")).collect()
}

#[test]
fn without_requests_nothing_comes_between() {
    let mut toy = collecting(1, &[]);
    toy.run_until(ENDS[3]);
    assert_eq!(dies(&toy), ENDS);
    assert_eq!(toy.ssd.counters().preemptions, 0);
}

#[test]
fn a_read_goes_first_after_the_step_that_is_under_way() {
    let mut toy = collecting(1, &[]);
    toy.read(300_000, 2, 9);
    toy.assert_ends(2, 431_000 + 31_000);
    toy.assert_parts(2, &[(GcSamePlane, 131_000), (Service, 31_000)]);
    toy.run_until(700_000);
    assert_eq!(dies(&toy), [431_000, 452_000, 462_000 + 220_000]);
    assert_eq!(toy.ssd.counters().preemptions, 1);
}

#[test]
fn the_next_goes_after_so_many_steps_more() {
    let mut toy = collecting(1, &[]);
    toy.reads(300_000, &[(2, 9), (3, 10)]);
    toy.assert_ends(2, 462_000);
    toy.assert_ends(3, 462_000 + 220_000 + 31_000);

    // Two of four steps are done when the first goes, the others before the second.
    let mut toy = collecting(2, &[]);
    toy.reads(300_000, &[(2, 9), (3, 10)]);
    toy.assert_ends(2, 651_000 + 31_000);
    toy.assert_ends(3, 682_000 + 220_000 + 1_500_000 + 31_000);
}

#[test]
fn steps_that_were_done_while_nothing_waited_count() {
    let mut toy = collecting(3, &[]);
    toy.read(880_000, 2, 9);
    toy.assert_ends(2, 2_371_000 + 31_000);

    let mut toy = collecting(3, &[]);
    toy.read(700_000, 2, 9);
    toy.assert_ends(2, 871_000 + 31_000);
}

#[test]
fn a_page_that_has_been_read_is_written_before_anybody_is_served() {
    let mut toy = collecting(1, &[("ssd.gc.copyback", "false")]);
    toy.read(215_000, 2, 9);
    toy.assert_ends(2, 484_000);
    let expected = [
        "212000 channel 0", // the command that reads page 1
        "232000 die 0",
        "242000 channel 0", // its data come out
        "253000 channel 0", // and go in
        "453000 die 0",
        "454000 channel 0", // the read of the host
        "474000 die 0",
        "484000 channel 0",
    ];
    assert_eq!(toy.log, expected);
}

#[test]
fn whenever_requests_come_each_waits_for_so_many_steps_at_most() {
    for steps in 1..=4 {
        let mut longest = 0;
        for start in (211_001..ENDS[3]).step_by(29_989) {
            let mut toy = collecting(steps, &[]);
            toy.run_until(start);
            let reads = [(2, 9), (3, 10), (4, 11)];
            toy.reads(start, &reads);
            toy.run();
            let mut before = start;
            for (request, _) in reads {
                let end = toy.ended(request).expect("it has ended");
                let between = dies(&toy).iter().filter(|ns| (before..end).contains(*ns)).count();
                // One of those is the read itself.
                longest = longest.max(between - 1);
                before = end;
            }
        }
        assert_eq!(longest, steps as usize, "some read waits for just so many");
    }
}
