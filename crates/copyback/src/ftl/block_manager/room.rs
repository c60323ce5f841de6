//! Room of a plane: the number of pages that can be written, and by whom.

use crate::ftl::blocks::Blocks;
use crate::ftl::limits::Limits;
use crate::ftl::space::{Frontier, Space, Stream};
use crate::ftl::streams::Streams;
use crate::ids::{BlockId, DieId, Lpn, PlaneId};
use crate::placement::Origin;

/// Rooms of the planes, as what is free and open, and what is valid, leaves them.
#[derive(Debug, Clone, Copy)]
pub struct Rooms<'a> {
    pub(super) limits: &'a Limits,
    pub(super) space: &'a Space,
    pub(super) blocks: &'a Blocks,
    pub(super) streams: &'a Streams,
}

impl Rooms<'_> {
    /// Free pages of `plane`, those of open blocks included.
    pub fn free_pages(&self, id: PlaneId) -> u32 {
        let plane = &self.space[id];
        let open: u32 = plane.frontiers().map(|frontier| self.room(frontier)).sum();
        self.pages_of_free_blocks(id) + open + self.all_pages_behind(id)
    }

    /// Free pages of `plane` but for those of open blocks that the host does not write to.
    pub fn free_pages_for_host(&self, plane: PlaneId) -> u64 {
        let open: u32 = self.streams.all_of_host().map(|stream| self.room_of(stream, plane)).sum();
        u64::from(self.pages_of_free_blocks(plane)) + u64::from(open)
    }

    /// Pages of `plane` that can be written into `stream`: those of free blocks and of its own open block.
    pub(in crate::ftl) fn free_pages_for(&self, stream: Stream, plane: PlaneId) -> u32 {
        self.pages_of_free_blocks(plane) + self.room_of(stream, plane)
    }

    pub(in crate::ftl) fn pages_of_free_blocks(&self, plane: PlaneId) -> u32 {
        self.space[plane].free_blocks() as u32 * self.limits.data_pages
    }

    /// Pages that are left in the open blocks of `stream`.
    fn room_of(&self, stream: Stream, plane: PlaneId) -> u32 {
        let open = self.space[plane].frontier(stream);
        open.map_or(0, |frontier| self.room(frontier)) + self.pages_behind(plane, stream)
    }

    /// Whether a page that is moved inside `plane` can go to the block that is kept in step: it is
    /// open, or one can be opened and the rest of the victim still has room elsewhere, and what must be left
    /// [beside](Self::room_beside) it.
    pub fn has_aligned_room(&self, plane: PlaneId) -> bool {
        let state = &self.space[plane];
        let needed = |victim| u32::from(self.blocks.valid_pages(victim)) + self.room_beside(victim);
        let needed = state.reclaiming.map_or(0, needed);
        state.frontier(Stream::Aligned).is_some()
            || (state.free_blocks() > 0
                && self.collection_room(plane) >= self.limits.data_pages + needed)
    }

    /// Whether a host write leaves room for what a collection that has yielded must still move, and
    /// takes no page of a block that the host could not have opened.
    #[inline]
    pub(in crate::ftl) fn leaves_room(&self, plane: PlaneId) -> bool {
        self.leaves_room_for(plane, 1)
    }

    /// Whether so many pages may be written to the open blocks that a collection of `plane` needs, too.
    #[inline]
    pub(in crate::ftl) fn leaves_room_for(&self, plane: PlaneId, pages: u32) -> bool {
        !self.limits.mixes || self.leaves_room_for_moves(plane, pages)
    }

    #[inline]
    fn leaves_room_for_moves(&self, plane: PlaneId, pages: u32) -> bool {
        let state = &self.space[plane];
        match state.reclaiming {
            Some(victim) => {
                let guarded = state.lent && state.free_blocks() < self.space.thresholds().hard;
                let left = u32::from(self.blocks.valid_pages(victim));
                !guarded && left + self.room_beside(victim) + pages <= self.collection_room(plane)
            }
            None => true,
        }
    }

    /// Pages of room that must be left beside a collection of `victim`: if it gives no native block back, the next one
    /// needs a whole block.
    pub(in crate::ftl) fn room_beside(&self, victim: BlockId) -> u32 {
        let gives_a_block = !self.blocks.is_static_slc(victim);
        if gives_a_block { 0 } else { self.limits.data_pages }
    }

    pub(in crate::ftl) fn has_room_for(&self, victim: BlockId, plane: PlaneId) -> bool {
        let pages = u32::from(self.blocks.valid_pages(victim)) + self.limits.moves.filled_up;
        pages + self.room_beside(victim) <= self.collection_room(plane)
    }

    /// Pages that collections can move to without a block that is kept in step, be it of another class than theirs.
    pub(in crate::ftl) fn collection_room(&self, plane: PlaneId) -> u32 {
        self.pages_of_free_blocks(plane) + self.open_room(plane)
    }

    /// Pages of open blocks that collections can move to, those of blocks behind them included.
    pub(in crate::ftl) fn open_room(&self, plane: PlaneId) -> u32 {
        self.streams.of_moves().map(|stream| self.room_of(stream, plane)).sum()
    }

    pub(in crate::ftl) fn room(&self, frontier: Frontier) -> u32 {
        self.limits.data_pages - frontier.next_page
    }

    /// Whether `die` has room for any write that may wait for it, and it stays so until an operation begins or ends there.
    /// `None` if other things may change that.
    #[inline]
    pub fn keeps_room(&self, die: DieId) -> Option<bool> {
        let class = self.limits.class_with_room?;
        Some(self.space.has_place(die, Stream::Class(class)))
    }

    /// Pages of blocks that `plane` is to fill after its open one of `stream`.
    pub(in crate::ftl) fn pages_behind(&self, plane: PlaneId, stream: Stream) -> u32 {
        self.space.blocks_behind(plane, stream) as u32 * self.limits.data_pages
    }

    /// Pages of blocks that `plane` is to fill after its open ones.
    fn all_pages_behind(&self, plane: PlaneId) -> u32 {
        match self.limits.victims_are_lines {
            true => self.streams.all().map(|stream| self.pages_behind(plane, stream)).sum(),
            false => 0,
        }
    }

    /// Blocks of `plane` that so many writes of the host, one or more, open, as if all were of one class.
    pub(in crate::ftl) fn opened_by(&self, plane: PlaneId, pages: usize) -> u32 {
        let state = &self.space[plane];
        let mut open =
            self.streams.classes.of_host().filter_map(|class| state.frontier(Stream::Class(class)));
        let room = open.next().map_or(0, |frontier| self.room(frontier));
        // The block after a full one is opened at once.
        (pages as u32).checked_sub(room).map_or(0, |beyond| beyond / self.limits.data_pages + 1)
    }
}

impl Rooms<'_> {
    /// Checks `plane` and its `blocks`, of which those that are `is_parity` hold no data.
    pub(in crate::ftl) fn check(
        &self,
        plane: PlaneId,
        mut blocks: impl Iterator<Item = BlockId>,
        is_parity: impl Fn(BlockId) -> bool,
    ) -> Result<(), String> {
        let invalid = blocks.try_fold(0, |invalid, block| {
            self.blocks.check(block)?;
            let of_block = match self.blocks.is_closed(block) && !is_parity(block) {
                true => self.limits.data_pages - u32::from(self.blocks.valid_pages(block)),
                false => 0,
            };
            Ok::<u32, String>(invalid + of_block)
        })?;
        let counted = self.space[plane].closed_invalid;
        match counted == invalid {
            true => Ok(()),
            false => Err(format!("{plane:?}: {invalid} invalid pages, but {counted} counted")),
        }
    }
}

/// Open blocks for pages that are moved.
impl Rooms<'_> {
    /// The open block of `plane` that `lpn`, which comes from `origin`, is moved to: that of its class or, if that has
    /// none and no block is free, the one with most room.
    #[inline(always)]
    pub(in crate::ftl) fn stream_for_move(
        &self,
        plane: PlaneId,
        lpn: Lpn,
        origin: Origin,
    ) -> Stream {
        let stream = self.streams.of(lpn, origin);
        if self.is_diverted(plane, stream) { self.roomiest(plane) } else { stream }
    }

    /// Whether a page that is moved to `stream` finds no block there, and there are others that take it.
    #[inline(always)]
    pub(super) fn is_diverted(&self, plane: PlaneId, stream: Stream) -> bool {
        let state = &self.space[plane];
        self.limits.diverts && state.frontier(stream).is_none() && state.free_blocks() == 0
    }

    /// Of the open blocks of `plane` that pages are moved to, that with most room.
    #[cold]
    pub(super) fn roomiest(&self, plane: PlaneId) -> Stream {
        let room = |stream: &Stream| {
            self.space[plane].frontier(*stream).map_or(0, |frontier| self.room(frontier))
        };
        let roomiest = self.streams.of_moves().max_by_key(room);
        roomiest.expect("a placement has a class for what is moved")
    }
}
