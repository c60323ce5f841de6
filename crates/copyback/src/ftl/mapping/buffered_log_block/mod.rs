//! Log-block mapping with a buffer that takes writes which would have to wait for a merge ([`NvBuffer`]): what goes
//! there, and which logical block is cleaned next.

mod nv_buffer;
mod restore;

pub use nv_buffer::{BufferTally, NvBuffer};

use crate::ftl::Placed;
use crate::ftl::space::Frontier;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::placement::Class;

use super::Mapping;
use super::bound::{Bound, GroupId, Room};

impl Bound {
    fn buffer_mut(&mut self) -> &mut NvBuffer {
        self.buffer.as_mut().expect("asked only where there is a buffer")
    }

    /// Whether `block` belongs to the buffer.
    pub(super) fn is_in_buffer(&self, block: BlockId) -> bool {
        self.buffer.as_ref().is_some_and(|buffer| buffer.holds(block))
    }

    /// Pages of a logical block in the buffer.
    pub(super) fn buffered(&self, id: GroupId) -> u16 {
        self.buffer.as_ref().map_or(0, |buffer| buffer.pages_of(id))
    }

    /// Notes that a write of `lpn` is next on `plane`. Returns whether it has to wait.
    pub(super) fn want_room_in_buffer(
        &mut self,
        tables: &Tables,
        plane: PlaneId,
        lpn: Lpn,
    ) -> bool {
        let fits = self.next_offset(tables, plane, lpn).is_some();
        self.buffer_mut().next_write_fits(plane, fits);
        !fits
    }

    /// Whether a write of `lpn` to `plane` goes to the buffer, if it has room.
    pub(super) fn belongs_in_buffer(&self, tables: &Tables, plane: PlaneId, lpn: Lpn) -> bool {
        let is_blocked = || match self.groups.room_for(plane, lpn) {
            Room::In(_) => false,
            Room::InNewBlock => !tables.space.may_open_for_host(plane),
            Room::None | Room::Merging | Room::InReplacement => true,
        };
        self.buffer.is_some() && is_blocked()
    }

    /// The offset of the next page in the buffer of `plane`, if there is room.
    pub(super) fn next_offset_in_buffer(&self, tables: &Tables, plane: PlaneId) -> Option<u32> {
        let may_open = || (tables.space[plane].held > 0).then_some(0);
        let open = self.buffer.as_ref().and_then(|buffer| buffer.open_on(plane));
        open.map(|open| open.next_page).or_else(may_open)
    }

    /// Writes `lpn`, whose old page has been invalidated, to the buffer.
    pub(super) fn append_to_buffer(
        &mut self,
        tables: &mut Tables,
        plane: PlaneId,
        group: GroupId,
        lpn: Lpn,
    ) -> Placed {
        let open = match self.buffer_mut().open_on(plane) {
            Some(open) => open,
            None => self.open_in_buffer(tables, plane),
        };
        let page = tables.program(self, open, lpn);
        if self.groups.room_for(plane, lpn) == Room::None {
            self.buffer_mut().queue(plane, group);
        }
        let data_pages = self.groups.data_pages();
        let closes_block = self.buffer_mut().wrote(plane, group, data_pages);
        self.list(tables, plane, group);
        Placed { page, closes_block }
    }

    fn open_in_buffer(&mut self, tables: &mut Tables, plane: PlaneId) -> Frontier {
        tables.space[plane].held -= 1;
        let frontier = tables.open(plane, Class::default());
        self.buffer_mut().open(plane, frontier.block);
        frontier
    }

    /// `page` of `block`, which is the buffer's, is out of date; `valid` are left in the block.
    pub(super) fn lost_in_buffer(
        &mut self,
        tables: &Tables,
        page: Ppn,
        block: BlockId,
        valid: u16,
    ) {
        let group = self.groups.layout().group_of(tables.logical(page));
        let plane = tables.geometry.plane_of_block(block);
        self.buffer_mut().lost_page(plane, block, group, valid);
    }

    /// The logical block with the oldest page in a block of the buffer.
    pub(super) fn first_group_in(&self, tables: &Tables, block: BlockId) -> Option<GroupId> {
        Some(self.groups.layout().group_of(tables.logical(tables.next_valid(block, 0)?)))
    }

    /// The block of `plane` to reclaim. What keeps writes waiting goes first: a full buffer, then too few
    /// free blocks.
    pub(super) fn choose_with_buffer(
        &self,
        tables: &mut Tables,
        plane: PlaneId,
    ) -> Option<BlockId> {
        let is_full = self.next_offset_in_buffer(tables, plane).is_none();
        let buffer = self.buffer.as_ref()?;
        let for_room = buffer.emptied(plane).or_else(|| match is_full {
            true => self.oldest_to_clean(tables, plane),
            false => None,
        });
        if for_room.is_some() {
            return for_room;
        }
        let for_blocks = match tables.space.is_below_threshold(plane) {
            true => self.choose_by_policy(tables, plane),
            false => None,
        };
        for_blocks
            .or_else(|| self.queued_to_clean(tables, plane))
            .or_else(|| self.choose_by_policy(tables, plane))
    }

    /// A block of the logical block that is to be merged next, or the one of the buffer with the oldest page
    /// if the buffer is used up.
    fn queued_to_clean(&self, tables: &Tables, plane: PlaneId) -> Option<BlockId> {
        let buffer = self.buffer.as_ref()?;
        let is_used_up = buffer.is_used_up(plane);
        let queued = buffer.first_queued(plane);
        let queued = queued.and_then(|id| self.first_source(tables, id));
        queued.or_else(|| if is_used_up { self.oldest_to_clean(tables, plane) } else { None })
    }

    /// The block of the buffer with the oldest page, if the logical block of that page can be merged.
    fn oldest_to_clean(&self, tables: &Tables, plane: PlaneId) -> Option<BlockId> {
        let oldest = self.buffer.as_ref()?.oldest(plane)?;
        let blocks = &self.groups.get(self.first_group_in(tables, oldest)?).blocks;
        // Without a block of its own it takes one and gives none back: another must be left.
        let needed =
            if blocks.is_empty() { 1 + tables.space.thresholds().kept_for_collections } else { 1 };
        (tables.space.free_blocks(plane) >= needed).then_some(oldest)
    }

    /// Checks that the buffer is what its pages say.
    pub(super) fn check_buffer(&self, tables: &Tables) -> Result<(), String> {
        let Some(buffer) = &self.buffer else { return Ok(()) };
        let geometry = &tables.geometry;
        let in_buffer = |(_, page): &(Lpn, Ppn)| buffer.holds(geometry.block_of(*page));
        let mut pages = vec![0_u16; self.groups.layout().groups()];
        for (lpn, page) in tables.map.mapped().filter(in_buffer) {
            pages[self.groups.layout().group_of(lpn).index()] += 1;
            if tables.allocation.plane_of(lpn) != Some(geometry.plane_of(page)) {
                return Err(format!("{lpn:?} lies at {page:?}, in the buffer of another plane"));
            }
        }
        for (id, found) in self.groups.layout().ids().zip(pages) {
            let counted = buffer.pages_of(id);
            if counted != found {
                return Err(format!("{id:?}: {found} pages in the buffer, but {counted} counted"));
            }
        }
        if !self.has_sound_queues(tables) {
            return Err("a logical block is queued that can take writes".into());
        }
        match buffer.is_sound(geometry, &tables.blocks, self.groups.data_pages()) {
            true => Ok(()),
            false => Err("the buffer's blocks are not what they should be".into()),
        }
    }
}
