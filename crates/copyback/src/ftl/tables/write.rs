//! Pages are written and moved, blocks opened and closed on the way, and the unit of reclaiming is told.

use crate::ftl::Placed;
use crate::ftl::bad_blocks::Replaced;
use crate::ftl::block_manager::{BlockManager, OldPage};
use crate::ftl::mapping::{Change, Mapping};
use crate::ftl::space::{Frontier, Stream};
use crate::ftl::units::{Event, Place, UnitOfReclaiming, Units, each, reopen};
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::placement::{Class, Old};
use crate::victim::Victims;

use super::Tables;

impl Tables {
    /// Programs the next page of `plane` for the host with `lpn`, whose old page has been invalidated.
    #[inline(always)]
    pub(in crate::ftl) fn append_for_host(
        &mut self,
        mapping: &mut impl Mapping,
        plane: PlaneId,
        stream: Stream,
        lpn: Lpn,
    ) -> Placed {
        match self.units.are_single_blocks() {
            true => self.append(mapping, plane, stream, lpn),
            false => self.append_to_unit(mapping, plane, stream, lpn),
        }
    }

    // Apart, as few drives have lines or an SLC cache.
    #[inline(never)]
    fn append_to_unit(
        &mut self,
        mapping: &mut impl Mapping,
        plane: PlaneId,
        stream: Stream,
        lpn: Lpn,
    ) -> Placed {
        let Self { manager, units, .. } = self;
        match each!(units, unit => unit.place_for_host(manager, plane, stream)) {
            Place::Stream(stream) => {
                let placed = self.append(mapping, plane, stream, lpn);
                self.note(Event::Programmed(placed.page));
                placed
            }
            Place::SlcPool(place) => {
                let page = self.program(mapping, place, lpn);
                let block = self.geometry.block_of(page);
                if let Some(pool) = self.units.slc_pool_mut() {
                    pool.close_if_full(&mut self.manager, place, block);
                }
                Placed { page, closes_block: false }
            }
        }
    }

    /// Tells the unit of reclaiming of a change.
    pub(in crate::ftl) fn note(&mut self, event: Event) {
        let Self { manager, units, .. } = self;
        each!(units, unit => unit.note(manager, event));
    }

    /// Notes that the host overwrites what is in `page`. Returns what the placement is told of that place, if it learns from
    /// it. Only for placements that look at pages.
    // Apart, as the usual placement does not.
    #[inline(never)]
    pub(in crate::ftl) fn rewritten(&mut self, page: Ppn) -> Option<Old> {
        self.manager.count_death(page);
        self.streams.tells_rewrites.then(|| {
            let block = self.geometry.block_of(page);
            let full = each!(&self.units, unit => unit.life_if_full(&self.manager, block));
            Old { class: self.blocks.class(block), full }
        })
    }

    // Inlined, with what it calls: to enter and leave the small functions of a move took as long as the move.
    #[inline(always)]
    pub(in crate::ftl) fn relocate_to(
        &mut self,
        mapping: &mut impl Mapping,
        stream: Stream,
        old: OldPage,
    ) -> Placed {
        let OldPage { page, block, plane, lpn } = old;
        if !self.units.are_single_blocks() {
            self.note(Event::MovedFrom(block));
        }
        // The old place is known: not to read the mapping table here saves a cache miss a move.
        self.invalidate_in(mapping, page, (block, plane));
        let lends = self.limits.mixes
            && self.streams.takes_host(stream)
            && self.space[plane].frontier(stream).is_none();
        let placed = self.append(mapping, plane, stream, lpn);
        if lends {
            self.manager.space[plane].lent = true;
        }
        if !self.units.are_single_blocks() {
            self.note(Event::Programmed(placed.page));
        }
        placed
    }

    /// Moves the valid page `from` inside its plane to the open block that the placement says.
    #[inline(always)]
    pub(in crate::ftl) fn relocate_as_placed(
        &mut self,
        mapping: &mut impl Mapping,
        from: Ppn,
    ) -> Placed {
        let old = self.old_page(from);
        let origin = self.blocks.origin_in(old.block);
        let stream = self.manager.take_stream_for_move(old.plane, old.lpn, origin);
        let placed = self.relocate_to(mapping, stream, old);
        let BlockManager { streams, geometry, .. } = &mut self.manager;
        streams.wrote_moved(old.lpn, origin, placed.page, geometry);
        placed
    }

    /// Programs the next page of a stream with `lpn`, whose old page has been invalidated.
    #[inline(always)]
    pub(in crate::ftl) fn append(
        &mut self,
        mapping: &mut impl Mapping,
        plane: PlaneId,
        stream: Stream,
        lpn: Lpn,
    ) -> Placed {
        let place = self.take_next_page(plane, stream);
        let page = self.program(mapping, place, lpn);
        // A spare block may have taken the place of a failing one.
        let closes_block = self.end_page(plane, stream, place, self.geometry.block_of(page));
        Placed { page, closes_block }
    }

    /// The page at `place` has been taken, in `block` of a stream. Returns whether the block is full now.
    #[inline(always)]
    pub(in crate::ftl) fn end_page(
        &mut self,
        plane: PlaneId,
        stream: Stream,
        place: Frontier,
        block: BlockId,
    ) -> bool {
        let closes_block = place.next_page + 1 == self.limits.data_pages;
        if closes_block {
            self.end_stream_block(plane, stream, block);
        }
        closes_block
    }

    /// The open block of a stream is full.
    // Apart, as hardly any page is the last of its block.
    #[inline(never)]
    fn end_stream_block(&mut self, plane: PlaneId, stream: Stream, block: BlockId) {
        *self.manager.space[plane].frontier_mut(stream) = None;
        self.close(plane, block);
        let Self { manager, units, .. } = self;
        each!(units, unit => if !unit.open_next(manager, plane, stream) {
            reopen(unit.as_mut(), manager, plane, stream);
        });
    }

    /// Programs the page at `place`, or the same one of the block that replaces a failing one, with `lpn`.
    #[inline(always)]
    pub(in crate::ftl) fn program(
        &mut self,
        mapping: &mut impl Mapping,
        mut place: Frontier,
        lpn: Lpn,
    ) -> Ppn {
        if self.bad_blocks.are_possible() {
            place.block = self.block_that_takes(mapping, place);
        }
        let page = self.geometry.page(place.block, place.next_page);
        self.manager.map.set(lpn, page);
        self.manager.blocks.program(place.block, place.next_page);
        page
    }

    /// Takes the next page of a stream. The one after it comes next.
    #[inline(always)]
    pub(in crate::ftl) fn take_next_page(&mut self, plane: PlaneId, stream: Stream) -> Frontier {
        match self.manager.space.take_page(plane, stream) {
            Some(next) => next,
            None => self.begin_stream_block(plane, stream),
        }
    }

    /// Opens a block for a stream that has none. Returns its first page.
    // Apart, as hardly any page is the first of its block.
    #[inline(never)]
    fn begin_stream_block(&mut self, plane: PlaneId, stream: Stream) -> Frontier {
        self.manager.space[plane].lent &= !self.manager.streams.takes_host(stream);
        let next = self.open(plane, stream.class());
        let following = Frontier { next_page: next.next_page + 1, ..next };
        *self.manager.space[plane].frontier_mut(stream) = Some(following);
        self.manager.space.page_written(plane);
        next
    }

    /// Opens a block for the pages of a class, or for what the placement has no say in.
    pub(in crate::ftl) fn open(&mut self, plane: PlaneId, class: Option<Class>) -> Frontier {
        let Self { manager, units, .. } = self;
        each!(units, unit => unit.open(manager, plane, class))
    }

    /// Closes `block` of `plane`, which is full.
    pub(in crate::ftl) fn close(&mut self, plane: PlaneId, block: BlockId) {
        let Self { manager, units, .. } = self;
        let valid = manager.seal(plane, block);
        each!(units, unit => unit.sealed(manager, plane, block, valid));
    }

    #[inline(always)]
    pub(in crate::ftl) fn invalidate(&mut self, mapping: &mut impl Mapping, page: Ppn) {
        let block = self.geometry.block_of(page);
        self.invalidate_in(mapping, page, (block, self.geometry.plane_of_block(block)));
    }

    #[inline(always)]
    fn invalidate_in(
        &mut self,
        mapping: &mut impl Mapping,
        page: Ppn,
        (block, plane): (BlockId, PlaneId),
    ) {
        let valid = self.manager.blocks.invalidate(block, self.geometry.page_offset(page));
        if self.blocks.is_closed(block) {
            let Self { manager, units, .. } = self;
            manager.space.add_invalid(plane, 1);
            each!(units, unit => unit.page_went(manager, plane, block, valid));
        } else {
            mapping.note(self, Change::Lost { page, block, valid });
            let Self { manager, units, .. } = self;
            each!(units, unit => unit.page_went_from_open(manager, page));
        }
    }

    /// The block that takes the page which is about to be programmed at `place`: the one there, or if the
    /// program fails a spare one that has replaced it.
    fn block_that_takes(&mut self, mapping: &mut impl Mapping, place: Frontier) -> BlockId {
        let plane = self.geometry.plane_of_block(place.block);
        let erases = self.blocks.erase_count(place.block);
        // With no spare block left the drive is about to be read-only: the last programs succeed.
        let fails = self.space[plane].spare > 0
            && self.manager.bad_blocks.program_fails(place.block, erases, place.next_page);
        if fails { self.replace(mapping, plane, place) } else { place.block }
    }

    fn replace(&mut self, mapping: &mut impl Mapping, plane: PlaneId, place: Frontier) -> BlockId {
        let bad = place.block;
        let spare = self.manager.space.take_spare(plane);
        self.manager.blocks.open_in_place_of(bad, spare);
        let mut copied = Vec::new();
        while let Some(offset) = self.blocks.next_valid(bad, 0) {
            let to = self.geometry.page(spare, offset);
            let lpn = self.manager.copy_to_spare(self.geometry.page(bad, offset), to);
            mapping.note(self, Change::Moved { lpn, plane });
            copied.push(to);
        }
        self.manager.space[plane].replace(bad, spare);
        mapping.note(self, Change::Replaced { plane, block: bad, spare });
        if let Some(audit) = &mut self.manager.audit {
            audit.replaced(bad, spare, place.next_page);
        }
        self.note(Event::Replaced { plane, bad, spare });
        let is_slc = self.blocks.is_slc(bad);
        self.manager.blocks.pass_mode_on(bad, spare);
        self.manager.retire(bad);
        if !is_slc {
            self.manager.victims.retired(plane, bad);
            self.manager.victims.opened(plane, spare);
        }
        let again = self.geometry.page(spare, place.next_page);
        self.manager.bad_blocks.has_replaced(Replaced { again, copied });
        self.manager.refill_spare_blocks(plane);
        self.note(Event::FreeBlocksChanged(plane));
        spare
    }
}
