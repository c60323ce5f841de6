//! Mappings that bind logical pages to blocks of their own ([`Groups`]): writes, merges, and what the victim
//! policy is told. A [`Scheme`] says how the blocks of a group are used; what a [`Bound`] mapping has beside its
//! groups, such as a buffer, it says itself.

mod groups;
mod idle_jobs;
mod layout;
mod mapping;
mod merge;
mod recovery;
mod restore;
mod scheme;

pub(super) use groups::{Group, Groups, Room};
pub use layout::{GroupId, Layout};
pub(super) use merge::Merge;
use restore::restore;
pub(super) use scheme::Scheme;

use serde::Serialize;
use serde::de::DeserializeOwned;

use groups::{GroupView, Listed};

use crate::ftl::Placed;
use crate::ftl::block_manager::BlockManager;
use crate::ftl::recovery::Survey;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::victim::Victims;

use super::buffered_log_block::NvBuffer;

/// A mapping with groups, and perhaps a buffer before them.
pub trait Bound: Serialize + DeserializeOwned {
    /// Scheme by which the blocks of its groups are used.
    type Scheme: Scheme;

    fn groups(&self) -> &Groups<Self::Scheme>;

    fn groups_mut(&mut self) -> &mut Groups<Self::Scheme>;

    /// Buffer for writes that would have to wait for a merge.
    fn buffer(&self) -> Option<&NvBuffer> {
        None
    }

    fn buffer_mut(&mut self) -> Option<&mut NvBuffer> {
        None
    }

    /// Puts `lpn`, whose old page has been invalidated, onto `plane`.
    fn put(&mut self, tables: &mut Tables, plane: PlaneId, lpn: Lpn) -> Placed {
        self.put_in_group(tables, plane, lpn)
    }

    /// The page offset that a write of `lpn` to `plane` gets, if it fits.
    fn offset_of_next(&self, tables: &Tables, plane: PlaneId, lpn: Lpn) -> Option<u32> {
        self.offset_in_group(tables, plane, lpn)
    }

    /// Notes that a write of `lpn` is next on `plane`. Returns whether it calls for a merge.
    fn want_room(&mut self, tables: &Tables, plane: PlaneId, lpn: Lpn) -> bool {
        let may_open = tables.space.may_open_for_host(plane);
        self.groups_mut().want_room(plane, lpn, may_open)
    }

    /// The block of `plane` to reclaim, where a merge may begin.
    fn choose(&self, tables: &mut Tables, plane: PlaneId) -> Option<BlockId> {
        let wanted = self.groups().wanted_group(plane);
        let wanted = wanted.and_then(|id| self.first_source(tables, id));
        wanted.or_else(|| self.choose_by_policy(tables, plane))
    }

    /// `page` of `block`, in the buffer, is out of date; `valid` are left in the block.
    fn lost_in_buffer(&mut self, _tables: &Tables, _page: Ppn, _block: BlockId, _valid: u16) {}

    /// Takes over a written block that a cut of power has left, begun later than those before.
    fn recover_block(&mut self, block: BlockId, survey: &Survey<'_>) {
        self.groups_mut().recover_block(block, survey);
    }

    /// Groups are recovered.
    fn recovered(&mut self, _survey: &Survey<'_>) {}

    /// Makes the buffer again, before the groups.
    fn restore_buffer(&mut self, _fresh: &Self, _tables: &Tables) -> bool {
        true
    }

    /// Whether just groups that can take no write are queued to be merged, each on its plane.
    fn has_sound_queues(&self, _tables: &Tables) -> bool {
        true
    }

    /// Checks that the buffer is what its pages say.
    fn check_buffer(&self, _tables: &Tables) -> Result<(), String> {
        Ok(())
    }

    // --- what all of them do

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
