//! Pages of the host that go to a block of another class, so that a drive with room always takes them.
//!
//! Planes that collections move more pages on are ahead of others, which then have blocks of a class that the host does not
//! write to. If each free line is spoken for and none can be collected, that is all the room there is.

use crate::ftl::space::Stream;
use crate::ids::PlaneId;

use super::LinesOn;

impl LinesOn<'_> {
    /// Stream of a page of the host that is to be written to `plane`: the open block of its class, or that with
    /// most room if its class has none, no line is left for it, and there is no victim.
    pub(in crate::ftl) fn stream_in_line(&self, plane: PlaneId, stream: Stream) -> Stream {
        if self.manager.space[plane].frontier(stream).is_some() || !self.must_borrow(plane) {
            return stream;
        }
        self.roomiest_of_all(plane).unwrap_or(stream)
    }

    fn must_borrow(&self, plane: PlaneId) -> bool {
        self.lines.found_no_victim
            && self.lines.collected.line().is_none()
            && !self.manager.space.may_open_for_host(plane)
    }

    /// Of the open blocks of `plane`, that with most room, those that follow it included.
    #[cold]
    pub(super) fn roomiest_of_all(&self, plane: PlaneId) -> Option<Stream> {
        let open = self.manager.streams.all().filter_map(|stream| {
            let room = self.manager.rooms().room(self.manager.space[plane].frontier(stream)?);
            Some((room + self.manager.rooms().pages_behind(plane, stream), stream))
        });
        let (_, stream) = open.max_by_key(|(room, _)| *room)?;
        Some(stream)
    }
}
