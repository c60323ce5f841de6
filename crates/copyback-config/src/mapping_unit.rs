//! Units of mapping that are smaller than a page of the flash.

use super::{Protection, Ssd, quantity::Size};

impl Ssd {
    /// Units of mapping that are programmed together: those of a page, or of one page of each striped plane.
    pub fn units_per_program(&self) -> u32 {
        let together = self.geometry.page_size.0 * u64::from(self.striped_planes());
        match self.ftl.mapping_unit {
            // Checked to be a divisor, unless another fault is to be told first.
            Some(unit) => (together / unit.0.max(1)).clamp(1, u64::from(u32::MAX)) as u32,
            None => 1,
        }
    }

    /// Bytes that are mapped and read together, and counted as a page.
    pub fn managed_page_size(&self) -> Size {
        self.ftl
            .mapping_unit
            .unwrap_or_else(|| Size(self.geometry.page_size.0 * u64::from(self.striped_planes())))
    }

    /// Whether a write of a unit ends when the page that it is a part of is programmed: without capacitors.
    pub fn holds_units(&self) -> bool {
        self.units_per_program() > 1 && self.power.protection == Protection::None
    }

    /// Units of mapping that may be programmed with nothing in them before a victim is erased: those that are missing in the
    /// open page of each class that its pages have moved to.
    pub fn pages_filled_up_per_victim(&self) -> u32 {
        let missing = if self.holds_units() { self.units_per_program() - 1 } else { 0 };
        missing * self.ftl.placement.classes()
    }

    /// Mapped pages of a block, or of one block of each striped plane.
    pub fn pages_per_block(&self) -> u64 {
        u64::from(self.geometry.pages_per_block) * u64::from(self.units_per_program())
    }

    /// Bytes of the pages that counts of reads, programs and moves are of.
    pub fn counted_page_size(&self) -> Size {
        self.ftl.mapping_unit.unwrap_or(self.geometry.page_size)
    }
}
