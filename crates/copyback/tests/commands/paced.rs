//! Paced collections: pages of the host pay for steps. Writes take 211 us, copies 220 us, the erase 1500 us, reads
//! 31 us.

use copyback::ids::PlaneId;
use copyback::ssd::Part::{GcSamePlane, QueueBehindIo, Service};
use copyback::units::TotalTime;

use crate::toy::Toy;

/// Three blocks are free of eight: as many as the soft threshold asks for. The host's open block is full.
const BRINK: [u32; 20] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 4, 8, 0, 4, 8, 0, 4];

const PACED: &str = "\"paced\"";

/// A drive on which the next write opens a block, and leaves one block less free than there should be. The host can
/// open blocks down to one that is free.
fn on_the_brink(preemption: &str, others: &[(&str, &str)]) -> Toy {
    Toy::filled(&brink(preemption, others), &BRINK)
}

/// What is set for [`on_the_brink`].
fn brink<'a>(preemption: &'a str, others: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut changes = vec![
        ("ssd.gc.preemption", preemption),
        ("ssd.gc.victim", "fifo"),
        ("ssd.gc.soft_threshold", "{ blocks = 3 }"),
        ("ssd.ftl.over_provisioning", "0.625"),
    ];
    changes.extend(others);
    changes
}

/// What the die has done: `w`rites and `r`eads of the host, `c`opies and `e`rases, by what they take.
fn operations(toy: &Toy) -> String {
    let times =
        |suffix: &'static str| toy.log.iter().filter_map(move |line| line.strip_suffix(suffix));
    let ends: Vec<u64> = times(" die 0").map(|ns| ns.parse().expect("a time")).collect();
    let begins = std::iter::once(0).chain(ends.iter().copied());
    let taken = begins.zip(&ends).map(|(begin, end)| end - begin);
    let name = |ns| match ns {
        // Behind a read, what it has read leaves first.
        211_000 | 221_000 => 'w',
        220_000 | 230_000 => 'c',
        1_500_000 | 1_510_000 => 'e',
        21_000 | 31_000 => 'r',
        _ => '?',
    };
    taken.map(name).collect()
}

/// Writes that all wait from the start on; the first is request 1.
fn writes(count: u32) -> Vec<(u32, u32)> {
    (0..count).map(|n| (1 + n, (n * 5 + 1) % 12)).collect()
}

/// What the die has done when all of `count` writes are.
fn until_written(toy: &mut Toy, count: u32) -> String {
    toy.writes(0, &writes(count));
    while toy.ended(count).is_none() {
        toy.run_until(toy.now_ns() + 1_000);
    }
    operations(toy)
}

#[test]
fn each_write_pays_for_what_the_victim_costs_by_the_space_that_is_left() {
    let mut toy = on_the_brink(PACED, &[]);
    // The fourth write fills a block, and the next is opened: 12 pages are free, which is the soft threshold; 4 is the floor.
    // A victim is not known yet: a step a page. Charged are 1/7, 2/6, 3/5: a step is due behind the seventh.
    // The victim has two valid pages: three steps for two pages. Charged is 3/2 x 4/4 behind the eighth: a step, after
    // which half a one is owed. The victim, which has lost its other page, is free: 3/2 x (1/7, 2/6) call for the next.
    // That costs 2/3 less: two steps for three pages.
    assert_eq!(until_written(&mut toy, 16), "wwwwwwwcwewwcwwewwwew");
    let pacing = toy.ssd.counters().pacing;
    assert_eq!(pacing.throttled, 5, "as often as steps lie before a write, together or alone");
    toy.run();
}

#[test]
fn a_write_waits_for_the_steps_before_it_and_its_response_says_so() {
    let mut toy = on_the_brink(PACED, &[]);
    toy.writes(0, &writes(9));
    toy.assert_ends(7, 7 * 211_000);
    toy.assert_parts(7, &[(QueueBehindIo, 6 * 211_000), (Service, 211_000)]);
    toy.assert_ends(8, 8 * 211_000 + 220_000);
    let parts = [(QueueBehindIo, 7 * 211_000), (GcSamePlane, 220_000), (Service, 211_000)];
    toy.assert_parts(8, &parts);
    toy.assert_ends(9, 9 * 211_000 + 220_000 + 1_500_000);
    let parts = [(QueueBehindIo, 8 * 211_000), (GcSamePlane, 1_720_000), (Service, 211_000)];
    toy.assert_parts(9, &parts);
}

#[test]
fn reads_go_before_a_step_that_is_due_but_no_more_than_so_many() {
    for (reads_ahead, expected) in [(0, "wwwwwwwcrrrr"), (2, "wwwwwwwrrcrr"), (9, "wwwwwwwrrrrc")] {
        let preemption = format!("{{ type = \"paced\", reads_ahead = {reads_ahead} }}");
        let mut toy = on_the_brink(&preemption, &[]);
        toy.writes(0, &writes(7));
        toy.run_until(1_400_000);
        toy.reads(1_400_000, &[(20, 9), (21, 10), (22, 11), (23, 7)]);
        toy.writes(1_400_000, &[(8, 11), (9, 4)]);
        toy.run_until(6_000_000);
        assert_eq!(&operations(&toy)[..12], expected, "{reads_ahead}");
    }
}

#[test]
fn without_requests_collections_go_on_to_the_soft_threshold() {
    let mut toy = on_the_brink(PACED, &[]);
    toy.writes(0, &writes(5));
    toy.run();
    assert!(toy.ssd.backend().ftl.space.free_blocks(PlaneId(0)) >= 3);
    assert_eq!(toy.ssd.counters().pacing.throttled, 0);
}

#[test]
fn a_write_never_waits_for_more_steps_than_the_one_before_was_charged() {
    for (set_point, most_times) in [(0.1, 1), (0.3, 1000), (0.5, 4), (0.9, 2), (0.9, 1000)] {
        let preemption =
            format!("{{ type = \"paced\", set_point = {set_point}, most_times = {most_times} }}");
        let mut toy = on_the_brink(&preemption, &[]);
        let random: Vec<(u32, u32)> =
            (0..300).map(|n| (1 + n, toy.next_random() as u32 % 12)).collect();
        toy.writes(0, &random);
        // What had been charged, and how long writes had found no block, when so many writes had begun.
        let (mut charged, mut stalled) = (vec![0], vec![TotalTime::ZERO]);
        while toy.ended(300).is_none() {
            toy.run_until(toy.now_ns() + 1_000);
            let counters = toy.ssd.counters();
            if counters.host_programs as usize == charged.len() {
                charged.push(counters.pacing.charged);
                stalled.push(counters.stalled);
            }
        }
        let all = operations(&toy);
        let mut most_seen = 0;
        for (write, steps) in all.split('w').map(str::len).enumerate().skip(1).take(299) {
            if stalled[write] != stalled[write + 1] {
                continue;
            }
            // Less than a step was owed before.
            let allowed = (charged[write] - charged[write - 1]).div_ceil(1000) as usize;
            assert!(steps <= allowed, "{preemption}: {steps} behind write {write}, not {allowed}");
            most_seen = most_seen.max(steps);
        }
        assert!(most_seen > 0, "{preemption}: collections have gone on");
    }
}

#[test]
fn what_takes_no_time_needs_no_pace() {
    let of = |preemption| {
        until_written(&mut on_the_brink(preemption, &[("ssd.gc.zero_cost", "true")]), 40)
    };
    assert_eq!(of(PACED), of("\"none\""));
}

#[test]
fn a_write_that_another_die_takes_meanwhile_has_not_waited_for_steps() {
    // Two dies, each with a channel of its own and a double register, of which the first is on the brink. A write goes to
    // whichever takes it.
    let others = [
        ("ssd.geometry.channels", "2"),
        ("ssd.timing.register", "\"double\""),
        ("ssd.ftl.allocation", "\"dynamic\""),
    ];
    let preemption = "{ type = \"paced\", set_point = 0.75, reads_ahead = 1 }";
    let some = |first: u32, count: u32| -> Vec<(u32, u32)> {
        (0..count).map(|n| (first + n, 4 + n % 8)).collect()
    };
    let changes = brink(preemption, &others);
    for (is_looked_at, waiting, throttled) in
        [(true, 1, 0), (true, 3, 1), (false, 1, 0), (false, 3, 1)]
    {
        let mut toy = match is_looked_at {
            true => Toy::filled(&changes, &BRINK),
            false => Toy::unobserved(&changes, &BRINK),
        };
        // Six of them go to the first die, which has programmed them at 1211 us, and five to the second one. Of the
        // first die's, the fifth and the sixth are charged, three times 1/7 and 2/6: a step is due.
        toy.writes(0, &some(1, 11));
        toy.run_until(1_180_000);
        assert_eq!(toy.ssd.counters().pacing.charged, 428 + 1_000);
        // The second die reads until 1221 us, the first one from 1211 us to 1242 us, before the step.
        toy.read(1_190_000, 12, 5);
        toy.read(1_200_000, 13, 1);
        // Neither can take these yet. The second die takes the first of them at 1221 us, and the second one behind
        // it at 1232 us; from 1242 us on it is the step for which the third waits, a copy until 1462 us. At 1432 us
        // that goes to the second die, too, but the first has held it.
        toy.writes(1_215_000, &some(14, waiting));
        // All steps are done, and whatever comes now waits for none.
        toy.run_until(6_000_000);
        assert_eq!(toy.ssd.counters().pacing.throttled, 0, "the first die has begun no write");
        toy.writes(6_000_000, &some(30, 2));
        toy.run_until(8_000_000);
        assert_eq!(toy.ssd.counters().pacing.throttled, throttled, "{waiting} have waited");
    }
}
