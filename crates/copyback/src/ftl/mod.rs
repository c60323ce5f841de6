//! The flash translation layer: where logical pages lie, which blocks are open, free or closed, and
//! what it takes to reclaim one. Pure state, no time: preconditioning, the timed run and the
//! zero-cost bound all go through here.
//!
//! [`Tables`] hold what is where; a [`Mapping`] decides where a page goes and what is reclaimed. Nothing outside of
//! [`mapping`] asks which one it is.

mod allocation;
mod audit;
mod bad_blocks;
mod block_manager;
mod blocks;
mod chunks;
mod classes;
mod idle_time;
mod image;
mod limits;
mod losing;
mod lost_pages;
mod mapping;
mod open_pages;
mod packed;
mod page_map;
mod recovery;
mod refreshed;
mod saved;
mod space;
mod spare;
mod staged;
mod streams;
mod tables;
mod translated;
mod units;
mod wear;

pub use allocation::{Allocation, PlaneRule};
pub use bad_blocks::{FaultTally, Replaced};
pub use classes::{ClassTally, OfClass, Takes};
pub use idle_time::Expected;
pub use image::Image;
pub use mapping::{
    BufferTally, Cost, Facts, Left, Occasion, Outdated, ReclaimKind, ReclaimPlan, ReclaimStep,
    Stage, Translated,
};
pub use open_pages::Filled;
pub use recovery::{Lost, Scan};
pub use saved::Saved;
pub use space::{Space, Stream, Watermarks};
pub use tables::Tables;
pub use units::{
    Collected, LineTally, Lines, LinesOn, Parity, ReclaimUnits, SavedLines, SavedSlcCache, SlcPool,
    SlcState, SlcTally, StripePages, UnitReport, UntimedParity,
};

pub use crate::placement::HandleTally;

use std::ops::Deref;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::{BlockId, CommandId, DieId, Lpn, PlaneId, Ppn};
use crate::outside::{Device, Failed, Supply};
use crate::placement::HostPage;
use crate::placement::supply::ExternalPlacement;
use crate::purpose::Reason;
use crate::told::Told;
use crate::victim::VictimSelector;
use crate::victim::supply::ExternalVictims;

use audit::Audit;
use block_manager::{BlockManager, OldPage};
use mapping::{AnyMapping, BlockUse, Change, Mapping, Put, each};
use spare::Role;
use staged::StagedPage;
use streams::Streams;
use units::{Due, Event, choose_by_policy};

/// The translation layer of a device. All may look at its [`Tables`].
#[derive(Debug, Checkpointed)]
pub struct Ftl {
    tables: Tables,
    mapping: AnyMapping,
}

/// Place where a page was put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// The physical page.
    pub page: Ppn,
    /// Whether it was the last data page of its block.
    pub closes_block: bool,
}

impl Deref for Ftl {
    type Target = Tables;

    #[inline(always)]
    fn deref(&self) -> &Tables {
        &self.tables
    }
}

impl Ftl {
    /// An erased device of a checked configuration; `name` is its place in the names of random
    /// streams.
    pub fn new(config: &Resolved, name: &str) -> Self {
        let tables = Tables::new(config, name);
        let mapping = AnyMapping::new(config, &tables);
        Self { tables, mapping }
    }

    /// Takes the victim policy and the placement of `device` from suppliers, if they come from outside.
    ///
    /// # Errors
    /// If a supplier has none.
    pub fn supply(
        &mut self,
        device: Device,
        victims_from: &dyn Supply<dyn ExternalVictims>,
        placement_from: &dyn Supply<dyn ExternalPlacement>,
    ) -> Result<(), Failed> {
        let BlockManager { victims, streams, blocks, .. } = &mut self.tables.manager;
        victims.supply(device, victims_from)?;
        streams.placement.supply(device, blocks.states(), placement_from)
    }

    /// Begins anew where the power has failed with `before` in use, as far as that concerns policies from outside.
    pub fn begin_anew(&mut self, before: &Self) {
        let BlockManager { streams, blocks, .. } = &mut self.tables.manager;
        streams.placement.begin_anew(&before.tables.streams.placement, blocks.states());
    }

    /// The placement, to be told what the host does before anybody asks where its pages go.
    #[inline(always)]
    pub const fn streams_mut(&mut self) -> &mut Streams {
        &mut self.tables.manager.streams
    }

    /// Content of every page, to be told what happens, if it is kept.
    pub fn audit_mut(&mut self) -> Option<&mut Audit> {
        self.tables.manager.audit.as_deref_mut()
    }

    /// Writes a page of the host to `plane`, which must [`accept`](Self::accepts) it. `version` grows with
    /// every submission; only the audit looks at it.
    pub fn write(&mut self, plane: PlaneId, page: HostPage, version: u64) -> Placed {
        match self.tables.manager.audit.is_some() {
            true => self.write_audited(plane, page, version),
            false => self.write_unseen(plane, page),
        }
    }

    #[inline(always)]
    fn write_unseen(&mut self, plane: PlaneId, page: HostPage) -> Placed {
        let tables = &mut self.tables;
        let placed =
            each!(&mut self.mapping, mapping => mapping::write(mapping, tables, plane, page));
        tables.allocation.end_turn(plane, &tables.manager.geometry);
        placed
    }

    #[cold]
    fn write_audited(&mut self, plane: PlaneId, page: HostPage, version: u64) -> Placed {
        if let Some(audit) = &mut self.tables.manager.audit {
            audit.overwrites(page.lpn);
        }
        let placed = self.write_unseen(plane, page);
        let tables = &mut self.tables;
        let block = tables.geometry.block_of(placed.page);
        let own = each!(&self.mapping, mapping => mapping.block(tables, block)).role;
        let role = own.unwrap_or_else(|| match tables.is_in_cache(placed.page) {
            true => Role::Cache,
            false => tables.stream_of(page).into(),
        });
        let BlockManager { audit, geometry, .. } = &mut tables.manager;
        if let Some(audit) = audit {
            audit.written(page, version, (placed.page, role), geometry);
        }
        placed
    }

    /// Moves the valid page `from` inside its plane.
    // Inlined: to save and restore registers for it was a good part of what it takes.
    #[inline(always)]
    pub fn relocate(&mut self, from: Ppn) -> Placed {
        let tables = &mut self.tables;
        if tables.limits.follows_moves {
            return self.relocate_followed(from);
        }
        each!(&mut self.mapping, mapping => mapping.put(tables, Put::Move(from)))
    }

    /// Moves the valid page `from` inside its plane to the block that is kept in step with those of
    /// other planes, in which there must be [room](block_manager::Rooms::has_aligned_room).
    pub fn relocate_aligned(&mut self, from: Ppn) -> Placed {
        let tables = &mut self.tables;
        let plane = tables.geometry.plane_of(from);
        let placed = each!(&mut self.mapping, mapping => {
            let placed = tables.relocate_to(mapping, Stream::Aligned, tables.old_page(from));
            let lpn = tables.logical(placed.page);
            let block = tables.geometry.block_of(placed.page);
            tables.manager.streams.lies_in(lpn, block);
            mapping.note(tables, Change::Moved { lpn, plane });
            placed
        });
        self.note_move(from, placed, Role::Aligned);
        placed
    }

    #[cold]
    fn relocate_followed(&mut self, from: Ppn) -> Placed {
        let tables = &mut self.tables;
        let own = each!(&self.mapping, mapping => mapping.facts()).role_of_moves;
        let role = own.unwrap_or_else(|| {
            let OldPage { block, plane, lpn, .. } = tables.old_page(from);
            tables.rooms().stream_for_move(plane, lpn, tables.blocks.origin_in(block)).into()
        });
        let placed = each!(&mut self.mapping, mapping => mapping.put(tables, Put::Move(from)));
        self.note_move(from, placed, role);
        placed
    }

    #[cold]
    fn note_move(&mut self, from: Ppn, placed: Placed, role: Role) {
        self.tables.manager.carry_loss(from, placed.page);
        let BlockManager { audit, geometry, .. } = &mut self.tables.manager;
        if let Some(audit) = audit {
            audit.moved(from, (placed.page, role), geometry);
        }
    }

    /// Forgets `lpn`. Returns whether it was mapped.
    pub fn trim(&mut self, lpn: Lpn) -> bool {
        let tables = &mut self.tables;
        if let Some(audit) = &mut tables.manager.audit {
            audit.trimmed(lpn);
        }
        tables.manager.streams.trimmed(lpn);
        let Some(page) = tables.manager.map.unmap(lpn) else {
            let was_staged = tables.manager.staged.remove(lpn);
            if was_staged {
                tables.note(Event::DataWent);
            }
            return was_staged;
        };
        tables.note(Event::DataWent);
        each!(&mut self.mapping, mapping => {
            if tables.streams.looks_at_pages() {
                tables.manager.count_death(page);
            }
            tables.invalidate(mapping, page);
            mapping.note(tables, Change::Unmapped(lpn));
        });
        true
    }

    /// `die` is lost, with all that is there. It ends to erase the blocks that it is `erasing`.
    pub fn lose_die(&mut self, die: DieId, erasing: &[BlockId]) {
        let Tables { manager, units, .. } = &mut self.tables;
        if let Some(lines) = units.lines_mut() {
            lines.lose_die(manager, die, erasing);
        }
    }

    /// Takes the valid page `from`, or what it was made up from, into the device's DRAM, to be programmed on `plane`.
    pub fn stage(&mut self, from: Ppn, plane: PlaneId) {
        let tables = &mut self.tables;
        let lpn = tables.map.logical(from);
        let origin = tables.blocks.origin_in(tables.geometry.block_of(from));
        let is_lost = tables.manager.takes_loss(from);
        // Before it is out of date: with the last page of a block the block may go.
        if let Some(audit) = &mut tables.manager.audit {
            audit.staged(from);
        }
        tables.manager.map.unmap(lpn);
        tables.note(Event::MovedFrom(tables.geometry.block_of(from)));
        each!(&mut self.mapping, mapping => {
            tables.invalidate(mapping, from);
            tables.manager.staged.add(lpn, StagedPage { plane, origin, is_lost });
            mapping.note(tables, Change::Unmapped(lpn));
        });
    }

    /// Programs the page that has been in DRAM longest, of those that came from `plane`.
    pub fn program_staged(&mut self, plane: PlaneId) -> Option<Placed> {
        let tables = &mut self.tables;
        let (lpn, StagedPage { origin, is_lost, .. }) = tables.manager.staged.take_first(plane)?;
        let lines = tables.units.lines();
        let to_rebuild =
            lines.and_then(|lines| lines.on(&tables.manager).place_to_rebuild(plane, lpn, origin));
        let stream = match to_rebuild {
            Some((stream, _)) => {
                let streams = &mut tables.manager.streams;
                streams.tally.diverted += u64::from(stream != streams.of(lpn, origin));
                stream
            }
            None => tables.manager.take_stream_for_move(plane, lpn, origin),
        };
        let placed = each!(&mut self.mapping, mapping => {
            let placed = tables.append(mapping, plane, stream, lpn);
            mapping.note(tables, Change::Moved { lpn, plane });
            placed
        });
        let BlockManager { streams, geometry, .. } = &mut tables.manager;
        streams.wrote_moved(lpn, origin, placed.page, geometry);
        tables.note(Event::Programmed(placed.page));
        let BlockManager { audit, geometry, .. } = &mut tables.manager;
        if let Some(audit) = audit {
            audit.programmed_staged(lpn, (placed.page, stream.into()), geometry);
        }
        if is_lost {
            tables.manager.lost_pages.mark(placed.page);
        }
        Some(placed)
    }

    /// The offset that a page out of DRAM would be programmed at, if one came from `plane` and there
    /// is more room than the next collection can need.
    pub fn next_staged_offset(&mut self, plane: PlaneId) -> Option<u32> {
        let (lpn, origin) = self.tables.manager.staged.first(plane)?;
        if let Some(lines) = self.lines() {
            return lines.place_to_rebuild(plane, lpn, origin).map(|(_, offset)| offset);
        }
        let stream = self.rooms().stream_for_move(plane, lpn, origin);
        let spare = self.rooms().collection_room(plane) > self.limits.data_pages;
        let allowed = spare
            && (!self.streams.takes_host(stream) || self.tables.offset_in(stream, plane).is_some());
        let frontier = self.space[plane].frontier(stream);
        allowed.then(|| frontier.map_or(0, |frontier| frontier.next_page))
    }

    /// Pages of a lost die that were made up and find no room on the plane that was to program them go to another. Returns whose
    /// turn it is now.
    pub fn give_rebuilt_to_others(&mut self) -> Vec<DieId> {
        let Tables { manager, units, .. } = &mut self.tables;
        units.lines().map(|lines| lines.give_rebuilt_to_others(manager)).unwrap_or_default()
    }

    /// Checks, under audit, that a read of `lpn` gets its last version. `reader`: the command of the host that gets all of it.
    #[inline]
    pub fn check_read(&mut self, lpn: Lpn, reader: Option<CommandId>) {
        if self.tables.manager.audit.is_some() {
            self.check_audited_read(lpn, reader);
        }
    }

    #[cold]
    fn check_audited_read(&mut self, lpn: Lpn, reader: Option<CommandId>) {
        let (page, staged) = (self.lookup(lpn), self.staged.contains(lpn));
        if let Some(audit) = &mut self.tables.manager.audit {
            if staged {
                audit.read_staged(lpn);
            } else {
                audit.read(lpn, page);
            }
            if let Some(command) = reader {
                audit.read_begins(command, lpn);
            }
        }
    }

    /// Whether a host write of `page` fits into `plane` now.
    pub fn accepts(&self, plane: PlaneId, page: HostPage) -> bool {
        self.next_host_offset(plane, page).is_some()
    }

    /// The page offset that a host write of `page` to `plane` gets, if it fits.
    #[inline]
    pub fn next_host_offset(&self, plane: PlaneId, page: HostPage) -> Option<u32> {
        each!(&self.mapping, mapping => mapping.next_offset(&self.tables, plane, page))
    }

    /// Notes that a write of `lpn` is next on `plane`. Returns whether something must be reclaimed
    /// before there is room for it, however many blocks are free.
    pub fn want(&mut self, plane: PlaneId, lpn: Lpn) -> bool {
        each!(&mut self.mapping, mapping => mapping.want(&self.tables, plane, lpn))
    }

    /// Planes, among `planes` of `die`, on which what a write [wants](Self::want) may have changed since it was noted.
    #[inline]
    pub fn changed_wants(&self, die: DieId, planes: u32) -> u32 {
        planes & each!(&self.mapping, mapping => mapping.calls(die)).changed
    }

    /// A bit for each plane of `die` that is below its threshold, whose next write needs something to be
    /// reclaimed first, or whose buffer has something to be cleaned.
    // Asked of every die at many instants: to enter and leave it took longer than the answer.
    #[inline(always)]
    pub fn planes_to_collect(&self, die: DieId) -> u32 {
        match self.units.due(die) {
            Due::Only(planes) => planes,
            Due::Also(planes) => {
                planes
                    | self.space.below_threshold(die)
                    | each!(&self.mapping, mapping => mapping.calls(die)).reclaim
            }
        }
    }

    /// Whether planes of other dies than the one that has changed may have to be collected since this was asked.
    pub fn take_wakes_others(&mut self) -> bool {
        let Tables { manager, units, .. } = &mut self.tables;
        let lines = units.lines_mut();
        manager.space.take_wakes_others() | lines.is_some_and(|lines| lines.take_wakes_others())
    }

    /// Whether a plane of `die` has fewer free blocks than the hard threshold.
    pub fn has_plane_below_hard_threshold(&self, die: DieId) -> bool {
        let to_collect = self.planes_to_collect(die);
        let mut planes = self.geometry.planes_of_die(die).enumerate();
        planes.any(|(bit, plane)| {
            to_collect & (1 << bit) != 0
                && self.space.free_blocks(plane) < self.space.thresholds().hard
        })
    }

    /// The block to reclaim on this occasion, if one gives space back and its valid pages have room.
    pub fn choose_victim(&mut self, occasion: Occasion<'_>) -> Option<BlockId> {
        each!(&mut self.mapping, mapping => mapping.choose_victim(&mut self.tables, occasion))
    }

    /// The block of `plane` that may be collected beside `lead`, a block of another plane, in the same commands: one in
    /// the same cell mode.
    pub fn choose_victim_beside(&mut self, plane: PlaneId, lead: BlockId) -> Option<BlockId> {
        let Tables { manager, units, .. } = &mut self.tables;
        let Some(pool) = units.slc_pool() else {
            return self.choose_victim(Occasion::Demand(plane));
        };
        match manager.blocks.is_slc(lead) {
            true => pool.victim_to_fold(manager, plane),
            false => choose_by_policy(manager, plane),
        }
    }

    /// From now on idle time is used to fold what the cache holds, or no more.
    pub fn use_idle_time_to_fold(&mut self, uses: bool) {
        let Tables { manager, units, .. } = &mut self.tables;
        if let Some(pool) = units.slc_pool_mut() {
            pool.use_idle_time(&manager.blocks, uses);
        }
    }

    /// Looks anew at what the cache has on each plane.
    pub fn look_at_cache(&mut self) {
        self.tables.begin_pool();
    }

    /// The least erased closed block of `plane`, if static wear levelling says to move its data.
    pub fn block_to_level(&mut self, plane: PlaneId) -> Option<BlockId> {
        let tables = &mut self.tables;
        let BlockManager { wear, blocks, .. } = &mut tables.manager;
        let coldest = wear.block_to_level(plane, blocks)?;
        let may_level = each!(&self.mapping, mapping => mapping.block(tables, coldest)).may_level;
        (may_level && tables.rooms().has_room_for(coldest, plane)).then_some(coldest)
    }

    /// `victim` is to be collected for this `reason`, perhaps as it `joins` the collection of another plane.
    pub fn tell_chosen(&mut self, victim: BlockId, reason: Reason, joins: bool) {
        let plane = self.tables.geometry.plane_of_block(victim);
        if let Some(audit) = &mut self.tables.manager.audit {
            audit.tell(Told::Chosen { plane, victim, reason, joins });
        }
    }

    /// Takes a block that was chosen out of the victims' sight and returns what reclaims it.
    pub fn begin_reclaim(&mut self, victim: BlockId) -> ReclaimPlan {
        each!(&mut self.mapping, mapping => mapping.plan(&mut self.tables, victim))
    }

    /// A die begins to erase `block`, which has no valid page.
    pub fn erase_begins(&mut self, block: BlockId) {
        let plane = self.geometry.plane_of_block(block);
        if let Some(lines) = self.tables.units.lines_mut() {
            lines.collected_mut().erase_begins(plane);
        }
    }

    /// Erases `block`, which has no valid page, and frees it.
    pub fn erase(&mut self, block: BlockId) {
        let tables = &mut self.tables;
        let plane = tables.geometry.plane_of_block(block);
        let manager = &mut tables.manager;
        if let Some(audit) = &mut manager.audit {
            audit.erased(block, &manager.geometry);
        }
        manager.blocks.erase(block);
        manager.lost_pages.forget(block, &manager.geometry);
        manager.streams.erased(manager.blocks.class(block));
        self.note(Change::Erased { plane, block });
    }

    /// Ends the reclaiming on `plane`: a merge that had no block to erase ends here.
    pub fn end_reclaim(&mut self, plane: PlaneId) {
        self.note(Change::ReclaimEnded(plane));
        if let Some(lines) = self.tables.units.lines_mut() {
            lines.collected_mut().end_turn();
        }
    }

    /// Next step of the merge under way on `plane`, or, where a page is preferred, the move of that page if it may be
    /// moved out of turn.
    fn next_of_merge(&self, plane: PlaneId, preferred: Option<Ppn>) -> Option<ReclaimStep> {
        each!(&self.mapping, mapping => mapping.next_step(&self.tables, plane, preferred))
    }

    fn note(&mut self, change: Change<'_>) {
        each!(&mut self.mapping, mapping => mapping.note(&mut self.tables, change));
    }

    /// Kind of the mapping, and its tallies.
    pub fn facts(&self) -> Facts {
        each!(&self.mapping, mapping => mapping.facts())
    }

    fn block_use(&self, block: BlockId) -> BlockUse {
        each!(&self.mapping, mapping => mapping.block(&self.tables, block))
    }

    /// The drive has been prepared: what fails, what a buffer is used for, and what becomes of the blocks of each class is
    /// counted from now on, and which planes are low on free blocks: below the soft threshold, or below `register`.
    pub fn run_begins(&mut self, register: u32) {
        self.note(Change::RunBegins);
        let manager = &mut self.tables.manager;
        manager.bad_blocks.reset_tally();
        manager.space.watch(register, manager.geometry.blocks_per_plane);
        // Planes that are counted together are looked at once: a saved drive does not tell what was known of them.
        manager.space.look_at_all();
        let BlockManager { streams, map, geometry, .. } = manager;
        if streams.run_begins() {
            map.mapped().for_each(|(lpn, page)| streams.lies_in(lpn, geometry.block_of(page)));
        }
        self.tables.note(Event::RunBegins);
        if let VictimSelector::InUnits(units) = &mut self.tables.manager.victims {
            units.reset_tally();
        }
    }

    /// Parity of lines, if there is any.
    pub fn parity_mut(&mut self) -> Option<&mut Parity> {
        self.tables.units.lines_mut()?.parity_mut()
    }

    /// Takes the parity that `die` programs next, which goes to that page.
    pub fn take_parity(&mut self, die: DieId) -> Option<Ppn> {
        let Tables { manager, units, .. } = &mut self.tables;
        let lines = units.lines_mut()?;
        let page = lines.parity_mut()?.due.take_next(die)?;
        lines.program_parity(manager, page);
        Some(page)
    }

    /// Goes on counting what becomes of the blocks of each class, from what was counted `before` a loss of power.
    pub fn counts_on(&mut self, before: &Self) {
        let streams = &before.tables.streams;
        self.tables.manager.streams.tally = streams.tally.after_loss(streams.clock);
        self.tables.manager.streams.placement.counts_on(&streams.placement);
        if let (Some(pool), Some(before)) = (self.tables.units.slc_pool_mut(), before.slc_pool()) {
            pool.count_on(before);
        }
        if let (VictimSelector::InUnits(units), Some(before)) =
            (&mut self.tables.manager.victims, ReclaimUnits::of(before).tally())
        {
            units.counts_on(before);
        }
    }

    /// Takes the blocks that have been replaced since the last call.
    pub fn take_replaced(&mut self) -> Vec<Replaced> {
        self.tables.manager.bad_blocks.take_replaced()
    }

    /// Checks every invariant of the tables against one another.
    ///
    /// # Errors
    /// Names the first one that is broken.
    pub fn check(&self) -> Result<(), String> {
        self.tables.check()?;
        each!(&self.mapping, mapping => mapping.check(&self.tables))
    }
}
