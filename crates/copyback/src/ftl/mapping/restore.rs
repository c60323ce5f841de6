//! Groups that come from a file: nothing in them is trusted.

use crate::ftl::blocks::Blocks;
use crate::ids::{BlockId, PlaneId};
use crate::nand::Geometry;
use crate::victim::BlockView;

use super::groups::{Group, Groups, Scheme};
use super::layout::GroupId;
use super::nv_buffer::{NvBuffer, PlaneBuffer};
use super::page::PageMap;

impl Groups {
    /// Makes again what is not saved. False if a group can't be one of `fresh`'s, or a block in use is
    /// not just one group's; `home` says which plane a group belongs to.
    pub fn restore(
        &mut self,
        fresh: &Self,
        geometry: &Geometry,
        blocks: &Blocks,
        home: impl Fn(GroupId) -> Option<PlaneId>,
    ) -> bool {
        if !self.has_shape_of(fresh) {
            return false;
        }
        self.forget_work(geometry);
        let layout = self.layout;
        for id in (0..layout.groups()).map(|index| layout.group(index)) {
            let Some(plane) = home(id) else { return false };
            if !self.claim_blocks(id, plane, geometry, blocks) || !self.is_sound(id, blocks) {
                return false;
            }
        }
        if !self.has_sound_queues(home) {
            return false;
        }
        let all = (0..geometry.blocks()).map(BlockId::from_index);
        all.into_iter().all(|block| {
            let is_used = self.owner(block).is_some() || self.is_in_buffer(block);
            let is_unused = blocks.is_free(block) || blocks.is_bad(block);
            is_used != is_unused && !blocks.is_closed(block)
        })
    }

    /// Whether just groups that can take no write are queued to be merged, each on its plane.
    pub fn has_sound_queues(&self, home: impl Fn(GroupId) -> Option<PlaneId>) -> bool {
        let Some(buffer) = &self.buffer else { return true };
        let queues = buffer.planes.iter().map(|buffer| &buffer.queue).enumerate();
        let lengths = queues.clone().map(|(_, queue)| queue.len()).sum::<usize>();
        lengths == buffer.queued.iter().filter(|queued| **queued).count()
            && queues.into_iter().all(|(plane, queue)| {
                queue.iter().all(|id| {
                    home(*id).is_some_and(|home| home.index() == plane)
                        && buffer.queued[id.index()]
                        && self.is_used_up(self.get(*id))
                })
            })
    }

    /// Makes the buffer again, before the groups.
    pub fn restore_buffer(
        &mut self,
        fresh: &Self,
        geometry: &Geometry,
        blocks: &Blocks,
        map: &PageMap,
    ) -> bool {
        let pages = map.mapped().filter(|(_, page)| page.index() < geometry.pages());
        let (layout, data_pages) = (fresh.layout, fresh.data_pages);
        let lie = pages.map(|(lpn, page)| (layout.group_of(lpn), geometry.block_of(page)));
        match (&mut self.buffer, &fresh.buffer) {
            (None, None) => true,
            (Some(buffer), Some(fresh)) => {
                buffer.restore(fresh, geometry, blocks, lie)
                    && buffer.is_sound(geometry, blocks, data_pages)
            }
            _ => false,
        }
    }

    fn has_shape_of(&self, fresh: &Self) -> bool {
        self.scheme == fresh.scheme
            && self.layout == fresh.layout
            && self.data_pages == fresh.data_pages
            && self.planes_per_die == fresh.planes_per_die
            && self.groups.len() == fresh.groups.len()
    }

    /// Notes whose the blocks of a group are. False if one is free, lies elsewhere or is another's.
    fn claim_blocks(
        &mut self,
        id: GroupId,
        plane: PlaneId,
        geometry: &Geometry,
        blocks: &Blocks,
    ) -> bool {
        for block in &self.groups[id.index()].blocks {
            let is_here = block.index() < geometry.blocks()
                && geometry.plane_of_block(*block) == plane
                && blocks.is_open(*block)
                && !self.is_in_buffer(*block)
                && self.owners[block.index()].is_none();
            if !is_here {
                return false;
            }
            self.owners[block.index()] = Some(id);
        }
        true
    }

    fn is_sound(&self, id: GroupId, blocks: &Blocks) -> bool {
        let group = self.get(id);
        let opens = group.open.is_none_or(|open| {
            open.next_page < self.data_pages && group.blocks.contains(&open.block)
        });
        let is_sound = match self.scheme {
            Scheme::LogBlock => self.is_sound_log_block(group, blocks),
            Scheme::Superblock { most_blocks } => group.blocks.len() <= most_blocks,
        };
        opens && is_sound && self.is_listed_right(id, blocks)
    }

    fn is_sound_log_block(&self, group: &Group, blocks: &Blocks) -> bool {
        let update = group.blocks.get(usize::from(group.has_data_block));
        let written = group.open.map_or(self.data_pages, |open| open.next_page);
        // What an update block in order holds, the data block holds no more.
        let data_is_behind =
            |data: &BlockId| blocks.next_valid(*data, 0).is_none_or(|first| first >= written);
        group.blocks.len() <= 1 + usize::from(group.has_data_block)
            && (!group.has_data_block || !group.blocks.is_empty())
            && group.open.is_none_or(|open| update == Some(&open.block))
            && (!group.in_place
                || !group.has_data_block
                || update.is_none()
                || group.blocks.first().is_some_and(data_is_behind))
    }

    fn is_listed_right(&self, id: GroupId, blocks: &Blocks) -> bool {
        let merge = self.merge_of(id, None, blocks);
        match (self.get(id).listed, merge.worth(blocks, self.data_pages)) {
            (Some(listed), Some(worth)) => {
                listed.moves_per_block == worth.moves_per_block
                    && merge.sources.contains(&listed.block)
            }
            (None, None) => true,
            _ => false,
        }
    }

    /// The blocks of groups and of the buffer, and how many pages of each have been programmed.
    pub fn programmed(&self) -> impl Iterator<Item = (BlockId, u32)> {
        let buffered = self.buffer.iter().flat_map(|buffer| buffer.programmed(self.data_pages));
        let bound = self.groups.iter().flat_map(|group| {
            group.blocks.iter().map(|block| match group.open {
                Some(open) if open.block == *block => (*block, open.next_page),
                _ => (*block, self.data_pages),
            })
        });
        bound.chain(buffered)
    }

    /// What the victim policy knows of `block`, if its group is listed under it.
    pub fn listed_under(&self, block: BlockId) -> Option<u16> {
        let listed = self.get(self.owner(block)?).listed?;
        (listed.block == block).then_some(listed.moves_per_block)
    }
}

impl NvBuffer {
    /// Makes again what is not saved; `pages` says in which block each page of a group lies. False if a
    /// block can't be the buffer's.
    fn restore(
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
