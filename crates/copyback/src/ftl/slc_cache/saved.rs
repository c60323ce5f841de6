//! The cache out of a file, or out of what a cut of power has left.

use serde::{Deserialize, Serialize};

use crate::ftl::space::Frontier;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, PlaneId};

use super::{CachePlane, SlcCache};

/// What a file tells of the cache: of each plane its blocks.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedSlcCache(Vec<SavedPlane>);

#[derive(Debug, Serialize, Deserialize)]
struct SavedPlane {
    statics: Vec<BlockId>,
    /// Erased static blocks, in the order in which they are used again.
    free: Vec<BlockId>,
    open: Option<Frontier>,
    /// In the order in which they were filled.
    full: Vec<BlockId>,
}

impl SavedPlane {
    /// Blocks that hold something.
    fn used(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.full.iter().copied().chain(self.open.map(|open| open.block))
    }
}

impl Tables {
    /// What a file has to tell of the cache, if there is one. Nothing may be under way.
    pub fn saved_slc_cache(&self) -> Option<SavedSlcCache> {
        let cache = self.slc.as_ref()?;
        let planes = cache.planes.iter().enumerate().map(|(plane, state)| {
            let blocks = self.geometry.blocks_of_plane(PlaneId::from_index(plane));
            SavedPlane {
                statics: blocks.filter(|block| cache.is_static(*block)).collect(),
                free: state.free.iter().copied().collect(),
                open: state.open,
                full: state.full.clone(),
            }
        });
        Some(SavedSlcCache(planes.collect()))
    }

    /// Makes the cache of a device whose blocks are known the one that was saved. False if it can't be theirs.
    pub(in crate::ftl) fn restore_slc_cache(&mut self, saved: Option<&SavedSlcCache>) -> bool {
        let (Some(cache), Some(SavedSlcCache(planes))) = (&mut self.slc, saved) else {
            return self.slc.is_none() && saved.is_none();
        };
        let statics: Vec<_> = cache.planes.iter().map(|plane| plane.statics).collect();
        cache.in_mode.fill(false);
        cache.is_static.fill(false);
        cache.planes.iter_mut().for_each(|plane| *plane = CachePlane::default());
        let all = (0..planes.len()).map(PlaneId::from_index);
        planes.len() == statics.len()
            && all.zip(planes).zip(statics).all(|((plane, saved), statics)| {
                saved.statics.len() <= statics && self.restore_cache_plane(plane, saved)
            })
    }

    fn restore_cache_plane(&mut self, plane: PlaneId, saved: &SavedPlane) -> bool {
        let Self { slc: Some(cache), blocks, geometry, .. } = self else { return false };
        let is_here = |block: &BlockId| {
            block.index() < geometry.blocks() && geometry.plane_of_block(*block) == plane
        };
        if !saved.statics.iter().chain(&saved.free).all(is_here)
            || !saved.used().all(|b| is_here(&b))
        {
            return false;
        }
        saved.statics.iter().for_each(|block| cache.add_static(plane, *block));
        let mut times = vec![0_u8; geometry.blocks_per_plane as usize];
        let first = geometry.blocks_of_plane(plane).next().map_or(0, BlockId::index);
        saved.free.iter().copied().chain(saved.used()).for_each(|b| times[b.index() - first] += 1);
        for block in saved.used() {
            cache.in_mode[block.index()] = true;
            cache.planes[plane.index()].lent += usize::from(!cache.is_static[block.index()]);
        }
        let state = &mut cache.planes[plane.index()];
        state.free = saved.free.iter().copied().collect();
        (state.open, state.full) = (saved.open, saved.full.clone());
        let fits =
            |block: &BlockId| blocks.last_valid(*block).is_none_or(|last| last < cache.pages);
        times.iter().all(|times| *times <= 1)
            && saved.free.iter().all(|block| cache.is_static(*block) && blocks.is_free(*block))
            && saved.statics.iter().all(|block| times[block.index() - first] == 1)
            && saved
                .open
                .is_none_or(|open| blocks.is_open(open.block) && open.next_page < cache.pages)
            && saved.full.iter().all(|block| blocks.is_full_in_cache(*block))
            && saved.used().all(|block| fits(&block))
    }

    /// Looks at what the cache has once all is known of the device.
    pub(in crate::ftl) fn begin_cache(&mut self) {
        let mapped = self.map.mapped().count() + self.staged.len();
        let Some(cache) = &mut self.slc else { return };
        cache.mapped = mapped;
        self.space.planes().for_each(|plane| self.look_at_cache(plane));
    }

    /// Takes over the `written` blocks of the cache on `plane`, each with the pages that have been programmed; the one
    /// that was written last comes last.
    pub(in crate::ftl) fn recover_cache(&mut self, plane: PlaneId, written: &[(BlockId, u32)]) {
        let Self { slc: Some(cache), blocks, geometry, streams, .. } = self else { return };
        let statics = geometry.blocks_of_plane(plane).filter(|block| cache.is_static(*block));
        let is_written = |block: &BlockId| written.iter().any(|(other, _)| other == block);
        let free = statics.filter(|block| !is_written(block)).collect();
        let old = std::mem::take(&mut cache.planes[plane.index()]);
        let mut state = CachePlane { free, statics: old.statics, ..CachePlane::default() };
        for (block, next_page) in written.iter().rev() {
            cache.in_mode[block.index()] = true;
            state.lent += usize::from(!cache.is_static[block.index()]);
            blocks.open(*block, None, streams.clock);
            if *next_page < cache.pages && state.open.is_none() {
                state.open = Some(Frontier { block: *block, next_page: *next_page });
            } else {
                blocks.fill_in_cache(*block, streams.clock);
                state.full.insert(0, *block);
            }
        }
        cache.planes[plane.index()] = state;
    }

    /// Checks the cache against the blocks.
    pub(in crate::ftl) fn check_cache(&self) -> Result<(), String> {
        let Some(cache) = &self.slc else { return Ok(()) };
        let mapped = self.map.mapped().count() + self.staged.len();
        if mapped != cache.mapped {
            return Err(format!("{mapped} pages hold data, but the cache counts {}", cache.mapped));
        }
        self.space.planes().try_for_each(|plane| self.check_cache_plane(cache, plane))
    }

    fn check_cache_plane(&self, cache: &SlcCache, plane: PlaneId) -> Result<(), String> {
        let state = &cache.planes[plane.index()];
        let of_plane = || self.geometry.blocks_of_plane(plane);
        let in_mode = of_plane().filter(|block| cache.has(*block)).count();
        let known = state.free.len()
            + state.full.len()
            + usize::from(state.open.is_some())
            + usize::from(state.folding.is_some());
        let statics = of_plane().filter(|block| cache.is_static(*block)).count();
        if in_mode != known || in_mode != statics + state.lent || statics != state.statics {
            return Err(format!(
                "{plane:?}: {in_mode} blocks in the cache's mode, {statics} static, but {state:?}"
            ));
        }
        for block in of_plane() {
            let is_full = state.full.contains(&block);
            let last = self.blocks.last_valid(block).filter(|_| cache.has(block));
            if self.blocks.is_full_in_cache(block) != is_full
                || last.is_some_and(|last| last >= cache.pages)
            {
                return Err(format!(
                    "{block:?} is in the cache's mode up to page {last:?}, {state:?}"
                ));
            }
        }
        Ok(())
    }
}
