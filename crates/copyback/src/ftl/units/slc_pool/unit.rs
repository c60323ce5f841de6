//! The pool as a unit of reclaiming: single blocks, of which some are in the pool's mode.

use crate::ftl::block_manager::BlockManager;
use crate::ftl::mapping::ReclaimPlan;
use crate::ftl::space::{Frontier, Stream};
use crate::ftl::units::{
    Due, Event, Place, SingleBlocks, UnitOfReclaiming, choose_by_policy, offset_in, reopen_for_host,
};
use crate::ids::{BlockId, DieId, PlaneId};
use crate::placement::Class;

use super::SlcPool;

impl UnitOfReclaiming for SlcPool {
    fn open(
        &mut self,
        manager: &mut BlockManager,
        plane: PlaneId,
        class: Option<Class>,
    ) -> Frontier {
        let first = manager.open_block(plane, class);
        self.look_at(manager, plane);
        first
    }

    /// Chooses the block to be collected: lent blocks come back first; full ones are folded where native blocks
    /// are not short.
    fn choose(&mut self, manager: &mut BlockManager, plane: PlaneId) -> Option<BlockId> {
        let lent = self.victim_that_was_lent(manager, plane);
        let is_wanted = manager.space.is_below_threshold(plane) || !self.is_due(plane);
        let native = match lent {
            None if is_wanted => choose_by_policy(manager, plane),
            _ => None,
        };
        lent.or(native).or_else(|| self.victim_to_fold(manager, plane))
    }

    fn begin(&mut self, manager: &mut BlockManager, victim: BlockId) -> ReclaimPlan {
        if !manager.blocks.is_slc(victim) {
            return SingleBlocks.begin(manager, victim);
        }
        let plane = manager.geometry.plane_of_block(victim);
        self.begin_fold(manager, plane, victim);
        manager.begin_to_move(plane, victim);
        manager.limits.plan_of(victim)
    }

    fn erased(&mut self, manager: &mut BlockManager, plane: PlaneId, block: BlockId) {
        manager.end_collection(plane, block);
        match manager.blocks.is_slc(block) {
            true => self.take_back(manager, plane, block),
            false => {
                manager.free(plane, block, false);
                self.look_at(manager, plane);
            }
        }
        reopen_for_host(self, manager, plane);
    }

    fn offset_for_host(
        &self,
        manager: &BlockManager,
        stream: Stream,
        plane: PlaneId,
    ) -> Option<u32> {
        let past = || offset_in(self, manager, stream, plane);
        if stream.class().is_none() {
            return past();
        }
        let in_pool = self.next_offset(plane);
        in_pool.or_else(|| if self.lets_wait(plane) { None } else { past() })
    }

    fn place_for_host(
        &mut self,
        manager: &mut BlockManager,
        plane: PlaneId,
        stream: Stream,
    ) -> Place {
        if stream.class().is_none() {
            return Place::Stream(stream);
        }
        match self.take_page(manager, plane) {
            Some(place) => {
                self.tally.written += 1;
                Place::SlcPool(place)
            }
            None => {
                self.tally.past += 1;
                Place::Stream(stream)
            }
        }
    }

    fn due(&self, die: DieId) -> Due {
        Due::Also(self.due[die.index()])
    }

    fn note(&mut self, manager: &mut BlockManager, event: Event) {
        match event {
            Event::FreeBlocksChanged(plane) => self.look_at(manager, plane),
            Event::MovedFrom(block) => {
                self.tally.folded += u64::from(manager.blocks.is_slc(block));
            }
            Event::DataCame => self.mapped += 1,
            Event::DataWent => self.mapped -= 1,
            Event::RunBegins => self.reset_tally(manager),
            Event::Replaced { plane, bad, spare } => {
                if manager.blocks.is_slc(bad) {
                    self.replace(plane, bad, spare);
                }
            }
            Event::Programmed(_) => {}
        }
    }

    fn check(&self, manager: &BlockManager) -> Result<(), String> {
        self.check_against(manager)
    }
}
