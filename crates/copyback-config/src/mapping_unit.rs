//! Units of mapping that are smaller than a page of the flash.

use super::{Ssd, quantity::Size};

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

    /// Mapped pages of a block, or of one block of each striped plane.
    pub fn pages_per_block(&self) -> u64 {
        u64::from(self.geometry.pages_per_block) * u64::from(self.units_per_program())
    }

    /// Bytes of the pages that counts of reads, programs and moves are of.
    pub fn counted_page_size(&self) -> Size {
        self.ftl.mapping_unit.unwrap_or(self.geometry.page_size)
    }
}
