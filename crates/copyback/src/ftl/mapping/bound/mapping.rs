//! Common part of the mappings that bind logical pages to blocks.

use crate::ftl::Placed;
use crate::ftl::block_manager::BlockManager;
use crate::ftl::idle_time::Expected;
use crate::ftl::mapping::{BufferTally, Cost, Mapping, ReclaimPlan, SavedMapping};
use crate::ftl::recovery::Survey;
use crate::ftl::space::Frontier;
use crate::ftl::spare::Role;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn};
use crate::placement::HostPage;
use crate::victim::Victims;

use super::{Bound, restore};

impl<M: Bound> Mapping for M {
    fn place(&mut self, tables: &mut Tables, plane: PlaneId, page: HostPage) -> Placed {
        self.put(tables, plane, page.lpn)
    }

    fn next_offset(&self, tables: &Tables, plane: PlaneId, page: HostPage) -> Option<u32> {
        self.offset_of_next(tables, plane, page.lpn)
    }

    fn relocate(&mut self, tables: &mut Tables, from: Ppn) -> Placed {
        let plane = tables.geometry.plane_of(from);
        let lpn = tables.logical(from);
        tables.invalidate(self, from);
        let target = match self.groups().target(plane) {
            Some(target) => target,
            None => {
                let frontier = tables.open(plane, None);
                self.groups_mut().open_target(plane, frontier);
                frontier
            }
        };
        let offset = self.groups().offset_in(target, lpn);
        let page = tables.program(self, Frontier { block: target.block, next_page: offset }, lpn);
        let closes_block = self.groups_mut().has_moved(plane, offset);
        Placed { page, closes_block }
    }

    fn role_of_write(&self, tables: &Tables, _: HostPage, to: Ppn) -> Role {
        match self.is_in_buffer(tables.geometry.block_of(to)) {
            true => Role::Buffer,
            false => Role::default(),
        }
    }

    fn role_of_move(&self, _: &Tables, _: Ppn) -> Role {
        Role::Merge
    }

    fn want(&mut self, tables: &Tables, plane: PlaneId, lpn: Lpn) -> bool {
        self.want_room(tables, plane, lpn)
    }

    fn take_changed_wants(&mut self, die: DieId, planes: u32) -> u32 {
        match self.buffer() {
            Some(_) => planes,
            None => self.groups_mut().take_changed(die.index(), planes),
        }
    }

    fn writes_may_call_for_reclaim(&self) -> bool {
        true
    }

    fn choose_victim(&mut self, tables: &mut Tables, plane: PlaneId) -> Option<BlockId> {
        if self.may_merge(tables, plane) { self.choose(tables, plane) } else { None }
    }

    /// Begins to merge the group of `victim`, which is erased on the way, or if it is a block of the
    /// buffer the one with the oldest page in it.
    fn plan(&mut self, tables: &mut Tables, victim: BlockId) -> ReclaimPlan {
        let plane = tables.geometry.plane_of_block(victim);
        let owner = self.groups().owner(victim);
        let Some(id) = owner.or_else(|| self.first_group_in(tables, victim)) else {
            return ReclaimPlan::of_buffer_block(victim);
        };
        if let Some(listed) = self.groups_mut().get_mut(id).listed.take() {
            tables.manager.victims.removed(plane, listed.block, listed.moves_per_block);
        }
        let merge = self.merge_of(tables, id, Some(victim));
        let (kind, erases) = (merge.kind, !merge.sources.is_empty());
        tables.manager.space.set_reclaiming(plane, Some(victim));
        self.groups_mut().begin(plane, merge);
        if let Some(buffer) = self.buffer_mut() {
            buffer.leave_queue(plane, id);
        }
        if !erases {
            // The host must not take the last block meanwhile.
            let frontier = tables.open(plane, None);
            self.groups_mut().open_target(plane, frontier);
        }
        self.groups_mut().list_idle_job(plane, id);
        ReclaimPlan::of_merge(victim, kind, plane)
    }

    fn erased(&mut self, tables: &mut Tables, plane: PlaneId, block: BlockId) {
        let is_buffers = self.buffer_mut().is_some_and(|buffer| buffer.erased(plane, block));
        let merged = if is_buffers { None } else { self.groups_mut().forget(plane, block) };
        if merged.is_some() {
            tables.manager.space.set_reclaiming(plane, None);
        }
        tables.manager.free(plane, block, is_buffers);
        if let Some(group) = merged {
            self.list(tables, plane, group);
        }
    }

    /// A merge that had no block to erase ends here.
    fn end_reclaim(&mut self, tables: &mut Tables, plane: PlaneId) {
        let Some(group) = self.groups_mut().end_merge(plane) else { return };
        tables.manager.space.set_reclaiming(plane, None);
        tables.manager.free_blocks_changed(plane);
        self.list(tables, plane, group);
    }

    fn may_level(&self, _: &Tables, block: BlockId) -> bool {
        self.groups().is_still(block)
    }

    fn wanted_planes(&self, die: DieId) -> u32 {
        let to_clean = self.buffer().map(|buffer| buffer.planes_to_clean(die.index()));
        self.groups().wanted_on(die.index()) | to_clean.unwrap_or(0)
    }

    fn next_merge_page(&self, tables: &Tables, plane: PlaneId) -> Option<Ppn> {
        self.groups().next_page(tables, plane, |block| self.is_in_buffer(block))
    }

    fn next_merge_erase(&self, plane: PlaneId) -> Option<BlockId> {
        self.groups().merge_on(plane)?.sources.first().copied()
    }

    fn may_merge_next(&self, tables: &Tables, plane: PlaneId, page: Ppn) -> bool {
        let open = self.groups().target(plane).map_or(0, |target| tables.room(target));
        let room = tables.space.free_blocks(plane) as u32 * self.groups().data_pages() + open;
        self.groups().may_move_next(plane, tables.geometry.block_of(page), room, &tables.blocks)
    }

    fn lost_page(&mut self, tables: &Tables, page: Ppn, block: BlockId, valid: u16) {
        if self.is_in_buffer(block) {
            self.lost_in_buffer(tables, page, block, valid);
        }
    }

    fn unmapped(&mut self, tables: &mut Tables, lpn: Lpn) {
        let group = self.groups().layout().group_of(lpn);
        if let Some(plane) = tables.allocation.plane_of(lpn) {
            self.list(tables, plane, group);
        }
    }

    fn replaced(&mut self, tables: &mut Tables, plane: PlaneId, block: BlockId, spare: BlockId) {
        if self.buffer_mut().is_some_and(|buffer| buffer.replace(plane, block, spare)) {
            return;
        }
        if let Some(listed) = self.groups_mut().replace(plane, block, spare) {
            tables.manager.victims.removed(plane, block, listed.moves_per_block);
            let BlockManager { victims, blocks, streams, .. } = &mut tables.manager;
            let view = blocks.at(streams);
            victims.closed(plane, spare, listed.moves_per_block, &view);
        }
    }

    fn list_idle_jobs(&mut self, tables: &Tables, delays: bool) {
        self.groups_mut().keep_idle_jobs(delays, tables.space.planes().len());
        for id in self.groups().layout().ids() {
            let block = self.groups().get(id).blocks.first();
            if let Some(plane) = block.map(|block| tables.geometry.plane_of_block(*block)) {
                self.groups_mut().list_idle_job(plane, id);
            }
        }
    }

    fn merges_put_off(&self) -> u64 {
        self.groups().put_off()
    }

    fn owed_victim(&self, tables: &Tables, die: DieId) -> Option<BlockId> {
        self.victim_of(tables, self.groups().first_owed(die)?)
    }

    /// One of the group that has been used up longest.
    fn victim_in_advance(&mut self, tables: &mut Tables, plane: PlaneId) -> Option<BlockId> {
        self.victim_of(tables, self.groups().first_used_up(plane)?)
    }

    fn expect(&self, lpn: Lpn, expected: &mut Expected) {
        let id = self.groups().layout().group_of(lpn);
        match expected.groups.iter_mut().rev().find(|(group, _)| *group == id) {
            Some((_, pages)) => *pages += 1,
            None => expected.groups.push((id, 1)),
        }
    }

    /// One of a group that has too little room for what it gets.
    fn merge_called_for(
        &self,
        tables: &Tables,
        expected: &Expected,
        fits: &dyn Fn(Cost) -> bool,
    ) -> Option<BlockId> {
        if !self.may_merge(tables, expected.plane) {
            return None;
        }
        expected.groups.iter().find_map(|(id, pages)| {
            let merge = self.merge_of(tables, *id, None);
            let first = merge.sources.first().copied();
            let is_called_for = self.groups().lacks_room_for(*id, *pages, &merge);
            first.filter(|_| is_called_for && fits(merge.cost(&tables.blocks)))
        })
    }

    fn cost_of(&self, tables: &Tables, victim: BlockId) -> Cost {
        let id = self.groups().owner(victim).expect("a victim belongs to a group");
        self.merge_of(tables, id, Some(victim)).cost(&tables.blocks)
    }

    fn opened_by(&self, _: &Tables, expected: &Expected) -> u32 {
        expected.groups.iter().map(|(id, pages)| self.groups().blocks_opened_by(*id, *pages)).sum()
    }

    fn buffer_tally(&self) -> Option<BufferTally> {
        Some(self.buffer()?.tally())
    }

    fn reset_buffer_tally(&mut self) {
        if let Some(buffer) = self.buffer_mut() {
            buffer.reset_tally();
        }
    }

    fn leaves_full_blocks(&self) -> bool {
        false
    }

    fn recover_plane(
        &mut self,
        tables: &mut Tables,
        _: PlaneId,
        blocks: &[BlockId],
        _: &Survey<'_>,
    ) {
        blocks.iter().for_each(|block| tables.manager.blocks.set_open(*block));
    }

    /// Tells the victim policy what merging each group is worth as well.
    fn recover(&mut self, tables: &mut Tables, survey: &Survey<'_>) {
        recover_blocks(self, survey);
        for plane in tables.space.planes() {
            tables.manager.space[plane].held -= self.buffered_blocks(plane);
        }
        for id in self.groups().layout().ids() {
            if let Some(plane) = self.groups().home_of(id, tables) {
                self.list(tables, plane, id);
            }
        }
    }

    fn programmed(&self) -> Vec<(BlockId, u32)> {
        let data_pages = self.groups().data_pages();
        let buffered = self.buffer().into_iter().flat_map(|buffer| buffer.programmed(data_pages));
        self.groups().blocks_programmed().chain(buffered).collect()
    }

    fn listed(&self, _: &Tables, block: BlockId) -> Option<u16> {
        self.groups().listed_under(block)
    }

    fn has_sound_frontiers(&self, tables: &Tables, plane: PlaneId) -> bool {
        tables.space[plane].frontiers().next().is_none()
    }

    fn buffered_blocks(&self, plane: PlaneId) -> usize {
        self.buffer().map_or(0, |buffer| buffer.in_use(plane))
    }

    fn saved(&self) -> SavedMapping {
        // Plain tables, written to memory.
        SavedMapping::Bound(postcard::to_stdvec(self).expect("a mapping can be written"))
    }

    fn restore(&mut self, saved: &SavedMapping, tables: &Tables) -> Result<(), &'static str> {
        let SavedMapping::Bound(saved) = saved else { return Err("mapping") };
        let mut saved = postcard::from_bytes(saved).map_err(|_| "logical blocks")?;
        restore(&mut saved, self, tables)?;
        *self = saved;
        Ok(())
    }

    fn may_hold(&self, lpn: Lpn, block: BlockId, offset: u32) -> bool {
        self.is_in_buffer(block) || self.groups().is_place_of(lpn, block, offset)
    }

    /// Checks that each logical page lies in a block of its group, in a data block in its place, and
    /// that the victim policy has been told the truth.
    fn check(&self, tables: &Tables) -> Result<(), String> {
        for (lpn, page) in tables.map.mapped() {
            let (block, offset) =
                (tables.geometry.block_of(page), tables.geometry.page_offset(page));
            if !self.may_hold(lpn, block, offset) {
                return Err(format!("{lpn:?} lies at {page:?}, which is not its group's place"));
            }
        }
        self.groups().layout().ids().try_for_each(|id| self.check_group(tables, id))?;
        self.check_buffer(tables)
    }
}

/// Takes over every block that is written. Each holds what is newest somewhere.
fn recover_blocks(mapping: &mut impl Bound, survey: &Survey<'_>) {
    let mut written: Vec<_> =
        survey.image.blocks().filter(|block| survey.written(*block) > 0).collect();
    written.sort_by_key(|block| survey.first_program(*block));
    written.into_iter().for_each(|block| mapping.recover_block(block, survey));
    mapping.groups_mut().recover_groups(survey);
    mapping.recovered(survey);
}
