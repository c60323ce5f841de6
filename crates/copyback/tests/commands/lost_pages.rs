//! Pages that a move cannot read: what that takes, who notices, and what heals it.

use copyback::ids::{BlockId, Lpn, Ppn};
use copyback::nand::{Sensed, Strain};
use copyback::ssd::Part::Service;
use copyback::ssd::{Counters, FaultReport};

use crate::collections::{BRINK, CALLS};
use crate::toy::Toy;

const HALF_FAIL: (&str, &str) = ("ssd.faults.read_errors", "0.5");
/// A page that cannot be read takes four array reads, 80 us.
const IN_VAIN: [(&str, &str); 2] =
    [("ssd.faults.retry_failures", "1.0"), ("ssd.faults.retry_levels", "3")];
const OVER_THE_CHANNEL: (&str, &str) = ("ssd.gc.copyback", "false");

/// Whether nobody can read the page at `offset` of `block`, which has been erased once or not at all.
fn fails(toy: &Toy, block: u32, offset: u32) -> bool {
    let ftl = &toy.ssd.backend().ftl;
    let page = ftl.geometry().page(BlockId(block), offset);
    ftl.sense(page, Strain::default()).any(|sensed| matches!(sensed, Sensed::Uncorrectable(_)))
}

/// The toy on the brink of a collection ([`BRINK`]), of the first seed with which page 3 cannot be read at the end of block 0, and
/// all can that is read or moved else: page 4 in block 4, and both where they go to, in block 7.
fn brink(changes: &[(&str, &str)]) -> Toy {
    let of_seed = |seed: u32| {
        let seed = seed.to_string();
        let changes = [&[HALF_FAIL, ("seed", &seed)], &IN_VAIN[..], changes].concat();
        Toy::filled(&changes, &BRINK)
    };
    let is_so = |toy: &Toy| {
        let ends_there = page_of(toy, 3).is_some_and(|page| page == at(toy, 0, 3));
        assert!(ends_there, "page 3 is the last of block 0");
        fails(toy, 0, 3) && [(4, 3), (7, 0), (7, 1)].iter().all(|at| !fails(toy, at.0, at.1))
    };
    (0..1000).map(of_seed).find(is_so).expect("a seed of sixteen does")
}

fn at(toy: &Toy, block: u32, offset: u32) -> Ppn {
    toy.ssd.backend().ftl.geometry().page(BlockId(block), offset)
}

fn page_of(toy: &Toy, lpn: u32) -> Option<Ppn> {
    toy.ssd.backend().ftl.lookup(Lpn(lpn))
}

fn told(toy: &Toy) -> FaultReport {
    toy.fault_report().expect("faults are configured")
}

/// Uncorrectable reads, pages lost in moves, and reads of the host that were in vain.
fn counts(toy: &Toy) -> (u64, u64, u64) {
    let FaultReport { uncorrectable, lost_in_moves, failed_reads, .. } = told(toy);
    (uncorrectable, lost_in_moves, failed_reads)
}

#[test]
fn a_page_that_a_move_cannot_read_is_moved_with_a_mark_and_lost() {
    let mut toy = brink(&[OVER_THE_CHANNEL]);
    toy.write(0, 1, CALLS);
    toy.run();
    let expected = [
        "11000 channel 0",
        "211000 die 0", // the program that called for it
        "212000 channel 0",
        "292000 die 0", // page 3: a command, and tR four times
        "302000 channel 0",
        "313000 channel 0",
        "513000 die 0",  // with a mark
        "2013000 die 0", // erase of block 0
        "2014000 channel 0",
        "2034000 die 0", // page 4
        "2044000 channel 0",
        "2055000 channel 0",
        "2255000 die 0",
        "3755000 die 0", // erase of block 4
    ];
    assert_eq!(toy.log, expected);
    assert_eq!(counts(&toy), (1, 1, 0));
    assert_eq!(page_of(&toy, 3), Some(at(&toy, 7, 0)));
    // The mark is read as any page is.
    toy.read(5_000_000, 2, 3);
    toy.assert_ends(2, 5_031_000);
    toy.assert_parts(2, &[(Service, 31_000)]);
    assert!(toy.read_in_vain(2));
    toy.read(6_000_000, 3, 4);
    toy.assert_ends(3, 6_031_000);
    assert!(!toy.read_in_vain(3));
    assert_eq!(counts(&toy), (1, 1, 1));
}

#[test]
fn a_page_that_is_copied_inside_the_flash_takes_its_errors_along_unseen() {
    let mut toy = brink(&[]);
    toy.write(0, 1, CALLS);
    toy.run();
    let expected = [
        "11000 channel 0",
        "211000 die 0",
        "431000 die 0", // page 3: nobody reads it again
        "1931000 die 0",
        "2151000 die 0",
        "3651000 die 0",
    ];
    assert_eq!(toy.log, expected);
    assert_eq!(counts(&toy), (0, 1, 0));
    toy.read(5_000_000, 2, 3);
    toy.assert_ends(2, 5_031_000);
    assert!(toy.read_in_vain(2));
}

#[test]
fn a_write_of_the_whole_page_or_a_trim_heals_it_and_a_write_of_a_part_does_not() {
    let mut toy = brink(&[OVER_THE_CHANNEL]);
    toy.write(0, 1, CALLS);
    toy.run();
    toy.write_part(5_000_000, 2, 3);
    // It reads the mark, and writes it again with what is new.
    toy.assert_ends(2, 5_031_000 + 211_000);
    toy.run();
    let mut start = toy.now_ns() + 1_000_000;
    toy.read(start, 3, 3);
    toy.run();
    assert!(toy.read_in_vain(3));
    assert_eq!(counts(&toy).1, 1);
    start += 10_000_000;
    toy.write(start, 4, 3);
    toy.run();
    let page = page_of(&toy, 3).expect("it has been written");
    start += 10_000_000;
    toy.read(start, 5, 3);
    toy.run();
    let is_legible = {
        let mut sensed = toy.ssd.backend().ftl.sense(page, Strain::default());
        sensed.all(|sensed| matches!(sensed, Sensed::Corrected(_)))
    };
    assert_eq!(toy.read_in_vain(5), !is_legible);
    let mut toy = brink(&[OVER_THE_CHANNEL]);
    toy.write(0, 1, CALLS);
    toy.run();
    toy.trim(5_000_000, 3);
    toy.read(6_000_000, 2, 3);
    toy.run();
    assert!(!toy.read_in_vain(2));
}

#[test]
fn a_page_that_the_host_overwrites_before_it_is_programmed_is_not_lost() {
    let mut toy = brink(&[OVER_THE_CHANNEL, ("ssd.gc.preemption", "\"semi_preemptive\"")]);
    toy.write(0, 1, CALLS);
    // While page 3 is read.
    toy.write(250_000, 2, 3);
    toy.run();
    let Counters { merged_writes, .. } = toy.ssd.counters();
    assert_eq!((merged_writes, told(&toy).lost_in_moves), (0, 0));
    assert_eq!(told(&toy).uncorrectable, 1);
}

/// A collection of both planes takes page 1 of the first one, which is page 2 of the host, into DRAM, and cannot read it. The
/// write of a part of it has come before, and waits for the die.
#[test]
fn a_write_of_a_part_of_a_page_that_went_to_dram_unread_meanwhile_leaves_it_lost() {
    let of_seed = |seed: u32| {
        let seed = seed.to_string();
        let cache = "{ type = \"blind\", cache = \"8KiB\" }";
        let changes = [&[HALF_FAIL, ("seed", &seed)], &IN_VAIN[..]].concat();
        crate::parallel::collecting(cache, &[0, 1, 2], &changes)
    };
    let mut toy = (0..1000).map(of_seed).find(|toy| fails(toy, 0, 1)).expect("a seed of two does");
    let staged = page_of(&toy, 2);
    assert_eq!(staged, Some(at(&toy, 0, 1)));
    toy.write_part(440_000, 2, 2);
    while toy.ended(2).is_none() {
        let next = toy.now_ns() + 1_000;
        toy.run_until(next);
    }
    let written = page_of(&toy, 2).expect("it has been written");
    assert_ne!(Some(written), staged);
    assert!(toy.ssd.backend().ftl.lost_pages().is_marked(written), "{:?}", toy.log);
    assert_eq!(toy.ssd.counters().moves.cached, 2);
}
