//! The tables of a translation layer, whatever the mapping: where logical pages lie, which blocks are open,
//! free or closed. A mapping decides where a page goes; the tables put it there.

mod place;
mod write;

use std::ops::Deref;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::{DieId, Lpn, PlaneId, Ppn};
use crate::nand::Geometry;
use crate::placement::Placement;

use super::allocation::Allocation;
use super::audit::Audit;
use super::bad_blocks::BadBlocks;
use super::block_manager::{BlockManager, victims};
use super::blocks::Blocks;
use super::limits::Limits;
use super::lost_pages::LostPages;
use super::page_map::PageMap;
use super::space::Space;
use super::staged::Staged;
use super::streams::Streams;
use super::units::{
    LinesOn, ReclaimUnits, SlcPool, SlcState, StripePages, UnitOfReclaiming, Units, each,
};
use super::wear::WearLeveller;

/// Pages and blocks of a drive, and the units that blocks are reclaimed in. Whoever holds the layer may look at them; only the
/// layer and its mapping change them.
#[derive(Debug, Checkpointed)]
pub struct Tables {
    pub(super) manager: BlockManager,
    pub(super) units: Units,
    /// Allocation of writes to planes.
    pub(super) allocation: Allocation,
}

impl Deref for Tables {
    type Target = BlockManager;

    #[inline(always)]
    fn deref(&self) -> &BlockManager {
        &self.manager
    }
}

impl Tables {
    /// Creates the tables of an erased device.
    pub(super) fn new(config: &Resolved, name: &str) -> Self {
        let pages = Geometry::new(config).pages();
        Self::with_map(config, name, PageMap::new(Limits::mapped_pages(config), pages))
    }

    /// Creates the tables of an erased device with this map.
    pub(super) fn with_map(config: &Resolved, name: &str, map: PageMap) -> Self {
        let geometry = Geometry::new(config);
        let mut streams = Streams::new(config, name);
        let limits = Limits::new(config, &streams.classes);
        let groups = streams.placement.grouping().map(|grouping| grouping.groups());
        let mut blocks = Blocks::new(&geometry);
        let bad_blocks = BadBlocks::new(config, name);
        let is_good = |block| !bad_blocks.is_bad_when_new(block);
        let units = Units::new(config, &geometry, &streams.classes, &mut blocks, is_good);
        let is_native = |block: &_| is_good(*block) && !blocks.is_static_slc(*block);
        let manager = BlockManager {
            geometry,
            map,
            space: Space::new(config, &geometry, is_native),
            streams,
            victims: victims(config, name, &geometry, (limits, groups)),
            wear: WearLeveller::new(&config.ssd.wear, &geometry, &blocks),
            blocks,
            limits,
            staged: Staged::new(geometry.planes()),
            lost_pages: LostPages::new(config),
            audit: Audit::is_kept(config).then(|| Box::new(Audit::new(config, &geometry))),
            bad_blocks,
        };
        let mut tables = Self { manager, units, allocation: Allocation::new(config, &geometry) };
        tables.manager.mark_factory_bad_blocks();
        tables.begin_pool();
        tables
    }

    /// The lines, if blocks are managed in lines.
    pub fn lines(&self) -> Option<LinesOn<'_>> {
        self.units.lines().map(|lines| lines.on(&self.manager))
    }

    /// Whether `die` is lost.
    pub fn is_lost(&self, die: DieId) -> bool {
        self.units.lines().is_some_and(|lines| lines.is_lost(die))
    }

    /// The other pages of the stripe of `page`, if lines have parity and none of the stripe has been erased or lost.
    pub fn others_of_stripe(&self, page: Ppn) -> Option<StripePages> {
        self.lines()?.others_of_stripe(page)
    }

    /// Allocation of writes to planes.
    pub const fn allocation(&self) -> &Allocation {
        &self.allocation
    }

    /// Whether a page of the host that is written to `plane` goes to the SLC cache.
    pub fn goes_to_cache(&self, plane: PlaneId, lpn: Lpn) -> bool {
        !self.limits.is_translation_page(lpn)
            && self.slc_pool().is_some_and(|pool| pool.next_offset(plane).is_some())
    }

    /// The pool of blocks in the mode of the SLC cache, if there is one.
    pub const fn slc_pool(&self) -> Option<&SlcPool> {
        self.units.slc_pool()
    }

    /// State of the SLC cache and its use, if there is one.
    pub fn slc_state(&self) -> Option<SlcState> {
        self.slc_pool().map(|pool| pool.state(&self.manager))
    }

    /// Looks at what the SLC cache has, if there is one, once all is known of the device.
    pub(super) fn begin_pool(&mut self) {
        if let Some(pool) = self.units.slc_pool_mut() {
            pool.look_at_all(&self.manager);
        }
    }

    /// Checks the tables against one another.
    pub(super) fn check(&self) -> Result<(), String> {
        self.map.check(|page| self.is_valid(page))?;
        if let Some(audit) = &self.audit {
            audit.check_map(|lpn| self.map.physical(lpn))?;
            audit.check_lost(
                |page| self.lost_pages.is_marked(page),
                |lpn| self.staged.is_lost(lpn),
            )?;
        }
        self.blocks.check_classes(self.streams.held())?;
        each!(&self.units, unit => unit.check(&self.manager))?;
        ReclaimUnits::of(self).check(self.units.lines())?;
        self.space.planes().try_for_each(|plane| {
            let is_parity = |block| self.lines().is_some_and(|lines| lines.is_parity(block));
            self.rooms().check(plane, self.geometry.blocks_of_plane(plane), is_parity)
        })
    }
}
