//! Pages that the collection of a line with parity cannot read: made up from the others of their stripes.

use copyback::collector::permit::{Asked, Until};
use copyback::ids::Lpn;
use copyback::ssd::FaultReport;

use crate::rain::{LONG, written};
use crate::toy::Toy;

const OVER_THE_CHANNEL: (&str, &str) = ("ssd.gc.copyback", "false");
/// One read in ten is in vain, at once.
const ERRORS: (&str, &str) = ("ssd.faults", "{ read_errors = 0.1, retry_levels = 0 }");
const TOGETHER: (&str, &str) = ("ssd.gc.line_erase", "\"together\"");
const AS_MOVED: (&str, &str) = ("ssd.gc.line_erase", "\"as_moved\"");
/// Each die has a channel of its own.
const THREE_CHANNELS: [(&str, &str); 2] =
    [("ssd.geometry.channels", "3"), ("ssd.geometry.dies_per_chip", "1")];

fn told(toy: &Toy) -> FaultReport {
    toy.fault_report().expect("faults are configured")
}

fn freed(toy: &Toy) -> u64 {
    toy.ssd.backend().ftl.lines().expect("it has lines").tally().freed
}

/// A drive whose line 0, of which the last so many of eight pages are valid, is being collected, and when the write came that
/// called for it. Nothing is read before that.
fn collecting(valid: u32, changes: &[(&str, &str)]) -> (Toy, u64) {
    let changes = [&THREE_CHANNELS, &[OVER_THE_CHANNEL, ("ssd.gc.victim", "\"fifo\"")], changes];
    let mut toy = written(&changes.concat(), 12);
    // The first pages of line 0, and then again and again those of the others.
    let others = 8 - valid;
    let lpn = |again: u32| if again < others { again } else { 8 + (again - others) % 16 };
    for pair in 12..48 {
        let start = u64::from(pair) * LONG;
        toy.log.clear();
        let writes = [2 * pair, 2 * pair + 1].map(|write| (write, lpn(write - 24)));
        toy.writes(start, &writes);
        toy.run_until(start + 215_000);
        if toy.ssd.is_collecting() {
            return (toy, start);
        }
    }
    panic!("nothing is collected");
}

/// That, of the first seed with which the whole run fits.
fn first_of(valid: u32, changes: &[(&str, &str)], fits: impl Fn(&Toy) -> bool) -> (Toy, u64) {
    let of_seed = |seed: u32| {
        let seed = seed.to_string();
        collecting(valid, &[&[ERRORS, ("seed", seed.as_str())], changes].concat())
    };
    let ends_well = |seed: &u32| {
        let (mut toy, _) = of_seed(*seed);
        toy.run();
        fits(&toy)
    };
    of_seed((0..1000).find(ends_well).expect("some seed does"))
}

/// Pages made up and lost in moves, and all reads that were in vain.
fn counts(toy: &Toy) -> (u64, u64, u64) {
    let FaultReport { lost_in_moves, uncorrectable, .. } = told(toy);
    (toy.ssd.counters().moves_rebuilt, lost_in_moves, uncorrectable)
}

/// What dies and channels have ended since `start`, in microseconds.
fn since(toy: &Toy, start: u64) -> Vec<String> {
    let tell = |line: &String| {
        let (at, what) = line.split_once(' ').expect("a time and who");
        format!("{} {what}", (at.parse::<u64>().expect("a number") - start) / 1000)
    };
    toy.log.iter().map(tell).collect()
}

/// What dies and channels do where the only page that is moved is read in vain.
const OF_ONE_PAGE: [&str; 20] = [
    // Two pages of the host and their parity.
    "11 channel 0",
    "11 channel 1",
    "11 channel 2",
    "211 die 0",
    "211 die 1",
    "211 die 2",
    // Page 7 is read in vain,
    "212 channel 2",
    "232 die 2",
    "242 channel 2",
    // then the others of its stripe,
    "243 channel 0",
    "243 channel 1",
    "263 die 0",
    "263 die 1",
    "273 channel 0",
    "273 channel 1",
    // and the page is programmed: made up, or with a mark.
    "284 channel 2",
    "484 die 2",
    // Blocks are erased once all of the line has been moved.
    "1773 die 0",
    "1773 die 1",
    "1984 die 2",
];

#[test]
fn a_page_is_made_up_from_the_others_of_its_stripe_and_programmed_when_these_are_there() {
    let (mut toy, start) = first_of(1, &[TOGETHER], |toy| counts(toy) == (1, 0, 1));
    toy.run();
    assert_eq!(since(&toy, start), OF_ONE_PAGE);
    assert_eq!((toy.ssd.counters().pages_moved, freed(&toy)), (1, 1));
    // The page is there: a read of it needs no other.
    let at = toy.now_ns() + LONG;
    toy.read(at, 900, 7);
    toy.assert_ends(900, at + 31_000);
    assert!(!toy.read_in_vain(900));
}

#[test]
fn a_page_is_lost_if_another_of_its_stripe_cannot_be_read_either() {
    let (mut toy, start) = first_of(1, &[TOGETHER], |toy| counts(toy) == (0, 1, 2));
    toy.run();
    assert_eq!(since(&toy, start), OF_ONE_PAGE);
    let at = toy.now_ns() + LONG;
    toy.read(at, 900, 7);
    toy.run();
    assert!(toy.read_in_vain(900));
    // No stripe is read for that: parity is of pages with their marks.
    assert_eq!(toy.ssd.counters().stripe_reads, 2);
}

#[test]
fn a_collection_goes_on_with_other_pages_meanwhile_and_no_block_is_erased_before_it_is_moved() {
    let (mut toy, start) = first_of(6, &[TOGETHER], |toy| counts(toy) == (1, 0, 1));
    let expected = [
        "11 channel 0",
        "11 channel 1",
        "11 channel 2",
        "211 die 0",
        "211 die 1",
        "211 die 2",
        // Dies 1 and 2 read three pages each. The first of die 2 is in vain.
        "212 channel 1",
        "212 channel 2",
        "232 die 1",
        "232 die 2",
        "242 channel 1",
        "242 channel 2",
        // Die 0, with nothing to move, reads the parity; die 2 reads its next page.
        "243 channel 0",
        "243 channel 2",
        "253 channel 1",
        "263 die 0",
        "263 die 2",
        "273 channel 0",
        "273 channel 2",
        "284 channel 2",
        "284 channel 0", // parity of what has been moved
        "453 die 1",
        "454 channel 1",
        "474 die 1",
        "484 die 0",
        "484 die 2",
        "484 channel 1",
        "485 channel 2",
        "495 channel 1",
        "505 die 2",
        "515 channel 2",
        "526 channel 2",
        "526 channel 0",
        "695 die 1",
        "696 channel 1",
        "716 die 1",
        "726 die 0",
        "726 die 2", // all that die 2 has read
        "726 channel 1",
        "737 channel 1",
        "937 die 1",
        // Die 1 does not yield: it reads the other page of the stripe when it has moved its own,
        "938 channel 1",
        "958 die 1",
        "968 channel 1",
        // and then die 2 programs what is made up,
        "979 channel 2",
        "979 channel 0",
        "1179 die 0",
        "1179 die 2",
        // with which each block may be erased.
        "2468 die 1",
        "2679 die 0",
        "2679 die 2",
    ];
    toy.run();
    assert_eq!(since(&toy, start), expected);
    assert_eq!((toy.ssd.counters().pages_moved, freed(&toy)), (6, 1));
}

#[test]
fn a_page_that_is_overwritten_while_it_is_made_up_is_not_programmed() {
    let is_made_up = |toy: &Toy| counts(toy) == (1, 0, 1);
    let (mut toy, start) = first_of(1, &[TOGETHER], is_made_up);
    toy.write(start + 245_000, 900, 7);
    toy.run();
    assert_eq!((toy.ssd.counters().pages_moved, freed(&toy)), (0, 1));
    assert_eq!(counts(&toy), (0, 0, 1));
    let page = toy.ssd.backend().ftl.lookup(Lpn(7));
    assert!(page.is_some_and(|page| toy.ssd.backend().ftl.is_valid(page)));
}

#[test]
fn a_page_is_lost_if_the_parity_of_its_line_has_been_erased() {
    // Nothing is to be moved there: it is erased at once.
    let (mut toy, _) = first_of(1, &[AS_MOVED], |toy| counts(toy) == (0, 1, 1));
    toy.run();
    assert_eq!((toy.ssd.counters().stripe_reads, freed(&toy)), (0, 1));
}

#[test]
fn what_is_copied_inside_the_flash_is_not_made_up() {
    let copied = ("ssd.gc.copyback", "true");
    let (mut toy, _) = first_of(6, &[copied], |toy| counts(toy) == (0, 1, 0));
    toy.run();
    assert_eq!((toy.ssd.counters().copybacks, toy.ssd.counters().stripe_reads), (6, 0));
}

#[test]
fn a_page_that_is_made_up_to_be_moved_is_no_request_of_the_host() {
    let is_made_up = |toy: &Toy| counts(toy) == (1, 0, 1);
    let (mut toy, start) = first_of(1, &[TOGETHER], is_made_up);
    // The page is read in vain until 242 us, and the others of its stripe until 273 us.
    toy.run_until(start + 250_000);
    toy.ask(start + 250_000, Asked::until(Until::ReserveFull));
    assert!(toy.ssd.status().asked, "the drive has nothing else to do");
    toy.write(start + 260_000, 900, 0);
    assert!(!toy.ssd.status().asked, "now it has");
    toy.run();
}
