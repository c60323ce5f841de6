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
