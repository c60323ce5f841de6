//! Common part of the mappings that bind logical pages to blocks.

use crate::ftl::Placed;
use crate::ftl::block_manager::BlockManager;
use crate::ftl::idle_time::Expected;
use crate::ftl::mapping::buffered_log_block::NvBuffer;
use crate::ftl::mapping::{
    BlockUse, Calls, Change, Cost, Facts, Mapping, Occasion, Put, ReclaimPlan, ReclaimStep,
    SavedMapping,
};
use crate::ftl::recovery::Survey;
use crate::ftl::space::Frontier;
use crate::ftl::spare::Role;
use crate::ftl::tables::Tables;
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn};
use crate::placement::HostPage;
use crate::victim::{BlockView, VictimSelector, Victims};

use super::{Bound, Groups, Scheme, Shared, restore};

impl<M: Bound> Mapping for M {
    fn put(&mut self, tables: &mut Tables, put: Put) -> Placed {
        match put {
            Put::Write(plane, page) => self.write(tables, plane, page.lpn),
            Put::Move(from) => move_in_merge(self, tables, from),
        }
    }

    fn next_offset(&self, tables: &Tables, plane: PlaneId, page: HostPage) -> Option<u32> {
        self.offset_of_next(tables, plane, page.lpn)
    }

    fn want(&mut self, tables: &Tables, plane: PlaneId, lpn: Lpn) -> bool {
        self.groups_mut().forget_change(plane);
        self.want_room(tables, plane, lpn)
    }

    #[inline]
    fn calls(&self, die: DieId) -> Calls {
        let groups = self.groups();
        let wanted = groups.wanted_on(die.index());
        match self.buffer() {
            Some(buffer) => {
                Calls { reclaim: wanted | buffer.planes_to_clean(die.index()), changed: u32::MAX }
            }
            None => Calls { reclaim: wanted, changed: groups.changed_on(die.index()) },
        }
    }

    fn choose_victim(&mut self, tables: &mut Tables, occasion: Occasion<'_>) -> Option<BlockId> {
        match occasion {
            Occasion::Demand(plane) => choose_on(self, tables, plane),
            Occasion::Advance(plane) => self.victim_of(tables, self.groups().first_used_up(plane)?),
            Occasion::Owed(die) => self.victim_of(tables, self.groups().first_owed(die)?),
            Occasion::Writes { expected, fits } => choose_for_writes(self, tables, expected, fits),
        }
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

    fn next_step(
        &self,
        tables: &Tables,
        plane: PlaneId,
        preferred: Option<Ppn>,
    ) -> Option<ReclaimStep> {
        let groups = self.groups();
        if let Some(page) = preferred {
            return may_move_next(groups, tables, plane, page).then_some(ReclaimStep::Move(page));
        }
        let page = groups.next_page(tables, plane, |block| self.is_in_buffer(block));
        page.map(ReclaimStep::Move)
            .or_else(|| Some(ReclaimStep::Erase(*groups.merge_on(plane)?.sources.first()?)))
    }

    #[inline]
    fn note(&mut self, tables: &mut Tables, change: Change<'_>) {
        match change {
            Change::Lost { page, block, valid } if self.is_in_buffer(block) => {
                self.lost_in_buffer(tables, page, block, valid);
            }
            Change::Lost { .. } | Change::Moved { .. } => {}
            Change::Unmapped(lpn) => {
                let group = self.groups().layout().group_of(lpn);
                if let Some(plane) = tables.allocation.plane_of(lpn) {
                    self.list(tables, plane, group);
                }
            }
            Change::Replaced { plane, block, spare } => {
                let BlockManager { victims, blocks, streams, .. } = &mut tables.manager;
                replaced(self, victims, &blocks.at(streams), (plane, block, spare));
            }
            Change::Erased { plane, block } => erased(self, tables, plane, block),
            Change::ReclaimEnded(plane) => reclaim_ended(self, tables, plane),
            Change::IdleTimeUsed { delays } => list_idle_jobs(self, tables, delays),
            Change::RunBegins => {
                if let Some(buffer) = self.buffer_mut() {
                    buffer.reset_tally();
                }
            }
            Change::PlaneFound { blocks, .. } => {
                blocks.iter().for_each(|block| tables.manager.blocks.set_open(*block));
            }
            Change::AllFound(survey) => recover(self, tables, survey),
            // The tables that these are about are in RAM.
            Change::AuditBegins | Change::TableFound(_) => {}
        }
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
        match self.first_misplaced(tables) {
            None => Ok(()),
            Some(_) => Err("mapping"),
        }
    }

    /// Checks that each logical page lies in a block of its group, in a data block in its place, and
    /// that the victim policy has been told the truth.
    fn check(&self, tables: &Tables) -> Result<(), String> {
        if let Some((lpn, page)) = self.first_misplaced(tables) {
            return Err(format!("{lpn:?} lies at {page:?}, which is not its group's place"));
        }
        self.groups().layout().ids().try_for_each(|id| self.check_group(tables, id))?;
        self.check_buffer(tables)
    }

    fn block(&self, _: &Tables, block: BlockId) -> BlockUse {
        let data_pages = self.groups().data_pages();
        let buffer = self.buffer().filter(|buffer| buffer.holds(block));
        let role = if buffer.is_some() { Role::Buffer } else { Role::default() };
        BlockUse {
            programmed: match buffer {
                Some(buffer) => Some(buffer.programmed(block, data_pages)),
                None => self.groups().programmed(block),
            },
            listed: self.groups().listed_under(block),
            may_level: self.groups().is_still(block),
            role: Some(role),
        }
    }

    #[inline]
    fn facts(&self) -> Facts {
        Facts {
            opens_blocks: true,
            translates: false,
            role_of_moves: Some(Role::Merge),
            deferred: self.groups().put_off(),
            buffer: self.buffer().map(NvBuffer::tally),
        }
    }
}

/// Moves the valid page `from` to where the merge under way on its plane brings pages together.
fn move_in_merge(mapping: &mut impl Bound, tables: &mut Tables, from: Ppn) -> Placed {
    let plane = tables.geometry.plane_of(from);
    let lpn = tables.logical(from);
    tables.invalidate(mapping, from);
    let target = match mapping.groups().target(plane) {
        Some(target) => target,
        None => {
            let frontier = tables.open(plane, None);
            mapping.groups_mut().open_target(plane, frontier);
            frontier
        }
    };
    let offset = mapping.groups().offset_in(target, lpn);
    let page = tables.program(mapping, Frontier { block: target.block, next_page: offset }, lpn);
    let closes_block = mapping.groups_mut().has_moved(plane, offset);
    Placed { page, closes_block }
}

/// Chooses a block of `plane`, if a merge may begin there.
fn choose_on(mapping: &impl Bound, tables: &mut Tables, plane: PlaneId) -> Option<BlockId> {
    if mapping.may_merge(tables, plane) { mapping.choose(tables, plane) } else { None }
}

/// Chooses a block of the first group that has too little room for what it gets, or else any if the plane will be short
/// of blocks.
fn choose_for_writes(
    mapping: &impl Bound,
    tables: &mut Tables,
    expected: &Expected,
    fits: &dyn Fn(Cost) -> bool,
) -> Option<BlockId> {
    let (groups, plane) = (mapping.groups(), expected.plane);
    if !mapping.may_merge(tables, plane) {
        return None;
    }
    let pages = groups.layout().pages_of_groups(&expected.pages);
    let called_for = pages.iter().find_map(|(id, pages)| {
        let merge = mapping.merge_of(tables, *id, None);
        let first = merge.sources.first().copied();
        let is_called_for = groups.lacks_room_for(*id, *pages, &merge);
        first.filter(|_| is_called_for && fits(merge.cost(&tables.blocks)))
    });
    if called_for.is_some() {
        return called_for;
    }
    let opened = pages.iter().map(|(id, pages)| groups.blocks_opened_by(*id, *pages)).sum::<u32>();
    if tables.space.free_blocks(plane) >= tables.space.thresholds().soft + opened as usize {
        return None;
    }
    let victim = mapping.choose(tables, plane)?;
    let id = groups.owner(victim).expect("a victim belongs to a group");
    fits(mapping.merge_of(tables, id, Some(victim)).cost(&tables.blocks)).then_some(victim)
}

/// Whether the merge on `plane` may move `page` next, out of turn.
fn may_move_next<S: Scheme>(
    groups: &Groups<S>,
    tables: &Tables,
    plane: PlaneId,
    page: Ppn,
) -> bool {
    let open = groups.target(plane).map_or(0, |target| tables.rooms().room(target));
    let room = tables.space.free_blocks(plane) as u32 * groups.data_pages() + open;
    groups.may_move_next(plane, tables.geometry.block_of(page), room, &tables.blocks)
}

fn replaced(
    mapping: &mut impl Bound,
    victims: &mut VictimSelector,
    blocks: &impl BlockView,
    (plane, block, spare): (PlaneId, BlockId, BlockId),
) {
    if mapping.buffer_mut().is_some_and(|buffer| buffer.replace(plane, block, spare)) {
        return;
    }
    if let Some(listed) = mapping.groups_mut().replace(plane, block, spare) {
        victims.removed(plane, block, listed.moves_per_block);
        victims.closed(plane, spare, listed.moves_per_block, blocks);
    }
}

fn erased(mapping: &mut impl Bound, tables: &mut Tables, plane: PlaneId, block: BlockId) {
    let is_buffers = mapping.buffer_mut().is_some_and(|buffer| buffer.erased(plane, block));
    let merged = if is_buffers { None } else { mapping.groups_mut().forget(plane, block) };
    if merged.is_some() {
        tables.manager.space.set_reclaiming(plane, None);
    }
    tables.manager.free(plane, block, is_buffers);
    if let Some(group) = merged {
        mapping.list(tables, plane, group);
    }
}

/// Ends a merge that had no block to erase.
fn reclaim_ended(mapping: &mut impl Bound, tables: &mut Tables, plane: PlaneId) {
    let Some(group) = mapping.groups_mut().end_merge(plane) else { return };
    tables.manager.space.set_reclaiming(plane, None);
    tables.manager.free_blocks_changed(plane);
    mapping.list(tables, plane, group);
}

fn list_idle_jobs(mapping: &mut impl Bound, tables: &Tables, delays: bool) {
    mapping.groups_mut().keep_idle_jobs(delays, tables.space.planes().len());
    for id in mapping.groups().layout().ids() {
        let block = mapping.groups().get(id).blocks.first();
        if let Some(plane) = block.map(|block| tables.geometry.plane_of_block(*block)) {
            mapping.groups_mut().list_idle_job(plane, id);
        }
    }
}

/// Takes over what a loss of power has left, and tells the victim policy what merging each group is worth.
fn recover(mapping: &mut impl Bound, tables: &mut Tables, survey: &Survey<'_>) {
    let mut written: Vec<_> =
        survey.image.blocks().filter(|block| survey.written(*block) > 0).collect();
    written.sort_by_key(|block| survey.first_program(*block));
    mapping.recover_blocks(&written, survey);
    if let Some(buffer) = mapping.buffer() {
        for plane in tables.space.planes() {
            tables.manager.space[plane].held -= buffer.in_use(plane);
        }
    }
    for id in mapping.groups().layout().ids() {
        if let Some(plane) = mapping.groups().home_of(id, tables) {
            mapping.list(tables, plane, id);
        }
    }
}
