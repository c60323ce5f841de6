//! Needs of scrubs, and of drives that are slow for a while.

use copyback_config::{BITS_OF_BLOCK, Loader, METADATA_BLOCK};

use crate::problem_of;

/// Faults of a RAID-5 of four drives with a setting, and perhaps others.
fn problem(key: &str, value: &str, settings: &[(&str, &str)]) -> String {
    let own = [("array.layout", "raid5"), ("array.devices", "4"), (key, value)];
    problem_of(&[&own, settings].concat())
}

#[test]
fn arrays_may_be_scrubbed_and_drives_be_slow() {
    for (key, value) in [
        ("array.scrub", "throttled"),
        ("array.scrub", "{ type = 'throttled', every = '1us', least = '1B/s', most = 'none' }"),
        ("array.slow", "[{ drive = 3, at = '0s', for = '1ns' }]"),
        (
            "array.slow",
            "[{ drive = 1, at = '2s', for = '1s' }, { drive = 1, at = '1s', for = '1s' }, \
              { drive = 2, at = '1s', for = '9s', factor = 1.5 }]",
        ),
    ] {
        assert_eq!(problem(key, value, &[]), "", "{value}");
    }
}

#[test]
fn scrubs_and_slow_drives_that_make_no_sense_are_refused() {
    for (key, value, settings, expected) in [
        (
            "array.scrub",
            "throttled",
            &[("array.layout", "raid0")][..],
            "array.scrub: found scrubs; allowed: with copies or parity (raid1, raid10, raid5, raid6)",
        ),
        (
            "array.scrub",
            "{ type = 'throttled', every = '999ns' }",
            &[],
            "array.scrub.every: found 999ns; allowed: 1us or more",
        ),
        (
            "array.scrub",
            "{ type = 'throttled', least = '9MB/s', most = '8MB/s' }",
            &[],
            "array.scrub.least: found 9MB/s; allowed: at most array.scrub.most of 8MB/s",
        ),
        (
            "array.scrub",
            "{ type = 'throttled', unit = '96KiB' }",
            &[],
            "array.scrub.unit: found 96KiB; allowed: a multiple of the stripe unit of 64KiB",
        ),
        (
            "array.slow",
            "[{ drive = 4, at = '1s', for = '1s' }]",
            &[],
            "array.slow[0].drive: found drive 4; allowed: 0 to 3",
        ),
        (
            "array.slow",
            "[{ drive = 1, at = '1s', for = '0s' }]",
            &[],
            "array.slow[0].for: found 0s; allowed: more",
        ),
        (
            "array.slow",
            "[{ drive = 1, at = '1s', for = '1s', factor = 0.5 }]",
            &[],
            "array.slow.0.factor: found 0.5; allowed: 1 to 10000",
        ),
        (
            "array.slow",
            "[{ drive = 1, at = '1s', for = '2s' }, { drive = 1, at = '2s', for = '2s' }]",
            &[],
            "array.slow[1].at: found 2s, within array.slow[0] of the same drive; allowed: before or after it",
        ),
        (
            "array.slow",
            "[{ drive = 0, at = '1s', for = '1s' }]",
            &[("array.layout", "single"), ("array.devices", "1")],
            "array.slow: found slow drives where there is one; allowed: with several (array.devices)",
        ),
    ] {
        let found = problem(key, value, settings);
        assert!(found.contains(expected), "{found}\nhas not: {expected}");
    }
}

/// The problem of a setting with cuts of power.
fn problem_with_cuts(key: &str, value: &str, settings: &[(&str, &str)]) -> String {
    let cuts = [("ssd.power.cuts", "{ type = 'at', times = ['1s'] }")];
    problem(key, value, &[&cuts, settings].concat())
}

#[test]
fn arrays_may_lose_their_power() {
    for (key, value) in [
        ("array.consistency_policy", "none"),
        ("array.consistency_policy", "resync"),
        ("array.consistency_policy", "bitmap"),
        ("array.consistency_policy", "ppl"),
        ("array.consistency_policy", "journal"),
        ("array.consistency_policy", "{ type = 'ppl', space = '132KiB' }"),
        ("array.layout", "raid10"),
        ("array.layout", "jbod"),
    ] {
        assert_eq!(problem_with_cuts(key, value, &[]), "", "{value}");
    }
    // The default looks at nothing where no power fails.
    assert_eq!(problem("array.stripe", "96KiB", &[]), "");
}

#[test]
fn a_bitmap_has_a_bit_for_each_chunk_that_a_resync_goes_over() {
    for (layout, devices) in [("raid1", "3"), ("raid5", "4"), ("raid6", "5"), ("raid10", "10")] {
        let loader = [
            ("array.layout", layout),
            ("array.devices", devices),
            ("array.stripe", "4KiB"),
            ("array.consistency_policy", "{ type = 'bitmap', chunk = '4KiB', unit = '4KiB' }"),
        ]
        .into_iter()
        .fold(Loader::new(), |loader, (key, value)| loader.set(key, value));
        let config = loader.load().expect("it makes sense").resolve();
        let (device, data) = (config.drive.capacity.bytes, config.bytes);
        // Of mirrors a resync goes over the bytes of the array, under parity over those of a drive.
        let covered =
            if config.array.layout.is_mirrored() { data } else { config.array.data_bytes(device) };
        let blocks = covered.div_ceil(4096).div_ceil(BITS_OF_BLOCK);
        assert!(blocks > 1, "{layout}: a block is too small to tell");
        let left = device - config.array.data_bytes(device);
        assert!(left >= blocks * METADATA_BLOCK, "{layout}: {left} bytes for {blocks} blocks");
    }
}

#[test]
fn policies_that_make_no_sense_are_refused() {
    let bitmap_for = "array.consistency_policy: found a bitmap, a log or a journal; allowed: with copies or \
                      parity (raid1, raid10, raid5, raid6)";
    for (value, settings, expected) in [
        ("ppl", &[("array.layout", "raid0")][..], bitmap_for),
        ("bitmap", &[("array.layout", "jbod")], bitmap_for),
        (
            "ppl",
            &[("array.layout", "raid6")],
            "array.consistency_policy: found \"ppl\"; allowed: with raid5 alone",
        ),
        (
            "journal",
            &[("array.layout", "raid10"), ("array.devices", "4")],
            "array.consistency_policy: found \"journal\"; allowed: with raid5 or raid6",
        ),
        (
            "journal",
            &[("ssd.faults.program_failures", "0.001")],
            "array.consistency_policy: found \"journal\" of drives whose flash may fail",
        ),
        (
            "{ type = 'ppl', space = '128KiB' }",
            &[],
            "array.consistency_policy.space: found 128KiB; allowed: a multiple of 4KiB, at least 132KiB: 4KiB and two \
             stripe units",
        ),
        (
            "{ type = 'ppl', space = '1TiB' }",
            &[],
            "array.consistency_policy: found 1TiB of each drive's",
        ),
        (
            "{ type = 'bitmap', chunk = '96KiB' }",
            &[],
            "array.consistency_policy.chunk: found 96KiB; allowed: a multiple of the stripe unit of 64KiB",
        ),
        (
            "{ type = 'bitmap', delay = '0s' }",
            &[],
            "array.consistency_policy.delay: found 0s; allowed: 1us or more",
        ),
        (
            "{ type = 'resync', least = '9MB/s', most = '8MB/s' }",
            &[],
            "array.consistency_policy.least: found 9MB/s; allowed: at most array.consistency_policy.most of 8MB/s",
        ),
    ] {
        let found = problem_with_cuts("array.consistency_policy", value, settings);
        assert!(found.contains(expected), "{value}: {found}");
    }
    let coordinated = problem_with_cuts("array.coordination", "reactive_selective", &[]);
    assert!(
        coordinated
            .contains("array.coordination: found a coordinator, which may remember what is lost"),
        "{coordinated}"
    );
}
