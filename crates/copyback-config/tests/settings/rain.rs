//! What parity over the dies of a drive needs.

use crate::problem_of;

fn problem(settings: &[(&str, &str)]) -> String {
    let lines = [
        ("ssd.gc.unit", "\"line\""),
        ("ssd.ftl.allocation", "\"dynamic\""),
        ("ssd.ftl.over_provisioning", "0.4"),
        ("ssd.ftl.rain", "true"),
    ];
    problem_of(&[&lines[..], settings].concat())
}

#[test]
fn parity_lies_over_the_dies_of_lines() {
    let shape = |dies| [("ssd.geometry.channels", dies), ("ssd.geometry.chips_per_channel", "1")];
    let small =
        |dies| problem(&[&shape(dies)[..], &[("ssd.geometry.dies_per_chip", "1")]].concat());
    assert_eq!(small("3"), "");
    assert!(small("2").contains("ssd.ftl.rain: found true on a drive of 2 dies"), "{}", small("2"));
    let blocks = problem(&[("ssd.gc.unit", "\"block\"")]);
    assert!(blocks.contains("ssd.ftl.rain: found true; allowed with ssd.gc.unit"), "{blocks}");
    let units = problem(&[("ssd.ftl.mapping_unit", "\"4KiB\""), ("ssd.gc.copyback", "false")]);
    assert!(units.contains("ssd.ftl.mapping_unit: found units of a page"), "{units}");
}

#[test]
fn what_goes_by_stripes_needs_them() {
    let around = problem(&[("ssd.ftl.rain", "false"), ("ssd.ftl.reads_around_gc", "true")]);
    assert!(
        around.contains("ssd.ftl.reads_around_gc: found true; allowed with ssd.ftl.rain"),
        "{around}"
    );
    let rotating =
        [("ssd.gc.unit", "\"block\""), ("ssd.ftl.rain", "false"), ("ssd.gc.rotating", "true")];
    let rotating = problem(&rotating);
    assert!(
        rotating.contains("ssd.gc.rotating: found true; allowed with ssd.gc.unit"),
        "{rotating}"
    );
}

#[test]
fn parity_is_part_of_what_over_provisioning_hides() {
    let with = |share| problem(&[("ssd.ftl.over_provisioning", share)]);
    // Without parity a share of 0.13 would do.
    let found = with("0.1");
    assert!(found.contains("ssd.ftl.over_provisioning: found 0.1"), "{found}");
}
