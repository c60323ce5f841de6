//! Saved state of a translation layer: facts, no tables of policies. A layer is made again by putting pages and
//! blocks of an erased device where they were.
//!
//! A checksum shows that a file is what was written, not that a device was ever in this state. Whatever a run
//! relies on is checked on the way.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::config::Resolved;
use crate::ids::{BlockId, PlaneId, Ppn};
use crate::nand::Geometry;
use crate::placement::Placement;
use crate::victim::{SavedVictims, VictimSelector};

use super::Ftl;
use super::allocation::Allocation;
use super::audit::Audit;
use super::block_manager::BlockManager;
use super::blocks::{Blocks, SavedBlock};
use super::limits::Limits;
use super::mapping::{AnyMapping, Change, Mapping, SavedMapping, each};
use super::page_map::PageMap;
use super::space::{Frontier, Plane, SavedPlane, Stream};
use super::spare::Role;
use super::tables::Tables;
use super::units::{SavedLines, SavedSlcCache, SlcPool};
use super::wear::WearLeveller;
use super::{chunks, packed};

/// Pages that no host has written.
const NEVER: u64 = 1 << 60;

/// The facts that a translation layer is made again from.
#[derive(Debug, Serialize, Deserialize)]
pub struct Saved<'a> {
    /// Pages that the host has written.
    clock: u64,
    /// Memory of the placement.
    #[serde(with = "chunks")]
    placement: Vec<u8>,
    /// Place of each logical page.
    #[serde(with = "packed")]
    pages: Cow<'a, [Option<Ppn>]>,
    blocks: Vec<SavedBlock>,
    planes: Vec<SavedPlane>,
    /// Of each die, the plane whose turn it is.
    turns: Vec<u32>,
    victims: SavedVictims,
    mapping: SavedMapping,
    /// SLC cache, where there is one. It stands apart in the file.
    #[serde(skip)]
    pub slc_cache: Option<SavedSlcCache>,
    /// Lines, where there are any. They stand apart in the file.
    #[serde(skip)]
    pub lines: Option<SavedLines>,
}

impl Ftl {
    /// Saved state of the layer. Nothing may be under way.
    pub fn saved(&self) -> Saved<'_> {
        Saved {
            clock: self.streams.clock,
            placement: self.streams.placement.memory(),
            pages: Cow::Borrowed(self.map.table()),
            blocks: self.blocks.saved(),
            planes: self.space.saved(),
            turns: self.allocation.turns().to_vec(),
            victims: self.victims.saved(),
            mapping: each!(&self.mapping, mapping => mapping.saved()),
            slc_cache: self.slc_pool().map(|pool| pool.saved(self)),
            lines: self.lines().map(|lines| lines.saved()),
        }
    }

    /// The translation layer of a checked configuration that was saved. `name` is as in [`new`](Self::new).
    ///
    /// # Errors
    /// Names the part that contradicts the configuration or another part.
    pub fn restored(saved: Saved<'_>, config: &Resolved, name: &str) -> Result<Self, &'static str> {
        let Saved {
            clock,
            placement,
            pages,
            blocks,
            planes,
            turns,
            victims,
            mapping,
            slc_cache,
            lines,
        } = saved;
        expect(pages.len() == Limits::mapped_pages(config), "mapping")?;
        let map = PageMap::of(pages.into_owned(), Geometry::new(config).pages());
        let mut tables = Tables::with_map(config, name, map);
        expect(clock < NEVER, "placement")?;
        tables.manager.streams.clock = clock;
        let now = tables.streams.now();
        expect(tables.manager.streams.placement.remember(&placement, now), "placement")?;
        if let VictimSelector::InGroups(in_groups) = &mut tables.manager.victims
            && let Some(grouping) = tables.manager.streams.placement.grouping()
        {
            in_groups.set_groups(grouping.groups());
        }
        let Tables { allocation, manager, units } = &mut tables;
        expect(allocation.restore_turns(turns, &manager.geometry), "allocation")?;
        restore_blocks(manager, &blocks)?;
        let BlockManager { map, blocks, geometry, .. } = manager;
        expect(restore_pages(map, blocks, geometry, allocation), "mapping")?;
        let pool = (units.slc_pool_mut(), slc_cache.as_ref());
        expect(
            restore_part(pool, |pool, saved| pool.restore(blocks, geometry, saved)),
            "SLC cache",
        )?;
        expect(planes.len() == tables.space.planes().len(), "planes")?;
        for (plane, saved) in tables.space.planes().zip(&planes) {
            let BlockManager { bad_blocks, blocks, geometry, space, limits, .. } =
                &mut tables.manager;
            expect(bad_blocks.can_have_spare(plane, saved.spare), "bad blocks")?;
            let of_plane: Vec<_> = geometry.blocks_of_plane(plane).collect();
            restore_plane(&mut space[plane], &of_plane, blocks, limits.data_pages, saved)?;
        }
        let Tables { manager, units, .. } = &mut tables;
        let lines = (units.lines_mut(), lines.as_ref());
        expect(restore_part(lines, |lines, saved| lines.restore(manager, saved)), "lines")?;
        let saved = mapping;
        let mut mapping = AnyMapping::new(config, &tables);
        each!(&mut mapping, mapping => mapping.restore(&saved, &tables))?;
        let mut whole = Self { tables, mapping };
        whole.check_pages()?;
        for (plane, saved) in whole.space.planes().zip(&planes) {
            whole.restore_room(plane, saved, config)?;
        }
        whole.tables.begin_pool();
        whole.tables.manager.space.count_scopes();
        for (plane, saved) in whole.space.planes().zip(&planes) {
            let is_below = saved.is_below_threshold;
            expect(whole.tables.manager.space.restore_mark(plane, is_below), "planes")?;
        }
        whole.restore_policies(victims, config)?;
        whole.restore_audit(config);
        Ok(whole)
    }

    /// Each page lies in a block that has been programmed that far.
    fn check_pages(&self) -> Result<(), &'static str> {
        let BlockManager { blocks, geometry, .. } = &self.tables.manager;
        let opens_blocks = self.facts().opens_blocks;
        let is_sound = |plane| match opens_blocks {
            true => self.space[plane].frontiers().next().is_none(),
            false => has_sound_frontiers(self, plane),
        };
        expect(self.space.planes().all(is_sound), "open blocks")?;
        let mut programmed = vec![0; geometry.blocks()];
        for (block, pages) in self.programmed() {
            programmed[block.index()] = pages;
        }
        let mut programmed = programmed.into_iter().enumerate();
        let are_programmed = programmed.all(|(block, programmed)| {
            blocks.last_valid(BlockId::from_index(block)).is_none_or(|last| last < programmed)
        });
        expect(are_programmed, "blocks")
    }

    /// The blocks that are not free, and how many of their pages have been programmed.
    fn programmed(&self) -> impl Iterator<Item = (BlockId, u32)> {
        let all = self.geometry.all_blocks();
        let closed = all.filter(|block| self.blocks.is_closed(*block));
        let open = self.space.frontiers();
        let all = self.geometry.all_blocks();
        let bound = all.filter_map(|block| Some((block, self.block_use(block).programmed?)));
        closed
            .map(|block| (block, self.limits.data_pages))
            .chain(open.map(|frontier| (frontier.block, frontier.next_page)))
            .chain(self.units.slc_pool().into_iter().flat_map(SlcPool::programmed))
            .chain(bound)
    }

    /// Keeps back what free blocks a buffer of writes needs. Enough must be left for collections and spare.
    fn restore_room(
        &mut self,
        plane: PlaneId,
        saved: &SavedPlane,
        config: &Resolved,
    ) -> Result<(), &'static str> {
        let is_buffers = |block: &BlockId| self.block_use(*block).role == Some(Role::Buffer);
        let in_use = self.geometry.blocks_of_plane(plane).filter(is_buffers).count();
        let held = (config.drive.blocks.buffer as usize).checked_sub(in_use);
        let held = held.ok_or("buffer of writes")?;
        let space = &mut self.tables.manager.space;
        let kept = space.thresholds().kept_for_collections + held + saved.spare;
        expect(saved.free.len() >= kept, "free blocks")?;
        space[plane].held = held;
        Ok(())
    }

    fn restore_policies(
        &mut self,
        victims: SavedVictims,
        config: &Resolved,
    ) -> Result<(), &'static str> {
        let all = self.geometry.all_blocks();
        let listed: Vec<_> = all.map(|block| self.block_use(block).listed).collect();
        let tables = &mut self.tables;
        let BlockManager { victims: policy, geometry, blocks, streams, wear, .. } =
            &mut tables.manager;
        *wear = WearLeveller::new(&config.ssd.wear, geometry, blocks);
        if let Some(lines) = tables.units.lines() {
            let view = lines.at(blocks, streams);
            return expect(lines.restore_victims(policy, &view, victims), "victim policy");
        }
        let listed =
            |block: BlockId| Some((geometry.plane_of_block(block), listed[block.index()]?));
        let view = blocks.at(streams);
        expect(policy.restore(victims, geometry.blocks(), listed, &view), "victim policy")
    }

    fn restore_audit(&mut self, config: &Resolved) {
        if Audit::is_kept(config) {
            let programmed = self.programmed();
            let audit = Audit::of_mapped(config, &self.geometry, self.map.mapped(), programmed);
            self.tables.manager.audit = Some(Box::new(audit));
            self.note(Change::AuditBegins);
        }
    }
}

/// Makes the blocks those that were saved. Retires what has become bad since the drive was new.
fn restore_blocks(manager: &mut BlockManager, saved: &[SavedBlock]) -> Result<(), &'static str> {
    let may_fail = manager.bad_blocks.keeps_spare_blocks();
    let are_possible = manager.geometry.all_blocks().zip(saved).all(|(block, saved)| {
        let was_bad_when_new = manager.blocks.is_bad(block);
        let has_failed = saved.is_bad() && !was_bad_when_new;
        if has_failed {
            manager.retire(block);
        }
        saved.is_bad() >= was_bad_when_new && may_fail >= has_failed
    });
    expect(are_possible, "bad blocks")?;
    let (classes, now) = (manager.streams.classes.count(), manager.streams.clock);
    expect(manager.blocks.restore(saved, classes, now), "blocks")?;
    let counted = manager.streams.held.len();
    manager.streams.held = manager.blocks.of_classes(counted);
    Ok(())
}

/// Puts each logical page where it was: a page of its own, where the allocation puts it.
fn restore_pages(
    map: &mut PageMap,
    blocks: &mut Blocks,
    geometry: &Geometry,
    allocation: &Allocation,
) -> bool {
    map.invert(|lpn, page| {
        let (block, offset) = (geometry.block_of(page), geometry.page_offset(page));
        let plane = geometry.plane_of_block(block);
        let die = || geometry.die_of_plane(plane);
        let is_home = allocation.plane_of(lpn).is_none_or(|home| home == plane)
            && allocation.die_of(lpn, geometry).is_none_or(|home| home == die())
            && !blocks.is_valid(block, offset);
        if is_home {
            blocks.program(block, offset);
        }
        is_home
    })
}

/// Makes a part, which not all drives have, the one that was saved. False if it can't be that of these blocks.
fn restore_part<P, S>(
    part: (Option<&mut P>, Option<&S>),
    restore: impl FnOnce(&mut P, &S) -> bool,
) -> bool {
    match part {
        (Some(part), Some(saved)) => restore(part, saved),
        (part, saved) => part.is_none() && saved.is_none(),
    }
}

/// Restores a plane, whose free blocks must be listed once each.
fn restore_plane(
    plane: &mut Plane,
    of_plane: &[BlockId],
    blocks: &Blocks,
    data_pages: u32,
    saved: &SavedPlane,
) -> Result<(), &'static str> {
    let mut listed = saved.free.clone();
    listed.sort_unstable();
    let is_free = |block: &BlockId| blocks.is_free(*block) && !blocks.is_static_slc(*block);
    expect(of_plane.iter().copied().filter(is_free).eq(listed), "free blocks")?;
    let has_its_streams = plane.restore(saved, |block| blocks.erase_count(block));
    expect(has_its_streams, "open blocks")?;
    let closed = of_plane.iter().copied().filter(|block| blocks.is_closed(*block));
    let invalid = |block| data_pages.checked_sub(blocks.valid_pages(block).into());
    let closed_invalid = closed.map(invalid).sum::<Option<u32>>();
    plane.closed_invalid = closed_invalid.ok_or("blocks")?;
    Ok(())
}

/// Whether the open blocks of `plane` are those of its streams.
pub(super) fn has_sound_frontiers(tables: &Tables, plane: PlaneId) -> bool {
    let state = &tables.space[plane];
    let is_sound = |frontier: Frontier| frontier.next_page < tables.limits.data_pages;
    let of_streams: BTreeSet<BlockId> = state.frontiers().map(|open| open.block).collect();
    let following = tables.lines().map(|lines| lines.following_blocks(plane));
    let following: BTreeSet<BlockId> = following.into_iter().flatten().collect();
    let cached = tables.units.slc_pool().and_then(|pool| pool.frontier(plane));
    let is_open = |block: &BlockId| {
        tables.blocks.is_open(*block) && cached.is_none_or(|open| open.block != *block)
    };
    let open = tables.geometry.blocks_of_plane(plane).filter(is_open);
    state.frontiers().all(is_sound)
        && state.frontiers().count() == of_streams.len()
        && open.eq(of_streams.union(&following).copied())
        && (state.frontier(Stream::Translation).is_none() || tables.limits.translation_pages > 0)
        // Nothing is collected in parallel before a run.
        && state.frontier(Stream::Aligned).is_none()
}

fn expect(sound: bool, part: &'static str) -> Result<(), &'static str> {
    if sound { Ok(()) } else { Err(part) }
}
