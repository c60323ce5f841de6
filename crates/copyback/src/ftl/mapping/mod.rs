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
mod demand_paged;
mod log_block;
mod page;
mod plan;
mod superblock;

pub use bound::{GroupId, Layout};
pub use buffered_log_block::BufferTally;
pub use demand_paged::{DemandPaged, Room, SavedCache};
pub use plan::{Cost, ReclaimKind, ReclaimPlan, ReclaimStep};

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::config::{self, Config};
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn};
use crate::one_of::one_of;
use crate::placement::HostPage;

use super::Placed;
use super::block_manager::BlockManager;
use super::chunks;
use super::idle_time::Expected;
use super::image::Image;
use super::recovery::Survey;
use super::saved::has_sound_frontiers;
use super::spare::Role;
use super::tables::Tables;

use buffered_log_block::BufferedLogBlock;
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
        /// Log blocks with a buffer before them.
        BufferedLogBlock(BufferedLogBlock),
        /// Neighbouring logical blocks that share their blocks.
        Superblock(Superblock),
    }
}
pub(super) use each;

/// Saved state of a mapping, besides where the pages lie.
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
    pub fn new(config: &Config, tables: &Tables) -> Self {
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

/// Decides where logical pages go. What a mapping does not say is as with page mapping.
pub trait Mapping {
    // --- where a page goes

    /// Puts `page`, whose old place has been invalidated, onto `plane`, on which it has
    /// [room](Self::next_offset).
    fn place(&mut self, tables: &mut Tables, plane: PlaneId, page: HostPage) -> Placed;

    /// The page offset that a write of `page` to `plane` gets, if it fits.
    fn next_offset(&self, tables: &Tables, plane: PlaneId, page: HostPage) -> Option<u32>;

    /// Moves the valid page `from` inside its plane.
    fn relocate(&mut self, tables: &mut Tables, from: Ppn) -> Placed;

    /// Role of the block that a write of `page` has gone `to`.
    fn role_of_write(&self, tables: &Tables, page: HostPage, to: Ppn) -> Role {
        tables.role_of_host_write(page, to)
    }

    /// Role of the block that `from` is moved to.
    fn role_of_move(&self, tables: &Tables, from: Ppn) -> Role {
        tables.stream_of_move(from).into()
    }

    /// Notes that a write of `lpn` is next on `plane`. Returns whether something must be reclaimed before there is
    /// room for it, however many blocks are free.
    fn want(&mut self, _tables: &Tables, _plane: PlaneId, _lpn: Lpn) -> bool {
        false
    }

    /// Takes the `planes` of `die` on which what a write [wants](Self::want) may have changed since the last
    /// call.
    fn take_changed_wants(&mut self, _die: DieId, planes: u32) -> u32 {
        planes
    }

    /// Whether a write may find that something must be reclaimed first though blocks are free.
    fn writes_may_call_for_reclaim(&self) -> bool {
        false
    }

    /// Writes `page` to `plane`, on which it has room.
    #[inline(always)]
    fn write(&mut self, tables: &mut Tables, plane: PlaneId, page: HostPage) -> Placed
    where
        Self: Sized,
    {
        let mut told = None;
        if let Some(old) = tables.lookup(page.lpn) {
            if tables.streams.looks_at_pages() {
                told = tables.rewritten(old);
            }
            tables.invalidate(self, old);
        } else {
            tables.page_came(page.lpn);
        }
        let placed = self.place(tables, plane, page);
        if !tables.is_translation_page(page.lpn) {
            let BlockManager { streams, geometry, .. } = &mut tables.manager;
            streams.host_wrote(page, placed.page, told, geometry);
        }
        placed
    }

    // --- what is reclaimed

    /// The block of `plane` to reclaim, if one gives space back and its valid pages have room.
    fn choose_victim(&mut self, tables: &mut Tables, plane: PlaneId) -> Option<BlockId>;

    /// Takes a block that was chosen out of the victims' sight and returns what reclaims it.
    fn plan(&mut self, tables: &mut Tables, victim: BlockId) -> ReclaimPlan;

    /// `block` of `plane` has been erased, and is to be [freed](Tables::free).
    fn erased(&mut self, tables: &mut Tables, plane: PlaneId, block: BlockId);

    /// Ends the reclaiming on `plane`.
    fn end_reclaim(&mut self, _tables: &mut Tables, _plane: PlaneId) {}

    /// Whether the data of `block` may be moved to level wear.
    fn may_level(&self, tables: &Tables, block: BlockId) -> bool {
        tables.blocks.is_closed(block)
    }

    /// A bit for each plane of `die` on which a write or a buffer waits for something to be reclaimed.
    fn wanted_planes(&self, _die: DieId) -> u32 {
        0
    }

    /// The page that the merge on `plane` moves next, if one is moved before a block is erased.
    fn next_merge_page(&self, _tables: &Tables, _plane: PlaneId) -> Option<Ppn> {
        None
    }

    /// The block that the merge on `plane` erases next, where no page is moved before.
    fn next_merge_erase(&self, _plane: PlaneId) -> Option<BlockId> {
        None
    }

    /// Whether the merge on `plane` may move `page` next, out of turn.
    fn may_merge_next(&self, _tables: &Tables, _plane: PlaneId, _page: Ppn) -> bool {
        false
    }

    // --- what happens to pages and blocks

    /// `page` of `block`, which is not closed, is out of date; `valid` are left there.
    fn lost_page(&mut self, _tables: &Tables, _page: Ppn, _block: BlockId, _valid: u16) {}

    /// `lpn` has been trimmed or taken into DRAM.
    fn unmapped(&mut self, _tables: &mut Tables, _lpn: Lpn) {}

    /// `lpn` has been moved on `plane`, other than by [`relocate`](Self::relocate).
    fn moved(&mut self, _tables: &Tables, _lpn: Lpn, _plane: PlaneId) {}

    /// `spare` has taken the place of `block` of `plane`, which is open.
    fn replaced(
        &mut self,
        _tables: &mut Tables,
        _plane: PlaneId,
        _block: BlockId,
        _spare: BlockId,
    ) {
    }

    // --- what idle time is good for

    /// Lists from now on merges that idle time is good for; they are put off if the drive `delays`.
    fn list_idle_jobs(&mut self, _tables: &Tables, _delays: bool) {}

    /// Number of times that a merge has been deferred.
    fn merges_put_off(&self) -> u64 {
        0
    }

    /// The block whose reclaim merges what on `die` has been owed a merge longest.
    fn owed_victim(&self, _tables: &Tables, _die: DieId) -> Option<BlockId> {
        None
    }

    /// The block of `plane` that is reclaimed when it would soon be short of free blocks.
    fn victim_in_advance(&mut self, tables: &mut Tables, plane: PlaneId) -> Option<BlockId> {
        self.choose_victim(tables, plane)
    }

    /// Notes that `lpn` is among the `expected` writes.
    fn expect(&self, _lpn: Lpn, _expected: &mut Expected) {}

    /// The first block whose reclaim the `expected` writes need for themselves, of those whose cost `fits`.
    fn merge_called_for(
        &self,
        _tables: &Tables,
        _expected: &Expected,
        _fits: &dyn Fn(Cost) -> bool,
    ) -> Option<BlockId> {
        None
    }

    /// Cost of reclaiming `victim`, which has been chosen.
    fn cost_of(&self, tables: &Tables, victim: BlockId) -> Cost {
        Cost { pages: tables.valid_pages(victim).into(), blocks: 1 }
    }

    /// Blocks that the `expected` writes, one or more, open.
    fn opened_by(&self, tables: &Tables, expected: &Expected) -> u32 {
        tables.opened_for_host(expected)
    }

    // --- parts that only some mappings have

    /// Use of a buffer of writes, if there is one.
    fn buffer_tally(&self) -> Option<BufferTally> {
        None
    }

    /// Counts from now on what the buffer is used for.
    fn reset_buffer_tally(&mut self) {}

    /// The mapping's table in flash, if it is there.
    fn paging(&self) -> Option<&DemandPaged> {
        None
    }

    /// Demand paging of the table, to be changed, if there is one.
    fn paging_mut(&mut self) -> Option<&mut DemandPaged> {
        None
    }

    // --- what a loss of power or a file leaves

    /// Whether full blocks that hold nothing valid are left to collections after a loss of power.
    fn leaves_full_blocks(&self) -> bool {
        true
    }

    /// Takes over the written blocks of `plane`, the one that was written last at the end.
    fn recover_plane(
        &mut self,
        tables: &mut Tables,
        plane: PlaneId,
        blocks: &[BlockId],
        survey: &Survey<'_>,
    ) {
        tables.recover_streams(plane, blocks, survey);
    }

    /// Makes the mapping's own tables again, once all planes are.
    fn recover(&mut self, _tables: &mut Tables, _survey: &Survey<'_>) {}

    /// Finds out which entries of a table in flash are out of date there.
    fn recover_entries(&mut self, _tables: &mut Tables, _image: &Image) {}

    /// Saved state of the mapping.
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

    /// Tells the audit what of the mapping has long been in flash.
    fn restore_audit(&self, _tables: &mut Tables) {}

    /// The blocks that are not on the planes' tables, and how many of their pages have been programmed.
    fn programmed(&self) -> Vec<(BlockId, u32)> {
        Vec::new()
    }

    /// Number under which the victim policy lists a block.
    fn listed(&self, tables: &Tables, block: BlockId) -> Option<u16> {
        tables.blocks.is_closed(block).then(|| tables.valid_pages(block))
    }

    /// Whether the planes have just the open blocks that this mapping opens there.
    fn has_sound_frontiers(&self, tables: &Tables, plane: PlaneId) -> bool {
        has_sound_frontiers(tables, plane)
    }

    /// Blocks of `plane` that a buffer of writes has in use.
    fn buffered_blocks(&self, _plane: PlaneId) -> usize {
        0
    }

    /// Whether `lpn` may lie at this page of `block`.
    fn may_hold(&self, _lpn: Lpn, _block: BlockId, _offset: u32) -> bool {
        true
    }

    /// Checks the mapping's own tables against the others.
    fn check(&self, _tables: &Tables) -> Result<(), String> {
        Ok(())
    }
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
