//! A line is chosen, and each plane collects its block of it.

use crate::ftl::tables::Tables;
use crate::ids::{BlockId, DieId, PlaneId};
use crate::victim::Victims;

use super::{ALL_PLANES, LineId};

impl Tables {
    /// The block of `plane` to collect: that of the line which is being collected, unless the plane has done its share; if
    /// no line is, that of the line which the victim policy chooses.
    pub(in crate::ftl) fn choose_in_line(&mut self, plane: PlaneId) -> Option<BlockId> {
        let lines = self.lines.as_ref()?;
        if let Some(line) = lines.collected {
            let may_work = lines.may_work(self.geometry.die_of_plane(plane));
            return (may_work && lines.is_unfinished(plane)).then(|| lines.block_of(line, plane));
        }
        let victim = self.look_for_line();
        let lines = self.lines.as_mut()?;
        // A die that had no room for a write may borrow some now.
        lines.wakes_others |= victim.is_none() && !lines.found_no_victim;
        lines.found_no_victim = victim.is_none();
        victim.map(|line| lines.block_of(line, plane))
    }

    /// The line that the victim policy chooses, if every plane has room for what is valid there, and it is worth it.
    fn look_for_line(&mut self) -> Option<LineId> {
        let Self { lines, victims, blocks, streams, .. } = self;
        let lines = lines.as_ref().filter(|lines| lines.invalid > 0)?;
        let line = victims.choose(ALL_PLANES, &lines.at(blocks, streams))?.index();
        let lines = self.lines.as_ref()?;
        let has_room = lines.blocks_of(line).all(|(plane, block)| self.has_room_for(block, plane));
        let invalid = lines.invalid_of(lines.lines[line].valid);
        let is_worth_it = invalid >= u64::from(self.limits.least_invalid)
            || !self.space.may_open_for_host(ALL_PLANES);
        (has_room && is_worth_it).then_some(line)
    }

    /// Begins to collect the line of `victim` on all planes, if that is not under way.
    pub(in crate::ftl) fn begin_line(&mut self, victim: BlockId) {
        let Some(lines) = &mut self.lines else { return };
        let die = self.geometry.die_of_plane(self.geometry.plane_of_block(victim));
        (lines.at_work, lines.is_collecting) = (Some(die), true);
        if lines.is_any_collected() {
            return;
        }
        let line = lines.line_of(victim);
        let valid = lines.lines[line].valid;
        lines.collected = Some(line);
        lines.unfinished.fill((1_u64.wrapping_shl(lines.planes_per_die) - 1) as u32);
        lines.invalid -= lines.invalid_of(valid);
        lines.left = valid;
        lines.lines[line].full_blocks = 0;
        lines.wakes_others = true;
        lines.tally.victims += 1;
        lines.tally.valid_pages += u64::from(valid);
        let pages = lines.planes_of_data(line).count() as u32 * self.limits.data_pages;
        lines.tally.victim_pages += u64::from(pages);
        self.victims.removed(ALL_PLANES, BlockId::from_index(line), valid as u16);
        self.streams.chosen(lines.life(line, &self.blocks), pages);
        for (plane, block) in lines.blocks_of(line) {
            self.blocks.set_open(block);
            self.space.set_reclaiming(plane, Some(block));
            if lines.holds_parity(line, plane) {
                continue;
            }
            let invalid = self.limits.data_pages - u32::from(self.blocks.valid_pages(block));
            self.space.take_invalid(plane, invalid);
        }
        let empty = lines.blocks_of(line).filter(|(_, block)| self.blocks.valid_pages(*block) == 0);
        lines.begin_holding(empty.map(|(plane, _)| plane));
        self.drop_share_of_lost(line);
    }

    /// The erase of `block` begins.
    pub(in crate::ftl) fn erase_begins_in_line(&mut self, block: BlockId) {
        let plane = self.geometry.plane_of_block(block);
        if let Some(lines) = &mut self.lines {
            let (die, bit) = lines.place_of(plane);
            lines.erasing[die] |= bit;
        }
    }

    /// Whether the erase of `block`, of the line that is being collected, has begun: nothing can be read there, though it may
    /// be suspended.
    pub fn is_being_erased(&self, block: BlockId) -> bool {
        let plane = self.geometry.plane_of_block(block);
        self.lines.as_ref().is_some_and(|lines| {
            let (die, bit) = lines.place_of(plane);
            lines.collected == Some(lines.line_of(block)) && lines.erasing[die] & bit != 0
        })
    }

    /// `block` of `plane` has been erased. Frees its line if it was the last.
    pub(in crate::ftl) fn erased_in_line(&mut self, plane: PlaneId, block: BlockId) {
        self.space.set_reclaiming(plane, None);
        self.wear.erased(plane, block, self.blocks.erase_count(block));
        let Some(lines) = &mut self.lines else { return };
        let (die, bit) = lines.place_of(plane);
        lines.unfinished[die] &= !bit;
        lines.erasing[die] &= !bit;
        lines.pass_turn_on();
        if lines.unfinished.iter().any(|planes| *planes != 0) {
            return;
        }
        let line = lines.line_of(block);
        (lines.lines[line].valid, lines.lines[line].is_sealed) = (0, false);
        lines.at_work = None;
        lines.collected = None;
        lines.wakes_others = true;
        lines.tally.freed += 1;
        if let Some(parity) = &mut lines.parity {
            parity.forget(line);
        }
        self.streams.collected(lines.life(line, &self.blocks));
        let freed = lines.blocks_of(line);
        // Planes free their blocks in one order: one of a lost die, which is not erased, goes with the others of its line.
        let erases = freed.clone().map(|(_, block)| self.blocks.erase_count(block)).max();
        for (plane, block) in freed.clone() {
            self.space[plane].free.push(block, erases.unwrap_or_default());
            self.space.changed(plane);
        }
        freed.for_each(|(plane, _)| self.reopen_for_host(plane));
    }

    /// A bit for each plane of `die` that has not yet done its share of the line that is being collected, if one is.
    #[inline(always)]
    pub(in crate::ftl) fn unfinished_of_line(&self, die: DieId) -> Option<u32> {
        self.lines.as_ref()?.unfinished(die)
    }

    /// Whether blocks are managed in lines.
    pub const fn has_lines(&self) -> bool {
        self.lines.is_some()
    }

    /// The first plane that has not yet done its share of the line that is being collected, if one is.
    pub fn first_unfinished_plane(&self) -> Option<PlaneId> {
        self.lines.as_ref()?.first_unfinished()
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
