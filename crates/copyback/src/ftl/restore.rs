//! A translation layer that comes from a file. A checksum shows that a file is what was written, not
//! that a device was ever in this state, so nothing in it is trusted: whatever a run relies on is
//! checked first, at the cost of one pass over the tables.

use std::collections::BTreeSet;

use crate::config::Config;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::nand::Geometry;
use crate::placement::{AnyPlacement, Class, MOST_CLASSES, Placement};

use super::audit::Audit;
use super::blocks::Blocks;
use super::mapping::{AnyMapping, Mapping, each};
use super::space::{Frontier, Stream};
use super::staged::Staged;
use super::tables::{Limits, Tables, victims};
use super::wear::WearLeveller;
use super::{Allocation, Ftl};

/// Erases that no block survives.
const NEVER: u32 = u32::MAX / 2;

impl Ftl {
    /// The device again, with what is not saved: the inverse mapping, and the audit if wanted.
    /// `name` is as in [`new`](Self::new).
    ///
    /// # Errors
    /// Names the part that contradicts the configuration or another part.
    pub fn restored(self, config: &Config, name: &str) -> Result<Self, &'static str> {
        let Self { mut tables, mut mapping } = self;
        tables.check_shape(config)?;
        expect(tables.restore_bad_blocks(config, name), "bad blocks")?;
        tables.staged = Staged::new(tables.space.planes().len());
        let fresh = AnyMapping::new(config, &tables);
        mapping.restore(fresh, &tables)?;
        let whole = Self { tables, mapping };
        whole.check_blocks()?;
        for plane in whole.space.planes() {
            whole.check_free_blocks(plane, config)?;
        }
        whole.check_policies(config, name)?;
        whole.with_inverse(config)
    }

    fn check_policies(&self, config: &Config, name: &str) -> Result<(), &'static str> {
        let closed = |block| {
            let listed = each!(&self.mapping, mapping => mapping.listed(&self.tables, block))?;
            Some((self.geometry.plane_of_block(block), listed))
        };
        let fresh = victims(config, name, &self.geometry, self.limits);
        expect(self.victims.is_sound(&fresh, &closed), "victim policy")?;
        let fresh = WearLeveller::new(config.ssd.wear.static_threshold, &self.geometry);
        expect(self.wear.is_sound(&fresh, &self.blocks, &self.geometry), "wear levelling")
    }

    /// Each logical page has a valid page of its own, where the allocation and the mapping put it, and each valid
    /// page is some logical page's. Makes the inverse table and the audit.
    fn with_inverse(self, config: &Config) -> Result<Self, &'static str> {
        let Self { mut tables, mapping } = self;
        let Tables { map, blocks, geometry, allocation, .. } = &mut tables;
        let mut unclaimed = blocks.unclaimed();
        let claim = |lpn: Lpn, page: Ppn| {
            let block = geometry.block_of(page);
            let plane = geometry.plane_of_block(block);
            let die = || geometry.die_of_plane(plane);
            let offset = geometry.page_offset(page);
            each!(&mapping, mapping => mapping.may_hold(lpn, block, offset))
                && allocation.plane_of(lpn).is_none_or(|home| home == plane)
                && allocation.die_of(lpn, geometry).is_none_or(|home| home == die())
                && unclaimed.claim(block, offset)
        };
        let sound = map.restore(geometry.pages(), claim) && unclaimed.is_empty();
        expect(sound, "mapping")?;
        let mut whole = Self { tables, mapping };
        if Audit::is_kept(config) {
            whole.tables.audit = Some(Box::new(whole.audit_of_restored(config)));
            each!(&whole.mapping, mapping => mapping.restore_audit(&mut whole.tables));
        }
        Ok(whole)
    }

    fn audit_of_restored(&self, config: &Config) -> Audit {
        let programmed = self.programmed();
        Audit::of_mapped(config, &self.geometry, self.map.mapped(), programmed)
    }

    /// The blocks that are not free, and how many of their pages have been programmed.
    fn programmed(&self) -> impl Iterator<Item = (BlockId, u32)> {
        let all = (0..self.geometry.blocks()).map(BlockId::from_index);
        let closed = all.filter(|block| self.blocks.is_closed(*block));
        let open = self.space.frontiers();
        let bound = each!(&self.mapping, mapping => mapping.programmed());
        closed
            .map(|block| (block, self.limits.data_pages))
            .chain(open.map(|frontier| (frontier.block, frontier.next_page)))
            .chain(bound)
    }

    /// Every block is free, closed or open: the open ones are those that are being filled. No page
    /// is valid that has not been programmed.
    fn check_blocks(&self) -> Result<(), &'static str> {
        let mut planes = self.space.planes();
        let is_sound =
            |plane| each!(&self.mapping, mapping => mapping.has_sound_frontiers(self, plane));
        expect(planes.clone().all(is_sound), "open blocks")?;
        let mut programmed = vec![0; self.geometry.blocks()];
        for (block, pages) in self.programmed() {
            programmed[block.index()] = pages;
        }
        let is_sound = |(block, programmed): (usize, &u32)| {
            let block = BlockId::from_index(block);
            self.blocks.last_valid(block).is_none_or(|last| last < *programmed)
                && self.blocks.erase_count(block) < NEVER
        };
        expect(programmed.iter().enumerate().all(is_sound), "blocks")?;
        expect(planes.all(|plane| self.check_plane(plane).is_ok()), "blocks")
    }

    /// The free blocks of `plane` are listed once each, and enough are left for collections and spare.
    fn check_free_blocks(&self, plane: PlaneId, config: &Config) -> Result<(), &'static str> {
        let free = &self.space[plane].free;
        let erases = |block: BlockId| {
            let lies_here = block.index() < self.geometry.blocks()
                && self.geometry.plane_of_block(block) == plane
                && self.blocks.is_free(block);
            lies_here.then(|| self.blocks.erase_count(block))
        };
        expect(free.is_sound(config.ssd.ftl.free_blocks, erases), "free blocks")?;
        let mut listed: Vec<BlockId> = free.iter().collect();
        listed.sort_unstable();
        listed.dedup();
        let all = self.geometry.blocks_of_plane(plane);
        let count = all.filter(|block| self.blocks.is_free(*block)).count();
        expect(free.len() == count && listed.len() == count, "free blocks")?;
        let (held, in_use) = (
            self.space[plane].held,
            each!(&self.mapping, mapping => mapping.buffered_blocks(plane)),
        );
        let buffer = config.ssd.nv_buffer_blocks() as usize;
        expect(buffer.checked_sub(in_use) == Some(held), "buffer of writes")?;
        let spare = self.space[plane].spare;
        expect(
            count >= self.space.thresholds().kept_for_collections + held + spare,
            "free blocks",
        )?;
        expect(self.space.has_sound_mark(plane), "planes")
    }
}

impl Tables {
    /// Sizes of all tables, and all that follows from the configuration alone.
    fn check_shape(&self, config: &Config) -> Result<(), &'static str> {
        let geometry = Geometry::new(&config.ssd);
        expect(self.geometry == geometry, "geometry")?;
        expect(self.limits == Limits::new(config), "limits")?;
        let allocation = Allocation::new(&config.ssd.ftl.allocation, &geometry);
        expect(self.allocation.is_sound(&allocation, &geometry), "allocation")?;
        expect(self.map.logical_pages() == self.limits.mapped_pages(), "mapping")?;
        expect(self.blocks.has_shape_of(&Blocks::new(&geometry)), "blocks")?;
        let placement = AnyPlacement::new(config.ssd.ftl.placement);
        let has_lived = self.blocks.has_sound_lives(placement.classes(), self.streams.clock);
        expect(self.streams.placement == placement && has_lived, "placement")?;
        expect(self.space.has_shape_of(config, &geometry), "planes")
    }

    /// Whether the open blocks of `plane` are those of its streams.
    pub(super) fn has_sound_frontiers(&self, plane: PlaneId) -> bool {
        let state = &self.space[plane];
        let is_sound = |frontier: Frontier| {
            let block = frontier.block;
            block.index() < self.geometry.blocks()
                && self.geometry.plane_of_block(block) == plane
                && self.blocks.is_open(block)
                && frontier.next_page < self.limits.data_pages
        };
        let blocks_of_streams: BTreeSet<BlockId> =
            state.frontiers().map(|open| open.block).collect();
        let beyond = self.streams.placement.classes()..MOST_CLASSES;
        let mut beyond = beyond.map(|class| Stream::Class(Class::new(class)));
        let blocks = self.geometry.blocks_of_plane(plane);
        state.frontiers().all(is_sound)
            && blocks.filter(|block| self.blocks.is_open(*block)).count()
                == state.frontiers().count()
            && blocks_of_streams.len() == state.frontiers().count()
            && beyond.all(|stream| state.frontier(stream).is_none())
            && (state.frontier(Stream::Translation).is_none() || self.limits.translation_pages > 0)
            // Nothing is collected in parallel before a run.
            && state.frontier(Stream::Aligned).is_none()
    }
}

fn expect(sound: bool, part: &'static str) -> Result<(), &'static str> {
    if sound { Ok(()) } else { Err(part) }
}
