//! Demand-paged mapping with a cache that has room for the whole table, which is page mapping.

use copyback::config::quantity::Size;
use copyback::config::{CachedUnit, Mapping};

use crate::check::equal;
use crate::draw::Case;
use crate::run::{self, Outcome};

/// Runs a page-mapped case with its table in flash and a cache that holds all of it: nothing differs but
/// what is told of the cache.
pub fn a_cached_table_is_a_table_in_ram(case: &Case, page: &Outcome) -> Result<(), String> {
    let mut config = case.config.clone();
    let segment = config.resolve().drive.pages.size;
    let (unit, cache) = match config.seed % 2 {
        0 => (CachedUnit::Entry, Size(8 * config.resolve().drive.capacity.logical_pages)),
        _ => (
            CachedUnit::Segment,
            Size((4 * config.resolve().drive.capacity.logical_pages).next_multiple_of(segment.0)),
        ),
    };
    let (cached_entry, entry, unwritten) = (Size(8), Size(4), Size(0));
    config.ssd.ftl.mapping = Mapping::DemandPaged { cache, cached_entry, entry, unit, unwritten };
    let mut cached = run::run(&config, None, 1 << 20)?;
    equal("evictions", &cached.number("/mapping/evictions"), &0)?;
    let mut expected = page.summary.clone();
    for summary in [&mut expected, &mut cached.summary] {
        let keys = summary.as_object_mut().expect("a summary has keys");
        keys.remove("mapping");
        keys.remove("config_digest");
    }
    equal("summary", &cached.summary, &expected)?;
    cached.summary = page.summary.clone();
    run::same("the run with a cached table", page, &cached)
}
