//! What mirrors need, and what only they have.

use copyback_config::Loader;

use crate::problem_of;

/// Faults of an array of four drives in this layout.
fn problem(layout: &str, settings: &[(&str, &str)]) -> String {
    problem_of(&[&[("array.layout", layout), ("array.devices", "4")], settings].concat())
}

#[test]
fn mirrors_are_allowed() {
    assert_eq!(problem("raid1", &[]), "");
    for arrangement in ["near", "far", "offset"] {
        for copies in ["2", "3", "4"] {
            let keys = [("array.arrangement", arrangement), ("array.copies", copies)];
            assert_eq!(problem("raid10", &keys), "");
        }
    }
    for policy in ["first", "round_robin", "random", "shortest_queue", "around_collections"] {
        assert_eq!(problem("raid1", &[("array.mirror_reads", policy)]), "");
    }
}

#[test]
fn keys_of_mirrors_are_for_mirrors() {
    for (layout, key, value, problem_of_key) in [
        ("raid5", "array.copies", "2", "found 2; allowed: with array.layout = \"raid10\""),
        (
            "raid1",
            "array.copies",
            "4",
            "found 4; allowed: with raid10; of raid1 every drive holds a copy",
        ),
        ("raid10", "array.copies", "5", "found 5; allowed: 2 to the 4 of array.devices"),
        ("raid1", "array.arrangement", "far", "found one; allowed: with array.layout = \"raid10\""),
        (
            "raid0",
            "array.mirror_reads",
            "first",
            "found one; allowed: with copies to choose from (raid1, raid10)",
        ),
    ] {
        let found = problem(layout, &[(key, value)]);
        assert!(found.contains(&format!("{key}: {problem_of_key}")), "{found}");
    }
    let around = problem("raid10", &[("array.reads_around_gc", "true")]);
    let expected = "array.reads_around_gc: found true; allowed: with parity (raid5, raid6); mirrors: \
                    array.mirror_reads = \"around_collections\"";
    assert!(around.contains(expected), "{around}");
    assert!(
        problem("raid10", &[("array.devices", "1")])
            .contains("array.devices: found 1; allowed: 2 to")
    );
}

#[test]
fn a_copy_of_everything_must_be_left() {
    let lost = |layout, failed, more: &[(&str, &str)]| {
        problem(layout, &[&[("array.failed", failed)], more].concat())
    };
    assert_eq!(lost("raid1", "[0, 1, 3]", &[]), "");
    assert_eq!(lost("raid10", "[0, 2]", &[]), "");
    assert_eq!(lost("raid10", "[1, 2]", &[]), "");
    let expected =
        "array.failed: found all drives of some bytes, 2, 3; allowed: a copy left of each";
    assert!(lost("raid10", "[3, 2]", &[]).contains(expected));
    assert!(lost("raid1", "[0, 1, 2, 3]", &[]).contains("all drives of some bytes, 0, 1, 2, 3"));
    // Far copies are on every pair of neighbours, around.
    let far = [("array.arrangement", "far")];
    assert_eq!(lost("raid10", "[0, 2]", &far), "");
    assert!(lost("raid10", "[1, 2]", &far).contains("all drives of some bytes, 1, 2"));
    assert!(lost("raid10", "[0, 3]", &far).contains("all drives of some bytes, 3, 0"));
    assert_eq!(
        lost("raid10", "[0, 3]", &[("array.copies", "3"), ("array.arrangement", "offset")]),
        ""
    );
    let rebuild = ("array.rebuild", "{ type = 'rate', rate = '1MB/s', unit = '4KiB' }");
    assert_eq!(lost("raid1", "[0]", &[rebuild]), "", "no stripe unit");
    let unit = lost("raid10", "[0]", &[rebuild]);
    assert!(
        unit.contains(
            "array.rebuild.unit: found 4KiB; allowed: a multiple of the stripe unit of 64KiB"
        ),
        "{unit}"
    );
}

/// Capacity as md computes it: `raid10_size`.
#[test]
fn capacity_is_what_md_makes_of_the_drives() {
    let bytes = |settings: &[(&str, &str)]| {
        let all = [&[("array.layout", "raid10"), ("array.stripe", "64KiB")], settings].concat();
        let loader = all.iter().fold(Loader::new(), |loader, (key, value)| loader.set(key, value));
        loader.load().unwrap_or_else(|faults| panic!("{faults}")).array
    };
    let rows = 7;
    let chunks =
        |settings: &[(&str, &str)]| bytes(settings).capacity(rows * 65_536 + 4096) / 65_536;
    let near = |devices, copies| chunks(&[("array.devices", devices), ("array.copies", copies)]);
    assert_eq!([near("4", "2"), near("5", "2"), near("5", "3")], [14, 17, 11]);
    for arrangement in ["far", "offset"] {
        let of = |devices, copies| {
            let keys = [("array.devices", devices), ("array.copies", copies)];
            chunks(&[&keys[..], &[("array.arrangement", arrangement)]].concat())
        };
        assert_eq!([of("4", "2"), of("5", "2"), of("5", "3")], [12, 15, 10], "{arrangement}");
    }
    assert_eq!(
        bytes(&[("array.layout", "raid1"), ("array.devices", "3")]).capacity(12_345),
        12_345
    );
}

#[test]
fn a_drive_has_room_for_each_part() {
    let spare = [("ssd.ftl.over_provisioning", "0.3")];
    let of = |arrangement, stripe| {
        let keys = [("array.arrangement", arrangement), ("array.stripe", stripe)];
        problem("raid10", &[&spare[..], &keys].concat())
    };
    let bytes = Loader::new().set("ssd.ftl.over_provisioning", "0.3").load().expect("the defaults");
    let bytes = bytes.resolve().drive.capacity.bytes;
    let most = (bytes / 2 / 4096 * 4096).to_string();
    let more = (bytes / 2 / 4096 * 4096 + 4096).to_string();
    for arrangement in ["far", "offset"] {
        assert_eq!(of(arrangement, &most), "", "{arrangement}");
        assert!(of(arrangement, &more).contains("allowed: 2 of them, at most a drive's"));
    }
    assert_eq!(of("near", &more), "");
}
