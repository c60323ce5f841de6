//! A translation layer that is made again from what a cut of power has left in the flash.
//!
//! The newest readable version of each logical page counts. A block that was being filled is filled on
//! behind the page that was torn, unless all that counts in it has a copy elsewhere: then it is erased,
//! as are blocks whose erase was cut off.

mod survey;

use crate::config::Resolved;
use crate::ids::{BlockId, Lpn, PlaneId};
use crate::placement::{Class, Origin};
use crate::victim::Victims;

use super::Ftl;
use super::audit::Audit;
use super::block_manager::BlockManager;
use super::blocks::Blocks;
use super::image::Image;
use super::mapping::{AnyMapping, Change, Mapping, each};
use super::space::{Frontier, Plane, Stream};
use super::spare::Role;
use super::staged::StagedPage;
use super::tables::Tables;
use super::units::{Units, each as each_unit, reopen_for_host};

pub(super) use survey::Survey;

/// Findings of a recovery.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// Blocks that the recovery erases: their erase was cut off, or they held only copies.
    pub erased: Vec<BlockId>,
}

/// A logical page of which a cut has taken a version that it must not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// Logical page.
    pub lpn: Lpn,
    /// The version that was durable.
    pub durable: u64,
    /// The one that is found.
    pub found: Option<u64>,
}

impl Ftl {
    /// The translation layer of a checked configuration as `image` shows it. `name` is as in
    /// [`new`](Self::new).
    pub fn recovered(config: &Resolved, name: &str, image: &Image) -> (Self, Scan) {
        let Self { mut tables, mut mapping } = Self::new(config, name);
        let mut survey = Survey::new(image, tables.map.logical_pages());
        survey.erase_copies();
        let facts = each!(&mapping, mapping => mapping.facts());
        let (all, data_pages) = (facts.opens_blocks, tables.limits.data_pages);
        survey.erase_outdated(|written| all || written < data_pages);
        tables.recover(&mut mapping, &survey, config);
        for (lpn, plane, _) in image.saved.iter().flat_map(|saved| &saved.staged) {
            // Where power may fail, reads do not.
            let (plane, origin, is_lost) = (*plane, Origin::Moved { class: None }, false);
            tables.manager.staged.add(*lpn, StagedPage { plane, origin, is_lost });
        }
        // What was staged holds data, too.
        tables.begin_pool();
        let erased = |block| survey.is_erased(block);
        let audit = Audit::of_image(config, image, survey.found(), erased);
        tables.manager.audit = Some(Box::new(audit));
        each!(&mut mapping, mapping => mapping.note(&mut tables, Change::TableFound(image)));
        let scan = Scan { erased: survey.erased_blocks().collect() };
        (Self { tables, mapping }, scan)
    }
}

impl Tables {
    /// Takes over every block as it was found.
    fn recover(&mut self, mapping: &mut AnyMapping, survey: &Survey<'_>, config: &Resolved) {
        for (lpn, page) in survey.found() {
            self.manager.map.set(lpn, page);
            self.manager
                .blocks
                .program(self.geometry.block_of(page), self.geometry.page_offset(page));
        }
        for block in survey.image.blocks() {
            let erases = survey.image.blocks[block.index()].erases;
            let erases = erases + u32::from(survey.is_erased(block));
            self.manager.blocks.set_erase_count(block, erases);
            if erases > 0 {
                self.manager.wear.erased(self.geometry.plane_of_block(block), block, erases);
            }
        }
        for plane in self.space.planes() {
            let all = self.geometry.blocks_of_plane(plane);
            let BlockManager { space, blocks, .. } = &mut self.manager;
            space[plane] = Plane::new(config, std::iter::empty());
            let blocks = recover_free_blocks(&mut space[plane], all, blocks, survey);
            let found = Change::PlaneFound { plane, blocks: &blocks, survey };
            each!(&mut *mapping, mapping => mapping.note(self, found));
        }
        each!(mapping, mapping => mapping.note(self, Change::AllFound(survey)));
        let manager = &mut self.manager;
        manager.space.planes().for_each(|plane| manager.free_blocks_changed(plane));
    }

    /// Takes over the written blocks of `plane`, the one that was written last at the end: the last of each
    /// stream that is not full is filled on, the others are closed.
    pub(super) fn recover_streams(
        &mut self,
        plane: PlaneId,
        blocks: &[BlockId],
        survey: &Survey<'_>,
    ) {
        let (cached, blocks): (Vec<_>, Vec<_>) =
            blocks.iter().partition(|block| survey.role(**block) == Role::Cache);
        let cached: Vec<_> =
            cached.into_iter().map(|block| (block, survey.written(block))).collect();
        let Self { manager, units, .. } = self;
        if let Some(pool) = units.slc_pool_mut() {
            let all = manager.geometry.blocks_of_plane(plane);
            let BlockManager { blocks, streams, .. } = &mut *manager;
            pool.recover(blocks, streams.clock, all, (plane, &cached));
        }
        let mut by_opening = blocks.clone();
        by_opening.sort_by_key(|block| survey.first_program(*block));
        by_opening.into_iter().for_each(|block| manager.victims.opened(plane, block));
        let mut filled = Vec::new();
        for block in blocks.iter().rev() {
            let next_page = survey.written(*block);
            let stream = stream_of(survey.role(*block));
            manager.blocks.open(*block, stream.class(), manager.streams.clock);
            manager.streams.opened(stream.class());
            let state = &mut manager.space[plane];
            if next_page < manager.limits.data_pages && state.frontier(stream).is_none() {
                *state.frontier_mut(stream) = Some(Frontier { block: *block, next_page });
            } else {
                filled.push(*block);
            }
        }
        for block in filled.into_iter().rev() {
            self.close(plane, block);
        }
        let may_share = self.limits.mixes;
        let is_short = self.space[plane].free_blocks() < self.space.thresholds().hard;
        self.manager.space[plane].lent = may_share && is_short;
        if !blocks.is_empty() || !cached.is_empty() {
            let Self { manager, units, .. } = self;
            each_unit!(units, unit => reopen_for_host(unit.as_mut(), manager, plane));
        }
    }

    /// Image that a power cut would leave if everything that has been begun were over; with the content of RAM, if
    /// capacitors save it.
    pub fn image(&self, saves_ram: bool) -> Image {
        let audit = self.audit.as_ref().expect("kept where power may fail");
        let mut image = audit.image(&self.geometry, |block| self.blocks.erase_count(block));
        image.saved = saves_ram.then(|| audit.saved(|lpn| self.staged.plane_of(lpn)));
        image
    }

    /// The pages of the host of which this, made again after a cut, has an older version than `before`,
    /// the drive until then, had brought to the flash.
    pub fn lost_since(&self, before: &Self) -> Vec<Lost> {
        let (Some(now), Some(audit)) = (&self.audit, &before.audit) else { return Vec::new() };
        let Some(spare) = &audit.spare else { return Vec::new() };
        let lost = |lpn| {
            let (durable, found) = (spare.durable(lpn)?, now.version(lpn));
            (found < Some(durable)).then_some(Lost { lpn, durable, found })
        };
        (0..self.limits.logical_pages).map(Lpn::from_index).filter_map(lost).collect()
    }
}

/// Frees what is not written of the blocks of `plane`. Returns those that are, the one that was written last at the end.
fn recover_free_blocks(
    plane: &mut Plane,
    of_plane: impl Iterator<Item = BlockId>,
    known: &Blocks,
    survey: &Survey<'_>,
) -> Vec<BlockId> {
    let mut blocks: Vec<_> = of_plane.collect();
    blocks.sort_by_key(|block| survey.last_program(*block));
    plane.spare = 0;
    let is_free = |block: &&BlockId| survey.written(**block) == 0 && !known.is_static_slc(**block);
    for block in blocks.iter().filter(is_free) {
        plane.free.push(*block, known.erase_count(*block));
    }
    blocks.retain(|block| survey.written(*block) > 0);
    blocks
}

fn stream_of(role: Role) -> Stream {
    match role {
        Role::Class(class) => Stream::Class(class),
        // Blocks of a cache go back to it.
        Role::Merge | Role::Buffer | Role::Cache => Stream::Class(Class::new(0)),
        Role::Translation => Stream::Translation,
        Role::Aligned => Stream::Aligned,
    }
}
