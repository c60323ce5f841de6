//! The plane that takes a write of the host.

use crate::ftl::allocation::PlaneRule;
use crate::ftl::block_manager::BlockManager;
use crate::ftl::space::Stream;
use crate::ftl::units::{UnitOfReclaiming, Units, each, offset_in};
use crate::ids::{DieId, PlaneId};
use crate::placement::HostPage;

use super::Tables;

/// A plane that takes a write.
struct Candidate {
    plane: PlaneId,
    /// The page offset there.
    offset: u32,
    /// Number of free pages, where the plane with most of them is preferred.
    free_pages: u32,
}

impl Candidate {
    /// Whether a write goes here though the turn of `other` comes first.
    const fn is_preferred(&self, other: &Self, rule: PlaneRule) -> bool {
        match rule {
            PlaneRule::RoundRobin => false,
            PlaneRule::MostFree => self.free_pages > other.free_pages,
        }
    }
}

impl Tables {
    /// Whether a plane of `die` takes the write of a page which has no place of its own.
    #[inline]
    pub fn has_place(&self, die: DieId, page: HostPage) -> bool {
        let stream = self.stream_of(page);
        match self.units.are_single_blocks() && !self.limits.mixes {
            true => self.space.has_place(die, stream),
            false => self.looks_for_place(die, stream),
        }
    }

    /// Whether a plane of `die` might take a write of the host, if not of `page` which waits for one: true where they go
    /// to different blocks.
    #[inline]
    pub fn may_have_place(&self, die: DieId, page: HostPage) -> bool {
        self.limits.only_class.is_none() || self.has_place(die, page)
    }

    /// The plane of `die` that takes the write of a page, which has no place of its own, and the page offset there; if one
    /// has room.
    pub fn next_place(&self, die: DieId, page: HostPage) -> Option<(PlaneId, u32)> {
        let stream = self.stream_of(page);
        let turn = self.geometry.first_plane(die).0 + self.allocation.turn_of(die);
        let (mut before, mut behind) = (None, None);
        // Two turns in one: the planes from the one whose turn it is on go before the others.
        for plane in self.geometry.planes_of_die(die) {
            let best = if plane.0 < turn { &mut before } else { &mut behind };
            self.consider(plane, stream, best);
        }
        let rule = self.allocation.plane_rule();
        match (behind, before) {
            (Some(one), Some(other)) if other.is_preferred(&one, rule) => Some(other),
            (one, other) => one.or(other),
        }
        .map(|Candidate { plane, offset, .. }| (plane, offset))
    }

    /// Puts `plane` in the place of the `best` so far, if it takes a write into `stream` and is preferred to that.
    #[inline]
    fn consider(&self, plane: PlaneId, stream: Stream, best: &mut Option<Candidate>) {
        let rule = self.allocation.plane_rule();
        let free_pages = match rule {
            PlaneRule::RoundRobin if best.is_some() => return,
            PlaneRule::RoundRobin => 0,
            PlaneRule::MostFree => self.rooms().free_pages_for(stream, plane),
        };
        let Some(offset) = self.offset_for_host(stream, plane) else { return };
        let candidate = Candidate { plane, offset, free_pages };
        if best.as_ref().is_none_or(|best| candidate.is_preferred(best, rule)) {
            *best = Some(candidate);
        }
    }

    #[inline(never)]
    fn looks_for_place(&self, die: DieId, stream: Stream) -> bool {
        self.geometry.planes_of_die(die).any(|plane| self.offset_for_host(stream, plane).is_some())
    }

    /// The offset that a write of the host into `stream` gets on `plane`, if it may be written.
    #[inline(always)]
    pub(in crate::ftl) fn offset_for_host(&self, stream: Stream, plane: PlaneId) -> Option<u32> {
        match &self.units {
            Units::SingleBlocks(blocks) => blocks.offset_for_host(&self.manager, stream, plane),
            units => offset_in_unit(units, &self.manager, stream, plane),
        }
    }

    /// The offset of the next page in the open block of `plane` for any write of this stream, if it may be written.
    pub(in crate::ftl) fn offset_in(&self, stream: Stream, plane: PlaneId) -> Option<u32> {
        each!(&self.units, unit => offset_in(unit.as_ref(), &self.manager, stream, plane))
    }

    /// Whether `plane`, which is below its threshold, can be collected later: the host can open another
    /// block there, and nothing that is being reclaimed keeps it from writing.
    pub fn can_wait(&self, plane: PlaneId) -> bool {
        self.space.may_open_for_host(plane)
            && self.rooms().leaves_room(plane)
            && self.units.slc_pool().is_none_or(|pool| !pool.lets_wait(plane))
    }
}

// Apart, as few drives have lines or an SLC cache.
#[inline(never)]
fn offset_in_unit(
    units: &Units,
    manager: &BlockManager,
    stream: Stream,
    plane: PlaneId,
) -> Option<u32> {
    each!(units, unit => unit.offset_for_host(manager, stream, plane))
}
