//! Blocks that are programmed with fewer bits a cell than the others, and take the host's pages first
//! (`ssd.slc_cache`).
//!
//! A block of the cache has fewer pages; it is `open` or `full`, belongs to no class and is seen by no victim policy.
//! To *fold* it is to collect it: its valid pages move to native blocks of its plane, and it is erased. Static blocks
//! then go back to the cache; blocks that were lent go back to the free native ones.
//!
//! What a plane has is looked at when one of its blocks is opened, filled or erased, so that what its die may do changes
//! only with what happens there.

mod fold;
mod saved;
mod tally;
mod unit;
mod write;

use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::config::resolved::Slc;
use crate::config::{Resolved, WhenFull};
use crate::ftl::block_manager::BlockManager;
use crate::ftl::blocks::{Blocks, CellMode};
use crate::ftl::limits::Limits;
use crate::ftl::space::Frontier;
use crate::ids::{BlockId, PlaneId};
use crate::nand::Geometry;

pub use saved::SavedSlcCache;
pub use tally::{SlcState, SlcTally};

/// The cache of a drive.
#[derive(Debug, Checkpointed)]
pub struct SlcPool {
    /// Pages of a block in the cache's mode.
    pages: u32,
    planes: Vec<CachePlane>,
    rules: Rules,
    /// A bit for each plane of a die that is to be folded.
    due: Vec<u32>,
    /// Whether idle time is used.
    uses_idle_time: bool,
    /// Logical pages that hold data.
    mapped: usize,
    tally: SlcTally,
}

/// The cache's blocks of a plane.
#[derive(Debug, Default, Checkpointed)]
struct CachePlane {
    /// Static blocks that are erased.
    free: VecDeque<BlockId>,
    open: Option<Frontier>,
    /// The one that was filled first comes first.
    full: Vec<BlockId>,
    folding: Option<BlockId>,
    statics: usize,
    /// Native blocks that are in the cache's mode now ...
    lent: usize,
    /// ... and how many may be.
    limit: usize,
    /// Native blocks that may be lent now.
    lendable: usize,
}

/// Rules that never change.
#[derive(Debug, Clone, Copy, Checkpointed)]
struct Rules {
    /// Whether the host waits for a block of the cache.
    waits: bool,
    fold_below: usize,
    idle_keeps: usize,
    most_lent: usize,
    /// Logical pages that hold data at which no block is lent.
    lent_until: f64,
    /// Free native blocks that are not lent.
    keeps_free: usize,
    planes_per_die: u32,
}

impl Rules {
    fn new(config: &Resolved, slc: &Slc, pages: usize) -> Self {
        let (drive, cache) = (&config.drive, &config.ssd.slc_cache);
        let waits = cache.when_full == WhenFull::Wait;
        Self {
            waits,
            fold_below: (cache.fold_below as usize).max(usize::from(waits)),
            idle_keeps: cache.idle_keeps as usize,
            most_lent: slc.most_lent as usize,
            lent_until: cache.dynamic_until.0 * pages as f64,
            keeps_free: (drive.thresholds.soft + config.ssd.gc.hysteresis_blocks) as usize + 1,
            planes_per_die: drive.shape.planes_per_die,
        }
    }

    /// Blocks of a plane that may be lent while so many logical pages hold data.
    fn limit(&self, mapped: usize) -> usize {
        let left = 1.0 - mapped as f64 / self.lent_until;
        (self.most_lent as f64 * left).max(0.0).floor() as usize
    }
}

impl SlcPool {
    /// The pool of a checked configuration, if it has one: its static blocks are the first of each plane that are good.
    pub fn new(
        config: &Resolved,
        geometry: &Geometry,
        blocks: &mut Blocks,
        is_good: impl Fn(BlockId) -> bool,
    ) -> Option<Box<Self>> {
        let slc = config.drive.slc.as_ref()?;
        blocks.keep_modes();
        let mut pool = Self {
            pages: slc.pages_per_block,
            planes: (0..geometry.planes()).map(|_| CachePlane::default()).collect(),
            rules: Rules::new(config, slc, Limits::mapped_pages(config)),
            due: vec![0; geometry.dies()],
            uses_idle_time: false,
            mapped: 0,
            tally: SlcTally::default(),
        };
        for plane in (0..geometry.planes()).map(PlaneId::from_index) {
            let good = geometry.blocks_of_plane(plane).filter(|block| is_good(*block));
            for block in good.take(slc.fixed as usize) {
                pool.add_static(blocks, plane, block);
                pool.planes[plane.index()].free.push_back(block);
            }
        }
        Some(Box::new(pool))
    }

    fn add_static(&mut self, blocks: &mut Blocks, plane: PlaneId, block: BlockId) {
        blocks.set_mode(block, CellMode::StaticSlc);
        self.planes[plane.index()].statics += 1;
    }

    /// Whether `plane` is to be folded.
    pub fn is_due(&self, plane: PlaneId) -> bool {
        let (die, bit) = self.place(plane);
        self.due[die] & bit != 0
    }

    const fn place(&self, plane: PlaneId) -> (usize, u32) {
        let of_die = self.rules.planes_per_die;
        ((plane.0 / of_die) as usize, 1 << (plane.0 % of_die))
    }

    /// The offset in the cache's block of `plane` that a write gets, if there is room.
    #[inline]
    pub fn next_offset(&self, plane: PlaneId) -> Option<u32> {
        let state = &self.planes[plane.index()];
        match state.open {
            Some(open) => Some(open.next_page),
            None => (!state.free.is_empty() || state.lendable > 0).then_some(0),
        }
    }

    /// Whether writes that find no room on `plane` wait: that is so where something is to be folded, and gives the cache
    /// a block.
    pub fn lets_wait(&self, plane: PlaneId) -> bool {
        let state = &self.planes[plane.index()];
        self.rules.waits
            && (state.folding.is_some() || !state.full.is_empty())
            && (state.statics > 0 || state.limit > 0)
    }

    /// Looks at what `plane` has, whose free native blocks may have changed.
    #[inline]
    pub(super) fn look_at(&mut self, manager: &BlockManager, plane: PlaneId) {
        let native_free = manager.space.free_blocks(plane);
        let limit = self.rules.limit(self.mapped);
        let state = &mut self.planes[plane.index()];
        state.limit = limit;
        let spare = native_free.saturating_sub(self.rules.keeps_free);
        state.lendable = limit.saturating_sub(state.lent).min(spare);
        self.mark(&manager.blocks, plane);
    }

    /// Marks whether `plane` is to be folded.
    fn mark(&mut self, blocks: &Blocks, plane: PlaneId) {
        let (die, bit) = self.place(plane);
        let is_due = self.is_due_when_busy(blocks, plane)
            || (self.uses_idle_time && self.is_worth_idle_time(plane));
        match is_due {
            true => self.due[die] |= bit,
            false => self.due[die] &= !bit,
        }
    }

    /// Whether `plane` is to be folded, idle or not: the cache can open too few blocks, or more is lent than may be.
    pub fn is_due_when_busy(&self, blocks: &Blocks, plane: PlaneId) -> bool {
        let state = &self.planes[plane.index()];
        let has_lent = || state.full.iter().any(|block| !blocks.is_static_slc(*block));
        // A fold that was begun in idle time goes on if somebody waits for it.
        let has_some = state.folding.is_some() || !state.full.is_empty();
        let has_few = state.free.len() + state.lendable < self.rules.fold_below;
        (has_few && has_some) || (state.lent > state.limit && has_lent())
    }

    /// Whether more blocks of `plane` are full than idle time leaves.
    fn is_worth_idle_time(&self, plane: PlaneId) -> bool {
        self.planes[plane.index()].full.len() > self.rules.idle_keeps
    }

    /// From now on idle time is used to fold, or no more.
    pub fn use_idle_time(&mut self, blocks: &Blocks, uses: bool) {
        self.uses_idle_time = uses;
        (0..self.planes.len()).map(PlaneId::from_index).for_each(|plane| self.mark(blocks, plane));
    }

    /// `spare` takes the place of `bad`, which was being filled.
    pub(super) fn replace(&mut self, plane: PlaneId, bad: BlockId, spare: BlockId) {
        if let Some(open) = &mut self.planes[plane.index()].open {
            debug_assert_eq!(open.block, bad, "the block that is being filled");
            open.block = spare;
        }
    }

    /// The blocks of the cache that are neither free nor being folded, and how many of their pages have been
    /// programmed.
    pub fn programmed(&self) -> impl Iterator<Item = (BlockId, u32)> + '_ {
        self.planes.iter().flat_map(|state| {
            let full = state.full.iter().map(|block| (*block, self.pages));
            full.chain(state.open.map(|open| (open.block, open.next_page)))
        })
    }

    /// The open block of `plane`.
    pub fn frontier(&self, plane: PlaneId) -> Option<Frontier> {
        self.planes[plane.index()].open
    }
}
