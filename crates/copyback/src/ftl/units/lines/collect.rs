//! A line is chosen, and each plane collects its block of it.

use crate::ftl::block_manager::BlockManager;
use crate::ftl::units::reopen_for_host;
use crate::ids::{BlockId, PlaneId};
use crate::victim::Victims;

use super::{ALL_PLANES, LineId, Lines, LinesOn};

impl Lines {
    /// The block of `plane` to collect: that of the line which is being collected, unless the plane has done its share; if
    /// no line is, that of the line which the victim policy chooses.
    pub(in crate::ftl) fn choose_in_line(
        &mut self,
        manager: &mut BlockManager,
        plane: PlaneId,
    ) -> Option<BlockId> {
        if let Some(line) = self.collected {
            let may_work = self.may_work(manager.geometry.die_of_plane(plane));
            return (may_work && self.is_unfinished(plane)).then(|| self.block_of(line, plane));
        }
        let victim = self.look_for_line(manager);
        // A die that had no room for a write may borrow some now.
        self.wakes_others |= victim.is_none() && !self.found_no_victim;
        self.found_no_victim = victim.is_none();
        victim.map(|line| self.block_of(line, plane))
    }

    /// The line that the victim policy chooses, if every plane has room for what is valid there, and it is worth it.
    fn look_for_line(&self, manager: &mut BlockManager) -> Option<LineId> {
        if self.invalid == 0 {
            return None;
        }
        let BlockManager { victims, blocks, streams, .. } = manager;
        let line = victims.choose(ALL_PLANES, &self.at(blocks, streams))?.index();
        let has_room =
            self.blocks_of(line).all(|(plane, block)| manager.has_room_for(block, plane));
        let invalid = self.invalid_of(self.lines[line].valid);
        let is_worth_it = invalid >= u64::from(manager.limits.least_invalid)
            || !manager.space.may_open_for_host(ALL_PLANES);
        (has_room && is_worth_it).then_some(line)
    }

    /// Begins to collect the line of `victim` on all planes, if that is not under way.
    pub(in crate::ftl) fn begin_line(&mut self, manager: &mut BlockManager, victim: BlockId) {
        let die = manager.geometry.die_of_plane(manager.geometry.plane_of_block(victim));
        (self.at_work, self.is_collecting) = (Some(die), true);
        if self.is_any_collected() {
            return;
        }
        let line = self.line_of(victim);
        let valid = self.lines[line].valid;
        self.collected = Some(line);
        self.unfinished.fill((1_u64.wrapping_shl(self.planes_per_die) - 1) as u32);
        self.invalid -= self.invalid_of(valid);
        self.left = valid;
        self.lines[line].full_blocks = 0;
        self.wakes_others = true;
        self.tally.victims += 1;
        self.tally.valid_pages += u64::from(valid);
        let pages = self.planes_of_data(line).count() as u32 * manager.limits.data_pages;
        self.tally.victim_pages += u64::from(pages);
        manager.victims.removed(ALL_PLANES, BlockId::from_index(line), valid as u16);
        manager.streams.chosen(self.life(line, &manager.blocks), pages);
        for (plane, block) in self.blocks_of(line) {
            manager.blocks.set_open(block);
            manager.space.set_reclaiming(plane, Some(block));
            if self.holds_parity(line, plane) {
                continue;
            }
            let invalid = manager.limits.data_pages - u32::from(manager.blocks.valid_pages(block));
            manager.space.take_invalid(plane, invalid);
        }
        let empty =
            self.blocks_of(line).filter(|(_, block)| manager.blocks.valid_pages(*block) == 0);
        self.begin_holding(empty.map(|(plane, _)| plane));
        self.drop_share_of_lost(manager, line);
    }

    /// Notes that `plane` begins to erase its block of the line that is being collected.
    pub(in crate::ftl) fn erase_begins(&mut self, plane: PlaneId) {
        let (die, bit) = self.place_of(plane);
        self.erasing[die] |= bit;
    }

    /// `block` of `plane` has been erased. Frees its line if it was the last.
    pub(in crate::ftl) fn erased_in_line(
        &mut self,
        manager: &mut BlockManager,
        plane: PlaneId,
        block: BlockId,
    ) {
        manager.space.set_reclaiming(plane, None);
        manager.wear.erased(plane, block, manager.blocks.erase_count(block));
        let (die, bit) = self.place_of(plane);
        self.unfinished[die] &= !bit;
        self.erasing[die] &= !bit;
        self.pass_turn_on();
        if self.unfinished.iter().any(|planes| *planes != 0) {
            return;
        }
        let line = self.line_of(block);
        (self.lines[line].valid, self.lines[line].is_sealed) = (0, false);
        self.at_work = None;
        self.collected = None;
        self.wakes_others = true;
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
}

impl LinesOn<'_> {
    /// Whether the erase of `block`, of the line that is being collected, has begun: nothing can be read there, though it may
    /// be suspended.
    pub fn is_being_erased(&self, block: BlockId) -> bool {
        let plane = self.manager.geometry.plane_of_block(block);
        let (lines, (die, bit)) = (self.lines, self.lines.place_of(plane));
        lines.collected == Some(lines.line_of(block)) && lines.erasing[die] & bit != 0
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{device, write};
    use super::*;

    #[test]
    fn the_first_time_that_no_line_can_be_collected_others_are_asked_whether_they_have_room_now() {
        let mut ftl = device(&[]);
        // A whole line, of which nothing is invalid.
        (0..4).for_each(|plane| _ = write(&mut ftl, plane, 4 * plane..4 * plane + 4));
        ftl.take_wakes_others();
        assert_eq!(ftl.choose_victim(PlaneId(0)), None);
        assert!(ftl.take_wakes_others());
        assert_eq!(ftl.choose_victim(PlaneId(1)), None);
        assert!(!ftl.take_wakes_others(), "nothing has changed since");
    }
}
