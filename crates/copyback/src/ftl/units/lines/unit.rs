//! Lines as units of reclaiming.

use crate::ftl::block_manager::BlockManager;
use crate::ftl::mapping::ReclaimPlan;
use crate::ftl::space::{Frontier, Stream};
use crate::ftl::units::{Due, Event, Place, UnitOfReclaiming, offset_in};
use crate::ids::{BlockId, DieId, PlaneId, Ppn};
use crate::placement::{Class, Life};

use super::Lines;

impl UnitOfReclaiming for Lines {
    fn open(
        &mut self,
        manager: &mut BlockManager,
        plane: PlaneId,
        class: Option<Class>,
    ) -> Frontier {
        match class {
            Some(class) => self.open_line(manager, plane, class),
            None => manager.open_block(plane, class),
        }
    }

    fn open_next(&mut self, manager: &mut BlockManager, plane: PlaneId, stream: Stream) -> bool {
        self.goes_on_in_line(manager, plane, stream)
    }

    // Apart, as few drives have lines.
    #[inline(never)]
    fn may_open(&self, manager: &BlockManager, plane: PlaneId, stream: Stream) -> bool {
        self.on(manager).may_open_line(plane, stream)
    }

    fn sealed(&mut self, manager: &mut BlockManager, _: PlaneId, block: BlockId, _: u16) {
        self.close_in_line(manager, block);
    }

    fn page_went(&mut self, manager: &mut BlockManager, _: PlaneId, block: BlockId, _: u16) {
        self.lost_in_line(manager, block);
    }

    fn page_went_from_open(&mut self, manager: &mut BlockManager, page: Ppn) {
        self.lost_in_open_line(manager, page);
    }

    fn choose(&mut self, manager: &mut BlockManager, plane: PlaneId) -> Option<BlockId> {
        self.choose_in_line(manager, plane)
    }

    fn begin(&mut self, manager: &mut BlockManager, victim: BlockId) -> ReclaimPlan {
        self.begin_line(manager, victim);
        match self.makes_up_what_moves() {
            true => ReclaimPlan::of_striped_block(victim),
            false => ReclaimPlan::of_block(victim),
        }
    }

    fn erased(&mut self, manager: &mut BlockManager, plane: PlaneId, block: BlockId) {
        self.erased_in_line(manager, plane, block);
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
        self.unfinished(die).map_or(Due::Also(0), Due::Only)
    }

    fn life_if_full(&self, manager: &BlockManager, block: BlockId) -> Option<Life> {
        let line = self.line_of(block);
        if self.is_full(line) { self.life(line, &manager.blocks) } else { None }
    }

    fn note(&mut self, manager: &mut BlockManager, event: Event) {
        match event {
            Event::Programmed(page) => self.note_in_stripe(manager, page),
            Event::RunBegins => self.reset_tally(),
            _ => {}
        }
    }

    fn check(&self, manager: &BlockManager) -> Result<(), String> {
        self.on(manager).check()
    }
}
