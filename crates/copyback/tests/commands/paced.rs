//! Paced collections: pages of the host pay for steps. Writes take 211 us, copies 220 us, the erase 1500 us, reads
//! 31 us.

use copyback::ids::PlaneId;
use copyback::ssd::Part::{GcSamePlane, QueueBehindIo, Service};
use copyback::units::TotalTime;
use copyback::{Simulation, Status};
use serde_json::Value;

use crate::toy::{Toy, config};

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
    assert!(toy.ssd.backend().ftl.space().free_blocks(PlaneId(0)) >= 3);
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

#[test]
fn a_step_that_is_suspended_pays_for_one_step() {
    let suspend = "{ type = \"program_erase\", suspend = \"5us\", resume = \"3us\", most = 2 }";
    let end_of = |reads: &[u64]| {
        let mut toy = on_the_brink(PACED, &[("ssd.commands.suspend", suspend)]);
        toy.writes(0, &writes(16));
        for (request, ns) in (20..).zip(reads) {
            toy.read(*ns, request, 9);
            toy.assert_ends(request, ns + 5_000 + 31_000);
        }
        toy.run();
        let pacing = toy.ssd.counters().pacing;
        (
            [9, 16].map(|write| toy.ended(write).expect("it has ended")),
            pacing.charged,
            pacing.throttled,
        )
    };
    // Sixteen writes, three copies and four erases: wwwwwwwcwewwcwwewwwew. The first erase lies before the ninth write.
    let [ninth, last] =
        [9 * 211_000 + 220_000 + 1_500_000, 16 * 211_000 + 2 * 220_000 + 3 * 1_500_000];
    let (alone, charged, throttled) = end_of(&[]);
    assert_eq!(alone, [ninth, last]);
    // The first erase begins at 1908 us. Suspending it takes 5 us, the read 31, resuming it 3.
    let suspended = end_of(&[2_500_000]);
    assert_eq!(suspended, ([ninth + 39_000, last + 39_000], charged, throttled));
    let twice = end_of(&[2_500_000, 2_700_000]);
    assert_eq!(twice, ([ninth + 78_000, last + 78_000], charged, throttled));
}

/// A die of four planes under more random writes than it can take, in a closed loop.
const OVERLOADED: &[(&str, &str)] = &[
    ("ssd.geometry.planes_per_die", "4"),
    ("ssd.geometry.blocks_per_plane", "40"),
    ("ssd.geometry.pages_per_block", "64"),
    ("ssd.ftl.over_provisioning", "0.3"),
    ("ssd.ftl.allocation", "dynamic"),
    ("ssd.gc.soft_threshold", "{ blocks = 5 }"),
    ("ssd.gc.preemption", PACED),
    ("precondition.fill", "1.0"),
    ("precondition.overwrites", "1.0"),
    ("workload.type", "synthetic"),
    ("workload.requests", "20000"),
    ("workload.request_size", "4KiB"),
    ("workload.read_share", "0.2"),
    ("workload.iodepth", "16"),
];

/// Moves and erases of a run for each step that was charged.
fn done_for_each_step_charged(changes: &[(&str, &str)]) -> f64 {
    let config = config(&[OVERLOADED, changes].concat());
    let mut simulation = Simulation::new(&config, None).expect("nothing to read");
    while simulation.advance(1 << 20).expect("nothing is violated") == Status::Running {}
    let summary = simulation.summary().expect("it has run").to_json();
    let number = |pointer| summary.pointer(pointer).and_then(Value::as_f64).expect(pointer);
    assert_eq!(number("/gc/stalled_us"), 0.0, "{changes:?}");
    let done = number("/gc/pages_moved") + number("/gc/erases");
    done / number("/gc/pacing/steps_charged")
}

/// Where nothing but charges lets collections go on, what is charged is what is done.
#[test]
fn what_is_charged_is_what_is_done_whatever_else_the_drive_does() {
    let suspend = "{ type = \"program_erase\", suspend = \"5us\", resume = \"3us\", most = 2 }";
    let summary_page = "{ type = \"last_page\", transfer = \"16B\" }";
    for changes in [
        &[][..],
        &[("ssd.ftl.allocation", "\"CWDP\"")],
        &[("ssd.timing.register", "\"double\"")],
        &[("ssd.gc.copyback", "true")],
        &[("ssd.gc.width", "\"blind\"")],
        &[("ssd.gc.width", "\"blind\""), ("ssd.gc.copyback", "true")],
        &[("ssd.gc.width", "\"blind\""), ("ssd.ftl.allocation", "\"CWDP\"")],
        &[("ssd.gc.width", "\"threshold\"")],
        &[("ssd.gc.threshold_scope", "\"drive\"")],
        &[("ssd.gc.unit", "\"line\""), ("ssd.geometry.dies_per_chip", "2")],
        &[
            ("ssd.geometry.page_size", "16KiB"),
            ("ssd.geometry.pages_per_block", "16"),
            ("ssd.ftl.mapping_unit", "4KiB"),
            ("ssd.gc.copyback", "false"),
        ],
        &[("ssd.ftl.summary_page", summary_page)],
        &[("ssd.commands.suspend", suspend)],
        &[
            ("ssd.slc_cache.static", "{ blocks = 2 }"),
            ("ssd.slc_cache.when_full", "write_past"),
            ("ssd.geometry.blocks_per_plane", "48"),
        ],
        &[
            ("ssd.faults.program_failures", "1e-4"),
            ("ssd.geometry.blocks_per_plane", "60"),
            ("ssd.ftl.over_provisioning", "0.45"),
        ],
    ] {
        let ratio = done_for_each_step_charged(changes);
        assert!((ratio - 1.0).abs() < 0.03, "{ratio} with {changes:?}");
    }
}
