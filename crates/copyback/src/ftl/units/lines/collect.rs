//! Choice of the line to collect, and what is noted as its collection begins.

use crate::ftl::block_manager::BlockManager;
use crate::ids::BlockId;
use crate::victim::Victims;

use super::{ALL_PLANES, LineId, Lines, LinesOn};

impl Lines {
    /// Begins to collect `line` on all planes.
    pub(super) fn begin_line(&mut self, manager: &mut BlockManager, line: LineId) {
        let valid = self.lines[line].valid;
        self.collected.begin(line, valid);
        self.invalid -= self.invalid_of(valid);
        self.lines[line].full_blocks = 0;
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
        self.collected.begin_holding(empty.map(|(plane, _)| plane));
        // It holds nothing that is valid on a lost die.
        for (plane, block) in self.blocks_of_lost(line) {
            self.drop_lost_block(manager, plane, block);
        }
    }
}

impl LinesOn<'_> {
    /// Whether every plane has room for what is valid of `line` there, and to collect it is worth it.
    pub(super) fn may_collect(&self, line: LineId) -> bool {
        let (lines, manager) = (self.lines, self.manager);
        let has_room =
            lines.blocks_of(line).all(|(plane, block)| manager.rooms().has_room_for(block, plane));
        let invalid = lines.invalid_of(lines.lines[line].valid);
        let is_worth_it = invalid >= u64::from(manager.limits.least_invalid)
            || !manager.space.may_open_for_host(ALL_PLANES);
        has_room && is_worth_it
    }

    /// Whether the erase of `block`, of the line that is being collected, has begun: nothing can be read there, though it may
    /// be suspended.
    pub fn is_being_erased(&self, block: BlockId) -> bool {
        let plane = self.manager.geometry.plane_of_block(block);
        let collected = &self.lines.collected;
        collected.is(self.lines.line_of(block)) && collected.is_erasing(plane)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{device, write};
    use crate::ftl::Occasion;
    use crate::ids::PlaneId;

    #[test]
    fn the_first_time_that_no_line_can_be_collected_others_are_asked_whether_they_have_room_now() {
        let mut ftl = device(&[]);
        // A whole line, of which nothing is invalid.
        (0..4).for_each(|plane| _ = write(&mut ftl, plane, 4 * plane..4 * plane + 4));
        ftl.take_wakes_others();
        assert_eq!(ftl.choose_victim(Occasion::Demand(PlaneId(0))), None);
        assert!(ftl.take_wakes_others());
        assert_eq!(ftl.choose_victim(Occasion::Demand(PlaneId(1))), None);
        assert!(!ftl.take_wakes_others(), "nothing has changed since");
    }
}
