//! Groups that come from a file: nothing in them is trusted.

use crate::ftl::blocks::Blocks;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, PlaneId};
use crate::nand::Geometry;

use super::Bound;
use super::groups::{Group, Groups, Scheme};
use super::layout::GroupId;

impl Bound {
    /// Makes again what is not saved; nothing in it is trusted.
    ///
    /// # Errors
    /// If a group can't be one of `fresh`'s, or a block in use is not just one group's.
    pub fn restore(&mut self, fresh: &Self, tables: &Tables) -> Result<(), &'static str> {
        if !self.restore_buffer(fresh, tables) {
            return Err("buffer of writes");
        }
        match self.groups.has_shape_of(&fresh.groups) && self.restore_groups(tables) {
            true => Ok(()),
            false => Err("logical blocks"),
        }
    }

    /// The plane that a group belongs to.
    pub(super) fn home_of(&self, id: GroupId, tables: &Tables) -> Option<PlaneId> {
        tables.allocation.plane_of(self.groups.layout.page_at(id, 0)?)
    }

    fn restore_groups(&mut self, tables: &Tables) -> bool {
        let (geometry, blocks) = (&tables.geometry, &tables.blocks);
        self.groups.forget_work(geometry);
        for id in self.groups.layout.ids() {
            let Some(plane) = self.home_of(id, tables) else { return false };
            let buffered = self.buffered(id);
            // Claimed first: only then is it known that there are such blocks.
            if !self.groups.claim_blocks(id, plane, geometry, blocks)
                || self.groups.blocks_of(id).any(|block| self.is_in_buffer(block))
                || !self.groups.is_sound(id, blocks, buffered)
            {
                return false;
            }
        }
        if !self.has_sound_queues(tables) {
            return false;
        }
        let mut all = (0..geometry.blocks()).map(BlockId::from_index);
        all.all(|block| {
            let is_used = self.groups.owner(block).is_some() || self.is_in_buffer(block);
            let is_unused = blocks.is_free(block) || blocks.is_bad(block);
            is_used != is_unused && !blocks.is_closed(block)
        })
    }

    /// Whether just groups that can take no write are queued to be merged, each on its plane.
    pub fn has_sound_queues(&self, tables: &Tables) -> bool {
        let is_sound = |id, plane| {
            self.home_of(id, tables) == Some(plane) && self.groups.is_used_up(self.groups.get(id))
        };
        self.buffer.as_ref().is_none_or(|buffer| buffer.has_sound_queues(is_sound))
    }

    /// Makes the buffer again, before the groups.
    fn restore_buffer(&mut self, fresh: &Self, tables: &Tables) -> bool {
        let (geometry, blocks) = (&tables.geometry, &tables.blocks);
        let pages = tables.map.mapped().filter(|(_, page)| page.index() < geometry.pages());
        let layout = fresh.groups.layout;
        let lie = pages.map(|(lpn, page)| (layout.group_of(lpn), geometry.block_of(page)));
        match (&mut self.buffer, &fresh.buffer) {
            (None, None) => true,
            (Some(buffer), Some(other)) => {
                buffer.restore(other, geometry, blocks, lie)
                    && buffer.is_sound(geometry, blocks, fresh.groups.data_pages)
            }
            _ => false,
        }
    }
}

impl Groups {
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
                && self.owners[block.index()].is_none();
            if !is_here {
                return false;
            }
            self.owners[block.index()] = Some(id);
        }
        true
    }

    fn is_sound(&self, id: GroupId, blocks: &Blocks, buffered: u16) -> bool {
        let group = self.get(id);
        let opens = group.open.is_none_or(|open| {
            open.next_page < self.data_pages && group.blocks.contains(&open.block)
        });
        let is_sound = match self.scheme {
            Scheme::LogBlock => self.is_sound_log_block(group, blocks),
            Scheme::Superblock { most_blocks } => group.blocks.len() <= most_blocks,
        };
        opens && is_sound && self.is_listed_right(id, blocks, buffered)
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

    fn is_listed_right(&self, id: GroupId, blocks: &Blocks, buffered: u16) -> bool {
        let merge = self.merge_of(id, None, blocks, buffered);
        match (self.get(id).listed, merge.worth(blocks, self.data_pages)) {
            (Some(listed), Some(worth)) => {
                listed.moves_per_block == worth.moves_per_block
                    && merge.sources.contains(&listed.block)
            }
            (None, None) => true,
            _ => false,
        }
    }

    /// The blocks of groups, and how many pages of each have been programmed.
    pub fn blocks_programmed(&self) -> impl Iterator<Item = (BlockId, u32)> {
        self.groups.iter().flat_map(|group| {
            group.blocks.iter().map(|block| match group.open {
                Some(open) if open.block == *block => (*block, open.next_page),
                _ => (*block, self.data_pages),
            })
        })
    }

    /// The blocks of a group.
    fn blocks_of(&self, id: GroupId) -> impl Iterator<Item = BlockId> {
        self.get(id).blocks.iter().copied()
    }

    /// What the victim policy knows of `block`, if its group is listed under it.
    pub fn listed_under(&self, block: BlockId) -> Option<u16> {
        let listed = self.get(self.owner(block)?).listed?;
        (listed.block == block).then_some(listed.moves_per_block)
    }
}
