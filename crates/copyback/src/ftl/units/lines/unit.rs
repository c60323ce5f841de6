//! Lines as units of reclaiming.

use crate::ftl::block_manager::BlockManager;
use crate::ftl::mapping::ReclaimPlan;
use crate::ftl::space::{Frontier, Stream};
use crate::ftl::units::{Due, Event, Place, UnitOfReclaiming, offset_in, reopen_for_host};
use crate::ids::{BlockId, DieId, PlaneId, Ppn};
use crate::placement::{Class, Life};
use crate::victim::Victims;

use super::open::take_block_of_line;
use super::{ALL_PLANES, Lines};

impl UnitOfReclaiming for Lines {
    /// Opens a free line for a class whose blocks on `plane` are full. Returns the block there, which is for the caller to
    /// note; a plane that has an open block fills that first.
    fn open(
        &mut self,
        manager: &mut BlockManager,
        plane: PlaneId,
        class: Option<Class>,
    ) -> Frontier {
        let Some(class) = class else { return manager.open_block(plane, class) };
        let now = manager.streams.clock;
        let parity = self.on(manager).take_parity_die(plane);
        let mut opened = None;
        for other in manager.space.planes() {
            let block = manager.space.take_free(other);
            manager.space.opened(other);
            manager.blocks.open(block, Some(class), now);
            manager.streams.opened(Some(class));
            let (die, next) =
                (manager.geometry.die_of_plane(other), Frontier { block, next_page: 0 });
            if other == plane {
                opened = Some(next);
            } else if parity != Some(die) && !self.is_lost(die) {
                take_block_of_line(&mut manager.space, other, class, next);
            }
        }
        let opened = opened.expect("a plane is one of all");
        self.wakes_others = true;
        self.tally.opened += 1;
        let line = self.line_of(opened.block);
        debug_assert!(
            self.blocks_of(line).all(|(_, block)| manager.blocks.is_open(block)),
            "planes free their blocks in the same order"
        );
        manager.victims.opened(ALL_PLANES, BlockId::from_index(line));
        if let Some(die) = parity {
            self.begin_parity(line, class, die);
            // The blocks of a lost die take no part.
            for (plane, block) in self.blocks_of_lost(line) {
                self.close_lost(manager, plane, block);
                self.lines[line].full_blocks += 1;
            }
        }
        opened
    }

    fn open_next(&mut self, manager: &mut BlockManager, plane: PlaneId, stream: Stream) -> bool {
        let Stream::Class(class) = stream else { return false };
        let Some(block) = manager.space.following_mut().take(plane, class) else { return false };
        // The host may open a line on another plane again.
        self.wakes_others |= !manager.space.is_behind(class);
        *manager.space[plane].frontier_mut(stream) = Some(Frontier { block, next_page: 0 });
        true
    }

    // Apart, as few drives have lines.
    #[inline(never)]
    fn may_open(&self, manager: &BlockManager, plane: PlaneId, stream: Stream) -> bool {
        self.on(manager).may_open_line(plane, stream)
    }

    fn sealed(&mut self, manager: &mut BlockManager, _: PlaneId, block: BlockId, _: u16) {
        self.close_in_line(manager, block);
    }

    #[inline(never)]
    fn page_went(&mut self, manager: &mut BlockManager, plane: PlaneId, block: BlockId, _: u16) {
        let line = self.line_of(block);
        if self.is_of_lost(plane) {
            return self.lost_page_went(manager, block);
        }
        if !self.is_full(line) {
            return;
        }
        let before = self.invalid_of(self.lines[line].valid);
        self.lines[line].valid -= 1;
        let valid = self.lines[line].valid;
        self.invalid += self.invalid_of(valid) - before;
        manager.victims.lost_page(ALL_PLANES, BlockId::from_index(line), valid as u16);
    }

    #[inline(never)]
    fn page_went_from_open(&mut self, manager: &mut BlockManager, page: Ppn) {
        let block = manager.geometry.block_of(page);
        let (plane, valid) =
            (manager.geometry.plane_of_block(block), manager.blocks.valid_pages(block));
        if !self.collected.is(self.line_of(block)) {
            return;
        }
        self.collected.page_went(page);
        if self.collected.is_holding() && self.on(manager).has_nothing_to_move(block) {
            self.collected.plane_is_empty(plane);
        }
        if self.is_of_lost(plane) {
            self.lost_page_went(manager, block);
            if valid == 0 {
                self.drop_lost_block(manager, plane, block);
            }
        }
    }

    /// Chooses the block of the line that is being collected, unless the plane has done its share; if no line is, that of
    /// the line which the victim policy chooses.
    fn choose(&mut self, manager: &mut BlockManager, plane: PlaneId) -> Option<BlockId> {
        if let Some(line) = self.collected.line() {
            return self.collected.is_due(plane).then(|| self.block_of(line, plane));
        }
        let victim = match self.invalid {
            0 => None,
            _ => {
                let BlockManager { victims, blocks, streams, .. } = &mut *manager;
                victims.choose(ALL_PLANES, &self.at(blocks, streams)).map(BlockId::index)
            }
        };
        let victim = victim.filter(|line| self.on(manager).may_collect(*line));
        // A die that had no room for a write may borrow some now.
        self.wakes_others |= victim.is_none() && !self.found_no_victim;
        self.found_no_victim = victim.is_none();
        victim.map(|line| self.block_of(line, plane))
    }

    fn begin(&mut self, manager: &mut BlockManager, victim: BlockId) -> ReclaimPlan {
        self.collected.begin_turn(self.die_of(manager.geometry.plane_of_block(victim)));
        if self.collected.line().is_none() {
            self.begin_line(manager, self.line_of(victim));
        }
        match self.collected.makes_up_what_moves() {
            true => ReclaimPlan::of_striped_block(victim),
            false => ReclaimPlan::of_block(victim),
        }
    }

    fn erased(&mut self, manager: &mut BlockManager, plane: PlaneId, block: BlockId) {
        manager.space.set_reclaiming(plane, None);
        manager.wear.erased(plane, block, manager.blocks.erase_count(block));
        if !self.collected.erased(plane) {
            return;
        }
        let line = self.line_of(block);
        (self.lines[line].valid, self.lines[line].is_sealed) = (0, false);
        self.tally.freed += 1;
        if let Some(parity) = &mut self.parity {
            parity.forget(line);
        }
        manager.streams.collected(self.life(line, &manager.blocks));
        let freed = self.blocks_of(line);
        // Planes free their blocks in one order: one of a lost die, which is not erased, goes with the others of its line.
        let erases = freed.clone().map(|(_, block)| manager.blocks.erase_count(block)).max();
        for (plane, block) in freed.clone() {
            manager.space[plane].free.push(block, erases.unwrap_or_default());
            manager.space.changed(plane);
        }
        freed.for_each(|(plane, _)| reopen_for_host(self, manager, plane));
    }

    fn offset_for_host(
        &self,
        manager: &BlockManager,
        stream: Stream,
        plane: PlaneId,
    ) -> Option<u32> {
        let on = self.on(manager);
        let offset = || offset_in(self, manager, on.stream_in_line(plane, stream), plane);
        on.leaves_pages_to_rebuild().then(offset).flatten()
    }

    fn place_for_host(
        &mut self,
        manager: &mut BlockManager,
        plane: PlaneId,
        stream: Stream,
    ) -> Place {
        let taken = self.on(manager).stream_in_line(plane, stream);
        self.tally.borrowed += u64::from(taken != stream);
        Place::Stream(taken)
    }

    fn due(&self, die: DieId) -> Due {
        if self.is_lost(die) {
            return Due::Only(0);
        }
        self.collected.unfinished(die).map_or(Due::Also(0), Due::Only)
    }

    fn life_if_full(&self, manager: &BlockManager, block: BlockId) -> Option<Life> {
        let line = self.line_of(block);
        if self.is_full(line) { self.life(line, &manager.blocks) } else { None }
    }

    fn note(&mut self, manager: &mut BlockManager, event: Event) {
        match event {
            Event::Programmed(page) => {
                let (geometry, data_pages) = (&manager.geometry, manager.limits.data_pages);
                let parity = self.parity.as_mut();
                let whole =
                    parity.and_then(|parity| parity.data_written(page, geometry, data_pages));
                if let Some(page) = whole {
                    self.program_parity(manager, page);
                }
            }
            Event::RunBegins => self.reset_tally(),
            _ => {}
        }
    }

    fn check(&self, manager: &BlockManager) -> Result<(), String> {
        self.on(manager).check()
    }
}
