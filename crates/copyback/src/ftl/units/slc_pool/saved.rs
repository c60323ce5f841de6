//! The cache out of a file, or out of what a cut of power has left.

use serde::{Deserialize, Serialize};

use crate::ftl::block_manager::BlockManager;
use crate::ftl::blocks::{Blocks, CellMode};
use crate::ftl::space::Frontier;
use crate::ids::{BlockId, PlaneId};
use crate::nand::Geometry;

use super::{CachePlane, SlcPool};

/// Saved state of the cache: of each plane its blocks.
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

impl SlcPool {
    /// Saved state of the pool. Nothing may be under way.
    pub fn saved(&self, manager: &BlockManager) -> SavedSlcCache {
        let planes = self.planes.iter().enumerate().map(|(plane, state)| {
            let blocks = manager.geometry.blocks_of_plane(PlaneId::from_index(plane));
            SavedPlane {
                statics: blocks.filter(|block| manager.blocks.is_static_slc(*block)).collect(),
                free: state.free.iter().copied().collect(),
                open: state.open,
                full: state.full.clone(),
            }
        });
        SavedSlcCache(planes.collect())
    }

    /// Makes the pool of a device whose blocks are known the one that was saved. False if it can't be theirs.
    pub(in crate::ftl) fn restore(
        &mut self,
        blocks: &mut Blocks,
        geometry: &Geometry,
        SavedSlcCache(planes): &SavedSlcCache,
    ) -> bool {
        let statics: Vec<_> = self.planes.iter().map(|plane| plane.statics).collect();
        blocks.keep_modes();
        self.planes.iter_mut().for_each(|plane| *plane = CachePlane::default());
        let all = (0..planes.len()).map(PlaneId::from_index);
        planes.len() == statics.len()
            && all.zip(planes).zip(statics).all(|((plane, saved), statics)| {
                saved.statics.len() <= statics && self.restore_plane(blocks, geometry, plane, saved)
            })
    }

    fn restore_plane(
        &mut self,
        blocks: &mut Blocks,
        geometry: &Geometry,
        plane: PlaneId,
        saved: &SavedPlane,
    ) -> bool {
        let is_here = |block: &BlockId| {
            block.index() < geometry.blocks() && geometry.plane_of_block(*block) == plane
        };
        if !saved.statics.iter().chain(&saved.free).all(is_here)
            || !saved.used().all(|b| is_here(&b))
        {
            return false;
        }
        saved.statics.iter().for_each(|block| self.add_static(blocks, plane, *block));
        let mut times = vec![0_u8; geometry.blocks_per_plane as usize];
        let first = geometry.blocks_of_plane(plane).next().map_or(0, BlockId::index);
        saved.free.iter().copied().chain(saved.used()).for_each(|b| times[b.index() - first] += 1);
        let state = &mut self.planes[plane.index()];
        saved.used().for_each(|block| state.lent += lend(blocks, block));
        state.free = saved.free.iter().copied().collect();
        (state.open, state.full) = (saved.open, saved.full.clone());
        let pages = self.pages;
        let fits = |block: &BlockId| blocks.last_valid(*block).is_none_or(|last| last < pages);
        times.iter().all(|times| *times <= 1)
            && saved.free.iter().all(|block| blocks.is_static_slc(*block) && blocks.is_free(*block))
            && saved.statics.iter().all(|block| times[block.index() - first] == 1)
            && saved.open.is_none_or(|open| blocks.is_open(open.block) && open.next_page < pages)
            && saved.full.iter().all(|block| blocks.is_full_in_cache(*block))
            && saved.used().all(|block| fits(&block))
    }

    /// Looks at what the pool has once all is known of the device.
    pub(in crate::ftl) fn look_at_all(&mut self, manager: &BlockManager) {
        self.mapped = pages_with_data(manager);
        manager.space.planes().for_each(|plane| self.look_at(manager, plane));
    }

    /// Takes over the `written` blocks of the pool on `plane`, each with the pages that have been programmed; the one that
    /// was written last comes last.
    pub(in crate::ftl) fn recover(
        &mut self,
        blocks: &mut Blocks,
        clock: u64,
        of_plane: impl Iterator<Item = BlockId>,
        (plane, written): (PlaneId, &[(BlockId, u32)]),
    ) {
        let statics = of_plane.filter(|block| blocks.is_static_slc(*block));
        let is_written = |block: &BlockId| written.iter().any(|(other, _)| other == block);
        let free = statics.filter(|block| !is_written(block)).collect();
        let old = std::mem::take(&mut self.planes[plane.index()]);
        let mut state = CachePlane { free, statics: old.statics, ..CachePlane::default() };
        for (block, next_page) in written.iter().rev() {
            state.lent += lend(blocks, *block);
            blocks.open(*block, None, clock);
            if *next_page < self.pages && state.open.is_none() {
                state.open = Some(Frontier { block: *block, next_page: *next_page });
            } else {
                blocks.fill_in_cache(*block, clock);
                state.full.insert(0, *block);
            }
        }
        self.planes[plane.index()] = state;
    }

    /// Checks the pool against the blocks.
    pub(super) fn check_against(&self, manager: &BlockManager) -> Result<(), String> {
        let mapped = pages_with_data(manager);
        if mapped != self.mapped {
            return Err(format!("{mapped} pages hold data, but the cache counts {}", self.mapped));
        }
        manager.space.planes().try_for_each(|plane| self.check_plane(manager, plane))
    }

    fn check_plane(&self, manager: &BlockManager, plane: PlaneId) -> Result<(), String> {
        let (state, blocks) = (&self.planes[plane.index()], &manager.blocks);
        let of_plane = || manager.geometry.blocks_of_plane(plane);
        let in_mode = of_plane().filter(|block| blocks.is_slc(*block)).count();
        let known = state.free.len()
            + state.full.len()
            + usize::from(state.open.is_some())
            + usize::from(state.folding.is_some());
        let statics = of_plane().filter(|block| blocks.is_static_slc(*block)).count();
        if in_mode != known || in_mode != statics + state.lent || statics != state.statics {
            return Err(format!(
                "{plane:?}: {in_mode} blocks in the cache's mode, {statics} static, but {state:?}"
            ));
        }
        for block in of_plane() {
            let is_full = state.full.contains(&block);
            let last = blocks.last_valid(block).filter(|_| blocks.is_slc(block));
            if blocks.is_full_in_cache(block) != is_full
                || last.is_some_and(|last| last >= self.pages)
            {
                return Err(format!(
                    "{block:?} is in the cache's mode up to page {last:?}, {state:?}"
                ));
            }
        }
        Ok(())
    }
}

/// Logical pages that hold data, in flash or on their way there.
fn pages_with_data(manager: &BlockManager) -> usize {
    manager.map.mapped().count() + manager.staged.len()
}

/// Puts `block`, which holds something, into the pool's mode, if it is not a static one. Returns how many that are.
fn lend(blocks: &mut Blocks, block: BlockId) -> usize {
    let is_lent = !blocks.is_static_slc(block);
    if is_lent {
        blocks.set_mode(block, CellMode::LentToSlc);
    }
    usize::from(is_lent)
}
