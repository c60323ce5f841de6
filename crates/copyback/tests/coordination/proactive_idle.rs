//! Proactive idle: as reactive selective, and those enrolled collect when the array is idle.

use copyback::array::coordination::Order;
use copyback::collector::permit::{Asked, Until};
use copyback::ids::SsdId;

use crate::script::{DONE, DONE_SHORT, MUST, SHORT, Script, at_us, collect};

const SCHEME: &str = "{ type = \"proactive_idle\", check = \"1ms\", idle = \"10ms\" }";

fn collect_all(device: u16) -> (SsdId, Order) {
    let asked = Asked::until(Until::ReserveFull);
    (SsdId(device), Order::Collect(asked))
}

#[test]
fn those_enrolled_collect_when_the_array_has_been_idle_for_long() {
    let mut script = Script::new(SCHEME, &[]);
    script.busy(100);
    assert_eq!(script.next_wake(), None);
    script.hears(2, SHORT);
    script.hears(0, SHORT);
    assert_eq!(script.quiet(5_500), []);
    assert_eq!(script.next_wake(), Some(at_us(16_000)));
    assert_eq!(script.wakes(16_000), [collect_all(0), collect_all(2)]);
    assert_eq!(script.next_wake(), None);
}

#[test]
fn a_request_before_the_check_keeps_everybody_at_work() {
    let mut script = Script::new(SCHEME, &[]);
    script.hears(2, SHORT);
    script.busy(10_500);
    assert_eq!(script.wakes(11_000), []);
    script.quiet(10_900);
    assert_eq!(script.wakes(11_000), []);
    assert_eq!(script.wakes(21_000), [collect_all(2)]);
}

#[test]
fn nobody_enrolled_nobody_told() {
    let mut script = Script::new(SCHEME, &[]);
    assert_eq!(script.next_wake(), Some(at_us(11_000)));
    assert_eq!(script.wakes(11_000), []);
    assert_eq!(script.next_wake(), None);
}

#[test]
fn one_that_was_interrupted_collects_in_the_next_idle_time() {
    let mut script = Script::new(SCHEME, &[]);
    script.hears(2, SHORT);
    assert_eq!(script.wakes(11_000), [collect_all(2)]);
    script.busy(12_000);
    // It has seen the request for itself.
    assert_eq!(script.hears(2, DONE_SHORT), []);
    script.quiet(13_000);
    assert_eq!(script.wakes(24_000), [collect_all(2)]);
    assert_eq!(script.hears(2, DONE), []);
    script.busy(30_000);
    script.quiet(31_000);
    assert_eq!(script.wakes(42_000), []);
}

#[test]
fn under_load_it_is_reactive_selective() {
    let mut script = Script::new(SCHEME, &[]);
    script.busy(0);
    script.hears(2, SHORT);
    assert_eq!(script.hears(0, MUST), [collect(0), collect(2)]);
}
