//! Free and open blocks: what room each plane has, and which planes are below their threshold.

mod following;
mod free_blocks;
mod invalid_share;
mod known_room;
mod plane;
mod scopes;
mod watermarks;

pub use plane::{Frontier, Plane, SavedPlane, Stream};
pub use watermarks::Watermarks;

use std::ops::{Index, IndexMut};
use std::sync::OnceLock;

use crate::checkpoint::Checkpointed;
use crate::config::{Resolved, ThresholdUnit};
use crate::ids::{BlockId, DieId, PlaneId};
use crate::nand::Geometry;
use crate::placement::Class;

pub use following::Following;
use invalid_share::InvalidShare;
use known_room::KnownRoom;
use scopes::{Scopes, planes_together};

/// Free blocks of all planes.
#[derive(Debug, Clone, Copy)]
pub struct FreeBlocksOfAll {
    /// Of the plane that has the fewest.
    pub least: u64,
    /// Together.
    pub sum: u64,
}

/// Free blocks of a plane that do not become spare: a collection needs one.
const LEFT_FREE: usize = 1;

/// The free and open blocks of every plane.
#[derive(Debug, Checkpointed)]
pub struct Space {
    planes: Vec<Plane>,
    /// Free blocks of all planes, once somebody has asked, until a plane changes.
    #[checkpoint(skip)]
    free: OnceLock<FreeBlocksOfAll>,
    known_room: KnownRoom,
    /// Blocks that follow the open ones, where planes open several together.
    following: Option<Box<Following>>,
    thresholds: Thresholds,
    /// Quantity that is counted against the soft threshold.
    counted: Counted,
    /// Whether a page that is written may change which planes are below their threshold.
    marks_pages: bool,
    /// Share of invalid pages that calls for a collection besides, if one does.
    invalid_share: Option<InvalidShare>,
    /// A bit for each plane of a die that is below its threshold.
    below_threshold: Vec<u32>,
    /// Scopes, where planes don't count each for itself.
    scopes: Option<Scopes>,
    planes_per_die: u32,
    /// Kept once somebody watches.
    watermarks: Option<Box<Watermarks>>,
}

/// Counts of free blocks at which something happens on a plane.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Thresholds {
    /// A plane with fewer free blocks is below its threshold ...
    pub soft: usize,
    /// ... until it has this many.
    pub clear: usize,
    /// A plane with fewer free blocks opens none for the host.
    pub hard: usize,
    /// Free blocks that the host never opens, so that a collection has room for what it moves.
    pub kept_for_collections: usize,
    /// Spare blocks that a plane should have, to take the place of bad ones.
    pub spare: usize,
}

/// Quantity that is counted against a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
enum Counted {
    Blocks,
    /// Of which a block has so many.
    Pages {
        per_block: usize,
    },
}

impl Counted {
    fn new(config: &Resolved) -> Self {
        match config.ssd.gc.threshold_unit {
            ThresholdUnit::FreeBlocks => Self::Blocks,
            ThresholdUnit::FreePages => {
                Self::Pages { per_block: config.drive.pages.data_per_block as usize }
            }
        }
    }

    /// Weight of one free block.
    const fn per_block(self) -> usize {
        match self {
            Self::Blocks => 1,
            Self::Pages { per_block } => per_block,
        }
    }
}

impl Thresholds {
    /// Reads the thresholds of a checked configuration.
    pub fn new(config: &Resolved) -> Self {
        let soft = config.drive.thresholds.soft as usize;
        Self {
            soft,
            clear: soft + config.ssd.gc.hysteresis_blocks as usize,
            hard: config.drive.thresholds.hard as usize,
            kept_for_collections: config.drive.thresholds.kept_for_collections as usize,
            spare: config.drive.blocks.spare as usize,
        }
    }
}

impl Index<PlaneId> for Space {
    type Output = Plane;

    #[inline(always)]
    fn index(&self, plane: PlaneId) -> &Plane {
        &self.planes[plane.index()]
    }
}

/// Forgets what is known of the plane's blocks: a change that leaves it true has functions of [`Space`].
impl IndexMut<PlaneId> for Space {
    #[inline(always)]
    fn index_mut(&mut self, plane: PlaneId) -> &mut Plane {
        let die = self.die_of(plane);
        self.free.take();
        self.known_room.forget(die);
        &mut self.planes[plane.index()]
    }
}

impl Space {
    /// An erased device, whose blocks are all free but for those that are not `is_good`.
    pub fn new(config: &Resolved, geometry: &Geometry, is_good: impl Fn(&BlockId) -> bool) -> Self {
        let plane = |id| {
            let blocks = geometry.blocks_of_plane(PlaneId::from_index(id)).filter(&is_good);
            Plane::new(config, blocks)
        };
        let thresholds = Thresholds::new(config);
        let (together, all) = (planes_together(config, geometry), geometry.planes());
        let counted = Counted::new(config);
        let [soft, clear] = [thresholds.soft, thresholds.clear].map(|of| of * counted.per_block());
        let scopes = Scopes::new(together, all, soft, clear);
        let mut space = Self {
            planes: (0..all).map(plane).collect(),
            free: OnceLock::new(),
            known_room: KnownRoom::new(geometry.dies()),
            following: config.ssd.gc.has_lines().then(|| {
                let classes = config.ssd.ftl.placement.classes() as usize;
                Box::new(Following::new(all, classes))
            }),
            thresholds,
            counted,
            marks_pages: counted != Counted::Blocks || config.ssd.gc.invalid_threshold.is_some(),
            invalid_share: InvalidShare::new(config),
            below_threshold: vec![0; geometry.dies()],
            scopes: (together > 1).then_some(scopes),
            planes_per_die: geometry.planes_per_die,
            watermarks: None,
        };
        space.count_scopes();
        space
    }

    /// All planes.
    pub fn planes(&self) -> impl ExactSizeIterator<Item = PlaneId> + Clone + use<> {
        (0..self.planes.len()).map(PlaneId::from_index)
    }

    /// Counts of free blocks at which something happens on a plane.
    pub const fn thresholds(&self) -> &Thresholds {
        &self.thresholds
    }

    /// Free blocks of `plane`.
    pub fn free_blocks(&self, plane: PlaneId) -> usize {
        self[plane].free_blocks()
    }

    /// Free blocks of `plane` and those that are counted with it; those that soon are, too, where there are others.
    pub fn free_together(&self, plane: PlaneId) -> usize {
        let together = |scopes: &Scopes| scopes.free(plane) / self.counted.per_block();
        self.scopes.as_ref().map_or_else(|| self.free_blocks(plane), together)
    }

    /// Whether less is free on `plane` than so many blocks, by what thresholds count.
    pub fn has_less_than(&self, plane: PlaneId, blocks: usize) -> bool {
        self.count(plane, self.free_blocks(plane)) < blocks.saturating_mul(self.counted.per_block())
    }

    /// Free blocks of all planes. Looks at each only if those of one may have changed since this was asked.
    pub fn free_blocks_of_all(&self) -> FreeBlocksOfAll {
        *self.free.get_or_init(|| {
            let free = self.free_blocks_by_plane();
            let least = free.clone().min().unwrap_or(0) as u64;
            FreeBlocksOfAll { least, sum: free.sum::<usize>() as u64 }
        })
    }

    /// Free blocks of the planes of `die` together.
    pub fn free_blocks_of_die(&self, die: DieId) -> usize {
        self.planes_of_die(die).iter().map(Plane::free_blocks).sum()
    }

    fn planes_of_die(&self, die: DieId) -> &[Plane] {
        let first = (die.0 * self.planes_per_die) as usize;
        &self.planes[first..first + self.planes_per_die as usize]
    }

    /// Closed blocks of `plane` have so many more invalid pages.
    #[inline(always)]
    pub fn add_invalid(&mut self, plane: PlaneId, pages: u32) {
        self.planes[plane.index()].closed_invalid += pages;
        self.invalid_changed(plane);
    }

    /// A block of `plane` with so many invalid pages is closed no more.
    pub fn take_invalid(&mut self, plane: PlaneId, pages: u32) {
        self.planes[plane.index()].closed_invalid -= pages;
        self.invalid_changed(plane);
    }

    /// Free blocks of every plane.
    pub fn free_blocks_by_plane(&self) -> impl Iterator<Item = usize> + Clone {
        self.planes.iter().map(Plane::free_blocks)
    }

    /// The offset in the block of `plane` that is kept in step with those of other planes.
    pub fn next_aligned_offset(&self, plane: PlaneId) -> u32 {
        self[plane].frontier(Stream::Aligned).map_or(0, |frontier| frontier.next_page)
    }

    /// All open blocks.
    pub fn frontiers(&self) -> impl Iterator<Item = Frontier> {
        self.planes.iter().flat_map(Plane::frontiers)
    }

    /// A bit for each plane of `die` that is below its threshold.
    pub fn below_threshold(&self, die: DieId) -> u32 {
        self.below_threshold[die.index()]
    }

    /// Whether `plane` is below its threshold.
    pub fn is_below_threshold(&self, plane: PlaneId) -> bool {
        self.below_threshold[self.die_of(plane)] & self.bit_of(plane) != 0
    }

    /// Blocks that follow the open ones.
    ///
    /// # Panics
    /// If planes open each block for itself.
    pub fn following(&self) -> &Following {
        self.following.as_deref().expect("planes open blocks together")
    }

    /// Blocks that follow the open ones, to be changed.
    ///
    /// # Panics
    /// If planes open each block for itself.
    pub fn following_mut(&mut self) -> &mut Following {
        self.following.as_deref_mut().expect("planes open blocks together")
    }

    /// Forgets the open blocks of `plane`, and those that follow them.
    pub fn forget_open(&mut self, plane: PlaneId, streams: impl Iterator<Item = Stream>) {
        streams.for_each(|stream| *self[plane].frontier_mut(stream) = None);
        self.following_mut().forget_plane(plane);
    }

    /// Blocks that `plane` fills after its open one of `stream`.
    #[inline]
    pub fn blocks_behind(&self, plane: PlaneId, stream: Stream) -> usize {
        match (&self.following, stream) {
            (Some(following), Stream::Class(class)) => following.count(plane, class),
            _ => 0,
        }
    }

    /// Whether a plane has blocks of `class` that it has not begun to fill.
    pub fn is_behind(&self, class: Class) -> bool {
        self.following.as_ref().is_some_and(|following| following.any_of(class))
    }

    /// Whether the host may open a block on `plane`.
    pub fn may_open_for_host(&self, plane: PlaneId) -> bool {
        let free = self.free_blocks(plane);
        free > self.thresholds.kept_for_collections && free >= self.thresholds.hard
    }

    /// Whether the host has an open block for this stream on a plane of `die`, or may open one.
    #[inline]
    pub fn has_place(&self, die: DieId, stream: Stream) -> bool {
        let look = || self.looks_for_place(die, stream);
        self.known_room.get_or(die.index(), stream.index(), look)
    }

    #[inline(never)]
    fn looks_for_place(&self, die: DieId, stream: Stream) -> bool {
        let planes = self.planes_of_die(die);
        let least = self.thresholds.hard.max(self.thresholds.kept_for_collections + 1);
        planes.iter().any(|plane| plane.frontier(stream).is_some() || plane.free_blocks() >= least)
    }

    /// Number of planes that are low on free blocks, if somebody watches.
    pub fn watermarks(&self) -> Option<&Watermarks> {
        self.watermarks.as_deref()
    }

    /// Counts from now on which planes, or what is [counted together](Self::planes_together), are low on free blocks:
    /// below the soft threshold, or below `register`.
    pub fn watch(&mut self, register: u32, blocks_per_plane: u32) {
        let (free, soft) = (self.free_blocks_by_plane(), self.thresholds.soft as u32);
        let together = self.planes_together() as u32;
        let watermarks = Watermarks::new(free, together, blocks_per_plane, register, soft);
        self.watermarks = Some(Box::new(watermarks));
    }

    /// Planes whose free blocks are counted together against thresholds.
    pub fn planes_together(&self) -> usize {
        self.scopes.as_ref().map_or(1, Scopes::planes)
    }

    /// Whether other planes than the one that has changed may have become due since this was asked.
    pub fn take_wakes_others(&mut self) -> bool {
        self.scopes.as_mut().is_some_and(Scopes::take_has_become_short)
    }

    /// Makes the next question whether other planes have become due look at all: a run begins.
    pub fn look_at_all(&mut self) {
        if let Some(scopes) = &mut self.scopes {
            scopes.look_at_all();
        }
    }

    /// `block` of `plane` is being reclaimed, or none is.
    pub fn set_reclaiming(&mut self, plane: PlaneId, block: Option<BlockId>) {
        self[plane].reclaiming = block;
        if self.scopes.is_some() {
            self.mark(plane);
        }
    }

    /// Takes the free block of `plane` that is used next.
    pub fn take_free(&mut self, plane: PlaneId) -> BlockId {
        let free = self[plane].free.pop();
        free.expect("a write goes to a plane that accepts it, a move to one with room for it")
    }

    /// Takes a spare block of `plane`.
    pub fn take_spare(&mut self, plane: PlaneId) -> BlockId {
        self[plane].spare -= 1;
        self[plane].free.pop().expect("spare blocks are free ones")
    }

    /// Makes up for spare blocks that were taken, as far as free ones are left.
    pub fn refill_spare(&mut self, plane: PlaneId) {
        let wanted = self.thresholds.spare;
        let plane = &mut self[plane];
        while plane.spare < wanted && plane.free_blocks() > LEFT_FREE {
            plane.spare += 1;
        }
    }

    /// Notes that a free block of `plane` has been opened. Returns whether they are fewer than the threshold.
    pub fn opened(&mut self, plane: PlaneId) -> bool {
        match self.counted {
            Counted::Blocks => _ = self.mark(plane),
            // Its pages are as free as they were, but the open block is not there yet to be counted.
            Counted::Pages { .. } if self.lacks_blocks(plane) => self.set_mark(plane, true),
            Counted::Pages { .. } => {}
        }
        self.watch_changed(plane);
        self.is_below_threshold(plane)
    }

    /// Takes the next page of the open block of a stream on `plane`, if there is one.
    #[inline(always)]
    pub fn take_page(&mut self, plane: PlaneId, stream: Stream) -> Option<Frontier> {
        let open = self.planes[plane.index()].frontier_mut(stream).as_mut()?;
        let next = *open;
        open.next_page += 1;
        self.page_written(plane);
        Some(next)
    }

    /// Notes that a page of an open block of `plane` has been written.
    #[inline(always)]
    pub fn page_written(&mut self, plane: PlaneId) {
        if self.marks_pages {
            self.mark(plane);
        }
    }

    /// Notes that the invalid pages of `plane` have changed, or which of its blocks are open.
    #[inline(always)]
    pub fn invalid_changed(&mut self, plane: PlaneId) {
        if self.invalid_share.is_some() {
            self.mark(plane);
        }
    }

    /// Notes that the free blocks of `plane` have changed. Returns whether they are fewer than the threshold.
    pub fn changed(&mut self, plane: PlaneId) -> bool {
        let is_below = self.mark(plane);
        self.watch_changed(plane);
        is_below
    }

    fn watch_changed(&mut self, plane: PlaneId) {
        let Plane { reclaiming, .. } = self[plane];
        let free = self.free_blocks(plane);
        if let Some(watermarks) = &mut self.watermarks
            && reclaiming.is_none()
        {
            watermarks.changed(plane.index(), free as u32);
        }
    }

    /// Marks whether `plane` is below its threshold. Returns whether it is.
    #[inline]
    fn mark(&mut self, plane: PlaneId) -> bool {
        let left = self.count(plane, self.beyond_spare(plane));
        let per_block = self.counted.per_block();
        let Some(scopes) = &mut self.scopes else {
            let lacks_blocks = self.counted != Counted::Blocks && self.lacks_blocks(plane);
            let is_below = left < self.thresholds.soft * per_block
                || lacks_blocks
                || self.has_much_invalid(plane);
            if is_below || left >= self.thresholds.clear * per_block {
                self.set_mark(plane, is_below);
            }
            return is_below;
        };
        let is_reclaiming = self.planes[plane.index()].reclaiming.is_some();
        let coming = if is_reclaiming { per_block } else { 0 };
        if scopes.note(plane, left + coming) {
            scopes.planes_with(plane).for_each(|other| self.mark_in_scope(other));
        } else {
            self.mark_in_scope(plane);
        }
        self.is_below_threshold(plane)
    }

    /// Of a scope that is short, the planes with less than their share are below their threshold; and each on which
    /// the host can open no block.
    fn mark_in_scope(&mut self, plane: PlaneId) {
        let left = self.count(plane, self.beyond_spare(plane));
        let is_short = self.scopes.as_ref().is_some_and(|scopes| scopes.is_short(plane));
        let is_below_share = left < self.thresholds.soft * self.counted.per_block();
        let is_below = self.lacks_blocks(plane)
            || (is_short && is_below_share)
            || self.has_much_invalid(plane);
        // What has begun because the scope was short goes on, though it counts as free already.
        let goes_on = self[plane].reclaiming.is_some() && self.is_below_threshold(plane);
        self.set_mark(plane, is_below || goes_on);
    }

    fn set_mark(&mut self, plane: PlaneId, is_below: bool) {
        let (die, bit) = (self.die_of(plane), self.bit_of(plane));
        match is_below {
            true => self.below_threshold[die] |= bit,
            false => self.below_threshold[die] &= !bit,
        }
    }

    /// Counts the free blocks of all scopes.
    pub fn count_scopes(&mut self) {
        if self.scopes.is_some() {
            self.planes().for_each(|plane| _ = self.mark(plane));
        }
    }

    /// Free blocks of `plane`, less those that it lacks of the spare ones.
    fn beyond_spare(&self, plane: PlaneId) -> usize {
        let plane = &self[plane];
        plane.free_blocks().saturating_sub(self.thresholds.spare - plane.spare)
    }

    /// Whether the host can open no block on `plane`, whatever thresholds count.
    fn lacks_blocks(&self, plane: PlaneId) -> bool {
        let Thresholds { hard, kept_for_collections, .. } = self.thresholds;
        self.beyond_spare(plane) < hard.max(1 + kept_for_collections)
    }

    /// Whether so many of the pages of `plane` are invalid that it is to be collected.
    fn has_much_invalid(&self, plane: PlaneId) -> bool {
        self.invalid_share.is_some_and(|share| share.is_exceeded_on(&self[plane]))
    }

    /// Count of `plane`, of which `free_blocks` blocks are free.
    fn count(&self, plane: PlaneId, free_blocks: usize) -> usize {
        match self.counted {
            Counted::Blocks => free_blocks,
            Counted::Pages { per_block } => {
                let left = |frontier: Frontier| per_block - frontier.next_page as usize;
                free_blocks * per_block + self[plane].frontiers().map(left).sum::<usize>()
            }
        }
    }

    /// Saved state of every plane.
    pub fn saved(&self) -> Vec<SavedPlane> {
        let is_short = |plane| match &self.scopes {
            Some(scopes) => scopes.is_short(plane),
            None => self.is_below_threshold(plane),
        };
        self.planes().map(|plane| self[plane].saved(is_short(plane))).collect()
    }

    /// Marks whether `plane`, or the scope that it is counted in, is below its threshold. False if that can't be.
    pub fn restore_mark(&mut self, plane: PlaneId, is_below: bool) -> bool {
        if let Some(scopes) = &mut self.scopes {
            let is_sound = scopes.restore(plane, is_below);
            scopes.planes_with(plane).for_each(|other| self.mark_in_scope(other));
            return is_sound;
        }
        self.set_mark(plane, is_below);
        let left = self.count(plane, self.beyond_spare(plane));
        let [soft, clear] =
            [self.thresholds.soft, self.thresholds.clear].map(|of| of * self.counted.per_block());
        let lacks_blocks = self.counted != Counted::Blocks && self.lacks_blocks(plane);
        let must_be = lacks_blocks || self.has_much_invalid(plane);
        if is_below { left < clear || must_be } else { left >= soft && !must_be }
    }

    const fn die_of(&self, plane: PlaneId) -> usize {
        (plane.0 / self.planes_per_die) as usize
    }

    const fn bit_of(&self, plane: PlaneId) -> u32 {
        1 << (plane.0 % self.planes_per_die)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_config::small_drive;

    #[test]
    fn a_plane_of_a_file_may_be_below_its_threshold_until_it_has_cleared_it() {
        let changes = [
            ("ssd.ftl.over_provisioning", "0.7"),
            ("ssd.gc.soft_threshold", "{ blocks = 3 }"),
            ("ssd.gc.hysteresis_blocks", "2"),
        ];
        let config = small_drive(1, 16, &changes);
        let plane = PlaneId(0);
        // Below three it is in any case, and from five on in none.
        for (free, may_be_below, may_be_above) in
            [(2, true, false), (3, true, true), (4, true, true), (5, false, true), (9, false, true)]
        {
            let mut space = Space::new(&config, &Geometry::new(&config), |_| true);
            while space.free_blocks(plane) > free {
                space.take_free(plane);
            }
            assert_eq!(space.restore_mark(plane, true), may_be_below, "{free} are free");
            assert_eq!(space.restore_mark(plane, false), may_be_above, "{free} are free");
        }
    }
}
