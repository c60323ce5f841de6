//! Folding: the collection of a block of the cache, whose valid pages move to native blocks.

use crate::ftl::tables::Tables;
use crate::ids::{BlockId, PlaneId, Ppn};

impl Tables {
    /// Whether native blocks of `plane` are short and blocks that were lent could come back.
    pub(in crate::ftl) fn victim_that_was_lent(&self, plane: PlaneId) -> Option<BlockId> {
        let cache = self.slc.as_ref()?;
        if !self.space.is_below_threshold(plane) {
            return None;
        }
        self.emptiest(plane, |block| !cache.is_static(block))
            .filter(|block| self.has_room_for(*block, plane))
    }

    /// The block of the cache on `plane` to fold, if it is to be folded, and native blocks have room for that and for a
    /// collection beside it.
    pub(in crate::ftl) fn victim_to_fold(&self, plane: PlaneId) -> Option<BlockId> {
        let cache = self.slc.as_ref()?;
        let state = &cache.planes[plane.index()];
        if !cache.is_due(plane) {
            return None;
        }
        let is_over = state.lent > state.limit;
        let lent = || self.emptiest(plane, |block| !cache.is_static(block));
        let victim = is_over.then(lent).flatten().or_else(|| self.emptiest(plane, |_| true))?;
        let room = self.collection_room(plane);
        (u32::from(self.valid_pages(victim)) + self.room_beside(victim) <= room).then_some(victim)
    }

    /// Of the full blocks of the cache on `plane`, the one with fewest valid pages; of several, the one that was filled
    /// first.
    fn emptiest(&self, plane: PlaneId, is_asked_for: impl Fn(BlockId) -> bool) -> Option<BlockId> {
        let full = &self.slc.as_ref()?.planes[plane.index()].full;
        let candidates = full.iter().copied().filter(|block| is_asked_for(*block));
        candidates.min_by_key(|block| self.valid_pages(*block))
    }

    /// Begins to fold `victim`, if it is of the cache. Returns whether it is.
    pub(in crate::ftl) fn begin_fold(&mut self, plane: PlaneId, victim: BlockId) -> bool {
        let Some(cache) = self.slc.as_mut().filter(|cache| cache.has(victim)) else { return false };
        let state = &mut cache.planes[plane.index()];
        state.full.retain(|block| *block != victim);
        state.folding = Some(victim);
        cache.mark(plane);
        true
    }

    /// Notes that `from` is moved, or taken to DRAM to be moved.
    #[inline(never)]
    pub(in crate::ftl) fn note_fold(&mut self, from: Ppn) {
        let block = self.geometry.block_of(from);
        if let Some(cache) = self.slc.as_mut().filter(|cache| cache.has(block)) {
            cache.tally.folded += 1;
        }
    }

    /// Takes back `block` of `plane`, which has been erased, if it is of the cache. Returns whether it is.
    pub(in crate::ftl) fn take_back(&mut self, plane: PlaneId, block: BlockId) -> bool {
        let Some(cache) = self.slc.as_mut().filter(|cache| cache.has(block)) else { return false };
        cache.planes[plane.index()].folding = None;
        cache.tally.erases += 1;
        match cache.is_static(block) {
            true => self.take_back_static(plane, block),
            false => {
                cache.in_mode[block.index()] = false;
                cache.planes[plane.index()].lent -= 1;
                self.free(plane, block, false);
            }
        }
        self.look_at_cache(plane);
        true
    }

    /// A static block stays with the cache. Where its erase has failed, a free native one takes its place.
    fn take_back_static(&mut self, plane: PlaneId, block: BlockId) {
        self.streams.block_changed(self.blocks.state(block));
        let erased = match self.erase_has_failed(plane, block) {
            false => block,
            true => {
                let spare = self.space.take_free(plane);
                if let Some(cache) = &mut self.slc {
                    cache.is_static[block.index()] = false;
                    cache.in_mode[block.index()] = false;
                    cache.is_static[spare.index()] = true;
                    cache.in_mode[spare.index()] = true;
                }
                spare
            }
        };
        if let Some(cache) = &mut self.slc {
            cache.planes[plane.index()].free.push_back(erased);
        }
        self.refill_spare_blocks(plane);
    }
}
