//! A die is lost (`ssd.faults.lost_die`): its blocks are closed as they are, and each page there that is valid waits to be
//! rebuilt elsewhere. Lines go on over the dies that are left, with stripes that are narrower by one page.
//!
//! A block of the lost die counts as full once nothing in it is valid any more: so a line is no victim before all of it
//! that was there has been rebuilt. A line whose parity was there has none.

use std::cmp::Reverse;

use crate::checkpoint::Checkpointed;
use crate::ftl::block_manager::BlockManager;
use crate::ftl::space::Stream;
use crate::ftl::staged::StagedPage;
use crate::ids::{BlockId, DieId, Lpn, PlaneId, Ppn};
use crate::placement::Origin;
use crate::victim::Victims;

use super::{ALL_PLANES, LineId, Lines, LinesOn};
use crate::ftl::units::UnitOfReclaiming;

/// The die that is lost.
#[derive(Debug, Checkpointed)]
pub struct LostDie {
    pub(super) die: DieId,
    /// Pages that its block of each plane number of each line held, since the line was opened.
    pub(super) held: Vec<u32>,
    /// Valid pages there.
    left: u64,
    /// Lines that were opened without parity since.
    pub(super) unprotected: u64,
}

impl Lines {
    /// The die that is lost, if one is.
    pub(super) fn lost(&self) -> Option<&LostDie> {
        self.parity.as_ref()?.lost.as_deref()
    }

    fn lost_mut(&mut self) -> Option<&mut LostDie> {
        self.parity.as_mut()?.lost.as_deref_mut()
    }

    /// Whether `die` is lost.
    pub fn is_lost(&self, die: DieId) -> bool {
        self.lost().is_some_and(|lost| lost.die == die)
    }

    /// Whether the die of `plane` is lost.
    pub(super) fn is_of_lost(&self, plane: PlaneId) -> bool {
        self.is_lost(self.die_of(plane))
    }

    /// The blocks of `line` that lie on the lost die, and their planes.
    pub(super) fn blocks_of_lost(
        &self,
        line: LineId,
    ) -> impl Iterator<Item = (PlaneId, BlockId)> + use<> {
        let (planes, blocks) = (self.planes_per_die, self.blocks);
        let first = self.lost().map(|lost| lost.die.0 * planes);
        let planes = first.into_iter().flat_map(move |first| (first..first + planes).map(PlaneId));
        planes.map(move |plane| (plane, BlockId::from_index(plane.index() * blocks + line)))
    }

    /// The planes that hold data of `line`: neither parity nor on the lost die. They are more than of a line that is opened now, if
    /// the parity was on that die.
    pub(super) fn planes_of_data(&self, line: LineId) -> impl Iterator<Item = PlaneId> {
        let planes = (0..self.planes).map(PlaneId::from_index);
        planes.filter(move |plane| !self.holds_parity(line, *plane) && !self.is_of_lost(*plane))
    }

    /// Pages of the lost die that are still to be rebuilt.
    pub fn left_of_lost(&self) -> u64 {
        self.lost().map_or(0, |lost| lost.left)
    }

    /// Lines that were opened without parity since a die was lost.
    pub fn unprotected(&self) -> u64 {
        self.lost().map_or(0, |lost| lost.unprotected)
    }

    /// Whether the host leaves a line more free than else, for what is rebuilt.
    pub(super) fn leaves_room_to_rebuild(&self, free: usize, kept: usize) -> bool {
        self.left_of_lost() == 0 || free > kept + 1
    }
}

impl Lines {
    /// `die` is lost, with all that is there. It ends to erase the blocks that it is `erasing`.
    pub(in crate::ftl) fn lose_die(
        &mut self,
        manager: &mut BlockManager,
        die: DieId,
        erasing: &[BlockId],
    ) {
        let held = self.on(manager).held_by(die);
        let planes: Vec<_> = manager.geometry.planes_of_die(die).collect();
        let were_full = self.on(manager).full_lines();
        if let Some(made_up) = self.collected.reconstructed_mut() {
            made_up.forget_die(die, &manager.geometry);
        }
        let Some(parity) = &mut self.parity else { return };
        parity.lose(LostDie { die, held, left: 0, unprotected: 0 });
        self.pages -= self.planes_per_die * manager.limits.data_pages;
        for plane in &planes {
            manager.space.forget_open(*plane, manager.streams.all());
            for line in (0..self.blocks).filter(|line| !self.collected.is(*line)) {
                self.close_lost(manager, *plane, self.block_of(line, *plane));
            }
        }
        self.count_lost_pages(manager, &planes);
        self.count_full_blocks(manager, &were_full);
        self.give_parity_of_lost(manager);
        self.lose_share_of_collected(manager, die, &planes, erasing);
        self.collected.lose_die(die);
        self.wakes_others = true;
    }

    /// Closes `block` of `plane`, of the lost die, if it is open: no page is written to it any more.
    pub(super) fn close_lost(&self, manager: &mut BlockManager, plane: PlaneId, block: BlockId) {
        if !manager.blocks.is_open(block) {
            return;
        }
        manager.blocks.seal(block, manager.streams.clock);
        manager.streams.block_changed(manager.blocks.state(block));
        if !self.on(manager).is_parity(block) {
            let valid = u32::from(manager.blocks.valid_pages(block));
            manager.space.add_invalid(plane, manager.limits.data_pages - valid);
        }
    }

    fn count_lost_pages(&mut self, manager: &BlockManager, planes: &[PlaneId]) {
        let blocks = planes.iter().flat_map(|plane| manager.geometry.blocks_of_plane(*plane));
        let left = blocks.map(|block| u64::from(manager.blocks.valid_pages(block))).sum();
        if let Some(lost) = self.lost_mut() {
            lost.left = left;
        }
    }

    /// Counts the full blocks of lines again, some of which have been victims so far.
    fn count_full_blocks(&mut self, manager: &mut BlockManager, were_full: &[LineId]) {
        self.invalid = 0;
        let counts: Vec<_> =
            (0..self.blocks).map(|line| self.on(manager).full_blocks_of(line)).collect();
        for (line, full_blocks) in counts.into_iter().enumerate() {
            let (was_full, valid) = (were_full.contains(&line), self.lines[line].valid);
            self.lines[line].full_blocks = full_blocks;
            match (was_full, self.is_full(line)) {
                (true, true) => self.invalid += self.invalid_of(valid),
                (true, false) => {
                    manager.victims.removed(ALL_PLANES, BlockId::from_index(line), valid as u16);
                }
                (false, true) => self.line_is_full(manager, line),
                (false, false) => {}
            }
        }
    }

    /// Stripes of open lines that waited for pages of the lost die are whole now.
    fn give_parity_of_lost(&mut self, manager: &BlockManager) {
        let blocks = self.blocks;
        let Some(parity) = &mut self.parity else { return };
        for line in (0..blocks).filter(|line| !self.collected.is(*line)) {
            parity.give_narrow_stripes(line, manager.limits.data_pages, |plane, offset| {
                let block = BlockId::from_index(plane.index() * blocks + line);
                manager.geometry.page(block, offset)
            });
        }
    }

    /// Removes the lost die's share of the line that is being collected.
    fn lose_share_of_collected(
        &mut self,
        manager: &mut BlockManager,
        die: DieId,
        planes: &[PlaneId],
        erasing: &[BlockId],
    ) {
        let Some(line) = self.collected.line() else { return };
        let valid = |block| u32::from(manager.blocks.valid_pages(block));
        let blocks: Vec<_> =
            planes.iter().map(|plane| (*plane, self.block_of(line, *plane))).collect();
        let is_there = |plane| !self.collected.is_erased(plane);
        let left: u32 = blocks.iter().filter(|of| is_there(of.0)).map(|of| valid(of.1)).sum();
        debug_assert!(self.is_lost(die));
        if left > 0 {
            let empty = self.on(manager).with_nothing_to_move(line);
            self.collected.hold_erases(empty.into_iter());
        }
        let valid = |block| u32::from(manager.blocks.valid_pages(block));
        let is_done = |of: &(PlaneId, BlockId)| {
            !self.collected.is_erased(of.0) && valid(of.1) == 0 && !erasing.contains(&of.1)
        };
        let done: Vec<_> = blocks.into_iter().filter(is_done).collect();
        done.into_iter().for_each(|(plane, block)| self.drop_lost_block(manager, plane, block));
    }

    /// `block` of the lost die has been rebuilt, and its line is being collected: it is free with that.
    pub(super) fn drop_lost_block(
        &mut self,
        manager: &mut BlockManager,
        plane: PlaneId,
        block: BlockId,
    ) {
        if let Some(audit) = &mut manager.audit {
            audit.erased(block, &manager.geometry);
        }
        manager.blocks.empty_lost(block);
        manager.lost_pages.forget(block, &manager.geometry);
        manager.streams.erased(manager.blocks.class(block));
        self.erased(manager, plane, block);
    }

    /// A page of `block`, of the lost die, is out of date, or has been rebuilt elsewhere. Its line may be a victim now.
    pub(super) fn lost_page_went(&mut self, manager: &mut BlockManager, block: BlockId) {
        let valid = manager.blocks.valid_pages(block);
        let line = self.line_of(block);
        if let Some(lost) = self.lost_mut() {
            lost.left -= 1;
            // The host keeps no room for it any more.
            self.wakes_others |= self.left_of_lost() == 0;
        }
        if valid > 0 || self.collected.is(line) {
            return;
        }
        self.lines[line].full_blocks += 1;
        self.wakes_others = true;
        if self.is_full(line) {
            self.line_is_full(manager, line);
        }
    }

    /// Pages that were made up and find no room on the plane that was to program them go to another that has some. Returns
    /// whose turn it is now.
    pub(in crate::ftl) fn give_rebuilt_to_others(&self, manager: &mut BlockManager) -> Vec<DieId> {
        let mut given = Vec::new();
        if manager.staged.len() == 0 {
            return given;
        }
        for plane in manager.space.planes() {
            while let Some((lpn, origin)) = manager.staged.first(plane)
                && self.on(manager).place_to_rebuild(plane, lpn, origin).is_none()
                && let Some(other) = self.on(manager).roomiest_for_rebuilt(|other| {
                    self.on(manager).place_to_rebuild(other, lpn, origin).is_some()
                })
            {
                if let Some((lpn, page)) = manager.staged.take_first(plane) {
                    manager.staged.add(lpn, StagedPage { plane: other, ..page });
                }
                given.push(manager.geometry.die_of_plane(other));
            }
        }
        given
    }
}

impl LinesOn<'_> {
    /// Pages of data that the blocks of `die` hold: line by line, plane number by plane number.
    fn held_by(&self, die: DieId) -> Vec<u32> {
        let lines = self.lines;
        let planes = || self.manager.geometry.planes_of_die(die);
        let held = |(line, plane): (LineId, PlaneId)| {
            let block = lines.block_of(line, plane);
            if self.manager.blocks.is_free(block) || lines.holds_parity(line, plane) {
                0
            } else if lines.collected.is(line) {
                self.manager.limits.data_pages
            } else {
                self.programmed_data(block)
            }
        };
        (0..lines.blocks)
            .flat_map(|line| planes().map(move |plane| (line, plane)))
            .map(held)
            .collect()
    }

    fn full_lines(&self) -> Vec<LineId> {
        let lines = self.lines;
        (0..lines.blocks).filter(|line| lines.is_full(*line)).collect()
    }

    fn full_blocks_of(&self, line: LineId) -> u32 {
        let lines = self.lines;
        let is_full = |(plane, block): &(PlaneId, BlockId)| self.is_full_block(*plane, *block);
        lines.blocks_of(line).filter(is_full).count() as u32
    }

    /// Whether a block counts as full: one of the lost die only if nothing in it is valid.
    pub(super) fn is_full_block(&self, plane: PlaneId, block: BlockId) -> bool {
        self.manager.blocks.is_closed(block)
            && (self.manager.blocks.valid_pages(block) == 0 || !self.lines.is_of_lost(plane))
    }

    /// The pages to rebuild of the line that is next: the one that is being collected, or that which gives most room
    /// with what is rebuilt.
    pub fn lost_pages_of_next_line(&self) -> Vec<Ppn> {
        let lines = self.lines;
        if lines.left_of_lost() == 0 {
            return Vec::new();
        }
        let valid = |block| u32::from(self.manager.blocks.valid_pages(block));
        let lost = |line| lines.blocks_of_lost(line).map(|(_, block)| block);
        let waits = |line: &LineId| lost(*line).any(|block| valid(block) > 0);
        let all = |line: &LineId| lines.blocks_of(*line).map(|of| valid(of.1)).sum::<u32>();
        let line = lines
            .collected
            .line()
            .filter(waits)
            .or_else(|| (0..lines.blocks).filter(waits).min_by_key(all));
        let blocks = line.into_iter().flat_map(lost);
        let pages = |block: BlockId| {
            let next = move |from: u32| self.manager.blocks.next_valid(block, from);
            std::iter::successors(next(0), move |offset| next(offset + 1))
                .map(move |offset| self.manager.geometry.page(block, offset))
        };
        blocks.flat_map(pages).collect()
    }

    /// Whether the host leaves room for what is rebuilt: where no line is left free for that, as many pages of open blocks as
    /// the lost die may hold of one line, beside those that are made up already. So there is always a line that can be
    /// rebuilt, and then be collected.
    pub(in crate::ftl) fn leaves_pages_to_rebuild(&self) -> bool {
        let lines = self.lines;
        if lines.left_of_lost() == 0 {
            return true;
        }
        let free = self.manager.space.free_blocks(ALL_PLANES);
        if lines.leaves_room_to_rebuild(free, self.manager.space.thresholds().kept_for_collections)
        {
            return true;
        }
        let open = |plane| {
            (self.manager.rooms().free_pages(plane)
                - self.manager.rooms().pages_of_free_blocks(plane)) as usize
        };
        let open = self.manager.space.planes().map(open).sum::<usize>();
        // What is left of a line that is being collected takes its pages from there, and from free lines.
        let (collecting, left) = match lines.collected.line() {
            Some(_) => (free * lines.pages as usize, lines.collected.left() as usize),
            None => (0, 0),
        };
        let share_of_lost = (lines.planes_per_die * self.manager.limits.data_pages) as usize;
        open + collecting > left + share_of_lost + self.manager.staged.len()
    }

    /// The open block of `plane` that a page which was made up goes to, and the offset there: that of its class or, if that has
    /// none and no line may be opened for it, the one with most room.
    pub(in crate::ftl) fn place_to_rebuild(
        &self,
        plane: PlaneId,
        lpn: Lpn,
        origin: Origin,
    ) -> Option<(Stream, u32)> {
        let place = |stream| Some((stream, self.offset_to_rebuild(plane, stream)?));
        let own = place(self.manager.rooms().stream_for_move(plane, lpn, origin));
        own.or_else(|| place(self.roomiest_of_all(plane)?))
    }

    /// Whether a page that was made up finds no room on the plane that is to program it, and so on none: a collection has to
    /// make some.
    pub fn rebuilt_waits_for_room(&self) -> bool {
        let waits = |(lpn, page): (Lpn, StagedPage)| {
            self.place_to_rebuild(page.plane, lpn, page.origin).is_none()
        };
        self.manager.staged.iter().any(waits)
    }

    /// The offset that a page which was made up is programmed at, in the open block of `plane` or in that of a line which
    /// is opened for it, unless it takes what a collection needs.
    fn offset_to_rebuild(&self, plane: PlaneId, stream: Stream) -> Option<u32> {
        let state = &self.manager.space[plane];
        let left =
            state.reclaiming.map_or(0, |block| u32::from(self.manager.blocks.valid_pages(block)));
        match state.frontier(stream) {
            Some(open) => {
                (left < self.manager.rooms().collection_room(plane)).then_some(open.next_page)
            }
            None => {
                let kept = self.manager.space.thresholds().kept_for_collections;
                let may_open = state.free_blocks() > kept
                    && left < self.manager.rooms().collection_room(plane)
                    && self.has_parity_die_but(plane);
                may_open.then_some(0)
            }
        }
    }

    /// The plane that a page of the lost die is rebuilt on: that with most room, those less that are to be programmed there.
    pub fn plane_for_rebuilt(&self) -> Option<PlaneId> {
        self.roomiest_for_rebuilt(|_| true)
    }

    /// Of the planes that are there and that `may`, that with most room.
    fn roomiest_for_rebuilt(&self, may: impl Fn(PlaneId) -> bool) -> Option<PlaneId> {
        let lines = self.lines;
        let room = |plane: &PlaneId| {
            let waiting = self.manager.staged.waiting_for(*plane);
            Reverse(i64::from(self.manager.rooms().free_pages(*plane)) - waiting as i64)
        };
        let is_possible = |plane: &PlaneId| !lines.is_of_lost(*plane) && may(*plane);
        self.manager.space.planes().filter(is_possible).min_by_key(room)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{device, on, write};
    use super::*;
    use crate::ftl::space::Frontier;
    use crate::placement::Class;

    #[test]
    fn a_line_whose_parity_was_lost_holds_data_on_all_other_dies() {
        let mut ftl = device(&[("ssd.ftl.rain", "true")]);
        let mut pages = Vec::new();
        (1..4).for_each(|plane| pages = write(&mut ftl, plane, 4 * plane..4 * plane + 4));
        ftl.lose_die(DieId(0), &[]);
        // Its parity was to lie on die 0; lines that are opened from now on have one die less.
        let lines = on(&ftl);
        let line = lines.line_of(ftl.geometry.block_of(pages[0]));
        assert_eq!(lines.planes_of_data(line).collect::<Vec<_>>(), [1, 2, 3].map(PlaneId));
        assert_eq!(lines.pages, 2 * 4);
    }

    #[test]
    fn a_page_that_was_made_up_takes_no_room_that_the_collection_of_its_plane_needs() {
        let mut ftl = device(&[("ssd.ftl.rain", "true")]);
        let (plane, stream) = (PlaneId(1), Stream::Class(Class::new(0)));
        let pages = write(&mut ftl, 1, 0..4);
        let victim = ftl.geometry.block_of(pages[0]);
        // Nothing is free but two pages of the open block.
        let manager = &mut ftl.tables.manager;
        let open = manager.space.take_free(plane);
        while manager.space[plane].free_blocks() > 0 {
            manager.space.take_free(plane);
        }
        *manager.space[plane].frontier_mut(stream) = Some(Frontier { block: open, next_page: 2 });
        manager.space[plane].reclaiming = Some(victim);
        let mut places = Vec::new();
        for lpn in 0..3 {
            ftl.trim(Lpn(lpn));
            places.push(on(&ftl).offset_to_rebuild(plane, stream));
        }
        assert_eq!(places, [None, None, Some(2)], "three, two and one are still to be moved");
    }

    #[test]
    fn a_page_that_was_made_up_for_a_plane_without_room_goes_to_that_with_most() {
        let mut ftl = device(&[("ssd.ftl.rain", "true")]);
        let mut pages = Vec::new();
        (1..4).for_each(|plane| pages = write(&mut ftl, plane, 4 * plane..4 * plane + 4));
        ftl.lose_die(DieId(3), &[]);
        let stream = Stream::Class(Class::new(0));
        ftl.stage(pages[0], PlaneId(1));
        assert_eq!(ftl.give_rebuilt_to_others(), [], "plane 1 has room");
        // Plane 1 has none any more, and plane 0 has less than plane 2.
        let manager = &mut ftl.tables.manager;
        *manager.space[PlaneId(1)].frontier_mut(stream) = None;
        while manager.space[PlaneId(1)].free_blocks() > 0 {
            manager.space.take_free(PlaneId(1));
        }
        manager.space.take_free(PlaneId(0));
        assert_eq!(ftl.give_rebuilt_to_others(), [DieId(2)]);
        assert_eq!(ftl.staged.plane_of(Lpn(12)), Some(PlaneId(2)));
        assert_eq!(ftl.give_rebuilt_to_others(), [], "it stays there");
    }
}
