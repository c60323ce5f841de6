//! Staggered: each drive in its window.

use crate::script::{DONE, MUST, SHORT, Script, at_us, collect, stop};

const SCHEME: &str = "{ type = \"staggered\", window = \"10ms\" }";

fn busy(changes: &[(&str, &str)]) -> Script {
    let mut script = Script::new(SCHEME, changes);
    script.busy(0);
    script
}

#[test]
fn windows_follow_one_another() {
    let mut script = busy(&[]);
    assert_eq!(script.next_wake(), Some(at_us(0)));
    assert_eq!(script.wakes(0), [collect(0)]);
    assert_eq!(script.next_wake(), Some(at_us(10_000)));
    assert_eq!(script.wakes(10_000), [stop(0), collect(1)]);
    assert_eq!(script.wakes(20_000), [stop(1), collect(2)]);
    assert_eq!(script.wakes(30_000), [stop(2), collect(3)]);
    assert_eq!(script.wakes(40_000), [stop(3), collect(0)]);
}

#[test]
fn a_window_that_ends_while_its_drive_collects_ends() {
    let mut script = busy(&[]);
    script.wakes(0);
    assert_eq!(script.wakes(10_000), [stop(0), collect(1)]);
    // Late: it had a block to finish.
    assert_eq!(script.hears(0, DONE), []);
    assert_eq!(script.hears(1, DONE), []);
    // To stop what has ended does no harm.
    assert_eq!(script.wakes(20_000), [stop(1), collect(2)]);
}

#[test]
fn a_guard_stops_a_drive_before_its_window_ends() {
    let scheme = "{ type = \"staggered\", window = \"10ms\", guard = \"4ms\" }";
    let mut script = Script::new(scheme, &[]);
    script.busy(0);
    assert_eq!(script.wakes(0), [collect(0)]);
    assert_eq!(script.next_wake(), Some(at_us(6_000)));
    assert_eq!(script.wakes(6_000), [stop(0)]);
    assert_eq!(script.next_wake(), Some(at_us(10_000)));
    assert_eq!(script.wakes(10_000), [collect(1)]);
    assert_eq!(script.wakes(16_000), [stop(1)]);
    assert_eq!(script.wakes(20_000), [collect(2)]);
}

#[test]
fn what_drives_say_changes_no_window() {
    let mut script = busy(&[]);
    script.wakes(0);
    assert_eq!(script.hears(3, SHORT), []);
    assert_eq!(script.hears(3, MUST), []);
    assert_eq!(script.wakes(5_000), [], "it is woken too early");
    assert_eq!(script.wakes(10_000), [stop(0), collect(1)]);
}

#[test]
fn in_the_window_of_a_silent_drive_nobody_is_told_to_collect() {
    let mut script = busy(&[("array.protocol.silent", "[1]")]);
    script.wakes(0);
    assert_eq!(script.wakes(10_000), [stop(0)]);
    assert_eq!(script.wakes(20_000), [collect(2)]);
}

#[test]
fn an_array_without_requests_sleeps_after_a_round() {
    let mut script = busy(&[]);
    script.quiet(1_000);
    let mut windows = 0;
    while let Some(next) = script.next_wake() {
        script.wakes(next.as_ns() / 1000);
        windows += 1;
    }
    // The last wake only stops the last drive.
    assert_eq!(windows, 7);
    // Drive 2 has its window from 1,000,020 ms.
    script.busy(1_000_013_000);
    assert_eq!(script.next_wake(), Some(at_us(1_000_020_000)));
    assert_eq!(script.wakes(1_000_020_000), [collect(2)]);
}
