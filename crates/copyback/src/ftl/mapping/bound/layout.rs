//! Which logical pages belong together where pages are not mapped one by one over a plane.
//!
//! The allocation deals logical pages out to the planes, one each in turn. Those that fall to one
//! plane, in order, are cut into logical blocks, and so many of them make a group.

use serde::{Deserialize, Serialize};

use crate::ids::Lpn;

/// A logical block, or neighbouring ones that share their blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupId(u32);

impl GroupId {
    /// The position of this group in a table.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The groups of a device, numbered plane by plane in the order in which the allocation visits them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    planes: u32,
    groups_per_plane: u32,
    pages_per_group: u32,
    logical_pages: u32,
}

impl Layout {
    /// For a device of so many planes, each with equally many of the logical pages.
    pub const fn new(planes: usize, logical_pages: usize, pages_per_group: u32) -> Self {
        let pages_per_plane = (logical_pages / planes) as u32;
        Self {
            planes: planes as u32,
            groups_per_plane: pages_per_plane.div_ceil(pages_per_group),
            pages_per_group,
            logical_pages: logical_pages as u32,
        }
    }

    /// Groups of the device.
    pub const fn groups(&self) -> usize {
        self.planes as usize * self.groups_per_plane as usize
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
        let (turn, round) = (lpn.0 % self.planes, lpn.0 / self.planes);
        GroupId(turn * self.groups_per_plane + round / self.pages_per_group)
    }

    /// The place of `lpn` in its group.
    pub const fn place_of(&self, lpn: Lpn) -> u32 {
        lpn.0 / self.planes % self.pages_per_group
    }

    /// The logical page at a place of a group; the last group of a plane may have fewer pages.
    pub fn page_at(&self, group: GroupId, place: u32) -> Option<Lpn> {
        let (turn, first) = (group.0 / self.groups_per_plane, group.0 % self.groups_per_plane);
        let round = first * self.pages_per_group + place;
        let lpn = u64::from(round) * u64::from(self.planes) + u64::from(turn);
        (lpn < u64::from(self.logical_pages)).then_some(Lpn(lpn as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_its_place_in_one_group() {
        // Three planes of ten pages each: two groups of four and one of two.
        let layout = Layout::new(3, 30, 4);
        assert_eq!(layout.groups(), 9);
        let mut seen = [false; 30];
        for group in (0..9).map(|index| layout.group(index)) {
            for place in 0..4 {
                let Some(lpn) = layout.page_at(group, place) else { continue };
                assert_eq!((layout.group_of(lpn), layout.place_of(lpn)), (group, place));
                seen[lpn.index()] = true;
            }
        }
        assert_eq!(seen, [true; 30]);
    }

    #[test]
    fn neighbours_of_a_plane_are_neighbours_of_a_group() {
        let layout = Layout::new(3, 30, 4);
        let of = |lpn| (layout.group_of(Lpn(lpn)), layout.place_of(Lpn(lpn)));
        assert_eq!(of(1).0, of(4).0);
        assert_eq!((of(1).1, of(4).1, of(10).1), (0, 1, 3));
        assert_eq!(of(13).0, GroupId(of(1).0.0 + 1));
    }
}
