//! What a lost die needs.

use crate::problem_of;

fn problem(settings: &[(&str, &str)]) -> String {
    let lines = [
        ("ssd.gc.unit", "\"line\""),
        ("ssd.ftl.allocation", "\"dynamic\""),
        ("ssd.ftl.over_provisioning", "0.5"),
        ("ssd.ftl.rain", "true"),
        ("ssd.faults.lost_die", "{ die = 2, at = \"1s\" }"),
    ];
    problem_of(&[&lines[..], settings].concat())
}

#[test]
fn a_die_is_lost_where_parity_can_make_up_for_it() {
    assert_eq!(problem(&[]), "");
    let found = problem(&[("ssd.ftl.rain", "false")]);
    assert!(found.contains("ssd.faults.lost_die: found one; allowed with ssd.ftl.rain"), "{found}");
    let found = problem(&[("ssd.faults.lost_die", "{ die = 4096, at = \"1s\" }")]);
    assert!(found.contains("ssd.faults.lost_die.die: found 4096; allowed: 0 to"), "{found}");
    let found = problem(&[("ssd.gc.zero_cost", "true")]);
    assert!(found.contains("ssd.gc.zero_cost: found true"), "{found}");
    let found = problem(&[("array.devices", "4"), ("array.layout", "\"raid5\"")]);
    assert!(
        found.contains("ssd.faults.lost_die: found one; allowed with array.devices = 1"),
        "{found}"
    );
}

#[test]
fn what_is_left_must_hold_what_the_host_wrote() {
    let dies = [
        ("ssd.geometry.channels", "4"),
        ("ssd.geometry.chips_per_channel", "1"),
        ("ssd.geometry.dies_per_chip", "1"),
    ];
    let with = |share| problem(&[&dies[..], &[("ssd.ftl.over_provisioning", share)]].concat());
    // Of four dies one holds parity, and one is lost.
    assert_eq!(with("0.65"), "");
    let found = with("0.4");
    assert!(found.contains("ssd.ftl.over_provisioning: found 0.4"), "{found}");
}
