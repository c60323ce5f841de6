//! Times of operations where two features meet: each amount is a sum of what the text says of the one and of the other.
//!
//! A read takes 31 us (command 1, array 20, data 10), a write 211 us, an erase 1500 us. In the mode of the SLC cache the array
//! takes 5, 50 and 500 us. Suspending takes 5 us, resuming 3 us.

use copyback::ids::{Lpn, PlaneId};

use crate::toy::Toy;

type Changes = &'static [(&'static str, &'static str)];

/// Sixteen blocks of six pages; the first is always one of the cache, with two pages.
const CACHE: Changes = &[
    ("ssd.geometry.pages_per_block", "6"),
    ("ssd.geometry.blocks_per_plane", "16"),
    ("ssd.ftl.over_provisioning", "0.75"),
    ("ssd.slc_cache.static", "{ blocks = 1 }"),
    ("ssd.slc_cache.timing", r#"{ read = "5us", program = "50us", erase = "500us" }"#),
    ("ssd.slc_cache.fold_after_idle", "10ms"),
    ("ssd.slc_cache.when_full", "write_past"),
];

const SUSPEND: Changes = &[(
    "ssd.commands.suspend",
    "{ type = \"program_erase\", suspend = \"5us\", resume = \"3us\", most = 2 }",
)];

/// No capacitors, and a scan that reads all of each page.
const UNPROTECTED: Changes = &[("ssd.power.protection", "none"), ("ssd.power.metadata", "4KiB")];

/// Blocks enough for programs that fail.
const ROOMY: Changes =
    &[("ssd.geometry.blocks_per_plane", "16"), ("ssd.ftl.over_provisioning", "0.75")];
const PROGRAMS_FAIL: Changes = &[("ssd.faults.program_failures", "1.0")];
const ONE_RETRY: Changes =
    &[("ssd.faults.read_errors", "1.0"), ("ssd.faults.retry_failures", "0.0")];

/// A write in the cache: command and data 11 us, array 50 us.
const CACHED: u64 = 61_000;
const READ: u64 = 31_000;
const WRITE: u64 = 211_000;
/// Suspending and resuming: 5 and 3 us.
const SUSPENDING: u64 = 5_000 + 3_000;

fn toy(changes: &[Changes]) -> Toy {
    Toy::new(&changes.concat())
}

/// When idle time begins to fold two pages that were written at the start: longer than the wait, by a nanosecond.
const FOLD: u64 = 2 * CACHED + 10_000_001;

#[test]
fn a_block_of_the_cache_that_fails_is_copied_at_the_cache_s_speed() {
    let mut toy = toy(&[CACHE, PROGRAMS_FAIL]);
    toy.writes(0, &[(1, 0), (2, 1)]);
    // The failed program, and the program again.
    toy.assert_ends(1, 2 * CACHED);
    // Beside these the first page is read out in 16 us, and programmed like any other.
    toy.assert_ends(2, 4 * CACHED + 16_000 + CACHED);
}

#[test]
fn a_page_of_the_cache_is_read_again_at_the_cache_s_speed() {
    let mut toy = toy(&[CACHE, ONE_RETRY]);
    toy.writes(0, &[(1, 0), (2, 1), (3, 2)]);
    toy.run_until(1_000_000);
    toy.reads(1_000_000, &[(4, 0), (5, 2)]);
    toy.assert_ends(4, 1_000_000 + 16_000 + 5_000);
    toy.assert_ends(5, 1_021_000 + READ + 20_000);
}

#[test]
fn a_fold_over_the_channel_reads_in_one_mode_and_programs_in_the_other() {
    let mut toy = toy(&[CACHE, &[("ssd.gc.copyback", "false")]]);
    toy.writes(0, &[(1, 0), (2, 1)]);
    let erased = FOLD + 2 * (16_000 + WRITE) + 500_000;
    let erases =
        |toy: &Toy| toy.ssd.backend().ftl.slc_state().expect("it has a cache").tally.erases;
    toy.run_until(erased - 1);
    assert_eq!(erases(&toy), 0);
    toy.run_until(erased);
    assert_eq!(erases(&toy), 1);
}

#[test]
fn a_read_suspends_a_program_of_the_cache_for_as_long_as_it_takes() {
    let mut toy = toy(&[CACHE, SUSPEND]);
    toy.write(0, 1, 0);
    toy.write(100_000, 2, 1);
    toy.read(120_000, 3, 0);
    toy.assert_ends(3, 120_000 + 5_000 + 16_000);
    toy.assert_ends(2, 100_000 + CACHED + SUSPENDING + 16_000);
}

#[test]
fn a_block_of_the_cache_whose_erase_was_cut_off_is_erased_in_its_own_mode() {
    let mut toy = toy(&[CACHE, UNPROTECTED]);
    toy.writes(0, &[(1, 0), (2, 1)]);
    let erases = FOLD + 2 * (5_000 + 200_000);
    let cut = toy.cut_power(erases + 250_000);
    assert_eq!((cut.cut_erases, cut.scan.erased.len()), (1, 1));
    // Two pages of the cache's block; two of the block that they were moved to, and the erased one behind; the first of
    // fourteen others.
    let scan = 2 * 16_000 + (3 + 14) * READ;
    assert_eq!(cut.time.time.as_ns(), scan + 500_000);
}

#[test]
fn pages_of_the_cache_share_no_cells() {
    let mut toy = toy(&[CACHE, UNPROTECTED, &[("ssd.power.paired_pages", "2")]]);
    toy.writes(0, &[(1, 0), (2, 1)]);
    let cut = toy.cut_power(CACHED + 30_000);
    assert_eq!((cut.torn_pages, cut.paired_pages_torn, cut.lost.len()), (1, 0, 0));
    assert!(toy.ssd.backend().ftl.lookup(Lpn(0)).is_some());
}

#[test]
fn retries_of_pages_that_are_read_together_follow_one_another() {
    let planes: Changes = &[("ssd.geometry.planes_per_die", "2")];
    let mut toy = Toy::filled(&[planes, ONE_RETRY].concat(), &[0, 1]);
    toy.reads(0, &[(1, 0), (2, 1)]);
    // The array once for both, and once for each; then the data of both.
    toy.assert_ends(1, 1_000 + 20_000 + 2 * 20_000 + 2 * 10_000);
    assert_eq!(toy.ended(2), Some(81_000));
}

#[test]
fn retries_of_pages_that_are_striped_follow_one_another_and_each_page_counts() {
    let striped: Changes = &[("ssd.geometry.planes_per_die", "2"), ("ssd.gc.width", "superblock")];
    let mut toy = Toy::filled(&[striped, ONE_RETRY].concat(), &[0]);
    toy.read(0, 1, 0);
    // The array once for both pages, and once for each; then the data of both.
    toy.assert_ends(1, 1_000 + 20_000 + 2 * 20_000 + 2 * 10_000);
    let report = toy.fault_report().expect("faults are configured");
    assert_eq!((report.retried, report.uncorrectable), (vec![2], 0));
}

#[test]
fn programs_that_fail_together_are_made_up_for_one_after_the_other() {
    let planes: Changes = &[("ssd.geometry.planes_per_die", "2")];
    let mut toy = toy(&[ROOMY, planes, PROGRAMS_FAIL]);
    toy.writes(0, &[(1, 0), (2, 1)]);
    // Two pages cross the channel, and share an array time; then each page is programmed again.
    toy.assert_ends(1, 1_000 + 20_000 + 200_000 + 2 * WRITE);
    assert_eq!(toy.ended(2), toy.ended(1));
}

#[test]
fn a_read_suspends_a_program_that_has_failed_and_what_makes_up_for_it() {
    for read_at in [100_000, 300_000] {
        let mut toy = Toy::filled(&[ROOMY, SUSPEND, PROGRAMS_FAIL].concat(), &[]);
        toy.writes(0, &[(1, 0)]);
        toy.run_until(1_000_000);
        // The block is copied, and the page is programmed twice.
        let alone = 2 * WRITE + READ + WRITE;
        toy.write(1_000_000, 2, 1);
        toy.read(1_000_000 + read_at, 3, 0);
        toy.assert_ends(3, 1_000_000 + read_at + 5_000 + READ);
        toy.assert_ends(2, 1_000_000 + alone + SUSPENDING + READ);
    }
}

#[test]
fn a_read_that_suspends_a_program_takes_its_retries_before_that_goes_on() {
    let mut toy = Toy::filled(&[SUSPEND, ONE_RETRY].concat(), &[0, 1]);
    toy.write(0, 1, 2);
    toy.read(100_000, 2, 0);
    toy.assert_ends(2, 100_000 + 5_000 + READ + 20_000);
    toy.assert_ends(1, WRITE + SUSPENDING + READ + 20_000);
}

#[test]
fn a_cut_during_a_suspended_program_tears_its_page_and_no_other() {
    let mut toy = Toy::filled(&[UNPROTECTED, SUSPEND].concat(), &[0, 1]);
    toy.write(0, 1, 2);
    toy.read(100_000, 2, 0);
    let cut = toy.cut_power(120_000);
    assert_eq!((cut.torn_pages, cut.lost.len()), (1, 0));
    // The page behind the torn one is the first of the block that is erased, beside the first pages of seven.
    assert_eq!(cut.time.time.as_ns(), (4 + 7) * READ);
}

#[test]
fn what_capacitors_have_saved_is_read_back_by_all_dies() {
    // Of 16384 pages half are logical: 4 bytes of each are four pages. A page that is programmed at the cut is finished.
    let size: Changes = &[("ssd.power.cuts", "{ type = 'at', times = ['1h'] }")];
    let one: Changes = &[("ssd.geometry.blocks_per_plane", "2048")];
    let four: Changes =
        &[("ssd.geometry.blocks_per_plane", "512"), ("ssd.geometry.chips_per_channel", "4")];
    for (dies, expected) in [(one, 4 * READ), (four, 4 * 11_000)] {
        let mut toy = toy(&[size, dies]);
        toy.write(0, 1, 0);
        let cut = toy.cut_power(100_000);
        assert_eq!((cut.time.pages_read, cut.time.time.as_ns()), (4, expected));
        assert!(toy.ssd.backend().ftl.lookup(Lpn(0)).is_some());
    }
}

/// A die whose first block holds pages 0 and 1; the second is open.
fn kept(changes: &[Changes]) -> Toy {
    let two: Changes = &[("ssd.geometry.pages_per_block", "2"), ("ssd.gc.copyback", "true")];
    let mut toy = Toy::new(&[&[two], changes].concat().concat());
    toy.write(0, 1, 0);
    toy.write(300_000, 2, 1);
    toy.assert_ends(2, 511_000);
    toy
}

#[test]
fn data_are_as_old_after_a_cut_as_they_were() {
    let mut toy = kept(&[UNPROTECTED, &[("ssd.refresh.age", "10ms")]]);
    toy.cut_power(6_000_000);
    toy.run_until(10_000_000 + 2 * 220_000 + 1_500_000 - 1);
    assert_eq!((toy.ssd.counters().refreshes, toy.ssd.counters().pages_moved), (0, 2));
    toy.run_until(10_000_000 + 2 * 220_000 + 1_500_000);
    assert_eq!((toy.ssd.counters().refreshes, toy.ssd.counters().erases), (1, 1));
}

#[test]
fn reads_are_counted_anew_after_a_cut() {
    let mut toy = kept(&[UNPROTECTED, &[("ssd.refresh.reads", "3")]]);
    toy.reads(600_000, &[(3, 0), (4, 1)]);
    toy.cut_power(1_000_000);
    toy.reads(2_000_000, &[(5, 0), (6, 1)]);
    toy.run_until(10_000_000);
    assert_eq!(toy.ssd.counters().read_reclaims, 0);
    toy.read(10_000_000, 7, 0);
    toy.run_until(20_000_000);
    assert_eq!(toy.ssd.counters().read_reclaims, 1);
}

#[test]
fn a_read_suspends_the_erase_of_a_block_that_is_refreshed() {
    let mut toy = kept(&[SUSPEND, &[("ssd.refresh.age", "10ms")]]);
    toy.write(600_000, 3, 2);
    let erases = 10_000_000 + 2 * 220_000;
    toy.read(erases + 700_000, 4, 2);
    toy.assert_ends(4, erases + 700_000 + 5_000 + READ);
    let erased = erases + 1_500_000 + SUSPENDING + READ;
    toy.run_until(erased - 1);
    let free = |toy: &Toy| toy.ssd.backend().ftl.space().free_blocks(PlaneId(0));
    let before = free(&toy);
    toy.run_until(erased);
    assert_eq!(free(&toy), before + 1);
}

#[test]
fn what_was_written_to_the_cache_before_a_cut_counts_on() {
    for protection in ["none", "capacitors"] {
        let cut_later = [
            ("ssd.power.protection", protection),
            ("ssd.power.cuts", "{ type = 'at', times = ['1h'] }"),
        ];
        let mut toy = Toy::new(&[CACHE, &cut_later].concat());
        toy.writes(0, &[(1, 0), (2, 1), (3, 2)]);
        toy.cut_power(1_000_000);
        toy.write(2_000_000, 4, 3);
        toy.run_until(3_000_000);
        let tally = toy.ssd.backend().ftl.slc_state().expect("it has a cache").tally;
        assert_eq!((tally.written, tally.past), (2, 2), "{protection}");
    }
}
