//! The open block of its plane that a page goes to.

use crate::ftl::space::Stream;
use crate::ids::{Lpn, PlaneId};
use crate::placement::{HostPage, Origin};

use super::BlockManager;

impl BlockManager {
    /// The open block that a write of `page` goes to.
    #[inline(always)]
    pub(in crate::ftl) fn stream_of(&self, page: HostPage) -> Stream {
        match self.limits.is_translation_page(page.lpn) {
            true => Stream::Translation,
            false => self.streams.of_host(page),
        }
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
        if !self.rooms().is_diverted(plane, stream) {
            return stream;
        }
        self.streams.tally.diverted += 1;
        self.rooms().roomiest(plane)
    }
}
