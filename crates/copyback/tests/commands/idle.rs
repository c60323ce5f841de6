//! Idle time (Jung, Prabhakar, Kandemir, Middleware 2012): what is collected in advance, what is put
//! off, and how long a request waits for it.

use copyback::ids::{Lpn, PlaneId};
use copyback::ssd::Part::{GcSamePlane, Service};
use copyback::ssd::{Activity, Announced};

use crate::toy::{Toy, at};

/// Of blocks 0, 1 and 2 only pages 3; 7; 2 and 4 are valid. Block 3 is full, block 4 is open for
/// everybody, and three are free, one more than the soft threshold.
const ABOVE: [u32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 4, 5, 6, 0, 1];
const TIGHT: [(&str, &str); 3] = [
    ("ssd.ftl.over_provisioning", "0.75"),
    ("ssd.ftl.placement", "\"one_class\""),
    ("ssd.gc.hard_threshold", "{ blocks = 1 }"),
];
const NOW: u64 = 1_000;
/// Equation 2 for one valid page: read and written inside the plane, and the erase.
const ONE_PAGE: u64 = 20_000 + 200_000 + 1_500_000;
const READ: u64 = 31_000;
const WRITE: u64 = 211_000;
const ERASE: u64 = 1_500_000;
/// Ends of the steps of a collection that begins at [`NOW`].
const STEPS: [u64; 3] = [NOW + 20_000, NOW + 220_000, NOW + ONE_PAGE];
const ADVANCED: &str = "{ type = \"advanced\", long_idle = \"20ms\" }";
const DELAYED: &str = "\"delayed\"";

fn drive(idle: &str, others: &[(&str, &str)], pages: &[u32]) -> Toy {
    let mut changes = TIGHT.to_vec();
    changes.push(("ssd.gc.idle", idle));
    changes.extend(others);
    Toy::filled(&changes, pages)
}

/// A drive that may put off one collection: four pages open the block after the next.
fn delaying(idle: &str) -> Toy {
    drive(idle, &[("ssd.gc.soft_threshold", "{ blocks = 3 }")], &ABOVE)
}

/// Writes of so many pages at once, and when the last ends.
fn burst(toy: &mut Toy, pages: u32) -> u64 {
    let writes: Vec<_> = (0..pages).map(|page| (page, page % 4)).collect();
    toy.writes(0, &writes);
    u64::from(pages) * WRITE
}

fn free(toy: &Toy) -> u32 {
    toy.ssd.backend().ftl.space().free_blocks(PlaneId(0)) as u32
}

/// Collections in all, looked ahead to, in long idle periods, and caught up.
fn counts(toy: &Toy) -> [u64; 4] {
    let counters = toy.ssd.counters();
    [counters.collections, counters.look_ahead, counters.compacted, counters.delayed]
}

/// A write of so many pages that arrives at `ns`.
fn writes(ns: u64, pages: u32) -> Announced {
    Announced { arrival: at(ns), first: Lpn(0), pages, writes: true }
}

fn announced(idle: &str, commands: &[Announced]) -> Toy {
    let mut toy = drive(idle, &[], &ABOVE);
    toy.announce(NOW, commands);
    toy
}

#[test]
fn a_collection_that_fits_into_the_gap_is_done_before_the_command() {
    let mut toy = announced(ADVANCED, &[writes(NOW + ONE_PAGE, 8)]);
    toy.run_until(NOW + ONE_PAGE);
    assert_eq!(toy.log, ["21000 die 0", "221000 die 0", "1721000 die 0"]);
    assert_eq!((free(&toy), counts(&toy)), (4, [1, 1, 0, 0]));
}

#[test]
fn a_collection_that_is_a_nanosecond_too_long_is_not_begun() {
    let mut toy = announced(ADVANCED, &[writes(NOW + ONE_PAGE - 1, 8)]);
    toy.run_until(NOW + ONE_PAGE);
    assert_eq!((toy.log.len(), counts(&toy)), (0, [0; 4]));
}

#[test]
fn commands_that_call_for_nothing_are_not_collected_for() {
    // The seventh page opens one block; the eighth would open another, below the soft threshold.
    let mut toy = announced(ADVANCED, &[writes(10_000_000, 7)]);
    toy.run_until(9_000_000);
    assert_eq!(counts(&toy), [0; 4]);
    let reads = Announced { writes: false, ..writes(10_000_000, 8) };
    let mut toy = announced(ADVANCED, &[reads]);
    toy.run_until(9_000_000);
    assert_eq!(counts(&toy), [0; 4]);
}

#[test]
fn the_gap_ends_with_the_first_command_whichever_calls() {
    let reads = |ns| Announced { writes: false, ..writes(ns, 1) };
    let early = [reads(NOW + ONE_PAGE - 1), writes(NOW + 2 * ONE_PAGE, 8)];
    let mut toy = announced(ADVANCED, &early);
    toy.run_until(NOW + ONE_PAGE);
    assert_eq!(counts(&toy), [0; 4]);
    let late = [writes(NOW + ONE_PAGE, 4), writes(NOW + 2 * ONE_PAGE, 4)];
    let mut toy = announced(ADVANCED, &late);
    toy.run_until(NOW + ONE_PAGE);
    assert_eq!(counts(&toy), [1, 1, 0, 0]);
}

#[test]
fn as_many_collections_as_fit_and_not_one_more() {
    // Twelve pages open three blocks: two collections are called for.
    for (gap, collections) in [(2 * ONE_PAGE, 2), (2 * ONE_PAGE - 1, 1)] {
        let mut toy = announced(ADVANCED, &[writes(NOW + gap, 12)]);
        toy.run_until(NOW + gap);
        assert_eq!(counts(&toy), [collections, collections, 0, 0], "a gap of {gap}");
    }
}

#[test]
fn a_request_that_comes_during_any_step_waits_for_that_step_only() {
    let mut begins = NOW;
    for ends in STEPS {
        for arrives in [begins + 1, (begins + ends) / 2, ends - 1] {
            let mut toy = announced(ADVANCED, &[writes(NOW + ONE_PAGE, 8)]);
            toy.read(arrives, 1, 3);
            toy.assert_ends(1, ends + READ);
            toy.assert_parts(1, &[(GcSamePlane, ends - arrives), (Service, READ)]);
            // What is left goes on at once; a page that was read out is read again.
            let again = if ends == STEPS[0] { 0 } else { ends - NOW };
            toy.run_until(ends + READ + ONE_PAGE - again);
            assert_eq!((free(&toy), counts(&toy)), (4, [1, 1, 0, 0]));
        }
        begins = ends;
    }
}

#[test]
fn what_was_read_out_is_read_again_after_an_interruption() {
    let mut toy = announced(ADVANCED, &[writes(NOW + ONE_PAGE, 8)]);
    toy.read(NOW + 1, 1, 5);
    toy.run_until(2_000_000);
    let expected = [
        "21000 die 0", // page 3 is read
        "42000 die 0", // the request, for 31 us
        "52000 channel 0",
        "72000 die 0", // page 3 again
        "272000 die 0",
        "1772000 die 0",
    ];
    toy.log.retain(|entry| entry != "22000 channel 0");
    assert_eq!(toy.log, expected);
    assert_eq!(toy.ssd.counters().preemptions, 1);
}

#[test]
fn long_idle_periods_are_used_up_to_the_margin() {
    let idle = "{ type = \"advanced\", long_idle = \"1ms\", margin = { blocks = 2 } }";
    let mut toy = drive(idle, &[], &ABOVE);
    toy.announce(NOW, &[]);
    toy.run_until(1_000_000);
    assert_eq!(toy.log.len(), 0, "a millisecond is not longer than one");
    toy.run();
    assert_eq!(toy.log[0], "1020001 die 0");
    // Of a threshold of two and a margin of two.
    assert_eq!((free(&toy), counts(&toy)), (4, [1, 0, 1, 0]));
}

#[test]
fn a_request_ends_a_long_idle_period() {
    let idle = "{ type = \"advanced\", long_idle = \"1ms\", margin = { blocks = 9 } }";
    let mut toy = drive(idle, &[], &ABOVE);
    toy.announce(NOW, &[]);
    toy.read(1_500_000, 1, 5);
    // The erase has begun.
    toy.assert_ends(1, 1_000_001 + ONE_PAGE + READ);
    assert_eq!(free(&toy), 4);
    // The next millisecond begins anew; then all that over-provisioning reserves is freed.
    toy.run();
    assert_eq!((free(&toy), counts(&toy)), (5, [2, 0, 2, 0]));
}

#[test]
fn a_write_that_calls_for_a_collection_is_served_and_the_collection_caught_up() {
    let mut toy = delaying(DELAYED);
    let last = burst(&mut toy, 6);
    toy.assert_ends(5, last);
    assert_eq!((free(&toy), counts(&toy)), (2, [0; 4]));
    assert_eq!(toy.ssd.counters().put_off, 1);
    // The page of block 0 that was valid has been written again.
    toy.run_until(last + ERASE);
    assert_eq!(free(&toy), 3);
    toy.run();
    assert_eq!((free(&toy), counts(&toy)), (3, [1, 0, 0, 1]));
}

#[test]
fn without_delays_the_burst_waits_for_the_collection() {
    let mut toy = drive("\"none\"", &[("ssd.gc.soft_threshold", "{ blocks = 3 }")], &ABOVE);
    let last = burst(&mut toy, 6);
    toy.assert_ends(5, last + ERASE);
}

#[test]
fn what_is_owed_is_collected_on_demand_when_the_host_could_open_no_block() {
    let mut toy = delaying(DELAYED);
    let last = burst(&mut toy, 12);
    // The eighth page opens the last block that the host may. One block is collected; then it may open
    // another, and the next collection can wait until nothing else is to be done.
    toy.assert_ends(7, 8 * WRITE);
    toy.assert_ends(8, 9 * WRITE + ERASE);
    toy.run();
    let counters = toy.ssd.counters();
    assert!(toy.ended(11) >= Some(last + ERASE), "{:?}", toy.done);
    assert!(counters.collections > counters.idle && counters.delayed > 0, "{counters:?}");
    assert_eq!(free(&toy), 3);
}

#[test]
fn a_request_waits_for_one_step_of_what_is_caught_up() {
    let mut toy = delaying(DELAYED);
    let last = burst(&mut toy, 6);
    toy.read(last + 700_000, 20, 5);
    toy.assert_ends(20, last + ERASE + READ);
}

#[test]
fn catching_up_waits_for_the_short_idle_time() {
    let mut toy = delaying("{ type = \"delayed\", short_idle = \"300us\" }");
    let last = burst(&mut toy, 6);
    toy.run();
    assert_eq!(toy.log.last(), Some(&format!("{} die 0", last + 300_000 + ERASE)));
}

#[test]
fn both_together_settle_debts_before_they_look_ahead() {
    let mut toy = delaying("{ type = \"advanced_delayed\", long_idle = \"20ms\" }");
    let last = burst(&mut toy, 6);
    toy.announce(last, &[writes(last + 10_000_000, 8)]);
    toy.run_until(last + ERASE);
    assert_eq!(counts(&toy), [1, 0, 0, 1]);
    toy.run_until(last + 10_000_000);
    let [all, look_ahead, compacted, delayed] = counts(&toy);
    assert_eq!((delayed, compacted), (1, 0));
    assert!(look_ahead > 0 && all == look_ahead + delayed, "{:?}", counts(&toy));
}

#[test]
fn idle_time_is_accounted_for_until_a_command_comes_and_from_its_end_on() {
    let mut toy = drive(ADVANCED, &[("metrics.idle_time", "true")], &ABOVE);
    toy.announce(NOW, &[writes(NOW + 10 * ONE_PAGE, 8)]);
    let comes = STEPS[0] - 5_000;
    toy.read(comes, 1, 3);
    let again = STEPS[0] + READ;
    let end = again + ONE_PAGE + 7_000;
    toy.run_until(end);
    let times = toy.ssd.backend().observer.idle_times(at(end)).expect("it is kept account of");
    assert_eq!((times.unused.count, times.short.count, times.long.count), (0, 2, 0));
    assert_eq!(times.busy.as_ns(), u128::from(again - comes));
    assert_eq!(times.short.time.as_ns(), u128::from(end) - times.busy.as_ns());
    let dies = times.short.dies;
    // The rest of the first step is no idle time.
    assert_eq!(dies[Activity::LookAhead].as_ns(), u128::from(comes - NOW + ONE_PAGE));
    assert_eq!(dies[Activity::Nothing].as_ns(), u128::from(NOW + 7_000));
}
