//! Where a page of the host goes: to the cache's block of its plane, or past it.

use crate::ftl::Placed;
use crate::ftl::mapping::Mapping;
use crate::ftl::space::{Frontier, Stream};
use crate::ftl::spare::Role;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn};
use crate::placement::HostPage;

impl Tables {
    /// The cache of blocks in another mode, if there is one.
    pub const fn slc_cache(&self) -> Option<&super::SlcCache> {
        match &self.slc {
            Some(cache) => Some(cache),
            None => None,
        }
    }

    /// Whether `page` lies in a block of the cache.
    #[inline]
    pub fn is_in_cache(&self, page: Ppn) -> bool {
        self.slc.as_ref().is_some_and(|cache| cache.has(self.geometry.block_of(page)))
    }

    /// Whether a page of the host that is written to `plane` goes to the cache.
    pub fn goes_to_cache(&self, plane: PlaneId, lpn: Lpn) -> bool {
        !self.is_translation_page(lpn)
            && self.slc.as_ref().is_some_and(|cache| cache.next_offset(plane).is_some())
    }

    /// The offset that a write of the host into `stream` gets on `plane`, if it may be written: in the cache, or else
    /// past it.
    #[inline]
    pub(in crate::ftl) fn host_offset_in(&self, stream: Stream, plane: PlaneId) -> Option<u32> {
        match self.limits.is_plain {
            true => self.offset_in(stream, plane),
            false => self.host_offset_beside(stream, plane),
        }
    }

    // Apart, as few drives have lines or a cache.
    #[inline(never)]
    fn host_offset_beside(&self, stream: Stream, plane: PlaneId) -> Option<u32> {
        if self.lines.is_some() {
            let offset = || self.offset_in(self.stream_in_line(plane, stream), plane);
            return self.leaves_pages_to_rebuild().then(offset).flatten();
        }
        let Some(cache) = self.slc.as_ref().filter(|_| stream.class().is_some()) else {
            return self.offset_in(stream, plane);
        };
        let in_cache = cache.next_offset(plane);
        let past = || match cache.lets_wait(plane) {
            true => None,
            false => self.offset_in(stream, plane),
        };
        in_cache.or_else(past)
    }

    /// Whether a plane of `die` takes the write of `page`, wherever it would go there.
    pub(in crate::ftl) fn looks_for_place(&self, die: DieId, page: HostPage) -> bool {
        let stream = self.stream_of(page);
        let mut planes = self.geometry.planes_of_die(die);
        planes.any(|plane| self.host_offset_in(stream, plane).is_some())
    }

    /// Programs the next page of `plane` for the host with `lpn`, whose old page has been invalidated.
    #[inline(always)]
    pub(in crate::ftl) fn append_for_host(
        &mut self,
        mapping: &mut impl Mapping,
        plane: PlaneId,
        stream: Stream,
        lpn: Lpn,
    ) -> Placed {
        match self.limits.is_plain {
            true => self.append(mapping, plane, stream, lpn),
            false => self.append_beside(mapping, plane, stream, lpn),
        }
    }

    #[inline(never)]
    fn append_beside(
        &mut self,
        mapping: &mut impl Mapping,
        plane: PlaneId,
        stream: Stream,
        lpn: Lpn,
    ) -> Placed {
        if self.lines.is_some() {
            self.append_in_line(mapping, plane, stream, lpn)
        } else if self.slc.is_some() && stream.class().is_some() {
            self.append_to_cache_or_past(mapping, plane, stream, lpn)
        } else {
            self.append(mapping, plane, stream, lpn)
        }
    }

    #[inline(never)]
    fn append_to_cache_or_past(
        &mut self,
        mapping: &mut impl Mapping,
        plane: PlaneId,
        stream: Stream,
        lpn: Lpn,
    ) -> Placed {
        let Some(place) = self.take_cache_page(plane) else {
            if let Some(cache) = &mut self.slc {
                cache.tally.past += 1;
            }
            return self.append(mapping, plane, stream, lpn);
        };
        let page = self.program(mapping, place, lpn);
        self.end_cache_page(plane, place, self.geometry.block_of(page));
        Placed { page, closes_block: false }
    }

    /// Takes the next page of the cache on `plane`, which may open a block for it.
    fn take_cache_page(&mut self, plane: PlaneId) -> Option<Frontier> {
        let cache = self.slc.as_mut()?;
        cache.next_offset(plane)?;
        if cache.planes[plane.index()].open.is_none() {
            let block = cache.planes[plane.index()].free.pop_front();
            let block = block.unwrap_or_else(|| self.lend(plane));
            self.open_in_cache(plane, block);
        }
        let open = self.slc.as_mut()?.planes[plane.index()].open.as_mut()?;
        let place = *open;
        open.next_page += 1;
        Some(place)
    }

    /// Takes a free native block of `plane` for the cache.
    fn lend(&mut self, plane: PlaneId) -> BlockId {
        let block = self.space.take_free(plane);
        self.space.opened(plane);
        if let Some(cache) = &mut self.slc {
            cache.in_mode[block.index()] = true;
            cache.planes[plane.index()].lent += 1;
        }
        block
    }

    fn open_in_cache(&mut self, plane: PlaneId, block: BlockId) {
        self.blocks.open(block, None, self.streams.clock);
        self.streams.block_changed(self.blocks.state(block));
        if let Some(cache) = &mut self.slc {
            cache.planes[plane.index()].open = Some(Frontier { block, next_page: 0 });
        }
        self.look_at_cache(plane);
    }

    /// The page at `place` has been programmed, in `block`.
    fn end_cache_page(&mut self, plane: PlaneId, place: Frontier, block: BlockId) {
        if let Some(cache) = &mut self.slc {
            cache.tally.written += 1;
        }
        self.close_if_full(plane, place, block);
    }

    /// Leaves the next page of the open block of the cache on `plane` without data. Returns it.
    pub(in crate::ftl) fn skip_cache_page(&mut self, plane: PlaneId) -> Ppn {
        let place = self.take_cache_page(plane).expect("a block of the cache is open");
        self.close_if_full(plane, place, place.block);
        self.geometry.page(place.block, place.next_page)
    }

    /// `block` of the cache, whose page at `place` has been taken, may be full.
    fn close_if_full(&mut self, plane: PlaneId, place: Frontier, block: BlockId) {
        let Some(cache) = &mut self.slc else { return };
        if place.next_page + 1 < cache.pages {
            return;
        }
        let state = &mut cache.planes[plane.index()];
        state.open = None;
        state.full.push(block);
        self.blocks.fill_in_cache(block, self.streams.clock);
        self.streams.block_changed(self.blocks.state(block));
        self.look_at_cache(plane);
    }

    /// Looks at what the cache has on `plane`, whose free blocks may have changed.
    #[inline]
    pub(in crate::ftl) fn look_at_cache(&mut self, plane: PlaneId) {
        let free = self.space.free_blocks(plane);
        if let Some(cache) = &mut self.slc {
            cache.look_at(plane, free);
        }
    }

    /// The host writes `lpn`, which lies in no page of the flash.
    #[inline]
    pub(in crate::ftl) fn page_came(&mut self, lpn: Lpn) {
        let was_staged = self.staged.remove(lpn);
        if let Some(cache) = self.slc.as_mut().filter(|_| !was_staged) {
            cache.page_came();
        }
    }

    /// The host has trimmed a page that lay in the flash.
    #[inline]
    pub(in crate::ftl) fn page_went(&mut self) {
        if let Some(cache) = &mut self.slc {
            cache.page_went();
        }
    }

    /// The host trims `lpn`, which does not lie in the flash. Returns whether it was in DRAM.
    pub(in crate::ftl) fn staged_page_went(&mut self, lpn: Lpn) -> bool {
        let was_staged = self.staged.remove(lpn);
        if was_staged {
            self.page_went();
        }
        was_staged
    }

    /// What the block is filled for that a write of `page` has gone `to`.
    pub(in crate::ftl) fn role_of_host_write(&self, page: HostPage, to: Ppn) -> Role {
        if self.is_in_cache(to) { Role::Cache } else { self.stream_of(page).into() }
    }
}
