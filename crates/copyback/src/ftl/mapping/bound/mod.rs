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
mod shared;

pub(super) use groups::{Group, Groups, Room};
pub use layout::{GroupId, Layout};
pub(super) use merge::Merge;
use restore::restore;
pub(super) use scheme::Scheme;
pub(super) use shared::Shared;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::ftl::Placed;
use crate::ftl::recovery::Survey;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};

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
    fn write(&mut self, tables: &mut Tables, plane: PlaneId, lpn: Lpn) -> Placed {
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

    /// Takes over the written blocks that a cut of power has left, in the order in which they were begun.
    fn recover_blocks(&mut self, written: &[BlockId], survey: &Survey<'_>) {
        let groups = self.groups_mut();
        written.iter().for_each(|block| groups.recover_block(*block, survey));
        groups.recover_groups(survey);
    }

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
}
