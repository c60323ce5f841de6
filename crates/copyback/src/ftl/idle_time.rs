//! Facts for the use of idle time: which blocks the writes to come will call for, what reclaiming them takes,
//! and which merges are owed.

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, DieId, Lpn, PlaneId};

use super::mapping::{AnyMapping, Cost, GroupId, Mapping, each};
use super::space::Stream;
use super::{Ftl, Tables};

/// Pages that are to be written to a plane.
#[derive(Debug, Clone, PartialEq, Eq, Checkpointed)]
pub struct Expected {
    /// Plane of the writes.
    pub plane: PlaneId,
    pages: u32,
    /// Of each group, where logical pages are bound to blocks, in the order of its first page.
    pub(super) groups: Vec<(GroupId, u32)>,
}

impl Expected {
    /// No page yet.
    pub const fn new(plane: PlaneId) -> Self {
        Self { plane, pages: 0, groups: Vec::new() }
    }
}

impl Ftl {
    /// Lists from now on merges that idle time is good for. If the drive `delays` merges, a group that
    /// is used up gets a fresh block instead, as long as the host may open one.
    pub fn list_idle_jobs(&mut self, delays: bool) {
        each!(&mut self.mapping, mapping => mapping.list_idle_jobs(&self.tables, delays));
    }

    /// Number of times that a merge has been deferred.
    pub fn merges_put_off(&self) -> u64 {
        each!(&self.mapping, mapping => mapping.merges_put_off())
    }

    /// The block whose reclaim merges the group of `die` that has been owed a merge longest.
    pub fn owed_victim(&self, die: DieId) -> Option<BlockId> {
        each!(&self.mapping, mapping => mapping.owed_victim(&self.tables, die))
    }

    /// The block of `plane` that is reclaimed when it would soon be short of free blocks: any that is
    /// worth it, or one of the group that has been used up longest.
    pub fn victim_in_advance(&mut self, plane: PlaneId) -> Option<BlockId> {
        each!(&mut self.mapping, mapping => mapping.victim_in_advance(&mut self.tables, plane))
    }

    /// Notes that `lpn` is to be written to the plane of `expected`.
    pub fn expect(&self, lpn: Lpn, expected: &mut Expected) {
        expected.pages += 1;
        each!(&self.mapping, mapping => mapping.expect(lpn, expected));
    }

    /// The first block whose reclaim the `expected` writes call for, of those whose cost `fits`.
    pub fn victim_called_for(
        &mut self,
        expected: &Expected,
        fits: impl Fn(Cost) -> bool,
    ) -> Option<BlockId> {
        let tables = &mut self.tables;
        each!(&mut self.mapping, mapping => {
            let merged = mapping.merge_called_for(tables, expected, &fits);
            merged.or_else(|| {
                let opened = mapping.opened_by(tables, expected) as usize;
                if tables.space.free_blocks(expected.plane) >= tables.space.thresholds().soft + opened {
                    return None;
                }
                let victim = mapping.choose_victim(tables, expected.plane)?;
                fits(mapping.cost_of(tables, victim)).then_some(victim)
            })
        })
    }
}

impl Tables {
    /// Blocks that the `expected` writes, one or more, open for the host, as if all were of one class.
    pub(super) fn opened_for_host(&self, expected: &Expected) -> u32 {
        let plane = &self.space[expected.plane];
        let mut open =
            self.streams.classes.of_host().filter_map(|class| plane.frontier(Stream::Class(class)));
        let room = open.next().map_or(0, |frontier| self.room(frontier));
        // The block after a full one is opened at once.
        match expected.pages.checked_sub(room) {
            Some(beyond) => beyond / self.limits.data_pages + 1,
            None => 0,
        }
    }
}
