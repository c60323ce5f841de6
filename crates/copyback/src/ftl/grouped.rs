//! The translation layer where logical pages are bound to blocks of their own
//! ([`Groups`]): writes, merges, and what the victim policy is told.

use crate::ids::{BlockId, Lpn, PlaneId, Ppn};

use super::mapping::{GroupId, GroupView, Groups, Listed, ReclaimPlan, Room};
use super::plane::Frontier;
use super::{Ftl, Placed};

impl Ftl {
    /// Notes that a write of `lpn` is next on `plane`. Returns whether something must be reclaimed
    /// before there is room for it, however many blocks are free.
    pub fn want(&mut self, plane: PlaneId, lpn: Lpn) -> bool {
        if self.groups.is_none() {
            return false;
        }
        if self.has_nv_buffer() {
            return self.want_room_in_buffer(plane, lpn);
        }
        let may_open = self.may_open_for_host(plane);
        self.groups_mut().want(plane, lpn, may_open)
    }

    /// Whether a write may find that something must be reclaimed first though blocks are free.
    pub const fn writes_may_call_for_reclaim(&self) -> bool {
        self.groups.is_some()
    }

    /// The offset that a write of `lpn` to `plane` gets in a block of its group or in the buffer, if it
    /// fits.
    pub(super) fn next_offset_in_group(
        &self,
        groups: &Groups,
        plane: PlaneId,
        lpn: Lpn,
    ) -> Option<u32> {
        if self.belongs_in_buffer(groups, plane, lpn) {
            return self.next_offset_in_buffer(plane);
        }
        match groups.room_for(plane, lpn) {
            Room::In(open) => Some(open.next_page),
            Room::InNewBlock | Room::InReplacement => self.may_open_for_host(plane).then_some(0),
            Room::None | Room::Merging => None,
        }
    }

    pub(super) fn groups(&self) -> &Groups {
        self.groups.as_deref().expect("asked only where logical pages are bound to blocks")
    }

    pub(super) fn groups_mut(&mut self) -> &mut Groups {
        self.groups.as_deref_mut().expect("asked only where logical pages are bound to blocks")
    }

    /// Writes `lpn`, whose old page has been invalidated, to a block of its group or to the buffer.
    pub(super) fn append_to_group(&mut self, plane: PlaneId, lpn: Lpn) -> Placed {
        let group = self.groups().layout().group_of(lpn);
        if self.belongs_in_buffer(self.groups(), plane, lpn) {
            return self.append_to_buffer(plane, group, lpn);
        }
        let open = match self.groups().get(group).open {
            Some(open) => open,
            None => {
                let frontier = self.open(plane);
                self.groups_mut().open(group, frontier);
                frontier
            }
        };
        let page = self.program(open, lpn);
        let closes_block = self.groups_mut().wrote(lpn);
        self.list(plane, group);
        Placed { page, closes_block }
    }

    /// Moves the valid page `from` to where the merge that is under way on its plane wants it.
    pub(super) fn relocate_in_group(&mut self, from: Ppn) -> Placed {
        let plane = self.geometry.plane_of(from);
        let lpn = self.map.logical(from);
        self.invalidate(from);
        let target = match self.groups().target(plane) {
            Some(target) => target,
            None => {
                let frontier = self.open(plane);
                self.groups_mut().open_target(plane, frontier);
                frontier
            }
        };
        let offset = self.groups().offset_in(target, lpn);
        let page = self.program(Frontier { block: target.block, next_page: offset }, lpn);
        let closes_block = self.groups_mut().moved(plane, offset);
        Placed { page, closes_block }
    }

    /// `lpn` has been trimmed: its group may be worth more now.
    pub(super) fn weigh_group_of(&mut self, lpn: Lpn) {
        let Some(groups) = &self.groups else { return };
        let group = groups.layout().group_of(lpn);
        if let Some(plane) = self.allocation.plane_of(lpn) {
            self.list(plane, group);
        }
    }

    /// Tells the victim policy what a merge of a group would be worth now, unless it is being merged.
    pub(super) fn list(&mut self, plane: PlaneId, id: GroupId) {
        let Self { groups: Some(groups), blocks, victims, limits, .. } = self else { return };
        if groups.is_merged(plane, id) {
            return;
        }
        groups.list_idle_job(plane, id);
        let before = groups.get(id).listed;
        let merge = groups.merge_of(id, None, blocks);
        let worth = merge.worth(blocks, limits.data_pages);
        let now = worth.map(|worth| Listed {
            // A block that is certain to be erased stays so until it is.
            block: before.map_or(worth.victim, |before| before.block),
            moves_per_block: worth.moves_per_block,
        });
        match (before, now) {
            (Some(before), Some(now)) => {
                let (from, to) = (before.moves_per_block, now.moves_per_block);
                victims.changed(plane, now.block, from, to);
            }
            (Some(before), None) => victims.removed(plane, before.block, before.moves_per_block),
            (None, Some(now)) => victims.closed(plane, now.block, now.moves_per_block),
            (None, None) => {}
        }
        groups.get_mut(id).listed = now;
    }

    /// The block of `plane` whose reclaim makes room for the next write, or gives a block back.
    pub(super) fn choose_group(&mut self, plane: PlaneId) -> Option<BlockId> {
        if !self.may_merge(plane) {
            return None;
        }
        if self.has_nv_buffer() {
            return self.choose_with_buffer(plane);
        }
        let Self { groups: Some(groups), blocks, .. } = self else { return None };
        groups.wanted_victim(plane, blocks).or_else(|| self.choose_by_policy(plane))
    }

    /// The block of `plane` that the victim policy chooses.
    pub(super) fn choose_by_policy(&mut self, plane: PlaneId) -> Option<BlockId> {
        let Self { groups: Some(groups), victims, blocks, .. } = self else { return None };
        victims.choose(plane, &GroupView { groups, blocks })
    }

    /// Whether a merge may begin on `plane`: there is none, and a block that it can open.
    pub(super) fn may_merge(&self, plane: PlaneId) -> bool {
        self.groups().merge_on(plane).is_none() && self.planes[plane.index()].free_blocks() > 0
    }

    /// Begins to merge the group of `victim`, which is erased on the way, or if it is a block of the
    /// buffer the one with the oldest page in it.
    pub(super) fn begin_merge(&mut self, victim: BlockId) -> ReclaimPlan {
        let plane = self.geometry.plane_of_block(victim);
        let owner = self.groups().owner(victim);
        let Some(id) = owner.or_else(|| self.first_group_in(victim)) else {
            return ReclaimPlan::of_buffer_block(victim);
        };
        if let Some(listed) = self.groups_mut().get_mut(id).listed.take() {
            self.victims.removed(plane, listed.block, listed.moves_per_block);
        }
        let merge = self.groups().merge_of(id, Some(victim), &self.blocks);
        let (kind, erases) = (merge.kind, !merge.sources.is_empty());
        self.reclaiming[plane.index()] = Some(victim);
        self.groups_mut().begin(plane, merge);
        if !erases {
            // The host must not take the last block meanwhile.
            let frontier = self.open(plane);
            self.groups_mut().open_target(plane, frontier);
        }
        self.groups_mut().list_idle_job(plane, id);
        ReclaimPlan::of_merge(victim, kind, plane)
    }

    /// What was reclaimed on `plane` has been: a merge that had no block to erase ends here.
    pub fn end_reclaim(&mut self, plane: PlaneId) {
        let Some(group) = self.groups.as_mut().and_then(|groups| groups.end_merge(plane)) else {
            return;
        };
        self.reclaiming[plane.index()] = None;
        self.weigh(plane);
        self.list(plane, group);
    }

    /// The page that the merge on `plane` moves next, if one is moved before a block is erased.
    pub fn next_merge_page(&self, plane: PlaneId) -> Option<Ppn> {
        self.groups.as_ref()?.next_page(plane, &self.map, &self.blocks, &self.geometry)
    }

    /// The block that the merge on `plane` erases next, where no page is moved before.
    pub fn next_merge_erase(&self, plane: PlaneId) -> Option<BlockId> {
        self.groups.as_ref()?.merge_on(plane)?.sources.first().copied()
    }

    /// Whether the merge on `plane` may move `page` next, out of turn.
    pub fn may_merge_next(&self, plane: PlaneId, page: Ppn) -> bool {
        let Some(groups) = &self.groups else { return false };
        let open = groups.target(plane).map_or(0, |target| self.room(target));
        let room = self.planes[plane.index()].free_blocks() as u32 * self.limits.data_pages + open;
        groups.may_move_next(plane, self.geometry.block_of(page), room, &self.blocks)
    }

    /// Checks that each logical page lies in a block of its group, in a data block in its place, and
    /// that the victim policy has been told the truth.
    pub(super) fn check_groups(&self) -> Result<(), String> {
        let Some(groups) = &self.groups else { return Ok(()) };
        for (lpn, page) in self.map.mapped() {
            let (block, offset) = (self.geometry.block_of(page), self.geometry.page_offset(page));
            if !groups.may_hold(lpn, block, offset) {
                return Err(format!("{lpn:?} lies at {page:?}, which is not its group's place"));
            }
        }
        (0..groups.layout().groups()).try_for_each(|index| self.check_group(groups, index))?;
        self.check_buffer()
    }

    fn check_group(&self, groups: &Groups, index: usize) -> Result<(), String> {
        let id = groups.layout().group(index);
        let group = groups.get(id);
        if group.blocks.iter().any(|block| groups.owner(*block) != Some(id)) {
            return Err(format!("{id:?} has a block of another group"));
        }
        let plane = group.blocks.first().map(|block| self.geometry.plane_of_block(*block));
        if plane.is_some_and(|plane| !groups.is_listed_for_idle_time(plane, id)) {
            return Err(format!("{id:?} is not on the job list that it belongs on"));
        }
        if plane.is_some_and(|plane| groups.is_merged(plane, id)) {
            return Ok(());
        }
        let worth =
            groups.merge_of(id, None, &self.blocks).worth(&self.blocks, groups.data_pages());
        let found = group.listed.map(|listed| listed.moves_per_block);
        let expected = worth.map(|worth| worth.moves_per_block);
        if found != expected {
            return Err(format!(
                "{id:?} is worth {expected:?} moves a block, but listed as {found:?}"
            ));
        }
        Ok(())
    }
}
