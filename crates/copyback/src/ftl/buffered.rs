//! The translation layer where a buffer takes writes that would have to wait for a merge
//! ([`NvBuffer`]): what goes there, and which logical block is cleaned next.

use crate::ids::{BlockId, Lpn, PlaneId, Ppn};

use super::mapping::{BufferTally, GroupId, Groups, NvBuffer, Room};
use super::plane::Frontier;
use super::{Ftl, Placed};

impl Ftl {
    fn buffer(&self) -> Option<&NvBuffer> {
        self.groups.as_ref()?.buffer.as_ref()
    }

    fn buffer_mut(&mut self) -> &mut NvBuffer {
        let buffer = self.groups.as_mut().and_then(|groups| groups.buffer.as_mut());
        buffer.expect("asked only where there is a buffer")
    }

    /// Whether a buffer takes writes that would have to wait for a merge.
    pub fn has_nv_buffer(&self) -> bool {
        self.buffer().is_some()
    }

    /// Blocks of `plane` in the buffer that are not free.
    pub(super) fn nv_buffer_in_use(&self, plane: PlaneId) -> usize {
        self.buffer().map_or(0, |buffer| buffer.in_use(plane))
    }

    /// What the buffer has been used for.
    pub fn nv_buffer_tally(&self) -> BufferTally {
        self.buffer().map_or_else(BufferTally::default, NvBuffer::tally)
    }

    /// Counts from now on what the buffer is used for.
    pub fn reset_nv_buffer_tally(&mut self) {
        if self.has_nv_buffer() {
            self.buffer_mut().reset_tally();
        }
    }

    /// Whether the block belongs to the buffer.
    pub(super) fn is_in_buffer(&self, block: BlockId) -> bool {
        self.groups.as_ref().is_some_and(|groups| groups.is_in_buffer(block))
    }

    /// Notes that a write of `lpn` is next on `plane`. Returns whether it has to wait.
    pub(super) fn want_room_in_buffer(&mut self, plane: PlaneId, lpn: Lpn) -> bool {
        let fits = self.next_host_offset(plane, lpn).is_some();
        self.buffer_mut().next_write_fits(plane, fits);
        !fits
    }

    /// Whether a write of `lpn` to `plane` goes to the buffer, if it has room.
    pub(super) fn belongs_in_buffer(&self, groups: &Groups, plane: PlaneId, lpn: Lpn) -> bool {
        let is_blocked = || match groups.room_for(plane, lpn) {
            Room::In(_) => false,
            Room::InNewBlock => !self.may_open_for_host(plane),
            Room::None | Room::Merging | Room::InReplacement => true,
        };
        groups.buffer.is_some() && is_blocked()
    }

    /// The offset of the next page in the buffer of `plane`, if there is room.
    pub(super) fn next_offset_in_buffer(&self, plane: PlaneId) -> Option<u32> {
        let may_open = || (self.planes[plane.index()].held > 0).then_some(0);
        let open = self.buffer().and_then(|buffer| buffer.open_on(plane));
        open.map(|open| open.next_page).or_else(may_open)
    }

    /// Writes `lpn`, whose old page has been invalidated, to the buffer.
    pub(super) fn append_to_buffer(&mut self, plane: PlaneId, group: GroupId, lpn: Lpn) -> Placed {
        let open = match self.buffer_mut().open_on(plane) {
            Some(open) => open,
            None => self.open_in_buffer(plane),
        };
        let page = self.program(open, lpn);
        let data_pages = self.limits.data_pages;
        if self.groups.as_ref().is_some_and(|groups| groups.room_for(plane, lpn) == Room::None) {
            self.buffer_mut().queue(plane, group);
        }
        let closes_block = self.buffer_mut().wrote(plane, group, data_pages);
        self.list(plane, group);
        Placed { page, closes_block }
    }

    fn open_in_buffer(&mut self, plane: PlaneId) -> Frontier {
        self.planes[plane.index()].held -= 1;
        let frontier = self.open(plane);
        self.buffer_mut().open(plane, frontier.block);
        frontier
    }

    /// `page`, which may lie in the buffer, is out of date; `valid` are left in its block.
    pub(super) fn note_loss_in_buffer(&mut self, page: Ppn, block: BlockId, valid: u16) {
        if !self.is_in_buffer(block) {
            return;
        }
        let Some(group) = self.group_of(page) else { return };
        let plane = self.geometry.plane_of_block(block);
        self.buffer_mut().lost_page(plane, block, group, valid);
    }

    fn group_of(&self, page: Ppn) -> Option<GroupId> {
        let layout = self.groups.as_ref()?.layout();
        Some(layout.group_of(self.map.logical(page)))
    }

    /// The logical block with the oldest page in a block of the buffer.
    pub(super) fn first_group_in(&self, block: BlockId) -> Option<GroupId> {
        self.group_of(self.next_valid(block, 0)?)
    }

    /// The block of `plane` to reclaim. What keeps writes waiting goes first: a full buffer, then too few
    /// free blocks.
    pub(super) fn choose_with_buffer(&mut self, plane: PlaneId) -> Option<BlockId> {
        let is_full = self.next_offset_in_buffer(plane).is_none();
        let for_room = self.buffer_block_to_erase(plane).or_else(|| match is_full {
            true => self.oldest_to_clean(plane),
            false => None,
        });
        if for_room.is_some() {
            return for_room;
        }
        let for_blocks = if self.is_short(plane) { self.choose_by_policy(plane) } else { None };
        for_blocks.or_else(|| self.queued_to_clean(plane)).or_else(|| self.choose_by_policy(plane))
    }

    fn buffer_block_to_erase(&self, plane: PlaneId) -> Option<BlockId> {
        self.buffer()?.emptied(plane)
    }

    /// A block of the logical block that is to be merged next, or the one of the buffer with the oldest page
    /// if the buffer is used up.
    fn queued_to_clean(&self, plane: PlaneId) -> Option<BlockId> {
        let queued = self.groups.as_ref()?.queued_victim(plane, &self.blocks);
        let is_used_up = self.buffer()?.is_used_up(plane);
        queued.or_else(|| if is_used_up { self.oldest_to_clean(plane) } else { None })
    }

    /// The block of the buffer with the oldest page, if the logical block of that page can be merged.
    fn oldest_to_clean(&self, plane: PlaneId) -> Option<BlockId> {
        let oldest = self.buffer()?.oldest(plane)?;
        let blocks = &self.groups.as_ref()?.get(self.first_group_in(oldest)?).blocks;
        // Without a block of its own it takes one and gives none back: another must be left.
        let needed = if blocks.is_empty() { 1 + self.limits.kept_for_collections } else { 1 };
        (self.planes[plane.index()].free_blocks() >= needed).then_some(oldest)
    }

    /// Checks that the buffer is what its pages say.
    pub(super) fn check_buffer(&self) -> Result<(), String> {
        let Some(groups) = &self.groups else { return Ok(()) };
        let Some(buffer) = &groups.buffer else { return Ok(()) };
        let in_buffer = |(_, page): &(Lpn, Ppn)| buffer.holds(self.geometry.block_of(*page));
        let mut pages = vec![0_u16; groups.layout().groups()];
        for (lpn, page) in self.map.mapped().filter(in_buffer) {
            pages[groups.layout().group_of(lpn).index()] += 1;
            if self.allocation.plane_of(lpn) != Some(self.geometry.plane_of(page)) {
                return Err(format!("{lpn:?} lies at {page:?}, in the buffer of another plane"));
            }
        }
        for (index, found) in pages.into_iter().enumerate() {
            let id = groups.layout().group(index);
            let counted = buffer.pages_of(id);
            if counted != found {
                return Err(format!("{id:?}: {found} pages in the buffer, but {counted} counted"));
            }
        }
        let home = |id| self.allocation.plane_of(groups.layout().page_at(id, 0)?);
        if !groups.has_sound_queues(home) {
            return Err("a logical block is queued that can take writes".into());
        }
        match buffer.is_sound(&self.geometry, &self.blocks, self.limits.data_pages) {
            true => Ok(()),
            false => Err("the buffer's blocks are not what they should be".into()),
        }
    }
}
