//! Faults of the flash: what retries and blocks that are replaced take, and how a drive ends.

use copyback::ids::{BlockId, Lpn};
use copyback::ssd::Part::{QueueBehindIo, Service};

use crate::semi_preemptive::collecting;
use crate::toy::Toy;

/// Sixteen blocks for sixteen pages: four full of data, two open, two to be kept free and two spare make
/// ten that are needed.
const ROOMY: [(&str, &str); 2] =
    [("ssd.geometry.blocks_per_plane", "16"), ("ssd.ftl.over_provisioning", "0.75")];
const ALL_PROGRAMS_FAIL: (&str, &str) = ("ssd.faults.program_failures", "1.0");
const ALL_ERASES_FAIL: (&str, &str) = ("ssd.faults.erase_failures", "1.0");
const ALL_READS_FAIL: (&str, &str) = ("ssd.faults.read_errors", "1.0");

fn roomy(fault: (&str, &str)) -> Toy {
    Toy::new(&[ROOMY[0], ROOMY[1], fault])
}

#[test]
fn a_retry_takes_another_array_read() {
    let mut toy = Toy::filled(&[ALL_READS_FAIL, ("ssd.faults.retry_failures", "0.0")], &[5]);
    toy.read(0, 1, 5);
    toy.assert_ends(1, 51_000);
    toy.assert_parts(1, &[(Service, 51_000)]);
    let report = toy.fault_report().expect("faults are configured");
    assert_eq!((report.retried, report.uncorrectable), (vec![1], 0));
}

#[test]
fn a_retry_takes_as_long_as_reading_such_a_page_does() {
    let by_type = ("ssd.timing.read", "[\"20us\", \"30us\", \"40us\", \"50us\"]");
    let once = ("ssd.faults.retry_failures", "0.0");
    let mut toy = Toy::filled(&[ALL_READS_FAIL, once, by_type], &[0, 1, 2, 3]);
    toy.reads(0, &[(1, 3), (2, 1)]);
    toy.assert_ends(1, 1_000 + 2 * 50_000 + 10_000);
    toy.assert_ends(2, 111_000 + 1_000 + 2 * 30_000 + 10_000);
}

#[test]
fn a_read_from_the_register_of_a_collection_is_not_retried_again() {
    let merge = "{ type = \"semi_preemptive\", merge = true }";
    let faults = [ALL_READS_FAIL, ("ssd.faults.retry_failures", "0.0")];
    let over_the_channel = ("ssd.gc.copyback", "false");
    let mut toy = collecting(merge, &[faults[0], faults[1], over_the_channel]);
    // The collection reads page 1: a command, tR, the look at the queue, tR once more, and the page.
    toy.read(225_000, 2, 1);
    let read = 211_000 + 1_000 + 20_000 + 600 + 20_000 + 10_000;
    toy.assert_ends(2, read);
    let report = toy.fault_report().expect("faults are configured");
    assert_eq!((report.retried, toy.ssd.counters().merged_reads), (vec![1], 1));
    toy.run_until(read + 1_000 + 10_000 + 200_000 + 600);
    assert_eq!(toy.log.last(), Some(&"474200 die 0".to_owned()), "{:?}", toy.log);
}

#[test]
fn what_no_retry_corrects_has_taken_all_of_them() {
    let levels = ("ssd.faults.retry_levels", "3");
    let changes = [ALL_READS_FAIL, ("ssd.faults.retry_failures", "1.0"), levels];
    let mut toy = Toy::filled(&changes, &[5, 6]);
    toy.reads(0, &[(1, 5), (2, 6)]);
    toy.assert_ends(1, 91_000);
    toy.assert_ends(2, 182_000);
    toy.assert_parts(2, &[(Service, 91_000), (QueueBehindIo, 91_000)]);
    let report = toy.fault_report().expect("faults are configured");
    assert_eq!((report.retried, report.uncorrectable), (vec![], 2));
}

#[test]
fn after_a_program_fails_the_block_is_copied_and_the_page_programmed_again() {
    // A page is read out in 31 us and programmed in 211 us. No spare block fails before it is in use.
    let mut toy = roomy(ALL_PROGRAMS_FAIL);
    toy.writes(0, &[(1, 5), (2, 6), (3, 7)]);
    toy.assert_ends(1, 2 * 211_000);
    toy.assert_ends(2, 422_000 + 2 * 211_000 + 242_000);
    toy.assert_parts(2, &[(QueueBehindIo, 422_000), (Service, 664_000)]);
    toy.assert_ends(3, 1_086_000 + 2 * 211_000 + 2 * 242_000);
    toy.run();
    let counters = toy.ssd.counters();
    assert_eq!((counters.host_programs, counters.programs, counters.reads), (3, 9, 3));
    assert_eq!(counters.page_write_amplification(), Some(3.0));
    let report = toy.fault_report().expect("faults are configured");
    assert_eq!((report.program_failures, report.pages_copied), (3, 3));
    assert_eq!(report.grown_bad_blocks(), 3);
}

#[test]
fn an_overwritten_page_is_not_copied() {
    let mut toy = roomy(ALL_PROGRAMS_FAIL);
    toy.writes(0, &[(1, 5), (2, 5)]);
    toy.assert_ends(2, 2 * 422_000);
    toy.run();
    assert_eq!(toy.fault_report().map(|report| report.pages_copied), Some(0));
}

#[test]
fn a_drive_that_has_too_few_good_blocks_rejects_writes_and_reads_on() {
    let mut toy = roomy(ALL_PROGRAMS_FAIL);
    // Six blocks are to spare beyond the ten that are needed: the seventh failure is one too many.
    for request in 0..6 {
        toy.write(u64::from(request) * 10_000_000, request, request);
    }
    toy.run_until(60_000_000 - 1);
    assert!(!toy.ssd.backend().condition.is_read_only());
    toy.writes(60_000_000, &[(6, 6), (7, 7)]);
    toy.assert_rejected(7, 60_000_000);
    toy.assert_ends(6, 60_000_000 + 2 * 211_000 + 2 * 242_000);
    toy.write(70_000_000, 8, 0);
    toy.assert_rejected(8, 70_000_000);
    toy.write_part(70_000_000, 9, 0);
    toy.assert_rejected(9, 70_000_000);
    for lpn in 0..7 {
        toy.read(80_000_000 + u64::from(lpn) * 1_000_000, 20 + lpn, lpn);
    }
    toy.run();
    assert_eq!(toy.ended(26), Some(86_031_000));
    assert_eq!(toy.ssd.backend().ftl.lookup(Lpn(7)), None);
    let report = toy.fault_report().expect("faults are configured");
    assert_eq!(report.read_only_since.map(|since| since.as_ns()), Some(60_000_000));
}

#[test]
fn a_drive_that_has_no_spare_block_left_is_read_only_though_enough_are_good() {
    // One page of each full block is overwritten, again and again. Block by block is collected: three
    // pages are moved, and the erase, which fails, gives nothing back but a spare block.
    let fifo = ("ssd.gc.victim", "fifo");
    let filled: Vec<u32> = (0..16).collect();
    let mut toy = Toy::filled(&[ROOMY[0], ROOMY[1], ALL_ERASES_FAIL, fifo], &filled);
    for request in 0..40 {
        toy.write(u64::from(request) * 20_000_000, request, request % 4 * 4);
        toy.run();
    }
    assert!(toy.ssd.backend().condition.is_read_only());
    let bad = toy.ssd.backend().ftl.bad_blocks().count().0;
    assert!(bad <= 6, "{bad} bad blocks leave fewer than the ten that are needed");
}

#[test]
fn a_block_whose_erase_fails_is_never_used_again() {
    let overwritten: Vec<u32> = (0..32).map(|write| write % 16).collect();
    let mut toy = Toy::filled(&[ROOMY[0], ROOMY[1], ALL_ERASES_FAIL], &overwritten);
    let bad = |toy: &Toy| toy.ssd.backend().ftl.bad_blocks().count().0;
    let mut request = 0;
    while !toy.ssd.backend().condition.is_read_only() {
        toy.write(u64::from(request) * 10_000_000, request, request % 16);
        toy.run();
        request += 1;
    }
    // Each block has been erased once at most, and that failed. The drive needs ten of the sixteen.
    assert!(bad(&toy) > 6);
    assert_eq!(toy.ssd.counters().erases, bad(&toy));
    assert!((0..16).all(|block| toy.ssd.backend().ftl.blocks().erase_count(BlockId(block)) <= 1));
    for lpn in 0..16 {
        toy.read(10_000_000_000 + u64::from(lpn) * 1_000_000, 1_000 + lpn, lpn);
    }
    toy.run();
}

#[test]
fn wear_is_levelled_though_a_bad_block_has_been_erased_least() {
    // A third of the blocks are bad from the start, and never erased. Pages 8 to 15 lie still.
    let changes = [
        ROOMY[0],
        ROOMY[1],
        ("ssd.faults.factory_bad_blocks", "0.3"),
        ("ssd.wear.static_threshold", "2"),
    ];
    let hot = (0..240).map(|write| write % 8);
    let pages: Vec<u32> = (0..16).chain(hot).collect();
    let mut toy = Toy::filled(&changes, &pages);
    let erased = |toy: &Toy| {
        [2, 8, 12, 3, 4].map(|block| toy.ssd.backend().ftl.blocks().erase_count(BlockId(block)))
    };
    assert_eq!((toy.ssd.backend().ftl.bad_blocks().count(), erased(&toy)), ((3, 3), [0; 5]));
    for request in 0..8 {
        toy.write(u64::from(request) * 10_000_000, request, request);
    }
    toy.run();
    assert_eq!(toy.ssd.counters().levelling_runs, 2);
    assert_eq!(
        erased(&toy),
        [0, 0, 0, 1, 1],
        "the bad blocks, and those of the pages that lie still"
    );
}

#[test]
fn pages_of_striped_planes_are_copied_and_counted_on_each_of_them() {
    let striped = [
        ("ssd.geometry.planes_per_die", "2"),
        ("ssd.gc.width", "superblock"),
        ("ssd.faults.program_failures", "1.0"),
        ("ssd.geometry.blocks_per_plane", "16"),
        ("ssd.ftl.over_provisioning", "0.75"),
    ];
    let mut toy = Toy::new(&striped);
    toy.writes(0, &[(1, 0), (2, 1)]);
    toy.run_until(10_000_000);
    // The second write has the first copied, which is a page of either plane.
    let report = toy.fault_report().expect("faults are configured");
    assert_eq!(report.pages_copied, 2);
}
