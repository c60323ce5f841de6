//! Reads that suspend programs and erases. Suspending takes 5 us, resuming 3 us.

use copyback::ssd::Part::{QueueBehindIo, Service};

use crate::toy::Toy;

const SUSPEND: (&str, &str) = (
    "ssd.commands.suspend",
    "{ type = \"program_erase\", suspend = \"5us\", resume = \"3us\", most = 2 }",
);

#[test]
fn a_read_suspends_a_program() {
    let mut toy = Toy::filled(&[SUSPEND], &[0, 1]);
    toy.write(0, 1, 2);
    toy.read(100_000, 2, 0);
    toy.assert_ends(2, 136_000);
    toy.assert_parts(2, &[(QueueBehindIo, 5_000), (Service, 31_000)]);
    toy.assert_ends(1, 250_000);
    toy.assert_parts(1, &[(QueueBehindIo, 39_000), (Service, 211_000)]);
    let expected = [
        "11000 channel 0",
        "105000 die 0", // suspended
        "106000 channel 0",
        "126000 die 0",
        "136000 channel 0",
        "211000 die 0", // when it would have ended: nothing happens
        "250000 die 0", // 111 us were left
    ];
    assert_eq!(toy.log, expected);
    assert_eq!(toy.ssd.counters().suspends, 1);
}

/// With pulses: a program or erase goes on to the end of one.
const PULSES: (&str, &str) = (
    "ssd.commands.suspend",
    r#"{ type = "program_erase", suspend = "5us", resume = "3us", most = 2, program_pulse = "50us", erase_pulse = "200us" }"#,
);

#[test]
fn a_program_is_suspended_behind_a_pulse() {
    let mut toy = Toy::filled(&[PULSES], &[0, 1]);
    toy.write(0, 1, 2);
    // 111 us are left: 11 of a pulse, and two whole ones.
    toy.read(100_000, 2, 0);
    toy.assert_ends(2, 147_000);
    toy.assert_parts(2, &[(QueueBehindIo, 16_000), (Service, 31_000)]);
    toy.assert_ends(1, 250_000);
    toy.assert_parts(1, &[(QueueBehindIo, 39_000), (Service, 211_000)]);
    let expected = [
        "11000 channel 0",
        "116000 die 0", // the pulse ends at 111 us
        "117000 channel 0",
        "137000 die 0",
        "147000 channel 0",
        "211000 die 0", // when it would have ended: nothing happens
        "250000 die 0", // 100 us were left
    ];
    assert_eq!(toy.log, expected);
}

#[test]
fn the_last_pulse_of_a_program_is_not_suspended() {
    let mut toy = Toy::filled(&[PULSES], &[0, 1]);
    toy.write(0, 1, 2);
    toy.read(170_000, 2, 0);
    toy.assert_ends(1, 211_000);
    toy.assert_ends(2, 242_000);
    assert_eq!(toy.ssd.counters().suspends, 0);
}

#[test]
fn an_erase_is_suspended_behind_a_pulse() {
    let pages: Vec<u32> = (0..16).chain([0, 1, 2, 3, 4, 5, 6]).collect();
    let mut toy = Toy::filled(&[PULSES], &pages);
    toy.write(0, 1, 7);
    // Block 0 is erased from 211 us to 1711 us, of which 711 are left: a pulse ends after 111 of them.
    toy.read(1_000_000, 2, 9);
    toy.assert_ends(2, 1_147_000);
}

#[test]
fn no_more_often_than_allowed() {
    let mut toy = Toy::filled(&[SUSPEND], &[0, 1]);
    toy.write(0, 1, 2);
    toy.read(20_000, 2, 0);
    toy.read(70_000, 3, 0);
    toy.read(130_000, 4, 0);
    assert_eq!((toy.ended(2), toy.ended(3)), (Some(56_000), Some(106_000)));
    // 9 us before the first read, 11 us before the second, 180 us left after 109 us.
    toy.assert_ends(1, 289_000);
    toy.assert_ends(4, 320_000);
    assert_eq!(toy.ssd.counters().suspends, 2);
}

#[test]
fn a_page_that_is_being_programmed_cannot_be_read() {
    let mut toy = Toy::filled(&[SUSPEND], &[0, 1]);
    toy.write(0, 1, 2);
    toy.read(100_000, 2, 2);
    toy.assert_ends(1, 211_000);
    toy.assert_ends(2, 242_000);
    assert_eq!(toy.ssd.counters().suspends, 0);
}

#[test]
fn an_operation_that_is_nearly_over_is_not_suspended() {
    let mut toy = Toy::filled(&[SUSPEND], &[0, 1]);
    toy.write(0, 1, 2);
    toy.read(206_000, 2, 0);
    toy.assert_ends(1, 211_000);
    toy.assert_ends(2, 242_000);
}

#[test]
fn a_read_suspends_the_erase_of_a_collection() {
    let pages: Vec<u32> = (0..16).chain([0, 1, 2, 3, 4, 5, 6]).collect();
    let mut toy = Toy::filled(&[SUSPEND], &pages);
    toy.write(0, 1, 7);
    // Nothing in block 0 is valid: it is erased from 211 us to 1711 us.
    toy.read(1_000_000, 2, 9);
    toy.assert_ends(2, 1_036_000);
    toy.run();
    assert!(toy.log.contains(&"1750000 die 0".to_owned()), "{:?}", toy.log);
    let waited = toy.ssd.backend().observer.collecting_until(crate::toy::at(2_000_000)).as_ns();
    assert_eq!(waited % 1_500_000, 3_000, "the collection rests while the page is read");
}
