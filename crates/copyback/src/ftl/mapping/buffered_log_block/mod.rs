//! Log-block mapping with a buffer that takes writes which would have to wait for a merge ([`NvBuffer`]): what goes
//! there, and which logical block is cleaned next.

mod nv_buffer;
mod restore;

pub use nv_buffer::{BufferTally, NvBuffer};

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ftl::Placed;
use crate::ftl::recovery::Survey;
use crate::ftl::spare::Role;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};

use super::bound::{Bound, Groups, Room, Shared};
use super::log_block::DataAndUpdate;

/// Log-block mapping with a buffer.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct BufferedLogBlock {
    groups: Groups<DataAndUpdate>,
    buffer: NvBuffer,
}

impl Bound for BufferedLogBlock {
    type Scheme = DataAndUpdate;

    fn groups(&self) -> &Groups<DataAndUpdate> {
        &self.groups
    }

    fn groups_mut(&mut self) -> &mut Groups<DataAndUpdate> {
        &mut self.groups
    }

    fn buffer(&self) -> Option<&NvBuffer> {
        Some(&self.buffer)
    }

    fn buffer_mut(&mut self) -> Option<&mut NvBuffer> {
        Some(&mut self.buffer)
    }

    fn write(&mut self, tables: &mut Tables, plane: PlaneId, lpn: Lpn) -> Placed {
        match self.belongs_in_buffer(tables, plane, lpn) {
            true => self.append_to_buffer(tables, plane, lpn),
            false => self.put_in_group(tables, plane, lpn),
        }
    }

    fn offset_of_next(&self, tables: &Tables, plane: PlaneId, lpn: Lpn) -> Option<u32> {
        match self.belongs_in_buffer(tables, plane, lpn) {
            true => self.next_offset_in_buffer(tables, plane),
            false => self.offset_in_group(tables, plane, lpn),
        }
    }

    fn want_room(&mut self, tables: &Tables, plane: PlaneId, lpn: Lpn) -> bool {
        let fits = self.offset_of_next(tables, plane, lpn).is_some();
        self.buffer.next_write_fits(plane, fits);
        !fits
    }

    /// Chooses the block to be collected: what keeps writes waiting goes first, a full buffer, then too few
    /// free blocks.
    fn choose(&self, tables: &mut Tables, plane: PlaneId) -> Option<BlockId> {
        let is_full = self.next_offset_in_buffer(tables, plane).is_none();
        let for_room = self.buffer.emptied(plane).or_else(|| match is_full {
            true => self.oldest_to_clean(tables, plane),
            false => None,
        });
        if for_room.is_some() {
            return for_room;
        }
        let for_blocks = match tables.space.is_below_threshold(plane) {
            true => self.choose_by_policy(tables, plane),
            false => None,
        };
        for_blocks
            .or_else(|| self.queued_to_clean(tables, plane))
            .or_else(|| self.choose_by_policy(tables, plane))
    }

    fn lost_in_buffer(&mut self, tables: &Tables, page: Ppn, block: BlockId, valid: u16) {
        let group = self.groups.layout().group_of(tables.logical(page));
        let plane = tables.geometry.plane_of_block(block);
        self.buffer.lost_page(plane, block, group, valid);
    }

    fn recover_blocks(&mut self, written: &[BlockId], survey: &Survey<'_>) {
        for block in written {
            match survey.role(*block) {
                Role::Buffer => self.buffer.recover_block(*block, survey, &self.groups),
                _ => self.groups.recover_block(*block, survey),
            }
        }
        self.groups.recover_groups(survey);
        self.buffer.queue_used_up(survey, &self.groups);
    }

    fn restore_buffer(&mut self, fresh: &Self, tables: &Tables) -> bool {
        let (geometry, blocks) = (&tables.geometry, &tables.blocks);
        let pages = tables.map.mapped().filter(|(_, page)| page.index() < geometry.pages());
        let layout = fresh.groups.layout();
        let lie = pages.map(|(lpn, page)| (layout.group_of(lpn), geometry.block_of(page)));
        self.buffer.restore(&fresh.buffer, geometry, blocks, lie)
            && self.buffer.is_sound(geometry, blocks, fresh.groups.data_pages())
    }

    fn has_sound_queues(&self, tables: &Tables) -> bool {
        self.buffer.has_sound_queues(|id, plane| {
            self.groups.home_of(id, tables) == Some(plane)
                && self.groups.is_used_up(self.groups.get(id))
        })
    }

    fn check_buffer(&self, tables: &Tables) -> Result<(), String> {
        let buffer = &self.buffer;
        let geometry = &tables.geometry;
        let in_buffer = |(_, page): &(Lpn, Ppn)| buffer.holds(geometry.block_of(*page));
        let mut pages = vec![0_u16; self.groups.layout().groups()];
        for (lpn, page) in tables.map.mapped().filter(in_buffer) {
            pages[self.groups.layout().group_of(lpn).index()] += 1;
            if tables.allocation.plane_of(lpn) != Some(geometry.plane_of(page)) {
                return Err(format!("{lpn:?} lies at {page:?}, in the buffer of another plane"));
            }
        }
        for (id, found) in self.groups.layout().ids().zip(pages) {
            let counted = buffer.pages_of(id);
            if counted != found {
                return Err(format!("{id:?}: {found} pages in the buffer, but {counted} counted"));
            }
        }
        if !self.has_sound_queues(tables) {
            return Err("a logical block is queued that can take writes".into());
        }
        match buffer.is_sound(geometry, &tables.blocks, self.groups.data_pages()) {
            true => Ok(()),
            false => Err("the buffer's blocks are not what they should be".into()),
        }
    }
}

impl BufferedLogBlock {
    /// With nothing written.
    pub fn new(config: &Resolved, tables: &Tables) -> Self {
        let groups = Groups::new(config, tables, DataAndUpdate);
        let (blocks, layout) = (config.drive.blocks.buffer, groups.layout());
        let buffer = NvBuffer::new(&tables.geometry, blocks, layout.groups());
        Self { groups, buffer }
    }

    /// Whether a write of `lpn` to `plane` goes to the buffer, if it has room.
    fn belongs_in_buffer(&self, tables: &Tables, plane: PlaneId, lpn: Lpn) -> bool {
        match self.groups.room_for(plane, lpn) {
            Room::In(_) => false,
            Room::InNewBlock => !tables.space.may_open_for_host(plane),
            Room::None | Room::Merging | Room::InReplacement => true,
        }
    }

    /// The offset of the next page in the buffer of `plane`, if there is room.
    fn next_offset_in_buffer(&self, tables: &Tables, plane: PlaneId) -> Option<u32> {
        let may_open = || (tables.space[plane].held > 0).then_some(0);
        let open = self.buffer.open_on(plane);
        open.map(|open| open.next_page).or_else(may_open)
    }

    /// Writes `lpn`, whose old page has been invalidated, to the buffer.
    fn append_to_buffer(&mut self, tables: &mut Tables, plane: PlaneId, lpn: Lpn) -> Placed {
        let group = self.groups.layout().group_of(lpn);
        let open = match self.buffer.open_on(plane) {
            Some(open) => open,
            None => {
                tables.manager.space[plane].held -= 1;
                let frontier = tables.open(plane, None);
                self.buffer.open(plane, frontier.block);
                frontier
            }
        };
        let page = tables.program(self, open, lpn);
        if self.groups.room_for(plane, lpn) == Room::None {
            self.buffer.queue(plane, group);
        }
        let data_pages = self.groups.data_pages();
        let closes_block = self.buffer.wrote(plane, group, data_pages);
        self.list(tables, plane, group);
        Placed { page, closes_block }
    }

    /// A block of the logical block that is to be merged next, or the one of the buffer with the oldest page
    /// if the buffer is used up.
    fn queued_to_clean(&self, tables: &Tables, plane: PlaneId) -> Option<BlockId> {
        let is_used_up = self.buffer.is_used_up(plane);
        let queued = self.buffer.first_queued(plane);
        let queued = queued.and_then(|id| self.first_source(tables, id));
        queued.or_else(|| if is_used_up { self.oldest_to_clean(tables, plane) } else { None })
    }

    /// The block of the buffer with the oldest page, if the logical block of that page can be merged.
    fn oldest_to_clean(&self, tables: &Tables, plane: PlaneId) -> Option<BlockId> {
        let oldest = self.buffer.oldest(plane)?;
        let blocks = &self.groups.get(self.first_group_in(tables, oldest)?).blocks;
        // Without a block of its own it takes one and gives none back: another must be left.
        let needed =
            if blocks.is_empty() { 1 + tables.space.thresholds().kept_for_collections } else { 1 };
        (tables.space.free_blocks(plane) >= needed).then_some(oldest)
    }
}

#[cfg(test)]
mod tests {
    use crate::ftl::mapping::tests::device;
    use crate::ids::{Lpn, PlaneId};
    use crate::placement::HostPage;

    #[test]
    fn a_write_that_would_need_a_merge_goes_to_the_buffer() {
        let mut ftl = device("{ type = \"buffered_log_block\", buffer = { blocks = 1 } }");
        for (version, lpn) in (1..).zip([0, 1, 2, 3, 0, 0, 0, 0, 1]) {
            assert!(ftl.accepts(PlaneId(0), HostPage::without_hint(Lpn(lpn))), "write {version}");
            ftl.write(PlaneId(0), HostPage::without_hint(Lpn(lpn)), version);
        }
        assert_eq!(ftl.facts().buffer.unwrap_or_default().writes, 1);
        assert_eq!(ftl.check(), Ok(()));
    }
}
