//! Manager of the flash's blocks, whatever the mapping and the unit of reclaiming: which pages are valid, which
//! blocks are free, open or full, and which of them are victims.

mod bad_blocks;
mod lost_pages;
mod prefetch;
mod refused;
mod report;
mod room;
mod streams_of_pages;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::nand::Geometry;
use crate::placement::{Class, Grouping, Placement};
use crate::rng;
use crate::told::Told;
use crate::victim::{InGroups, InUnits, Shape, VictimSelector, Victims};

use super::audit::Audit;
use super::bad_blocks::BadBlocks;
use super::blocks::Blocks;
use super::limits::Limits;
use super::lost_pages::LostPages;
use super::page_map::PageMap;
use super::space::{Frontier, Space};
use super::staged::Staged;
use super::streams::Streams;
use super::wear::WearLeveller;

pub use prefetch::Prefetch;
pub use refused::Refused;
pub use room::Rooms;

/// Pages and blocks of a drive. Units of reclaiming and mappings decide; the manager puts what they decide into effect.
#[derive(Debug, Checkpointed)]
pub struct BlockManager {
    /// Shape of the flash.
    pub(super) geometry: Geometry,
    /// Page and block counts that never change.
    pub(super) limits: Limits,
    /// Page map: the place of each logical page.
    pub(super) map: PageMap,
    /// Validity of each block's pages, and its wear.
    pub(super) blocks: Blocks,
    /// Free and open blocks.
    pub(super) space: Space,
    /// The open block of its plane that a page goes to.
    pub(super) streams: Streams,
    /// The policy that chooses victims.
    pub(super) victims: VictimSelector,
    pub(super) wear: WearLeveller,
    /// Blocks that have failed.
    pub(super) bad_blocks: BadBlocks,
    /// Pages whose data are lost.
    pub(super) lost_pages: LostPages,
    /// Pages in the device's DRAM on their way from one block to another.
    pub(super) staged: Staged,
    /// Content of every page, kept if wanted.
    pub(super) audit: Option<Box<Audit>>,
}

/// A page that is moved, and where it lies: worked out once a move.
#[derive(Debug, Clone, Copy)]
pub(super) struct OldPage {
    pub(super) page: Ppn,
    pub(super) block: BlockId,
    pub(super) plane: PlaneId,
    pub(super) lpn: Lpn,
}

impl BlockManager {
    /// Victims that the policy has refused.
    pub const fn refused(&self) -> Refused<'_> {
        Refused { space: &self.space, victims: &self.victims }
    }

    /// Prefetches.
    #[inline(always)]
    pub const fn prefetch(&self) -> Prefetch<'_> {
        Prefetch { manager: self }
    }

    /// Rooms of the planes.
    #[inline(always)]
    pub const fn rooms(&self) -> Rooms<'_> {
        let Self { limits, space, blocks, streams, .. } = self;
        Rooms { limits, space, blocks, streams }
    }

    /// Place of `lpn`, if it has been written and not trimmed.
    pub fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.map.physical(lpn)
    }

    /// Whether `lpn` has data: in flash, or staged on their way there.
    pub fn has_data(&self, lpn: Lpn) -> bool {
        self.lookup(lpn).is_some() || self.staged.contains(lpn)
    }

    /// The logical page that the valid page `page` holds.
    pub fn logical(&self, page: Ppn) -> Lpn {
        self.map.logical(page)
    }

    /// Whether `page` holds the current version of a logical page.
    pub fn is_valid(&self, page: Ppn) -> bool {
        let block = self.geometry.block_of(page);
        self.blocks.is_valid(block, self.geometry.page_offset(page))
    }

    /// The first valid page of `block` at or after `offset`.
    pub fn next_valid(&self, block: BlockId, offset: u32) -> Option<Ppn> {
        self.blocks.next_valid(block, offset).map(|offset| self.geometry.page(block, offset))
    }

    /// The valid page `page`, and where it lies.
    #[inline(always)]
    pub(super) fn old_page(&self, page: Ppn) -> OldPage {
        let block = self.geometry.block_of(page);
        let plane = self.geometry.plane_of_block(block);
        OldPage { page, block, plane, lpn: self.logical(page) }
    }

    /// Whether `page` lies in a block of the cache.
    #[inline]
    pub fn is_in_cache(&self, page: Ppn) -> bool {
        self.blocks.is_slc(self.geometry.block_of(page))
    }

    /// Opens a free block of `plane` for the pages of a class, or for what the placement has no say in.
    pub(super) fn open_block(&mut self, plane: PlaneId, class: Option<Class>) -> Frontier {
        let block = self.space.take_free(plane);
        let is_below = self.space.opened(plane);
        self.fetch_likely_victim(plane, is_below);
        if let Some(audit) = &mut self.audit {
            audit.tell(Told::Opened { block, class });
        }
        self.blocks.open(block, class, self.streams.clock);
        self.streams.opened(class);
        self.streams.block_changed(self.blocks.state(block));
        self.victims.opened(plane, block);
        Frontier { block, next_page: 0 }
    }

    /// Seals `block` of `plane`, which is full. Returns its valid pages.
    pub(super) fn seal(&mut self, plane: PlaneId, block: BlockId) -> u16 {
        self.regroup();
        let valid = self.blocks.valid_pages(block);
        self.blocks.seal(block, self.streams.clock);
        self.streams.block_changed(self.blocks.state(block));
        self.space.add_invalid(plane, self.limits.data_pages - u32::from(valid));
        valid
    }

    /// Notes that the free blocks of `plane` have changed. If they are few, fetches what is likely to be collected next, and
    /// its first moves.
    pub(super) fn free_blocks_changed(&mut self, plane: PlaneId) {
        let is_below = self.space.changed(plane);
        self.fetch_likely_victim(plane, is_below);
    }

    /// Frees `block` of `plane`, which has just been erased, for a buffer of writes that it is `held` for or for all.
    pub(super) fn free(&mut self, plane: PlaneId, block: BlockId, held: bool) {
        self.wear.erased(plane, block, self.blocks.erase_count(block));
        self.streams.block_changed(self.blocks.state(block));
        // A spare one is free in its place if the erase has failed.
        if !self.erase_has_failed(plane, block) {
            self.space[plane].free.push(block, self.blocks.erase_count(block));
        }
        self.space[plane].held += usize::from(held);
        self.refill_spare_blocks(plane);
    }

    /// Sorts closed blocks again if the placement has changed its groups. Asked where a block is closed or chosen.
    pub(super) fn regroup(&mut self) {
        let Self { victims: VictimSelector::InGroups(groups), streams, blocks, geometry, .. } =
            self
        else {
            return;
        };
        let grouping = streams.placement.grouping();
        let Some(regrouping) = grouping.and_then(Grouping::take_regrouping) else { return };
        let mut full = vec![0; streams.classes.count()];
        let planes: Vec<_> = (0..geometry.planes()).map(PlaneId::from_index).collect();
        for plane in planes {
            let all = groups.take_all(plane, &regrouping, &blocks.at(streams));
            for (block, class) in all {
                if let Some(class) = class {
                    blocks.set_class(block, class);
                    full[class.index()] += 1;
                }
                let (valid, blocks) = (blocks.valid_pages(block), blocks.at(streams));
                groups.put(plane, block, valid, &regrouping.groups, &blocks);
            }
        }
        groups.set_groups(regrouping.groups);
        if let Some(grouping) = streams.placement.grouping() {
            grouping.regrouped(&full);
        }
        streams.held = blocks.of_classes(streams.held.len());
    }

    /// Notes that the host overwrites or trims what is in `page`.
    // Apart, as only placements that look at pages count.
    #[inline(never)]
    pub(super) fn count_death(&mut self, page: Ppn) {
        let block = self.geometry.block_of(page);
        let Some(class) = self.blocks.class(block) else { return };
        let written = self.written_at(block, self.geometry.page_offset(page));
        self.streams.tally.died(class, self.streams.clock - written);
    }

    /// About when the page at `offset` of `block` was written: as if the block had been filled evenly.
    fn written_at(&self, block: BlockId, offset: u32) -> u64 {
        let plane = self.geometry.plane_of_block(block);
        let frontier = self.space[plane].frontiers().find(|frontier| frontier.block == block);
        let (until, pages) = match frontier {
            Some(Frontier { next_page, .. }) => (self.streams.clock, next_page),
            None => (self.blocks.sealed_at(block), self.limits.data_pages),
        };
        let opened = self.blocks.opened_at(block);
        // A file may tell of a block that was filled before it was opened.
        opened + until.saturating_sub(opened) * u64::from(offset) / u64::from(pages)
    }
}

/// The victim policy of a checked configuration, with no block to choose from.
pub(super) fn victims(
    config: &Resolved,
    name: &str,
    geometry: &Geometry,
    (limits, groups): (Limits, Option<Vec<usize>>),
) -> VictimSelector {
    // A merge may be worth it though it moves as many pages as a group has.
    let group =
        config.ssd.ftl.mapping.blocks_per_group().map(|blocks| blocks * limits.data_pages + 1);
    let shape = match limits.victims_are_lines {
        true => Shape {
            planes: 1,
            blocks: geometry.blocks_per_plane as usize,
            pages_per_block: config.drive.unit.pages as u16,
        },
        false => Shape {
            planes: geometry.planes(),
            blocks: geometry.blocks(),
            pages_per_block: group.unwrap_or(limits.data_pages) as u16,
        },
    };
    let of_shape = |shape: Shape, name: String| {
        VictimSelector::new(&config.ssd.gc.victim, shape, rng::stream(config.seed, &name))
    };
    let policy = |name: String| of_shape(shape, name);
    let size = config.drive.unit.together as usize;
    if size > 1 {
        let classes = config.ssd.ftl.placement.classes() as usize;
        let of_units = |shape| of_shape(shape, format!("{name}/gc/victim"));
        return VictimSelector::InUnits(Box::new(InUnits::new(size, classes, shape, of_units)));
    }
    match groups.filter(|_| config.ssd.ftl.mapping.is_page_mapping()) {
        Some(groups) => VictimSelector::InGroups(Box::new(InGroups::new(groups, shape, |group| {
            policy(format!("{name}/gc/victim/{group}"))
        }))),
        None => policy(format!("{name}/gc/victim")),
    }
}
