//! Capacity of a drive, and pages of its mapping table.

use super::{DemandPaging, Pages, Shape};
use crate::Ssd;

/// Decimal shares are not exact in binary: counts this close to a whole number are that number.
pub(crate) const ROUNDING: f64 = 1e-4;

/// Capacity of a drive, and pages of its mapping table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capacity {
    /// Pages that each drive offers: the physical pages (summary pages included) less the over-provisioned share, rounded
    /// down so that every plane has equally many.
    pub logical_pages: u64,
    /// Bytes that each drive offers.
    pub bytes: u64,
    /// Logical pages that fall to each plane under a static allocation.
    pub logical_pages_per_plane: u64,
    /// Logical pages that fall to a plane at most.
    pub most_of_a_plane: u64,
    /// Translation pages of the drive; none unless a part of the mapping table lies in flash alone.
    pub translation_pages: u64,
    /// Translation pages that fall to each plane at most.
    pub translation_pages_per_plane: u64,
}

impl Capacity {
    /// The capacity, and the mapping table that it asks for in flash.
    pub(super) fn of(ssd: &Ssd, shape: &Shape, pages: &Pages) -> (Self, Option<DemandPaging>) {
        let planes = shape.planes.max(1);
        let blocks = planes.saturating_mul(ssd.geometry.blocks_per_plane.into());
        let physical = blocks.saturating_mul(pages.per_block);
        let exact = physical as f64 * (1.0 - ssd.ftl.over_provisioning.0);
        let logical_pages_per_plane = (exact + ROUNDING).floor() as u64 / planes;
        let logical_pages = logical_pages_per_plane.saturating_mul(planes);
        let table = DemandPaging::of(ssd, pages, logical_pages);
        let translation_pages = table.map_or(0, |table| table.translation_pages);
        let most = most_in_groups(ssd, shape, pages, logical_pages);
        let capacity = Self {
            logical_pages,
            bytes: logical_pages.saturating_mul(pages.size.0),
            logical_pages_per_plane,
            most_of_a_plane: most.unwrap_or(logical_pages_per_plane),
            translation_pages,
            translation_pages_per_plane: translation_pages.div_ceil(planes),
        };
        (capacity, table)
    }

    /// Pages of data that fall to a plane at most.
    pub(crate) const fn most_data_of_a_plane(&self) -> u64 {
        self.most_of_a_plane.saturating_add(self.translation_pages_per_plane)
    }
}

/// Logical pages that fall to a plane at most where each is given whole groups of pages: some may have one more than
/// others.
fn most_in_groups(ssd: &Ssd, shape: &Shape, pages: &Pages, logical_pages: u64) -> Option<u64> {
    let blocks = u64::from(ssd.ftl.mapping.blocks_per_group()?);
    let (planes, width) = (shape.planes.max(1), shape.stripe_width.max(1));
    let group = blocks.saturating_mul(pages.data_per_block).max(1);
    let stripe = width.saturating_mul(group);
    let whole_groups = logical_pages / stripe * width;
    let of_all = whole_groups / planes * group;
    let rest = match whole_groups.is_multiple_of(planes) {
        true => (logical_pages % stripe).div_ceil(width),
        false => group,
    };
    Some(of_all.saturating_add(rest))
}
