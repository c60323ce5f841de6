//! Sizes and counts of pages.

use super::Shape;
use crate::quantity::Size;
use crate::{Protection, Ssd, SummaryPage, Width};

/// Sizes and counts of pages. A page is what is mapped as one: a page of the flash, one page of each striped plane, or
/// a mapping unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pages {
    /// Bytes of a page.
    pub size: Size,
    /// Bytes of the pages that counts of reads, programs and moves are of.
    pub counted_size: Size,
    /// Pages that are programmed together: more than one only with a mapping unit.
    pub per_program: u32,
    /// Pages of a block, or of one block of each striped plane.
    pub per_block: u64,
    /// Pages of a block that hold data: all but a summary page.
    pub data_per_block: u64,
    /// Whether a write of a mapping unit ends when the page that it is a part of is programmed: without capacitors.
    pub are_held: bool,
    /// Pages that may be programmed with nothing in them before a victim is erased: those that are missing in the open
    /// page of each class that its pages have moved to.
    pub filled_up_per_victim: u32,
    /// Pages that fit in the DRAM for pages that would have to be written alone.
    pub in_cache_of_width: usize,
}

impl Pages {
    pub(super) fn of(ssd: &Ssd, shape: &Shape) -> Self {
        let (page, unit) = (ssd.geometry.page_size, ssd.ftl.mapping_unit);
        let together = page.0.saturating_mul(shape.striped_planes.into());
        let per_program = unit.map_or(1, |unit| together / unit.0.max(1));
        let per_program = per_program.clamp(1, u32::MAX.into()) as u32;
        let per_block = u64::from(ssd.geometry.pages_per_block) * u64::from(per_program);
        let summary = u64::from(ssd.ftl.summary_page != SummaryPage::None);
        let are_held = per_program > 1 && ssd.power.protection == Protection::None;
        let missing = if are_held { per_program - 1 } else { 0 };
        let in_cache_of_width = match ssd.gc.width {
            Width::Blind { cache } | Width::Threshold { cache, .. } => cache.0 / page.0.max(1),
            Width::Serial | Width::Superblock => 0,
        };
        Self {
            size: unit.unwrap_or(Size(together)),
            counted_size: unit.unwrap_or(page),
            per_program,
            per_block,
            data_per_block: per_block.saturating_sub(summary),
            are_held,
            filled_up_per_victim: missing.saturating_mul(ssd.ftl.placement.classes()),
            in_cache_of_width: in_cache_of_width as usize,
        }
    }
}
