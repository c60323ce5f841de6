//! The open block of its plane that a page goes to.

use crate::ftl::space::Stream;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::placement::{HostPage, Origin};

use super::BlockManager;

impl BlockManager {
    /// The open block that a write of `page` goes to.
    #[inline(always)]
    pub(in crate::ftl) fn stream_of(&self, page: HostPage) -> Stream {
        match self.is_translation_page(page.lpn) {
            true => Stream::Translation,
            false => self.streams.of_host(page),
        }
    }

    /// The open block that the valid page `from` is moved to.
    #[inline(always)]
    pub(in crate::ftl) fn stream_of_move(&self, from: Ppn) -> Stream {
        let plane = self.geometry.plane_of(from);
        self.stream_for_move(plane, self.logical(from), self.origin_of(from))
    }

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

    /// Takes the open block for a moved page, and notes that the page goes there.
    #[inline(always)]
    pub(in crate::ftl) fn take_stream_for_move(
        &mut self,
        plane: PlaneId,
        lpn: Lpn,
        origin: Origin,
    ) -> Stream {
        let stream = self.streams.of(lpn, origin);
        if !self.is_diverted(plane, stream) {
            return stream;
        }
        self.streams.tally.diverted += 1;
        self.roomiest(plane)
    }

    /// Whether a page that is moved to `stream` finds no block there, and there are others that take it.
    #[inline(always)]
    fn is_diverted(&self, plane: PlaneId, stream: Stream) -> bool {
        let state = &self.space[plane];
        self.limits.diverts && state.frontier(stream).is_none() && state.free_blocks() == 0
    }

    /// Of the open blocks of `plane` that pages are moved to, that with most room.
    #[cold]
    fn roomiest(&self, plane: PlaneId) -> Stream {
        let room = |stream: &Stream| {
            self.space[plane].frontier(*stream).map_or(0, |frontier| self.room(frontier))
        };
        let roomiest = self.streams.of_moves().max_by_key(room);
        roomiest.expect("a placement has a class for what is moved")
    }

    /// Origin of a page that is moved away from `from`.
    #[inline(always)]
    pub(in crate::ftl) fn origin_of(&self, from: Ppn) -> Origin {
        self.origin_in(self.geometry.block_of(from))
    }

    /// Origin of a page that is moved out of `block`.
    #[inline(always)]
    pub(in crate::ftl) fn origin_in(&self, block: BlockId) -> Origin {
        Origin::Moved { class: self.blocks.class(block) }
    }
}
