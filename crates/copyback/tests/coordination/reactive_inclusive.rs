//! Reactive inclusive: one that runs short makes all of them collect.

use copyback::array::coordination::Order;
use copyback::collector::permit::{Asked, Until};
use copyback::ids::SsdId;

use crate::script::{DONE, DONE_SHORT, MUST, SHORT, Script, TARGET, collect};

const SCHEME: &str = "{ type = \"reactive_inclusive\", regardless = false }";

fn all() -> Vec<(SsdId, Order)> {
    (0..4).map(collect).collect()
}

#[test]
fn one_that_runs_short_makes_all_collect() {
    let mut script = Script::new(SCHEME, &[]);
    assert_eq!(script.hears(2, SHORT), all());
    assert_eq!(script.next_wake(), None);
}

#[test]
fn as_in_the_paper_regardless_of_their_state() {
    let mut script = Script::new("\"reactive_inclusive\"", &[]);
    let asked = Asked { regardless: true, ..Asked::until(Until::Target(TARGET)) };
    let expected: Vec<_> = (0..4).map(|device| (SsdId(device), Order::Collect(asked))).collect();
    assert_eq!(script.hears(2, SHORT), expected);
}

#[test]
fn several_that_run_short_at_once_begin_one_round() {
    let mut script = Script::new(SCHEME, &[]);
    assert_eq!(script.hears(2, SHORT), all());
    // It said so before it heard the order.
    assert_eq!(script.hears(0, SHORT), []);
    assert_eq!(script.hears(2, MUST), []);
}

#[test]
fn one_that_crosses_again_after_it_is_done_begins_a_round_of_those_that_are_done() {
    let mut script = Script::new(SCHEME, &[]);
    script.hears(2, SHORT);
    assert_eq!(script.hears(2, DONE), []);
    assert_eq!(script.hears(0, DONE), []);
    // The others are at work still.
    assert_eq!(script.hears(2, SHORT), [collect(0), collect(2)]);
    for device in [1, 3, 0, 2] {
        assert_eq!(script.hears(device, DONE), []);
    }
    assert_eq!(script.hears(1, SHORT), all());
}

#[test]
fn one_that_could_gain_nothing_begins_no_round_by_that_alone() {
    let mut script = Script::new(SCHEME, &[]);
    script.hears(2, SHORT);
    assert_eq!(script.hears(2, DONE_SHORT), []);
    // But when there is something again, and it must.
    assert_eq!(script.hears(2, MUST), [collect(2)]);
}

#[test]
fn silent_and_lost_drives_are_left_out() {
    let mut script = Script::new(SCHEME, &[("array.protocol.silent", "[1, 3]")]);
    assert_eq!(script.hears(2, SHORT), [collect(0), collect(2)]);
    let lost = [("array.layout", "\"raid5\""), ("array.failed", "[3]")];
    let mut script = Script::new(SCHEME, &lost);
    assert_eq!(script.hears(2, SHORT), [collect(0), collect(1), collect(2)]);
    let replaced = [lost[0], lost[1], ("array.rebuild", "{ type = \"rate\", rate = \"10MB/s\" }")];
    let mut script = Script::new(SCHEME, &replaced);
    assert_eq!(script.hears(2, SHORT), all());
}

/// 1 MiB can still be written, of which half may be.
const DELAYED: &str = r#"{ type = "reactive_inclusive", regardless = false,
    delay = { type = "until_quiet", outstanding = 1, quorum = 0.75, used = 0.5 } }"#;

#[test]
fn a_round_is_delayed_until_few_requests_are_in_the_array() {
    let mut script = Script::new(DELAYED, &[]);
    script.outstanding = 2;
    assert_eq!(script.hears(2, SHORT), []);
    assert_eq!(script.sends(2, 4096, 2), []);
    assert_eq!(script.sends(2, 4096, 1), all());
    assert_eq!(script.sends(2, 4096, 1), [], "it has begun");
}

#[test]
fn a_delayed_round_begins_when_enough_drives_run_short() {
    let mut script = Script::new(DELAYED, &[]);
    script.outstanding = 9;
    assert_eq!([script.hears(2, SHORT), script.hears(1, SHORT)], [[], []]);
    assert_eq!(script.hears(0, SHORT), all());
}

#[test]
fn a_delayed_round_begins_before_a_drive_has_been_sent_what_it_can_write() {
    let mut script = Script::new(DELAYED, &[]);
    script.outstanding = 9;
    script.hears(2, SHORT);
    assert_eq!(script.sends(1, 1 << 30, 9), [], "to another");
    assert_eq!(script.sends(2, (512 << 10) - 1, 9), []);
    assert_eq!(script.sends(2, 1, 9), all());
    for device in 0..4 {
        script.hears(device, DONE);
    }
    script.hears(2, SHORT);
    assert_eq!(script.sends(2, 4096, 9), [], "what it said then counts no more");
}

#[test]
fn a_drive_that_must_collect_is_not_waited_for() {
    let mut script = Script::new(DELAYED, &[]);
    script.outstanding = 9;
    assert_eq!([script.hears(2, SHORT), script.hears(2, MUST)], [vec![], all()]);
}

#[test]
fn a_round_of_so_many_blocks() {
    let at_most = |round: &str| {
        let mut script = Script::new(SCHEME, &[("array.protocol.round", round)]);
        let orders = script.hears(2, SHORT);
        let [(_, Order::Collect(asked)), ..] = orders[..] else { panic!("found {orders:?}") };
        asked.at_most
    };
    assert_eq!(at_most("\"until_target\""), None);
    assert_eq!(at_most("{ type = \"blocks\", blocks = 3 }"), Some(3));
    assert_eq!(at_most("{ type = \"share\", share = 0.0001 }"), Some(1));
}
