//! Drives whose preparation would copy so many pages in merges that a few of them take a quarter of all time there is.

use copyback::config::{Config, LogicalBlocks, Overwrites};

/// What merges may copy before a run begins: most drives with log blocks copy less than a tenth of it.
const MOST_PAGES: f64 = 1e6;

/// Whether merges of random overwrites, each of which may copy a whole logical block, copy too many pages before the run begins.
pub fn copy_too_many(config: &Config) -> bool {
    !config.ssd.ftl.mapping.is_page_mapping() && pages_copied(config) > MOST_PAGES
}

fn pages_copied(config: &Config) -> f64 {
    let times_over = match &config.precondition.overwrites {
        Overwrites::Fixed(times_over) => *times_over,
        Overwrites::UntilSteady { round, most_rounds, .. } => round * f64::from(*most_rounds),
    };
    let blocks = match config.ssd.ftl.logical_blocks {
        LogicalBlocks::Superpage { planes } => planes,
        LogicalBlocks::Striped | LogicalBlocks::Contiguous => 1,
    };
    let pages_of_a_merge = f64::from(blocks * config.ssd.geometry.pages_per_block);
    let filled = config.precondition.fill.0 * config.resolve().drive.capacity.logical_pages as f64;
    times_over * filled * f64::from(config.array.devices) * pages_of_a_merge
}
