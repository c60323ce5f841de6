//! Reactive selective: those that run short collect with the first that must.

use crate::script::{DONE, DONE_SHORT, MUST, SHORT, Script, collect};

const SCHEME: &str = "\"reactive_selective\"";

#[test]
fn those_enrolled_collect_with_the_first_that_must() {
    let mut script = Script::new(SCHEME, &[]);
    assert_eq!(script.hears(2, SHORT), []);
    assert_eq!(script.hears(0, SHORT), []);
    assert_eq!(script.hears(0, MUST), [collect(0), collect(2)]);
}

#[test]
fn only_the_first_that_must_coordinates() {
    let mut script = Script::new(SCHEME, &[]);
    for device in [2, 0] {
        script.hears(device, SHORT);
    }
    assert_eq!(script.hears(2, MUST), [collect(0), collect(2)]);
    assert_eq!(script.hears(0, MUST), []);
}

#[test]
fn one_that_enrols_during_a_round_waits_for_the_next() {
    let mut script = Script::new(SCHEME, &[]);
    script.hears(2, SHORT);
    script.hears(2, MUST);
    assert_eq!(script.hears(1, SHORT), []);
    assert_eq!(script.hears(2, DONE), []);
    assert_eq!(script.hears(1, MUST), [collect(1)]);
}

#[test]
fn one_that_crosses_twice_is_enrolled_once() {
    let mut script = Script::new(SCHEME, &[]);
    for device in [1, 1, 3] {
        assert_eq!(script.hears(device, SHORT), []);
    }
    assert_eq!(script.hears(3, MUST), [collect(1), collect(3)]);
}

#[test]
fn a_crossing_during_its_own_collection_is_told_after_done() {
    let mut script = Script::new(SCHEME, &[]);
    script.hears(1, SHORT);
    script.hears(1, MUST);
    // As the agent says it: done, and short again.
    assert_eq!(script.hears(1, DONE_SHORT), []);
    assert_eq!(script.hears(1, SHORT), []);
    assert_eq!(script.hears(3, MUST), [collect(1), collect(3)]);
}

#[test]
fn one_that_is_done_and_has_space_is_not_enrolled_any_more() {
    let mut script = Script::new(SCHEME, &[]);
    script.hears(1, SHORT);
    script.hears(1, MUST);
    script.hears(1, DONE);
    assert_eq!(script.hears(3, MUST), [collect(3)]);
}

#[test]
fn one_whose_answer_is_late_is_not_told_again_meanwhile() {
    let mut script = Script::new(SCHEME, &[]);
    script.hears(1, SHORT);
    assert_eq!(script.hears(1, MUST), [collect(1)]);
    assert_eq!(script.hears(2, MUST), [collect(2)]);
    // What it had said before the order came to it.
    assert_eq!(script.hears(1, SHORT), []);
    assert_eq!(script.hears(1, MUST), []);
    assert_eq!(script.hears(1, DONE), []);
    assert_eq!(script.hears(1, MUST), [collect(1)]);
}

#[test]
fn silent_drives_never_take_part() {
    let mut script = Script::new(SCHEME, &[("array.protocol.silent", "[0]")]);
    assert_eq!(script.hears(1, SHORT), []);
    assert_eq!(script.hears(2, MUST), [collect(1), collect(2)]);
}
