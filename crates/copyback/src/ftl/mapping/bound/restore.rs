//! Groups that come from a file: nothing in them is trusted.

use crate::ftl::blocks::Blocks;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, PlaneId};
use crate::nand::Geometry;

use super::groups::Groups;
use super::layout::GroupId;
use super::scheme::Scheme;
use super::{Bound, Shared};

/// Makes again what is not saved; nothing in it is trusted.
///
/// # Errors
/// If a group can't be one of `fresh`'s, or a block in use is not just one group's.
pub fn restore<M: Bound>(mapping: &mut M, fresh: &M, tables: &Tables) -> Result<(), &'static str> {
    if !mapping.restore_buffer(fresh, tables) {
        return Err("buffer of writes");
    }
    match mapping.groups().has_shape_of(fresh.groups()) && restore_groups(mapping, tables) {
        true => Ok(()),
        false => Err("logical blocks"),
    }
}

fn restore_groups(mapping: &mut impl Bound, tables: &Tables) -> bool {
    let (geometry, blocks) = (&tables.geometry, &tables.blocks);
    mapping.groups_mut().forget_work(geometry);
    for id in mapping.groups().layout.ids() {
        let Some(plane) = mapping.groups().home_of(id, tables) else { return false };
        let buffered = mapping.buffered(id);
        // Claimed first: only then is it known that there are such blocks.
        if !mapping.groups_mut().claim_blocks(id, plane, geometry, blocks)
            || mapping.groups().blocks_of(id).any(|block| mapping.is_in_buffer(block))
            || !mapping.groups().is_sound(id, blocks, buffered)
        {
            return false;
        }
    }
    if !mapping.has_sound_queues(tables) {
        return false;
    }
    let mut all = geometry.all_blocks();
    all.all(|block| {
        let is_used = mapping.groups().owner(block).is_some() || mapping.is_in_buffer(block);
        let is_unused = blocks.is_free(block) || blocks.is_bad(block);
        is_used != is_unused && !blocks.is_closed(block)
    })
}

impl<S: Scheme> Groups<S> {
    fn has_shape_of(&self, fresh: &Self) -> bool {
        self.scheme == fresh.scheme
            && self.layout == fresh.layout
            && self.data_pages == fresh.data_pages
            && self.planes_per_die == fresh.planes_per_die
            && self.groups.len() == fresh.groups.len()
    }

    /// The plane that a group belongs to.
    pub fn home_of(&self, id: GroupId, tables: &Tables) -> Option<PlaneId> {
        tables.allocation.plane_of(self.layout.page_at(id, 0)?)
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
        opens
            && self.scheme.is_sound(group, blocks, self.data_pages)
            && self.is_listed_right(id, blocks, buffered)
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

    /// Pages of `block` that have been programmed, if it is a group's.
    pub fn programmed(&self, block: BlockId) -> Option<u32> {
        let open = self.get(self.owner(block)?).open.filter(|open| open.block == block);
        Some(open.map_or(self.data_pages, |open| open.next_page))
    }

    /// The blocks of a group.
    fn blocks_of(&self, id: GroupId) -> impl Iterator<Item = BlockId> {
        self.get(id).blocks.iter().copied()
    }

    /// Number under which the victim policy lists `block`, if its group is listed.
    pub fn listed_under(&self, block: BlockId) -> Option<u16> {
        let listed = self.get(self.owner(block)?).listed?;
        (listed.block == block).then_some(listed.moves_per_block)
    }
}
