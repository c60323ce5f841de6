//! Mapping of logical pages to physical ones: where a write goes, and what it takes to reclaim a block. One
//! mapping a folder; each decides, and the [`Tables`] that are handed to it know what is where.
//!
//! Page mapping ([`page`]) puts a page into the open block of its plane. If it is demand paged
//! ([`demand_paged`]), its table lies in flash. [`log_block`], [`buffered_log_block`] and [`superblock`] bind logical
//! pages to blocks of their own; what they share is in [`bound`].
//!
//! A mapping more is a folder here, a variant of [`AnyMapping`], and an arm in `new`.

mod bound;
mod buffered_log_block;
mod by_lun;
mod change;
mod demand_paged;
mod facts;
#[cfg(test)]
mod learned;
mod log_block;
mod page;
mod plan;
mod superblock;
mod translation;

pub use bound::Layout;
pub use buffered_log_block::BufferTally;
pub use change::Change;
pub use demand_paged::SavedCache;
pub use facts::{BlockUse, Calls, Facts};
pub use plan::{Cost, Occasion, ReclaimKind, ReclaimPlan, ReclaimStep};
pub use translation::{Left, Outdated, Stage, Translated};

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::config::{self, Resolved};
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn};
use crate::one_of::one_of;
use crate::placement::HostPage;

use super::Placed;
use super::block_manager::BlockManager;
use super::chunks;
use super::tables::Tables;
use super::units::Event;

use buffered_log_block::BufferedLogBlock;
use demand_paged::DemandPaged;
use log_block::LogBlock;
use page::Page;
use superblock::Superblock;

one_of! {
    $
    /// The mapping of a device.
    #[derive(Debug, Checkpointed)]
    pub enum AnyMapping {
        /// Any page anywhere.
        Page(Page),
        /// Any page anywhere, with the table in flash.
        DemandPaged(DemandPaged),
        /// Logical blocks with a data block and an update block each.
        LogBlock(LogBlock),
        /// Logical blocks with a buffer before them.
        BufferedLogBlock(BufferedLogBlock),
        /// Neighbouring logical blocks that share their blocks.
        Superblock(Superblock),
        /// Any page anywhere, where it is predicted to be.
        [cfg(test)] Learned(learned::Learned),
    }
}
pub(super) use each;

/// Part of a file about a mapping, besides where the pages lie.
#[derive(Debug, Serialize, Deserialize)]
pub enum SavedMapping {
    /// No memory.
    Nothing,
    /// Entries of the table that are in RAM.
    DemandPaged(SavedCache),
    /// The blocks of logical pages, as a mapping that binds pages to blocks writes them itself.
    Bound(#[serde(with = "chunks")] Vec<u8>),
}

impl AnyMapping {
    /// Creates the mapping of a checked configuration, with no page written.
    pub fn new(config: &Resolved, tables: &Tables) -> Self {
        match config.ssd.ftl.mapping {
            config::Mapping::Page => Self::Page(Page),
            config::Mapping::DemandPaged { .. } => {
                Self::DemandPaged(DemandPaged::new(config, tables))
            }
            config::Mapping::LogBlock => Self::LogBlock(LogBlock::new(config, tables)),
            config::Mapping::BufferedLogBlock { .. } => {
                Self::BufferedLogBlock(BufferedLogBlock::new(config, tables))
            }
            config::Mapping::Superblock { data_blocks, update_blocks } => {
                let most_blocks = data_blocks.saturating_add(update_blocks) as usize;
                Self::Superblock(Superblock::new(config, tables, most_blocks))
            }
        }
    }
}

/// A page on its way to where the mapping puts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Put {
    /// Page of the host, whose old place has been invalidated, onto a plane.
    Write(PlaneId, HostPage),
    /// Valid page that is moved inside its plane.
    Move(Ppn),
}

/// Decides where logical pages go and what is reclaimed. Questions that a mapping leaves to the defaults are answered
/// as for page mapping.
pub trait Mapping {
    // --- where pages go

    /// Puts a page in place, on a plane where it has [room](Self::next_offset).
    fn put(&mut self, tables: &mut Tables, put: Put) -> Placed;

    /// Page offset that a write of `page` to `plane` gets, if it fits.
    fn next_offset(&self, tables: &Tables, plane: PlaneId, page: HostPage) -> Option<u32>;

    /// Notes that a write of `lpn` is next on `plane`. Returns whether something must be reclaimed before there is
    /// room for it, however many blocks are free.
    fn want(&mut self, _tables: &Tables, _plane: PlaneId, _lpn: Lpn) -> bool {
        false
    }

    /// Planes of `die` on which writes wait for a reclaim, and those whose next write is to be named anew.
    fn calls(&self, _die: DieId) -> Calls {
        Calls::default()
    }

    // --- what is reclaimed

    /// Chooses a block whose reclaim gives space back and whose valid pages have room.
    fn choose_victim(&mut self, tables: &mut Tables, occasion: Occasion<'_>) -> Option<BlockId>;

    /// Takes a block that was chosen out of the victims' sight. Returns what reclaims it.
    fn plan(&mut self, tables: &mut Tables, victim: BlockId) -> ReclaimPlan;

    /// Next step of the merge under way on `plane`, or, where a page is preferred, the move of that page if it may be
    /// moved out of turn.
    fn next_step(
        &self,
        _tables: &Tables,
        _plane: PlaneId,
        _preferred: Option<Ppn>,
    ) -> Option<ReclaimStep> {
        None
    }

    /// Notes what has happened. A block that was [erased](Change::Erased) must be freed, and what a loss of power has left on a
    /// plane [taken over](Change::PlaneFound); the rest concerns mappings with tables of their own.
    fn note(&mut self, tables: &mut Tables, change: Change<'_>);

    // --- translation

    /// Says what it takes to know where `lpn` lies, at this stage of its translation.
    fn translate(&mut self, _tables: &mut Tables, _lpn: Lpn, _stage: Stage) -> Translated {
        Translated::Known
    }

    /// Pages of a table in flash that are to be written because entries that are not in RAM have changed.
    fn outdated(&mut self, _which: Outdated) -> Vec<Lpn> {
        Vec::new()
    }

    // --- what a file or an audit asks

    /// Gives what a file has to tell.
    fn saved(&self) -> SavedMapping {
        SavedMapping::Nothing
    }

    /// Makes of this mapping, of an erased device, the one that was saved.
    ///
    /// # Errors
    /// Names what contradicts the configuration or the tables.
    fn restore(&mut self, saved: &SavedMapping, _tables: &Tables) -> Result<(), &'static str> {
        match saved {
            SavedMapping::Nothing => Ok(()),
            _ => Err("mapping"),
        }
    }

    /// Checks the mapping's own tables against the others.
    ///
    /// # Errors
    /// Names the first contradiction.
    fn check(&self, _tables: &Tables) -> Result<(), String> {
        Ok(())
    }

    /// Tells what `block` is used for.
    fn block(&self, tables: &Tables, block: BlockId) -> BlockUse {
        let is_closed = tables.blocks.is_closed(block);
        BlockUse {
            programmed: None,
            listed: is_closed.then(|| tables.blocks.valid_pages(block)),
            may_level: is_closed,
            role: None,
        }
    }

    /// Tells what kind of mapping this is, and what it has counted.
    fn facts(&self) -> Facts {
        Facts::default()
    }
}

/// Writes `page` to `plane`, on which it has room.
#[inline(always)]
pub(super) fn write(
    mapping: &mut impl Mapping,
    tables: &mut Tables,
    plane: PlaneId,
    page: HostPage,
) -> Placed {
    let mut told = None;
    if let Some(old) = tables.lookup(page.lpn) {
        if tables.streams.looks_at_pages() {
            told = tables.rewritten(old);
        }
        tables.invalidate(mapping, old);
    } else if !tables.manager.staged.remove(page.lpn) {
        tables.note(Event::DataCame);
    }
    let placed = mapping.put(tables, Put::Write(plane, page));
    if !tables.limits().is_translation_page(page.lpn) {
        let BlockManager { streams, geometry, .. } = &mut tables.manager;
        streams.host_wrote(page, placed.page, told, geometry);
    }
    placed
}

#[cfg(test)]
mod tests {
    use crate::ftl::Ftl;
    use crate::test_config::small_drive;

    /// A device of one plane with blocks of four pages, and a mapping.
    pub fn device(mapping: &str) -> Ftl {
        let changes = [("ssd.ftl.over_provisioning", "0.7"), ("ssd.ftl.mapping", mapping)];
        Ftl::new(&small_drive(1, 16, &changes), "ssd/0")
    }
}
