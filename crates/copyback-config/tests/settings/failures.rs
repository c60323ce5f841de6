//! What drives that fail, and spares, need.

use crate::problem_of;

const SPARED: [(&str, &str); 3] = [
    ("array.layout", "raid5"),
    ("array.spares", "1"),
    ("array.rebuild", "{ type = 'rate', rate = '9MB/s' }"),
];

/// Faults of an array of four drives with these failures.
fn problem(failures: &str, settings: &[(&str, &str)]) -> String {
    let own = [("array.layout", "raid5"), ("array.devices", "4"), ("array.failures", failures)];
    problem_of(&[&own, settings].concat())
}

const AT: &str = "{ type = 'at', drives = [{ drive = 1, at = '1s' }] }";

#[test]
fn drives_may_fail_at_times_and_at_random_with_spares() {
    assert_eq!(problem(AT, &[]), "");
    assert_eq!(problem(AT, &SPARED), "");
    assert_eq!(problem("{ type = 'random', life = '1s', shape = 2.0 }", &SPARED), "");
    assert_eq!(problem(AT, &[("array.layout", "jbod")]), "");
    assert_eq!(problem(AT, &[("array.coordination", "reactive_selective")]), "");
    assert_eq!(
        problem("end_of_life", &[("ssd.faults.program_failures", "0.01"), SPARED[1], SPARED[2]]),
        ""
    );
}

#[test]
fn failures_that_make_no_sense_are_refused() {
    for (failures, settings, expected) in [
        (
            "{ type = 'at', drives = [{ drive = 4, at = '1s' }] }",
            &[][..],
            "array.failures.drives[0].drive: found drive 4; allowed: 0 to 3",
        ),
        (
            "{ type = 'at', drives = [{ drive = 1, at = '1s' }, { drive = 1, at = '2s' }] }",
            &[],
            "array.failures.drives[1].drive: found drive 1 twice; allowed: once",
        ),
        (
            AT,
            &[("array.failed", "[1]")],
            "array.failures.drives[0].drive: found drive 1, which is lost from the start (array.failed)",
        ),
        ("{ type = 'random', life = '0s' }", &[], "array.failures.life: found 0s; allowed: more"),
        (
            "end_of_life",
            &[],
            "array.failures: found \"end_of_life\" of drives whose blocks never fail; allowed: with \
             ssd.faults.endurance_spread, program_failures or erase_failures",
        ),
        (
            "{ type = 'random', life = '1s', shape = 0.0 }",
            &[],
            "array.failures.shape: found 0; allowed: 0.1 to 20",
        ),
        (
            AT,
            &[("array.spares", "1")],
            "array.spares: found 1; allowed: with array.rebuild, and copies or parity to rebuild from",
        ),
        ("none", &SPARED[1..], "array.spares: found 1; allowed: with array.failures"),
        (
            AT,
            &[
                ("array.spares", "1"),
                ("array.rebuild", "{ type = 'throttled', least = '9MB/s', most = '8MB/s' }"),
            ],
            "array.rebuild.least: found 9MB/s; allowed: at most array.rebuild.most of 8MB/s",
        ),
    ] {
        let found = problem(failures, settings);
        assert!(found.contains(expected), "{found}\nhas not: {expected}");
    }
}
