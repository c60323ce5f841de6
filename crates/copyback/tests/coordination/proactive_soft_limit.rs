//! Proactive soft limit: the controller asks, and picks the moment.

use crate::script::{DONE, DONE_SHORT, MUST, SHORT, Script, at_us, collect, report, state};

/// Half of the drives, and no request.
const SCHEME: &str = "{ type = \"proactive_soft_limit\", period = \"10ms\", quorum = 0.5 }";
const TWO_OUTSTANDING: &str =
    "{ type = \"proactive_soft_limit\", period = \"10ms\", quorum = 0.5, outstanding = 2 }";

fn asked(scheme: &str) -> Script {
    let mut script = Script::new(scheme, &[]);
    assert_eq!(script.next_wake(), Some(at_us(0)));
    let everybody: Vec<_> = (0..4).map(report).collect();
    assert_eq!(script.wakes(0), everybody);
    script
}

#[test]
fn when_all_have_answered_and_enough_run_short_these_collect() {
    let mut script = asked(SCHEME);
    assert_eq!(script.hears(3, state(2)), []);
    assert_eq!(script.hears(0, state(1)), []);
    assert_eq!(script.hears(1, state(0)), []);
    assert_eq!(script.hears(2, state(0)), [collect(0), collect(3)]);
}

#[test]
fn one_of_four_is_not_enough() {
    let mut script = asked(SCHEME);
    for (device, below) in [(0, 0), (1, 3), (2, 0), (3, 0)] {
        assert_eq!(script.hears(device, state(below)), []);
    }
}

#[test]
fn with_requests_it_waits_until_they_are_through() {
    let mut script = asked(SCHEME);
    script.busy(1);
    for (device, below) in [(0, 1), (1, 1), (2, 0), (3, 0)] {
        assert_eq!(script.hears(device, state(below)), []);
    }
    assert_eq!(script.next_wake(), Some(at_us(10_000)));
    assert_eq!(script.quiet(2_000), [collect(0), collect(1)]);
    assert_eq!(script.quiet(2_000), []);
}

#[test]
fn or_until_they_are_few_enough() {
    let mut script = asked(TWO_OUTSTANDING);
    script.busy(1);
    script.outstanding = 3;
    for device in 0..4 {
        assert_eq!(script.hears(device, state(1)), []);
    }
    script.outstanding = 2;
    assert_eq!(script.wakes(10_000).len(), 4);
    for device in 0..3 {
        assert_eq!(script.hears(device, state(1)), []);
    }
    assert_eq!(script.hears(3, state(0)), [collect(0), collect(1), collect(2)]);
}

#[test]
fn without_an_answer_what_is_known_must_do() {
    let mut script = asked(TWO_OUTSTANDING);
    script.busy(1);
    for device in [0, 1, 2] {
        assert_eq!(script.hears(device, state(1)), []);
    }
    // Before it asks again it acts on three answers.
    let said = script.wakes(10_000);
    assert_eq!(said[..3], [collect(0), collect(1), collect(2)]);
    assert_eq!(said[3..].len(), 4);
    // The late answer counts, whichever question it was to.
    assert_eq!(script.hears(3, state(1)), []);
    for device in [0, 1] {
        assert_eq!(script.hears(device, state(1)), []);
    }
    assert_eq!(script.hears(2, state(1)), [], "one of four is not enough");
}

#[test]
fn those_at_work_are_not_told_again_until_they_are_done() {
    let mut script = asked(SCHEME);
    for device in 0..4 {
        script.hears(device, state(u32::from(device < 2)));
    }
    script.busy(1);
    script.wakes(10_000);
    for device in 0..4 {
        assert_eq!(script.hears(device, state(1)), []);
    }
    script.outstanding = 0;
    assert_eq!(script.hears(0, DONE_SHORT), []);
    assert_eq!(script.hears(1, DONE), []);
    assert_eq!(script.quiet(15_000), [collect(0), collect(2), collect(3)]);
}

#[test]
fn what_is_said_unasked_is_not_heard() {
    let mut script = asked(SCHEME);
    for device in 0..4 {
        assert_eq!(script.hears(device, SHORT), []);
        assert_eq!(script.hears(device, MUST), []);
    }
    assert_eq!(script.quiet(1), []);
}

#[test]
fn without_requests_nobody_is_asked_a_second_time() {
    let mut script = asked(SCHEME);
    assert_eq!(script.next_wake(), None);
    assert_eq!(script.wakes(10_000), []);
    script.busy(123_456);
    assert_eq!(script.next_wake(), Some(at_us(130_000)));
    assert_eq!(script.quiet(125_000), []);
    // Something may have changed.
    assert_eq!(script.wakes(130_000).len(), 4);
    assert_eq!(script.next_wake(), None);
}

#[test]
fn a_quorum_is_one_of_the_drives_that_speak() {
    let mut script = Script::new(SCHEME, &[("array.protocol.silent", "[1, 3]")]);
    assert_eq!(script.wakes(0), [report(0), report(2)]);
    assert_eq!(script.hears(0, state(0)), []);
    assert_eq!(script.hears(2, state(1)), [collect(2)], "one of two");
}
