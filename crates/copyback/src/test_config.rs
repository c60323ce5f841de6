//! Checked configurations for unit tests.

use crate::config::{Loader, Resolved};

/// The default configuration with these keys changed, which has to be valid.
pub fn changed(changes: &[(&str, &str)]) -> Resolved {
    let loader = changes.iter().fold(Loader::new(), |loader, (key, value)| loader.set(key, value));
    loader.load().unwrap_or_else(|faults| panic!("{faults}")).resolve()
}

/// A drive of so many dies of one plane, on one channel, with `blocks` blocks of four pages each, and these keys changed.
pub fn small_drive(dies: u32, blocks: u32, changes: &[(&str, &str)]) -> Resolved {
    let (dies, blocks) = (dies.to_string(), blocks.to_string());
    let geometry = [
        ("ssd.geometry.channels", "1"),
        ("ssd.geometry.chips_per_channel", "1"),
        ("ssd.geometry.dies_per_chip", &dies),
        ("ssd.geometry.planes_per_die", "1"),
        ("ssd.geometry.blocks_per_plane", &blocks),
        ("ssd.geometry.pages_per_block", "4"),
    ];
    changed(&[&geometry, changes].concat())
}

/// A small drive of so many dies with a mapping table in flash, of which a page has eight entries.
pub fn demand_paged_drive(dies: u32) -> Resolved {
    let changes = [
        ("audit", "true"),
        ("ssd.geometry.page_size", "4KiB"),
        ("ssd.ftl.over_provisioning", "0.4"),
        ("ssd.ftl.mapping", r#"{ type = "demand_paged", cache = "64B", entry = "512B" }"#),
    ];
    small_drive(dies, 64, &changes)
}
