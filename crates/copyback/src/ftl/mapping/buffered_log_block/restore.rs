//! A buffer that comes from a file, in which nothing is trusted, or that a cut of power has left.

use crate::ftl::blocks::Blocks;
use crate::ftl::recovery::Survey;
use crate::ftl::space::Frontier;
use crate::ids::{BlockId, PlaneId};
use crate::nand::Geometry;

use super::nv_buffer::{NvBuffer, PlaneBuffer};
use crate::ftl::mapping::bound::{GroupId, Groups};
use crate::ftl::mapping::log_block::DataAndUpdate;

impl NvBuffer {
    /// Makes again what is not saved; `pages` says in which block each page of a group lies. False if a
    /// block can't be the buffer's.
    pub fn restore(
        &mut self,
        fresh: &Self,
        geometry: &Geometry,
        blocks: &Blocks,
        pages: impl Iterator<Item = (GroupId, BlockId)>,
    ) -> bool {
        let has_shape = self.planes.len() == fresh.planes.len()
            && self.blocks_per_plane == fresh.blocks_per_plane
            && self.planes_per_die == fresh.planes_per_die;
        self.pages.clone_from(&fresh.pages);
        self.queued.clone_from(&fresh.queued);
        self.holds.clone_from(&fresh.holds);
        self.to_clean.clone_from(&fresh.to_clean);
        if !has_shape || !self.claim_blocks(geometry, blocks) || !self.claim_groups() {
            return false;
        }
        for (group, block) in pages {
            self.pages[group.index()] += u16::from(self.holds(block));
        }
        (0..self.planes.len()).for_each(|plane| self.weigh(PlaneId::from_index(plane)));
        true
    }

    /// Notes which blocks are the buffer's. False if one is free, lies elsewhere or is listed twice.
    fn claim_blocks(&mut self, geometry: &Geometry, blocks: &Blocks) -> bool {
        let Self { planes, holds, .. } = self;
        let mut planes = planes.iter().enumerate();
        planes.all(|(plane, buffer)| {
            buffer.blocks.iter().chain(&buffer.emptied).all(|block| {
                block.index() < geometry.blocks()
                    && geometry.plane_of_block(*block).index() == plane
                    && !blocks.is_free(*block)
                    && !std::mem::replace(&mut holds[block.index()], true)
            })
        })
    }

    /// Notes which groups are queued. False if there is no such group, or one is queued twice.
    fn claim_groups(&mut self) -> bool {
        let Self { planes, queued, .. } = self;
        planes.iter().flat_map(|buffer| &buffer.queue).all(|group| {
            let entry = queued.get_mut(group.index());
            entry.is_some_and(|entry| !std::mem::replace(entry, true))
        })
    }

    /// Whether just groups for which it `is_sound` are queued on a plane.
    pub fn has_sound_queues(&self, is_sound: impl Fn(GroupId, PlaneId) -> bool) -> bool {
        let queues = self.planes.iter().map(|buffer| &buffer.queue).enumerate();
        let lengths = queues.clone().map(|(_, queue)| queue.len()).sum::<usize>();
        lengths == self.queued.iter().filter(|queued| **queued).count()
            && queues.into_iter().all(|(plane, queue)| {
                let is_right = |id: &GroupId| {
                    self.queued[id.index()] && is_sound(*id, PlaneId::from_index(plane))
                };
                queue.iter().all(is_right)
            })
    }

    /// Whether each block is where its pages say.
    pub fn is_sound(&self, geometry: &Geometry, blocks: &Blocks, data_pages: u32) -> bool {
        let lies_here =
            |plane, block| self.holds(block) && geometry.plane_of_block(block).index() == plane;
        let held = self.planes.iter().map(PlaneBuffer::in_use).sum::<usize>();
        held == self.holds.iter().filter(|held| **held).count()
            && self.planes.iter().enumerate().all(|(plane, buffer)| {
                let mut all = buffer.blocks.iter().chain(&buffer.emptied);
                all.all(|block| lies_here(plane, *block)) && buffer.is_sound(blocks, data_pages)
            })
    }
}

impl PlaneBuffer {
    fn is_sound(&self, blocks: &Blocks, data_pages: u32) -> bool {
        let valid = |block: &BlockId| u32::from(blocks.valid_pages(*block));
        let is_open = |block: &BlockId| self.open.is_some_and(|open| open.block == *block);
        self.open.is_none_or(|open| {
            self.blocks.back() == Some(&open.block) && open.next_page < data_pages
        }) && self.blocks.iter().all(|block| is_open(block) || valid(block) > 0)
            && self.emptied.iter().all(|block| valid(block) == 0)
            && self.blocks.iter().map(valid).sum::<u32>() == self.valid
    }
}

impl NvBuffer {
    /// Takes over a written block, later than those before.
    pub fn recover_block(
        &mut self,
        block: BlockId,
        survey: &Survey<'_>,
        groups: &Groups<DataAndUpdate>,
    ) {
        let plane = survey.image.geometry.plane_of_block(block);
        let next_page = survey.written(block);
        self.holds[block.index()] = true;
        let buffer = &mut self.planes[plane.index()];
        buffer.blocks.push_back(block);
        buffer.open = (next_page < groups.data_pages()).then_some(Frontier { block, next_page });
        for (lpn, _) in survey.newest_in(block) {
            buffer.valid += 1;
            self.pages[groups.layout().group_of(lpn).index()] += 1;
        }
    }

    /// Queues the groups that can take no write and have pages in the buffer, the one with the oldest page
    /// first.
    pub fn queue_used_up(&mut self, survey: &Survey<'_>, groups: &Groups<DataAndUpdate>) {
        let mut to_queue: Vec<(PlaneId, GroupId)> = Vec::new();
        for (plane, state) in self.planes.iter().enumerate() {
            for (lpn, _) in state.blocks.iter().flat_map(|block| survey.newest_in(*block)) {
                let id = groups.layout().group_of(lpn);
                if groups.is_used_up(groups.get(id)) {
                    to_queue.push((PlaneId::from_index(plane), id));
                }
            }
        }
        to_queue.into_iter().for_each(|(plane, id)| self.queue(plane, id));
        (0..self.planes.len()).for_each(|plane| self.weigh(PlaneId::from_index(plane)));
    }
}
