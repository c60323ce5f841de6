//! Semi-preemptive collections: what happens at which preemption point (figures 4 to 7 of Lee et al.,
//! ISPASS 2011). A look at the queue takes 600 ns.

use copyback::ssd::Part::{GcSamePlane, QueueBehindIo, Service};
use copyback::workload::Hint;

use crate::parallel;
use crate::toy::Toy;

/// Block 0 is the next victim; its pages 1, 2 and 3 are valid. One more write calls for it.
const BRINK: [u32; 23] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 4, 8, 12, 0, 4, 8];
const CALLS: u32 = 12;
const PLAIN: &str = "\"semi_preemptive\"";

/// A collection has begun at 211 us: it reads page 1 until 231.6, writes it until 432.2 us.
pub fn collecting(preemption: &str, others: &[(&str, &str)]) -> Toy {
    let mut changes = vec![("ssd.gc.preemption", preemption), ("ssd.gc.victim", "fifo")];
    changes.extend(others);
    let mut toy = Toy::filled(&changes, &BRINK);
    toy.write(0, 1, CALLS);
    toy.run_until(211_000);
    assert_eq!(toy.log, ["11000 channel 0", "211000 die 0"]);
    toy.log.clear();
    toy
}

fn scheme(switches: &str) -> String {
    format!("{{ type = \"semi_preemptive\", {switches} }}")
}

#[test]
fn without_requests_only_the_looks_at_the_queue_take_time() {
    let mut toy = collecting(PLAIN, &[]);
    toy.run_until(2_400_000);
    let expected = [
        "231600 die 0", // read page 1
        "432200 die 0", // write it
        "452800 die 0",
        "653400 die 0",
        "674000 die 0",
        "874600 die 0",
        "2374600 die 0", // erase
    ];
    assert_eq!(toy.log[..7], expected);
}

#[test]
fn figure_4_a_write_goes_between_two_moves() {
    let mut toy = collecting(PLAIN, &[]);
    toy.write(300_000, 2, 9);
    toy.assert_ends(2, 643_200);
    toy.assert_parts(2, &[(GcSamePlane, 132_200), (Service, 211_000)]);
    toy.run_until(870_000);
    let expected = [
        "231600 die 0",
        "432200 die 0",
        "443200 channel 0",
        "643200 die 0", // the write
        "663800 die 0", // the collection goes on
        "864400 die 0",
    ];
    assert_eq!(toy.log, expected);
    assert_eq!(toy.ssd.counters().preemptions, 1);
}

#[test]
fn a_page_in_the_register_keeps_a_read_out_until_it_is_written() {
    let mut toy = collecting(PLAIN, &[]);
    toy.read(225_000, 2, 9);
    toy.assert_ends(2, 463_200);
    toy.assert_parts(2, &[(GcSamePlane, 207_200), (Service, 31_000)]);
    let expected =
        ["231600 die 0", "432200 die 0", "433200 channel 0", "453200 die 0", "463200 channel 0"];
    assert_eq!(toy.log, expected);
}

#[test]
fn but_not_a_write() {
    let mut toy = collecting(PLAIN, &[]);
    toy.write(225_000, 2, 9);
    toy.assert_ends(2, 442_600);
    toy.run_until(650_000);
    let expected = ["231600 die 0", "242600 channel 0", "442600 die 0", "643200 die 0"];
    assert_eq!(toy.log, expected);
}

#[test]
fn figure_5_a_read_of_the_page_in_the_register_is_merged() {
    let mut toy = collecting(&scheme("merge = true"), &[]);
    toy.read(225_000, 2, 1);
    toy.assert_ends(2, 242_600);
    toy.run_until(450_000);
    let expected = [
        "231600 die 0",
        "232600 channel 0", // the command; the page is in the register already
        "232600 die 0",
        "242600 channel 0",
        "443200 die 0", // the collection writes it
    ];
    assert_eq!(toy.log, expected);
    assert_eq!(toy.ssd.counters().merged_reads, 1);
}

#[test]
fn figure_5_a_write_of_the_page_in_the_register_is_merged() {
    for allocation in ["PCWD", "dynamic", "{ order = \"PCWD\", plane = \"most_free\" }"] {
        merges_a_write(collecting(&scheme("merge = true"), &[("ssd.ftl.allocation", allocation)]));
    }
}

fn merges_a_write(mut toy: Toy) {
    toy.write(225_000, 2, 1);
    toy.assert_ends(2, 442_600);
    toy.run_until(670_000);
    let expected = [
        "231600 die 0",
        "242600 channel 0", // the new data
        "442600 die 0",     // are written, and the old ones are not
        "463200 die 0",     // the next page
        "663800 die 0",
    ];
    assert_eq!(toy.log, expected);
    let counters = toy.ssd.counters();
    assert_eq!((counters.merged_writes, counters.pages_moved), (1, 1));
}

#[test]
fn the_page_that_is_asked_for_is_moved_next() {
    let mut toy = collecting(&scheme("merge = true, reorder = true"), &[]);
    toy.read(300_000, 2, 3);
    toy.assert_ends(2, 463_800);
    toy.run_until(900_000);
    let expected = [
        "231600 die 0",
        "432200 die 0",
        "452800 die 0", // page 3 is read, ahead of page 2
        "453800 channel 0",
        "453800 die 0",
        "463800 channel 0", // and served from the register
        "664400 die 0",
        "685000 die 0", // page 2
        "885600 die 0",
    ];
    assert_eq!(toy.log, expected);
    assert_eq!(toy.ssd.counters().merged_reads, 1);
}

#[test]
fn the_page_that_a_write_supersedes_is_moved_next_and_merged() {
    let mut toy = collecting(&scheme("merge = true, reorder_writes = true"), &[]);
    toy.write(300_000, 2, 3);
    toy.run_until(880_000);
    let expected = [
        "231600 die 0",
        "432200 die 0",
        "452800 die 0",     // page 3, before page 2
        "463800 channel 0", // the new data of page 3
        "663800 die 0",     // are written in its place
        "684400 die 0",     // page 2
    ];
    assert_eq!(toy.log[..6], expected);
    let counters = toy.ssd.counters();
    assert_eq!((counters.merged_writes, counters.pages_moved), (1, 2));
}

#[test]
fn figure_6_a_read_of_the_host_and_one_of_the_collection_overlap() {
    let mut toy = collecting(&scheme("pipeline = true"), &[]);
    toy.read(300_000, 2, 9);
    toy.assert_ends(2, 463_200);
    toy.run_until(680_000);
    let expected = [
        "231600 die 0",
        "432200 die 0",
        "433200 channel 0",
        "453200 die 0",     // the host's page is in the register
        "463200 channel 0", // and leaves it
        "473800 die 0",     // while the collection's is read
        "674400 die 0",
    ];
    assert_eq!(toy.log, expected);
    assert_eq!(toy.ssd.counters().pipelined, 1);
}

#[test]
fn a_write_of_the_host_and_one_of_the_collection_overlap() {
    let through_channel = ("ssd.gc.copyback", "false");
    let mut toy = collecting(&scheme("pipeline = true"), &[through_channel]);
    toy.write(220_000, 2, 9);
    toy.assert_ends(2, 453_600);
    toy.run_until(654_200);
    let expected = [
        "212000 channel 0",
        "232600 die 0",
        "242600 channel 0", // page 1 is in the controller
        "253600 channel 0", // the host's data go in
        "264600 channel 0", // and page 1, while the host's are written
        "453600 die 0",
        "654200 die 0",
    ];
    assert_eq!(toy.log, expected);
}

const THROUGH_CHANNEL: [(&str, &str); 1] = [("ssd.gc.copyback", "false")];

fn pipelined(order: &str) -> Toy {
    let switches = format!("pipeline = true, pipeline_order = \"{order}\"");
    collecting(&scheme(&switches), &THROUGH_CHANNEL)
}

#[test]
fn a_write_of_the_host_may_follow_one_of_the_collection() {
    let mut toy = pipelined("host_follows");
    toy.write(220_000, 2, 9);
    toy.assert_ends(2, 654_200);
    let expected = [
        "212000 channel 0",
        "232600 die 0",
        "242600 channel 0", // page 1 is in the controller
        "253600 channel 0", // and goes in first
        "264600 channel 0", // the host's data, while page 1 is written
        "454200 die 0",
        "654200 die 0",
    ];
    assert_eq!(toy.log[..7], expected);
    assert_eq!(toy.ssd.counters().pipelined, 1);
}

#[test]
fn of_two_writes_the_last_follows() {
    let mut toy = pipelined("host_follows");
    toy.writes(220_000, &[(2, 9), (3, 10)]);
    toy.assert_ends(2, 453_600);
    toy.assert_ends(3, 865_200);
    assert_eq!(toy.ssd.counters().pipelined, 1);
}

const ORDERS: [&str; 4] = ["collection_follows", "host_follows", "either", "joins"];

#[test]
fn figure_6_a_read_of_the_host_may_follow_one_of_the_collection() {
    let mut toy = pipelined("host_follows");
    toy.read(300_000, 2, 9);
    toy.assert_ends(2, 506_800);
    toy.run_until(719_000);
    let expected = [
        "212000 channel 0",
        "232600 die 0",
        "242600 channel 0", // page 1 is in the controller
        "253600 channel 0",
        "454200 die 0",     // and written
        "455200 channel 0", // page 2 is to be read
        "475800 die 0",     // and in the register
        "476800 channel 0", // the host's command; while its page is read
        "486800 channel 0", // page 2 leaves the register
        "496800 die 0",
        "506800 channel 0", // and the host's
        "517800 channel 0", // page 2 goes back
        "718400 die 0",
    ];
    assert_eq!(toy.log, expected);
    assert_eq!(toy.ssd.counters().pipelined, 1);
}

/// When an operation ends that comes while page 1 is read, and one that comes while that is written.
fn ends(scheme: &str, come: fn(&mut Toy, u64)) -> [Option<u64>; 2] {
    [220_000, 300_000].map(|ns| {
        let mut toy = collecting(scheme, &THROUGH_CHANNEL);
        come(&mut toy, ns);
        toy.run();
        toy.ended(2)
    })
}

fn ends_pipelined(order: &str, come: fn(&mut Toy, u64)) -> [Option<u64>; 2] {
    ends(&scheme(&format!("pipeline = true, pipeline_order = \"{order}\"")), come)
}

#[test]
fn figure_6_a_read_waits_for_one_operation_more_than_with_preemption_alone() {
    let come = |toy: &mut Toy, ns| toy.read(ns, 2, 9);
    // It is served between two moves, at 454.2 us.
    assert_eq!(ends(PLAIN, come), [Some(485_200); 2]);
    let expected = [
        ("collection_follows", [486_200, 486_200]), // the command to read page 2 goes before its data
        ("host_follows", [506_800, 506_800]),       // the read of page 2 goes before it
        ("either", [506_800, 506_800]),
        ("joins", [263_600, 506_800]), // the first while page 1 leaves the register
    ];
    for (order, expected) in expected {
        assert_eq!(ends_pipelined(order, come), expected.map(Some), "{order}");
    }
}

#[test]
fn figure_6_a_write_waits_for_one_operation_more_than_with_preemption_alone() {
    let come = |toy: &mut Toy, ns| toy.write(ns, 2, 9);
    // The first is served before page 1 is written; before page 2 is read, the second is put in serially.
    assert_eq!(ends(PLAIN, come), [Some(453_600), Some(665_200)]);
    let expected = [
        ("collection_follows", [453_600, 665_200]),
        ("host_follows", [654_200, 665_200]), // the write of page 1 goes before the first
        ("either", [654_200, 665_200]),
        ("joins", [654_200, 654_200]), // the second while page 1 is written
    ];
    for (order, expected) in expected {
        assert_eq!(ends_pipelined(order, come), expected.map(Some), "{order}");
    }
}

/// A page that is moved with copyback is in the register until it is written.
#[test]
fn figure_6_a_read_cannot_follow_one_that_leaves_its_page_in_the_register() {
    for order in ORDERS {
        let switches = format!("pipeline = true, pipeline_order = \"{order}\"");
        let mut toy = collecting(&scheme(&switches), &[]);
        toy.read(300_000, 2, 9);
        toy.assert_ends(2, 463_200);
    }
}

/// What comes at any time of a collection waits at most for one operation more than with preemption alone: the longest
/// is a program over the channel, with a look at the queue.
#[test]
fn no_order_keeps_an_operation_waiting_for_a_second_one() {
    const PROGRAM: u64 = 11_000 + 200_600;
    let come: fn(&mut Toy, u64) = |toy, ns| toy.read(ns, 2, 9);
    let kinds = [("read", come), ("write", |toy, ns| toy.write(ns, 2, 9))];
    for (copyback, (kind, come)) in
        ["true", "false"].into_iter().flat_map(|copyback| kinds.map(|kind| (copyback, kind)))
    {
        for ns in (211_000..2_700_000).step_by(9_700) {
            let ends = |scheme: &str| {
                let mut toy = collecting(scheme, &[("ssd.gc.copyback", copyback)]);
                come(&mut toy, ns);
                toy.run();
                toy.ended(2).expect("all is done")
            };
            let alone = ends(PLAIN);
            for order in ORDERS {
                let switches = format!("pipeline = true, pipeline_order = \"{order}\"");
                let pipelined = ends(&scheme(&switches));
                assert!(
                    pipelined <= alone + PROGRAM,
                    "{order}, a {kind} at {ns}, copyback {copyback}: {pipelined}, alone {alone}"
                );
            }
        }
    }
}

/// The second would have to wait until page 2 is written, too.
#[test]
fn of_two_reads_the_last_follows() {
    for order in ["host_follows", "either", "joins"] {
        let mut toy = pipelined(order);
        toy.reads(300_000, &[(2, 9), (3, 10)]);
        toy.assert_ends(2, 485_200);
        toy.assert_ends(3, 537_800);
    }
}

#[test]
fn a_write_follows_though_a_read_waits_that_the_page_in_the_register_keeps_out() {
    for order in ["host_follows", "either"] {
        let mut toy = pipelined(order);
        toy.read(220_000, 2, 9);
        toy.write(220_000, 3, 10);
        toy.assert_ends(3, 654_200);
        toy.assert_ends(2, 706_800);
    }
}

#[test]
fn a_write_that_joins_does_not_overtake_a_read() {
    let mut toy = pipelined("joins");
    toy.read(300_000, 2, 9);
    toy.write(310_000, 3, 10);
    toy.assert_ends(2, 485_200);
    toy.assert_ends(3, 696_200);
}

/// Page 1 of one plane is read first, then page 0 of the other; both are written together until 1,022.2 us.
#[test]
fn a_read_joins_the_first_read_of_a_pair_and_not_the_second() {
    for (ns, ends) in [(745_000, 791_000), (775_000, 1_053_200)] {
        let joins = scheme("pipeline = true, pipeline_order = \"joins\"");
        let others = [("ssd.gc.preemption", joins.as_str()), THROUGH_CHANNEL[0]];
        let mut toy = parallel::collecting("blind", &[1], &others);
        toy.read(ns, 2, 26);
        toy.assert_ends(2, ends);
    }
}

#[test]
fn a_read_of_the_page_that_the_collection_reads_is_merged_and_does_not_join() {
    let switches = "merge = true, pipeline = true, pipeline_order = \"joins\"";
    let mut toy = collecting(&scheme(switches), &THROUGH_CHANNEL);
    toy.read(225_000, 2, 1);
    // It is in the controller then.
    toy.assert_ends(2, 242_600);
    assert_eq!(toy.ssd.counters().merged_reads, 1);
}

#[test]
fn a_read_and_a_write_do_not_overlap() {
    let mut toy = collecting(&scheme("pipeline = true"), &[]);
    toy.write(300_000, 2, 9);
    toy.run_until(700_000);
    let expected = [
        "231600 die 0",
        "432200 die 0",
        "443200 channel 0",
        "643200 die 0",
        "663800 die 0", // the collection reads after the host's write
    ];
    assert_eq!(toy.log, expected);
    assert_eq!(toy.ssd.counters().pipelined, 0);
}

/// The host's open block has room for four writes; the plane may open no other until two are free.
const FIVE: [(u32, u32); 5] = [(2, 13), (3, 14), (4, 15), (5, 5), (6, 6)];

fn short_of_blocks(switches: &str) -> Toy {
    let mut toy = collecting(&scheme(switches), &[("ssd.gc.hard_threshold", "{ blocks = 2 }")]);
    toy.writes(300_000, &FIVE);
    toy.run_until(1_276_200);
    assert_eq!(toy.ended(5), Some(1_276_200));
    toy
}

#[test]
fn state_2_a_write_without_a_free_block_waits_and_reads_do_not() {
    let mut toy = short_of_blocks("high_priority_writes = false");
    toy.read(1_280_000, 7, 9);
    // Page 2 has been read out; when it is written the read goes first.
    toy.assert_ends(7, 1_528_400);
    assert_eq!(toy.ended(6), None);
    toy.run();
    assert!(toy.ended(6).is_some());
    let stalled = toy.ssd.counters().stalled.as_ns();
    let served = toy.ended(6).unwrap_or_default() - 211_000;
    assert_eq!(stalled, (served - 1_276_200 + 211_000).into());
}

#[test]
fn state_3_a_high_priority_write_without_a_free_block_keeps_everybody_out() {
    let mut toy = short_of_blocks("high_priority_writes = true");
    toy.read(1_280_000, 7, 9);
    toy.run();
    let mut patient = short_of_blocks("high_priority_writes = false");
    patient.read(1_280_000, 7, 9);
    patient.run();
    // The read waits until there is a block for the write, which no read holds up.
    assert!(toy.ended(7) > patient.ended(7), "{:?}", toy.log);
    assert!(toy.ended(6) <= patient.ended(6), "{:?}", patient.log);
}

#[test]
fn state_3_writes_of_other_flows_have_no_priority() {
    let read_ends = |flows: &str| {
        let switches = format!("high_priority_writes = true, priority_flows = {flows}");
        let changes = [("ssd.gc.hard_threshold", "{ blocks = 2 }")];
        let mut toy = collecting(&scheme(&switches), &changes);
        toy.writes_with(300_000, Hint::new(1, None), &FIVE);
        toy.run_until(1_276_200);
        toy.read(1_280_000, 7, 9);
        toy.run();
        toy.ended(7).expect("all is done")
    };
    let patient = read_ends("[0]");
    assert_eq!(patient, 1_528_400, "as without priority");
    assert!(read_ends("[1]") > patient);
    assert_eq!(read_ends("[0, 1]"), read_ends("[]"), "every flow's");
}

#[test]
fn requests_that_wait_before_a_collection_begins_go_first() {
    let changes = [("ssd.gc.preemption", PLAIN), ("ssd.gc.victim", "fifo")];
    let mut toy = Toy::filled(&changes, &BRINK);
    toy.writes(0, &[(1, CALLS), (2, 9)]);
    toy.assert_ends(2, 422_000);
    toy.assert_parts(2, &[(QueueBehindIo, 211_000), (Service, 211_000)]);
}
