//! Blocks of the SLC cache.

use super::Pages;
use crate::Ssd;

/// Blocks of the SLC cache of each plane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Slc {
    /// Blocks that are always in the cache's mode.
    pub fixed: u32,
    /// Blocks that are lent to the cache at most.
    pub most_lent: u32,
    /// Pages of a block in the cache's mode.
    pub pages_per_block: u32,
}

impl Slc {
    /// The cache, unless it has no blocks.
    pub(super) fn of(ssd: &Ssd, pages: &Pages) -> Option<Self> {
        let (geometry, cache) = (&ssd.geometry, &ssd.slc_cache);
        let fixed = cache.fixed.resolve(geometry.blocks_per_plane, 0);
        let most_lent = cache.dynamic.resolve(geometry.blocks_per_plane, 0);
        let bits = u64::from(geometry.pages_per_block) * u64::from(cache.bits);
        let pages_per_block = (bits / u64::from(cache.native_bits.max(1))) as u32;
        let pages_per_block = pages_per_block.saturating_mul(pages.per_program);
        (fixed > 0 || most_lent > 0).then_some(Self { fixed, most_lent, pages_per_block })
    }
}
