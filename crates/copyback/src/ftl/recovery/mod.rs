//! A translation layer that is made again from what a cut of power has left in the flash.
//!
//! The newest readable version of each logical page counts. A block that was being filled is filled on
//! behind the page that was torn, unless all that counts in it has a copy elsewhere: then it is erased,
//! as are blocks whose erase was cut off.

mod survey;

use crate::config::Config;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};

use super::Ftl;
use super::audit::Audit;
use super::image::{Image, Page};
use super::plane::{Frontier, Plane, Stream};
use super::spare::Role;

pub(super) use survey::Survey;

/// What a recovery has found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// Pages that could not be read, since their program was cut off then or earlier.
    pub unreadable_pages: u64,
    /// Blocks that the recovery erases: their erase was cut off, or they held only copies.
    pub erased: Vec<BlockId>,
}

/// A logical page of which a cut has taken a version that it must not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// Which.
    pub lpn: Lpn,
    /// The version that was durable.
    pub durable: u64,
    /// The one that is found.
    pub found: Option<u64>,
}

impl Ftl {
    /// The translation layer of a checked configuration as `image` shows it. `name` is as in
    /// [`new`](Self::new).
    pub fn recovered(config: &Config, name: &str, image: &Image) -> (Self, Scan) {
        let mut ftl = Self::new(config, name);
        let mut survey = Survey::new(image, ftl.map.logical_pages());
        survey.erase_copies();
        // What is full is left to collections, where they would find it.
        let (bound, data_pages) = (ftl.groups.is_some(), ftl.limits.data_pages);
        survey.erase_outdated(|written| bound || written < data_pages);
        ftl.take_blocks(&survey, config);
        for (lpn, plane, _) in image.saved.iter().flat_map(|saved| &saved.parked) {
            ftl.parked.add(*lpn, *plane);
        }
        let erased = |block| survey.is_erased(block);
        let audit = Audit::of_image(config, image, survey.found(), erased);
        ftl.audit = Some(Box::new(audit));
        ftl.recover_cache(image);
        let unreadable = image.pages.iter().filter(|page| **page == Page::Unreadable);
        let scan = Scan {
            unreadable_pages: unreadable.count() as u64,
            erased: survey.erased_blocks().collect(),
        };
        (ftl, scan)
    }

    /// Takes over every block as it was found.
    fn take_blocks(&mut self, survey: &Survey<'_>, config: &Config) {
        for (lpn, page) in survey.found() {
            self.map.set(lpn, page);
            self.blocks.program(self.geometry.block_of(page), self.geometry.page_offset(page));
        }
        for block in survey.image.blocks() {
            let erases = survey.image.blocks[block.index()].erases;
            let erases = erases + u32::from(survey.is_erased(block));
            self.blocks.set_erase_count(block, erases);
            if erases > 0 {
                self.wear.erased(self.geometry.plane_of_block(block), block, erases);
            }
        }
        for plane in (0..self.planes.len()).map(PlaneId::from_index) {
            self.take_plane(plane, survey, config);
        }
        self.take_groups(survey);
        (0..self.planes.len()).for_each(|plane| self.weigh(PlaneId::from_index(plane)));
    }

    fn take_plane(&mut self, plane: PlaneId, survey: &Survey<'_>, config: &Config) {
        let mut blocks: Vec<_> = self.geometry.blocks_of_plane(plane).collect();
        blocks.sort_by_key(|block| survey.last_program(*block));
        let held = config.ssd.nv_buffer_blocks() as usize;
        let order = config.ssd.ftl.free_blocks;
        self.planes[plane.index()] = Plane::new(std::iter::empty(), order, held, 0);
        for block in blocks.iter().filter(|block| survey.written(**block) == 0) {
            self.planes[plane.index()].free.push(*block, self.blocks.erase_count(*block));
        }
        blocks.retain(|block| survey.written(*block) > 0);
        match self.groups {
            None => self.take_streams(plane, &blocks, survey),
            Some(_) => blocks.iter().for_each(|block| self.blocks.set_open(*block)),
        }
    }

    /// Takes over groups, and tells the victim policy what merging them is worth.
    fn take_groups(&mut self, survey: &Survey<'_>) {
        let Some(groups) = &mut self.groups else { return };
        groups.recover(survey);
        let layout = *groups.layout();
        for plane in (0..self.planes.len()).map(PlaneId::from_index) {
            self.planes[plane.index()].held -= self.nv_buffer_in_use(plane);
        }
        for id in (0..layout.groups()).map(|index| layout.group(index)) {
            let home = layout.page_at(id, 0).and_then(|lpn| self.allocation.plane_of(lpn));
            if let Some(plane) = home {
                self.list(plane, id);
            }
        }
    }

    /// Takes over the written blocks of `plane`, the one that was written last at the end: the last of each
    /// stream that is not full is filled on, the others are closed.
    fn take_streams(&mut self, plane: PlaneId, blocks: &[BlockId], survey: &Survey<'_>) {
        for block in blocks.iter().rev() {
            let next_page = survey.written(*block);
            let stream = stream_of(survey.role(*block));
            let state = &mut self.planes[plane.index()];
            if next_page < self.limits.data_pages && state.frontier(stream).is_none() {
                *state.frontier_mut(stream) = Some(Frontier { block: *block, next_page });
                self.blocks.set_open(*block);
            }
        }
        for block in blocks {
            if !self.blocks.is_open(*block) {
                self.close(plane, *block);
            }
        }
        let may_share = !self.limits.separate_frontiers;
        let is_short = self.planes[plane.index()].free_blocks() < self.limits.hard_threshold;
        self.planes[plane.index()].lent = may_share && is_short;
        if !blocks.is_empty() && self.planes[plane.index()].frontier(Stream::Host).is_none() {
            self.reopen(plane, Stream::Host);
        }
    }

    /// Each entry of a table in flash that its last translation page does not hold waits to be written
    /// there.
    fn recover_cache(&mut self, image: &Image) {
        if self.cache.is_none() {
            return;
        }
        for lpn in (0..self.limits.logical_pages).map(Lpn::from_index) {
            let (found, entry) = (self.map.physical(lpn), image.entries[lpn.index()]);
            if self.limits.translation_pages == 0 {
                if found.is_some() {
                    self.note_unmapped(lpn);
                    self.make_room_for_entry();
                    self.load_entry(lpn);
                }
                continue;
            }
            let page = self.translation_page_of(lpn);
            let version = self.audit.as_ref().and_then(|audit| audit.version(page));
            let is_intact = image.entry_versions.get(&page).copied() == version;
            if !is_intact || found != entry {
                self.note_unmapped(lpn);
            }
        }
        let written: Vec<_> = self.written_entries().collect();
        if let Some(audit) = &mut self.audit {
            audit.entries_restored(written.into_iter());
        }
    }

    /// What a cut of power would leave if everything that has been begun were over.
    pub fn image(&self) -> Image {
        let audit = self.audit.as_ref().expect("kept where power may fail");
        audit.image(&self.geometry, |block| self.blocks.erase_count(block))
    }

    /// The same with what a drive with capacitors saves of its RAM.
    pub fn saved_image(&self) -> Image {
        let mut image = self.image();
        let audit = self.audit.as_ref().expect("kept where power may fail");
        image.saved = Some(audit.saved(|lpn| self.parked.plane_of(lpn)));
        image
    }

    /// From now on programs take time, and the power may fail.
    pub fn begin_timed(&mut self) {
        if let Some(audit) = &mut self.audit {
            audit.begin();
        }
    }

    /// The program of `page` is over. Returns the block with the page that it superseded, if no program
    /// supersedes a page there any more.
    pub fn program_is_over(&mut self, page: Ppn) -> Option<BlockId> {
        self.audit.as_mut()?.programmed(page)
    }

    /// The last version of `lpn` that is in the flash, if that is kept account of.
    pub fn durable_version(&self, lpn: Lpn) -> Option<u64> {
        self.audit.as_ref()?.spare.as_ref()?.durable(lpn)
    }

    /// Whether programs under way supersede pages of `block`, so that a cut may make those count again.
    pub fn is_superseded_by_programs(&self, block: BlockId) -> bool {
        let spare = self.audit.as_ref().and_then(|audit| audit.spare.as_ref());
        spare.is_some_and(|spare| spare.is_superseded_by_programs(block))
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

const fn stream_of(role: Role) -> Stream {
    match role {
        Role::Host | Role::Merge | Role::Buffer => Stream::Host,
        Role::Translation => Stream::Translation,
        Role::Collection => Stream::Collection,
        Role::Aligned => Stream::Aligned,
    }
}
