//! What goes with lines.

use crate::problem_of;

/// What is said of a drive with lines and these settings.
fn problem(settings: &[(&str, &str)]) -> String {
    problem_of(&[&[("ssd.gc.unit", "\"line\"")], settings].concat())
}

#[test]
fn what_goes_by_single_planes_or_blocks_does_not_go_with_lines() {
    let dynamic = ("ssd.ftl.allocation", "\"dynamic\"");
    assert!(problem(&[]).contains("ssd.ftl.allocation: found an order"));
    assert_eq!(problem(&[dynamic]), "");
    for (key, value) in [
        ("ssd.gc.width", "\"blind\""),
        ("ssd.gc.idle", "\"advanced\""),
        ("ssd.gc.threshold_scope", "\"drive\""),
        ("ssd.gc.threshold_unit", "\"free_pages\""),
        ("ssd.gc.invalid_threshold", "0.2"),
        ("ssd.gc.victim", "{ type = \"fifo\", ineligible = \"drop\" }"),
        ("ssd.gc.victim", "\"random\""),
        ("ssd.gc.victim", "\"rga\""),
        ("ssd.ftl.mapping", "\"log_block\""),
        ("ssd.ftl.placement", "\"midas\""),
        ("ssd.wear.static_threshold", "5"),
        ("ssd.slc_cache", "{ static = { blocks = 4 } }"),
        ("ssd.refresh", "{ reads = 100 }"),
        ("ssd.faults", "{ program_failures = 0.001 }"),
        ("ssd.power", "{ protection = \"none\" }"),
    ] {
        let found = problem(&[dynamic, (key, value)]);
        let names = found.lines().any(|line| {
            line.contains(&format!("{key}: found")) && line.contains("ssd.gc.unit = \"line\"")
        });
        assert!(names, "{key}: {found}");
    }
}

#[test]
fn a_line_has_as_many_pages_as_sixteen_bits_count() {
    let large = [
        ("ssd.ftl.allocation", "\"dynamic\""),
        ("ssd.geometry.channels", "16"),
        ("ssd.geometry.chips_per_channel", "8"),
        ("ssd.geometry.dies_per_chip", "1"),
        ("ssd.geometry.planes_per_die", "2"),
    ];
    let with = |pages| problem(&[&large[..], &[("ssd.geometry.pages_per_block", pages)]].concat());
    assert_eq!(with("255"), "");
    assert!(with("256").contains("found a line of 65536 pages"), "{}", with("256"));
}
