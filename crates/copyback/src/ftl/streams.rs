//! Which open block of its plane a page goes to, as the placement says.

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;
use crate::placement::{AnyPlacement, Class, HostPage, Life, Origin, Placement};

use super::space::Stream;

/// The placement, and the clock that it reads.
#[derive(Debug, Checkpointed)]
pub struct Streams {
    pub(super) placement: AnyPlacement,
    /// Pages that the host has written.
    pub(super) clock: u64,
}

impl Streams {
    /// Those of an erased device.
    pub fn new(placement: AnyPlacement) -> Self {
        Self { placement, clock: 0 }
    }

    /// The open block that a write of a page of the host goes to.
    #[inline(always)]
    pub fn of_host(&self, HostPage { lpn, hint }: HostPage) -> Stream {
        self.of(lpn, Origin::Host { hint })
    }

    /// The open block that `lpn` goes to, which comes from `origin`.
    #[inline(always)]
    pub fn of(&self, lpn: Lpn, origin: Origin) -> Stream {
        Stream::Class(self.placement.class_of(lpn, origin))
    }

    /// Where a page comes from that leaves a block of this `life`.
    #[inline(always)]
    pub const fn moved(&self, life: Life) -> Origin {
        Origin::Moved { class: life.class, age: self.clock - life.opened }
    }

    /// Whether the blocks of a stream take pages of the host.
    #[inline(always)]
    pub fn takes_host(&self, stream: Stream) -> bool {
        matches!(stream, Stream::Class(class) if self.placement.takes_host(class))
    }

    /// One stream a class.
    pub fn of_classes(&self) -> impl Iterator<Item = Stream> + use<> {
        (0..self.placement.classes()).map(|class| Stream::Class(Class::new(class)))
    }

    /// The streams of classes that take pages which are moved.
    pub fn of_moves(&self) -> impl Iterator<Item = Stream> {
        self.placement.moved_classes().map(Stream::Class)
    }

    /// `lpn`, which came from `origin`, has been moved.
    #[inline(always)]
    pub fn wrote_moved(&mut self, lpn: Lpn, origin: Origin) {
        self.placement.wrote(lpn, origin, self.clock);
    }

    /// The host has written a page.
    #[inline(always)]
    pub fn host_wrote(&mut self, HostPage { lpn, hint }: HostPage) {
        self.placement.wrote(lpn, Origin::Host { hint }, self.clock);
        self.clock += 1;
    }
}
