//! Unit of collections.

use super::parity::without_parity;
use super::{Pages, Shape};
use crate::Ssd;

/// Unit that is collected as one: a block, or a line over all planes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Pages of a unit that hold data.
    pub pages: u64,
    /// Units that are victims together.
    pub together: u32,
    /// Invalid pages that a victim has at least, as long as the host can open a block.
    pub least_invalid: u32,
}

impl Unit {
    pub(super) fn of(ssd: &Ssd, shape: &Shape, pages: &Pages) -> Self {
        let blocks = if ssd.gc.has_lines() { shape.planes } else { 1 };
        let pages = without_parity(ssd, shape.dies, blocks).saturating_mul(pages.data_per_block);
        let is_page_mapping = ssd.ftl.mapping.is_page_mapping();
        Self {
            pages,
            together: if is_page_mapping { ssd.ftl.placement.reclaim_unit() } else { 1 },
            least_invalid: (ssd.gc.least_invalid.0 * pages as f64).ceil() as u32,
        }
    }
}
