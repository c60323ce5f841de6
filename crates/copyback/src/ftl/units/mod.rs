//! Units of reclaiming: what is opened for pages, becomes a victim, is collected and freed together. One kind a file or folder.
//!
//! A drive has one kind: [`SingleBlocks`], single blocks of which some are in the mode of an SLC cache ([`SlcPool`]), or
//! [`Lines`] of the blocks of all planes. A kind more is a file here, a variant of [`Units`] and an arm of its constructor.

mod lines;
mod reclaim_units;
mod single_blocks;
mod slc_pool;

pub use lines::{
    ALL_PLANES, Collected, LineTally, Lines, LinesOn, Parity, SavedLines, StripePages,
    UntimedParity,
};
pub use reclaim_units::{ReclaimUnits, UnitReport};
pub(super) use single_blocks::SingleBlocks;
pub(super) use single_blocks::choose_by_policy;
pub use slc_pool::{SavedSlcCache, SlcPool, SlcState, SlcTally};

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::{BlockId, DieId, PlaneId, Ppn};
use crate::nand::Geometry;
use crate::one_of::one_of;
use crate::placement::{Class, Classes, Life};
use crate::victim::Victims;

use super::block_manager::BlockManager;
use super::blocks::Blocks;
use super::mapping::ReclaimPlan;
use super::space::{Frontier, Stream};

one_of! {
    $
    /// The units of reclaiming of a drive.
    #[derive(Debug, Checkpointed)]
    pub enum Units {
        /// Each block for itself.
        SingleBlocks(Box<SingleBlocks>),
        /// Each block for itself, and some in the mode of an SLC cache.
        SlcPool(Box<SlcPool>),
        /// The blocks of one index over all planes together.
        Lines(Box<Lines>),
    }
}
pub(super) use each;

/// Planes of a die that a unit wants to be collected.
#[derive(Debug, Clone, Copy)]
pub enum Due {
    /// Just these, a bit for each, whatever else is short.
    Only(u32),
    /// Planes of this bit mask, beside those that are below their threshold.
    Also(u32),
}

/// A page that a write of the host takes.
#[derive(Debug, Clone, Copy)]
pub enum Place {
    /// The next one of the open block of a stream.
    Stream(Stream),
    /// This one, of a block in the mode of the SLC cache.
    SlcPool(Frontier),
}

/// A change that a unit may keep account of.
#[derive(Debug, Clone, Copy)]
pub enum Event {
    /// Free blocks of the plane are more or fewer than before.
    FreeBlocksChanged(PlaneId),
    /// A valid page of the block is moved, or taken to DRAM to be moved.
    MovedFrom(BlockId),
    /// The page has been programmed with data, into the open block of a stream.
    Programmed(Ppn),
    /// A logical page holds data that held none.
    DataCame,
    /// A logical page holds no data any more.
    DataWent,
    /// The drive has been prepared: what the units do is counted from now on.
    RunBegins,
    /// A spare block has taken the place of one that failed as it was filled.
    Replaced {
        /// The plane of both.
        plane: PlaneId,
        /// The block that failed.
        bad: BlockId,
        /// The block in its place.
        spare: BlockId,
    },
}

/// A kind of units. Functions with a default are as for single blocks.
pub trait UnitOfReclaiming {
    /// Opens a unit as `plane` needs a block for the pages of a class. Returns the first page of that block.
    fn open(
        &mut self,
        manager: &mut BlockManager,
        plane: PlaneId,
        class: Option<Class>,
    ) -> Frontier {
        manager.open_block(plane, class)
    }

    /// Goes on with the next block of a unit that is open, on a plane whose block of `stream` is full. Returns whether there is
    /// one.
    fn open_next(&mut self, _: &mut BlockManager, _plane: PlaneId, _stream: Stream) -> bool {
        false
    }

    /// Whether the host may open a block on `plane` for this stream.
    #[inline(always)]
    fn may_open(&self, manager: &BlockManager, plane: PlaneId, _stream: Stream) -> bool {
        manager.space.may_open_for_host(plane)
    }

    /// Takes account of `block` of `plane`, which has been sealed with so many valid pages.
    fn sealed(&mut self, manager: &mut BlockManager, plane: PlaneId, block: BlockId, valid: u16) {
        manager.streams.sealed(manager.blocks.life(block));
        let BlockManager { victims, blocks, streams, .. } = manager;
        victims.closed(plane, block, valid, &blocks.at(streams));
    }

    /// Takes account of a page of `block` of `plane`, which is full, that is out of date: `valid` are left there.
    #[inline(always)]
    fn page_went(
        &mut self,
        manager: &mut BlockManager,
        plane: PlaneId,
        block: BlockId,
        valid: u16,
    ) {
        manager.victims.lost_page(plane, block, valid);
    }

    /// Takes account of `page`, whose block is not full or is being collected, that is out of date or has been moved.
    #[inline(always)]
    fn page_went_from_open(&mut self, _: &mut BlockManager, _page: Ppn) {}

    /// The block of `plane` to collect, if one gives space back and its valid pages have room.
    fn choose(&mut self, manager: &mut BlockManager, plane: PlaneId) -> Option<BlockId>;

    /// Begins to collect `victim`, which has been chosen. Returns what that takes.
    fn begin(&mut self, manager: &mut BlockManager, victim: BlockId) -> ReclaimPlan;

    /// Takes account of `block` of `plane`, which has been erased, and frees it, or the unit that it was the last of.
    fn erased(&mut self, manager: &mut BlockManager, plane: PlaneId, block: BlockId);

    /// The offset that a write of the host into `stream` gets on `plane`, if it may be written.
    fn offset_for_host(
        &self,
        manager: &BlockManager,
        stream: Stream,
        plane: PlaneId,
    ) -> Option<u32>;

    /// Takes the place for a write of the host into `stream` on `plane`, which has [room](Self::offset_for_host).
    fn place_for_host(&mut self, _: &mut BlockManager, _plane: PlaneId, stream: Stream) -> Place {
        Place::Stream(stream)
    }

    /// The planes of `die` that are to be collected for the unit's sake.
    fn due(&self, _die: DieId) -> Due {
        Due::Also(0)
    }

    /// Class of the unit of `block` and the time since which it takes its pages, if it is full.
    fn life_if_full(&self, manager: &BlockManager, block: BlockId) -> Option<Life> {
        manager.blocks.life(block).filter(|_| manager.blocks.is_closed(block))
    }

    /// Takes account of a change.
    fn note(&mut self, _: &mut BlockManager, _event: Event) {}

    /// Checks what is known of the units against their blocks.
    ///
    /// # Errors
    /// Names the first contradiction.
    fn check(&self, _: &BlockManager) -> Result<(), String> {
        Ok(())
    }
}

impl Units {
    /// The units of an erased device of a checked configuration. Puts static blocks of an SLC cache, which are good ones,
    /// into its mode.
    pub(super) fn new(
        config: &Resolved,
        geometry: &Geometry,
        classes: &Classes,
        blocks: &mut Blocks,
        is_good: impl Fn(BlockId) -> bool,
    ) -> Self {
        if let Some(lines) = Lines::new(config, geometry, classes) {
            return Self::Lines(lines);
        }
        SlcPool::new(config, geometry, blocks, is_good)
            .map_or_else(|| Self::SingleBlocks(Box::new(SingleBlocks)), Self::SlcPool)
    }

    /// The planes of `die` that are to be collected for the units' sake.
    #[inline(always)]
    pub(super) fn due(&self, die: DieId) -> Due {
        match self.are_single_blocks() {
            true => Due::Also(0),
            false => due_in_unit(self, die),
        }
    }

    /// Whether the drive has neither lines nor an SLC cache.
    #[inline(always)]
    pub const fn are_single_blocks(&self) -> bool {
        matches!(self, Self::SingleBlocks(_))
    }

    /// The lines, if blocks are managed in lines.
    pub const fn lines(&self) -> Option<&Lines> {
        if let Self::Lines(lines) = self { Some(lines) } else { None }
    }

    /// The lines, to be changed.
    pub(super) const fn lines_mut(&mut self) -> Option<&mut Lines> {
        if let Self::Lines(lines) = self { Some(lines) } else { None }
    }

    /// The pool of blocks in the mode of the SLC cache, if there is one.
    pub const fn slc_pool(&self) -> Option<&SlcPool> {
        if let Self::SlcPool(pool) = self { Some(pool) } else { None }
    }

    /// The pool, to be changed.
    pub(super) const fn slc_pool_mut(&mut self) -> Option<&mut SlcPool> {
        if let Self::SlcPool(pool) = self { Some(pool) } else { None }
    }
}

// Apart, as few drives have lines or an SLC cache.
#[inline(never)]
fn due_in_unit(units: &Units, die: DieId) -> Due {
    each!(units, unit => unit.due(die))
}

/// The offset of the next page in the open block of `plane` for any write of this stream, if it may be written.
#[inline]
pub(super) fn offset_in(
    unit: &impl UnitOfReclaiming,
    manager: &BlockManager,
    stream: Stream,
    plane: PlaneId,
) -> Option<u32> {
    if !manager.rooms().leaves_room(plane) {
        return None;
    }
    match manager.space[plane].frontier(stream) {
        Some(frontier) => Some(frontier.next_page),
        None => unit.may_open(manager, plane, stream).then_some(0),
    }
}

/// Opens a block for the stream whose block has just been filled, before anything is written to it, so that a collection that
/// this calls for finds a whole empty block.
pub(super) fn reopen(
    unit: &mut impl UnitOfReclaiming,
    manager: &mut BlockManager,
    plane: PlaneId,
    stream: Stream,
) {
    if manager.streams.takes_host(stream) && unit.may_open(manager, plane, stream) {
        let frontier = unit.open(manager, plane, stream.class());
        manager.space[plane].lent = false;
        *manager.space[plane].frontier_mut(stream) = Some(frontier);
        manager.space.invalid_changed(plane);
    }
}

/// Opens a block for the pages of the host if they are all of one class, which has none, and the host may. One of several
/// classes gets a block when a page needs it.
pub(super) fn reopen_for_host(
    unit: &mut impl UnitOfReclaiming,
    manager: &mut BlockManager,
    plane: PlaneId,
) {
    if let Some(class) = manager.limits.host_class
        && manager.space[plane].frontier(Stream::Class(class)).is_none()
    {
        reopen(unit, manager, plane, Stream::Class(class));
    }
}
