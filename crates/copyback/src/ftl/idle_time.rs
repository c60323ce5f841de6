//! What idle time is good for: which blocks the writes to come will call for, what reclaiming them
//! takes, and which merges are owed.

use crate::ids::{BlockId, DieId, Lpn, PlaneId};
use crate::victim::BlockView;

use super::Ftl;
use super::mapping::{Cost, GroupId};
use super::plane::Stream;

/// Pages that are to be written to a plane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expected {
    /// Where they go.
    pub plane: PlaneId,
    pages: u32,
    /// Of each group, where logical pages are bound to blocks, in the order of its first page.
    groups: Vec<(GroupId, u32)>,
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
        let planes = self.planes.len();
        let Some(groups) = &mut self.groups else { return };
        groups.list_idle_jobs(delays, planes);
        let layout = *groups.layout();
        for id in (0..layout.groups()).map(|index| layout.group(index)) {
            let block = groups.get(id).blocks.first();
            if let Some(plane) = block.map(|block| self.geometry.plane_of_block(*block)) {
                groups.list_idle_job(plane, id);
            }
        }
    }

    /// How often a merge has been put off.
    pub fn merges_put_off(&self) -> u64 {
        self.groups.as_ref().map_or(0, |groups| groups.put_off())
    }

    /// The block whose reclaim merges the group of `die` that has been owed a merge longest.
    pub fn owed_victim(&self, die: DieId) -> Option<BlockId> {
        let groups = self.groups.as_ref()?;
        self.victim_of(groups.first_owed(die)?)
    }

    /// The block of `plane` that is reclaimed when it would soon be short of free blocks: any that is
    /// worth it, or one of the group that has been used up longest.
    pub fn victim_in_advance(&mut self, plane: PlaneId) -> Option<BlockId> {
        match &self.groups {
            None => self.choose_victim(plane),
            Some(groups) => self.victim_of(groups.first_used_up(plane)?),
        }
    }

    /// A block whose reclaim merges a group, if that may begin now.
    fn victim_of(&self, id: GroupId) -> Option<BlockId> {
        let victim = *self.groups().merge_of(id, None, &self.blocks).sources.first()?;
        self.may_merge(self.geometry.plane_of_block(victim)).then_some(victim)
    }

    /// Notes that `lpn` is to be written to the plane of `expected`.
    pub fn expect(&self, lpn: Lpn, expected: &mut Expected) {
        expected.pages += 1;
        let Some(groups) = &self.groups else { return };
        let id = groups.layout().group_of(lpn);
        match expected.groups.iter_mut().rev().find(|(group, _)| *group == id) {
            Some((_, pages)) => *pages += 1,
            None => expected.groups.push((id, 1)),
        }
    }

    /// The first block whose reclaim the `expected` writes call for, of those whose cost `fits`.
    pub fn victim_called_for(
        &mut self,
        expected: &Expected,
        fits: impl Fn(Cost) -> bool,
    ) -> Option<BlockId> {
        self.merge_called_for(expected, &fits).or_else(|| {
            if !self.runs_short(expected) {
                return None;
            }
            let victim = self.choose_victim(expected.plane)?;
            fits(self.cost_of(victim)).then_some(victim)
        })
    }

    /// The same for groups that have too little room for what they get.
    fn merge_called_for(
        &self,
        expected: &Expected,
        fits: impl Fn(Cost) -> bool,
    ) -> Option<BlockId> {
        let groups = self.groups.as_ref().filter(|_| self.may_merge(expected.plane))?;
        expected.groups.iter().find_map(|(id, pages)| {
            let merge = groups.called_for_by(*id, *pages, &self.blocks)?;
            merge.sources.first().copied().filter(|_| fits(merge.cost(&self.blocks)))
        })
    }

    /// What it takes to reclaim `victim`, which has been chosen.
    fn cost_of(&self, victim: BlockId) -> Cost {
        let Some(groups) = &self.groups else {
            return Cost { pages: self.blocks.valid_pages(victim).into(), blocks: 1 };
        };
        let id = groups.owner(victim).expect("a victim belongs to a group");
        groups.merge_of(id, Some(victim), &self.blocks).cost(&self.blocks)
    }

    /// Whether the `expected` writes, one or more, make their plane short of free blocks.
    fn runs_short(&self, expected: &Expected) -> bool {
        let opened = self.opened_by(expected) as usize;
        self.free_blocks(expected.plane) < self.limits.soft_threshold + opened
    }

    /// Blocks that the `expected` writes open.
    fn opened_by(&self, expected: &Expected) -> u32 {
        if let Some(groups) = &self.groups {
            return expected.groups.iter().map(|(id, pages)| groups.opened_by(*id, *pages)).sum();
        }
        let frontier = self.planes[expected.plane.index()].frontier(Stream::Host);
        let room = frontier.map_or(0, |frontier| self.room(frontier));
        // The block after a full one is opened at once.
        match expected.pages.checked_sub(room) {
            Some(beyond) => beyond / self.limits.data_pages + 1,
            None => 0,
        }
    }
}
