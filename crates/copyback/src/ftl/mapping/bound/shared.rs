//! Common part of the mappings that bind logical pages to blocks, beside what
//! [`Mapping`](super::super::Mapping) asks.

use crate::ftl::Placed;
use crate::ftl::block_manager::BlockManager;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::victim::Victims;

use super::groups::{GroupView, Listed};
use super::{Bound, GroupId, Merge, Room};

impl<M: Bound> Shared for M {}

/// Merges of a [`Bound`] mapping's groups, and what the victim policy is told of them.
pub trait Shared: Bound {
    /// Whether `block` belongs to the buffer.
    fn is_in_buffer(&self, block: BlockId) -> bool {
        self.buffer().is_some_and(|buffer| buffer.holds(block))
    }

    /// Pages of a group in the buffer.
    fn buffered(&self, id: GroupId) -> u16 {
        self.buffer().map_or(0, |buffer| buffer.pages_of(id))
    }

    /// The group with the oldest page in a block of the buffer.
    fn first_group_in(&self, tables: &Tables, block: BlockId) -> Option<GroupId> {
        Some(self.groups().layout().group_of(tables.logical(tables.next_valid(block, 0)?)))
    }

    /// The merge of a group as it stands.
    fn merge_of(&self, tables: &Tables, id: GroupId, victim: Option<BlockId>) -> Merge {
        self.groups().merge_of(id, victim, &tables.blocks, self.buffered(id))
    }

    /// A block whose reclaim merges a group.
    fn first_source(&self, tables: &Tables, id: GroupId) -> Option<BlockId> {
        self.merge_of(tables, id, None).sources.first().copied()
    }

    /// Tells the victim policy what a merge of a group would be worth now, unless it is being merged.
    fn list(&mut self, tables: &mut Tables, plane: PlaneId, id: GroupId) {
        if self.groups().is_merged(plane, id) {
            return;
        }
        self.groups_mut().list_idle_job(plane, id);
        let before = self.groups().get(id).listed;
        let worth =
            self.merge_of(tables, id, None).worth(&tables.blocks, self.groups().data_pages());
        let now = worth.map(|worth| Listed {
            // A block that is certain to be erased stays so until it is.
            block: before.map_or(worth.victim, |before| before.block),
            moves_per_block: worth.moves_per_block,
        });
        let BlockManager { victims, blocks, streams, .. } = &mut tables.manager;
        match (before, now) {
            (Some(before), Some(now)) => {
                let (from, to) = (before.moves_per_block, now.moves_per_block);
                victims.changed(plane, now.block, from, to);
            }
            (Some(before), None) => victims.removed(plane, before.block, before.moves_per_block),
            (None, Some(now)) => {
                let view = blocks.at(streams);
                victims.closed(plane, now.block, now.moves_per_block, &view);
            }
            (None, None) => {}
        }
        self.groups_mut().get_mut(id).listed = now;
    }

    /// The block of `plane` that the victim policy chooses.
    fn choose_by_policy(&self, tables: &mut Tables, plane: PlaneId) -> Option<BlockId> {
        let BlockManager { victims, blocks, streams, .. } = &mut tables.manager;
        let blocks = blocks.at(streams);
        victims.choose(plane, &GroupView { groups: self.groups(), blocks })
    }

    /// Whether a merge may begin on `plane`: there is none, and a block that it can open.
    fn may_merge(&self, tables: &Tables, plane: PlaneId) -> bool {
        self.groups().merge_on(plane).is_none() && tables.space.free_blocks(plane) > 0
    }

    /// A block whose reclaim merges a group, if that may begin now.
    fn victim_of(&self, tables: &Tables, id: GroupId) -> Option<BlockId> {
        let victim = self.first_source(tables, id)?;
        self.may_merge(tables, tables.geometry.plane_of_block(victim)).then_some(victim)
    }

    /// The first logical page that does not lie where it may.
    fn first_misplaced(&self, tables: &Tables) -> Option<(Lpn, Ppn)> {
        tables.map.mapped().find(|(lpn, page)| {
            let (block, offset) =
                (tables.geometry.block_of(*page), tables.geometry.page_offset(*page));
            !self.is_in_buffer(block) && !self.groups().is_place_of(*lpn, block, offset)
        })
    }

    /// Checks a group against the tables.
    fn check_group(&self, tables: &Tables, id: GroupId) -> Result<(), String> {
        let group = self.groups().get(id);
        if group.blocks.iter().any(|block| self.groups().owner(*block) != Some(id)) {
            return Err(format!("{id:?} has a block of another group"));
        }
        let plane = group.blocks.first().map(|block| tables.geometry.plane_of_block(*block));
        if plane.is_some_and(|plane| !self.groups().is_listed_for_idle_time(plane, id)) {
            return Err(format!("{id:?} is not on the job list that it belongs on"));
        }
        if plane.is_some_and(|plane| self.groups().is_merged(plane, id)) {
            return Ok(());
        }
        let worth =
            self.merge_of(tables, id, None).worth(&tables.blocks, self.groups().data_pages());
        let found = group.listed.map(|listed| listed.moves_per_block);
        let expected = worth.map(|worth| worth.moves_per_block);
        if found != expected {
            return Err(format!(
                "{id:?} is worth {expected:?} moves a block, but listed as {found:?}"
            ));
        }
        Ok(())
    }

    /// Puts `lpn`, whose old page has been invalidated, into a block of its group.
    fn put_in_group(&mut self, tables: &mut Tables, plane: PlaneId, lpn: Lpn) -> Placed {
        let group = self.groups().layout().group_of(lpn);
        let open = match self.groups().get(group).open {
            Some(open) => open,
            None => {
                let frontier = tables.open(plane, None);
                self.groups_mut().open(group, frontier);
                frontier
            }
        };
        let page = tables.program(self, open, lpn);
        let closes_block = self.groups_mut().wrote(lpn);
        self.groups_mut().note_change(plane);
        self.list(tables, plane, group);
        Placed { page, closes_block }
    }

    /// The page offset that a write of `lpn` gets in a block of its group, if it fits.
    fn offset_in_group(&self, tables: &Tables, plane: PlaneId, lpn: Lpn) -> Option<u32> {
        match self.groups().room_for(plane, lpn) {
            Room::In(open) => Some(open.next_page),
            Room::InNewBlock | Room::InReplacement => {
                tables.space.may_open_for_host(plane).then_some(0)
            }
            Room::None | Room::Merging => None,
        }
    }
}
