//! Layout of logical pages into groups where they are not mapped one by one over a plane.
//!
//! Logical pages come in stripes, one after the other. A stripe deals its pages out to as many groups as it is wide,
//! one each in turn, until these are full; group after group goes to the next plane. A stripe that is one group wide
//! has the pages of a group in succession, one as wide as the drive gives successive pages to successive planes.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::Lpn;

/// A logical block, or neighbouring ones that share their blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Checkpointed)]
pub struct GroupId(u32);

impl GroupId {
    /// The position of this group in a table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The groups of a device, numbered in the order in which the planes get them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Checkpointed)]
pub struct Layout {
    /// Groups of a stripe.
    width: u32,
    pages_per_group: u32,
    pages_per_stripe: u32,
    logical_pages: u32,
}

impl Layout {
    /// Reads the layout of a checked configuration.
    pub fn new(config: &Resolved) -> Self {
        let blocks = config.ssd.ftl.mapping.blocks_per_group().unwrap_or(1);
        let pages = blocks * config.drive.pages.data_per_block as u32;
        Self::of(
            config.drive.shape.stripe_width as u32,
            pages,
            config.drive.capacity.logical_pages as u32,
        )
    }

    /// For so many logical pages. A stripe of more pages than there can be is as good as the largest.
    const fn of(width: u32, pages_per_group: u32, logical_pages: u32) -> Self {
        let pages_per_stripe = width.saturating_mul(pages_per_group);
        Self { width, pages_per_group, pages_per_stripe, logical_pages }
    }

    /// Planes that successive pages go round.
    pub const fn stripe_width(&self) -> usize {
        self.width as usize
    }

    /// Groups of the device. The last ones may have fewer pages than the others, but none is without any.
    pub fn groups(&self) -> usize {
        let stripes = self.logical_pages / self.pages_per_stripe;
        let rest = self.logical_pages % self.pages_per_stripe;
        (stripes * self.width + rest.min(self.width)) as usize
    }

    /// The group called by its position in a table.
    pub fn group(&self, index: usize) -> GroupId {
        debug_assert!(index < self.groups(), "there is no group {index}");
        GroupId(index as u32)
    }

    /// All groups.
    pub fn ids(self) -> impl Iterator<Item = GroupId> + Clone {
        (0..self.groups() as u32).map(GroupId)
    }

    /// The group of `lpn`.
    pub const fn group_of(&self, lpn: Lpn) -> GroupId {
        GroupId(lpn.0 / self.pages_per_stripe * self.width + lpn.0 % self.width)
    }

    /// Number of these pages in each group, in the order of its first page.
    pub fn pages_of_groups(&self, pages: &[Lpn]) -> Vec<(GroupId, u32)> {
        let mut groups: Vec<(GroupId, u32)> = Vec::new();
        for id in pages.iter().map(|lpn| self.group_of(*lpn)) {
            match groups.iter_mut().rev().find(|(group, _)| *group == id) {
                Some((_, pages)) => *pages += 1,
                None => groups.push((id, 1)),
            }
        }
        groups
    }

    /// The place of `lpn` in its group.
    pub const fn place_of(&self, lpn: Lpn) -> u32 {
        lpn.0 % self.pages_per_stripe / self.width
    }

    /// The logical page at a place of a group; the last groups may have fewer pages.
    pub fn page_at(&self, group: GroupId, place: u32) -> Option<Lpn> {
        let [width, turn] = [self.width, group.0 % self.width].map(u64::from);
        let round =
            u64::from(group.0 / self.width) * u64::from(self.pages_per_group) + u64::from(place);
        let lpn = round * width + turn;
        (lpn < u64::from(self.logical_pages)).then_some(Lpn(lpn as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stripes as wide as a drive of six planes, contiguous groups, and superpages of two and three planes.
    const WIDTHS: [u32; 4] = [6, 1, 2, 3];

    /// Sizes of groups and drives at which a stripe, a group or a round over the planes stays incomplete.
    fn layouts() -> impl Iterator<Item = Layout> {
        let sizes = [(1, 6), (1, 30), (4, 30), (5, 66), (7, 90), (7, 6), (64, 30), (3, 36)];
        WIDTHS.into_iter().flat_map(move |width| {
            sizes.map(|(pages_per_group, pages)| Layout::of(width, pages_per_group, pages))
        })
    }

    #[test]
    fn every_page_has_its_place_in_one_group() {
        for layout in layouts() {
            let mut seen = vec![false; layout.logical_pages as usize];
            for group in layout.ids() {
                for place in 0..layout.pages_per_group {
                    let Some(lpn) = layout.page_at(group, place) else { continue };
                    let found = (layout.group_of(lpn), layout.place_of(lpn));
                    assert_eq!(found, (group, place), "{layout:?}");
                    seen[lpn.index()] = true;
                }
            }
            assert!(seen.iter().all(|seen| *seen), "{layout:?}");
        }
    }

    #[test]
    fn every_group_has_a_first_page_and_no_gap() {
        for layout in layouts() {
            for group in layout.ids() {
                let pages = (0..layout.pages_per_group).map(|place| layout.page_at(group, place));
                let present: Vec<bool> = pages.map(|page| page.is_some()).collect();
                assert!(present[0] && present.is_sorted_by(|one, next| one >= next), "{layout:?}");
            }
        }
    }

    #[test]
    fn a_stripe_as_wide_as_the_drive_has_every_nth_page_in_a_group() {
        let layout = Layout::of(3, 4, 30);
        let of = |lpn| (layout.group_of(Lpn(lpn)).0, layout.place_of(Lpn(lpn)));
        assert_eq!([1, 4, 10, 13].map(of), [(1, 0), (1, 1), (1, 3), (4, 0)]);
    }

    #[test]
    fn a_stripe_of_one_group_has_its_pages_in_succession() {
        let layout = Layout::of(1, 4, 30);
        let of = |lpn| (layout.group_of(Lpn(lpn)).0, layout.place_of(Lpn(lpn)));
        assert_eq!([0, 3, 4, 29].map(of), [(0, 0), (0, 3), (1, 0), (7, 1)]);
        assert_eq!(layout.groups(), 8);
    }

    #[test]
    fn a_superpage_deals_its_pages_out_to_its_planes() {
        let layout = Layout::of(2, 4, 30);
        let of = |lpn| (layout.group_of(Lpn(lpn)).0, layout.place_of(Lpn(lpn)));
        assert_eq!([0, 1, 2, 7, 8, 29].map(of), [(0, 0), (1, 0), (0, 1), (1, 3), (2, 0), (7, 2)]);
    }

    #[test]
    fn a_group_larger_than_the_drive_has_all_pages() {
        let layout = Layout::of(1 << 20, 65_534, u32::MAX - 1);
        let last = Lpn(u32::MAX - 2);
        let (group, place) = (layout.group_of(last), layout.place_of(last));
        assert_eq!(layout.page_at(group, place), Some(last));
        assert_eq!(layout.groups(), 1 << 20);
    }
}
