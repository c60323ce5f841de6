//! Pages of the host that go to a block of another class, so that a drive with room always takes them.
//!
//! Planes that collections move more pages on are ahead of others, which then have blocks of a class that the host does not
//! write to. If each free line is spoken for and none can be collected, that is all the room there is.

use crate::ftl::Placed;
use crate::ftl::mapping::Mapping;
use crate::ftl::space::Stream;
use crate::ftl::tables::Tables;
use crate::ids::{Lpn, PlaneId};

impl Tables {
    /// Where a page of the host goes that is to be written to `plane`: to the open block of its class, or to that with
    /// most room if its class has none, no line is left for it, and there is no victim.
    pub(in crate::ftl) fn stream_in_line(&self, plane: PlaneId, stream: Stream) -> Stream {
        if self.space[plane].frontier(stream).is_some() || !self.must_borrow(plane) {
            return stream;
        }
        self.roomiest_of_all(plane).unwrap_or(stream)
    }

    fn must_borrow(&self, plane: PlaneId) -> bool {
        let is_stuck = |lines: &super::Lines| lines.found_no_victim && !lines.is_any_collected();
        self.lines.as_ref().is_some_and(|lines| is_stuck(lines))
            && !self.space.may_open_for_host(plane)
    }

    /// Of the open blocks of `plane`, that with most room, those that follow it included.
    #[cold]
    pub(super) fn roomiest_of_all(&self, plane: PlaneId) -> Option<Stream> {
        let open = self.streams.all().filter_map(|stream| {
            let room = self.room(self.space[plane].frontier(stream)?);
            Some((room + self.following_pages(plane, stream), stream))
        });
        let (_, stream) = open.max_by_key(|(room, _)| *room)?;
        Some(stream)
    }

    /// Programs the next page of `plane` for the host with `lpn`, whose old page has been invalidated.
    #[inline(never)]
    pub(in crate::ftl) fn append_in_line(
        &mut self,
        mapping: &mut impl Mapping,
        plane: PlaneId,
        stream: Stream,
        lpn: Lpn,
    ) -> Placed {
        let taken = self.stream_in_line(plane, stream);
        if let Some(lines) = self.lines.as_mut().filter(|_| taken != stream) {
            lines.tally.borrowed += 1;
        }
        let placed = self.append(mapping, plane, taken, lpn);
        self.note_in_stripe(placed.page);
        placed
    }
}
