//! RAIN (`ssd.ftl.rain`): of each line one die holds parity.
//!
//! A stripe is the pages at one offset of one plane number over the dies of a line. Its parity is in the device's DRAM
//! until all its pages of data have been programmed; then its die programs it, at the same offset. Each plane fills its
//! blocks in order, and so the stripes of a plane number become whole in order.
//!
//! A plane of that die gets no room from the line. It is the die that holds the parity of fewest lines, in turn, but for
//! those that need a block now for what they must still move of the line that is being collected. There is always one that
//! does not: what is collected has no page of data on the die that holds its own parity.

use crate::checkpoint::Checkpointed;
use crate::ftl::block_manager::BlockManager;
use crate::ftl::space::Stream;
use crate::ids::{BlockId, DieId, PlaneId, Ppn};
use crate::nand::Geometry;
use crate::placement::Class;

use super::lost::LostDie;
use super::parity_due::DueParity;
use super::{LineId, Lines, LinesOn};

/// Parity of lines: the dies that hold it, the stripes that are whole, and the pages that are due.
#[derive(Debug, Checkpointed)]
pub struct Parity {
    dies: usize,
    planes_per_die: usize,
    pages_per_block: usize,
    /// Of each line, since it was last opened.
    pub(super) of_lines: Vec<DieId>,
    /// Lines whose parity each die holds.
    lines_of: Vec<u32>,
    /// The line of each class that was opened last.
    pub(super) last: Vec<Option<LineId>>,
    /// The die whose turn it is to hold the parity of a line.
    pub(super) turn: DieId,
    /// Pages of data that have been programmed of each stripe: line by line, plane number by plane number.
    programmed: Vec<u16>,
    /// Pages of parity that have been programmed of each plane number of each line.
    written: Vec<u32>,
    /// Parity that dies have to program.
    pub due: DueParity,
    /// The die that is lost, if one is.
    pub(super) lost: Option<Box<LostDie>>,
}

impl Parity {
    /// Creates the parity of an erased device.
    pub(super) fn new(geometry: &Geometry, classes: usize) -> Self {
        let (lines, pages) = (geometry.blocks_per_plane, geometry.pages_per_block);
        let stripes = lines as usize * geometry.planes_per_die as usize * pages as usize;
        Self {
            dies: geometry.dies(),
            planes_per_die: geometry.planes_per_die as usize,
            pages_per_block: pages as usize,
            of_lines: vec![DieId(0); lines as usize],
            lines_of: vec![0; geometry.dies()],
            last: vec![None; classes],
            turn: DieId(0),
            programmed: vec![0; stripes],
            written: vec![0; stripes / pages as usize],
            due: DueParity::new(geometry.dies()),
            lost: None,
        }
    }

    pub(super) const fn dies(&self) -> usize {
        self.dies
    }

    /// The die that holds the parity of `line`.
    pub fn die_of(&self, line: LineId) -> DieId {
        self.of_lines[line]
    }

    const fn die_behind(&self, die: DieId) -> DieId {
        DieId::from_index((die.index() + 1) % self.dies)
    }

    fn stripes_of(&self, line: LineId) -> std::ops::Range<usize> {
        let stripes = self.planes_per_die * self.pages_per_block;
        line * stripes..(line + 1) * stripes
    }

    const fn stripe(&self, line: LineId, plane: PlaneId, offset: u32) -> usize {
        let number = plane.index() % self.planes_per_die;
        (line * self.planes_per_die + number) * self.pages_per_block + offset as usize
    }

    /// Notes that a page of data of a stripe has been programmed. Returns whether the stripe is whole.
    pub(super) fn add(&mut self, line: LineId, plane: PlaneId, offset: u32) -> bool {
        let stripe = self.stripe(line, plane, offset);
        self.programmed[stripe] += 1;
        self.is_whole(line, plane, offset)
    }

    /// Whether all pages of data of a stripe have been programmed that has parity.
    fn is_whole(&self, line: LineId, plane: PlaneId, offset: u32) -> bool {
        let programmed = self.programmed[self.stripe(line, plane, offset)] as usize;
        match &self.lost {
            None => programmed == self.dies - 1,
            Some(lost) if lost.die == self.die_of(line) => false,
            Some(_) if offset < self.held_by_lost(line, plane) => programmed == self.dies - 1,
            Some(_) => programmed == self.dies - 2,
        }
    }

    /// Pages of data that the block of the lost die held of the plane number of `plane` in `line`.
    pub(super) fn held_by_lost(&self, line: LineId, plane: PlaneId) -> u32 {
        self.lost.as_ref().map_or(0, |lost| lost.held[self.place_in_line(line, plane)])
    }

    /// A die is lost, with the parity that it had to program.
    pub(super) fn lose(&mut self, lost: LostDie) {
        self.due.lose(lost.die);
        self.lost = Some(Box::new(lost));
    }

    /// Gives the parity of stripes of `line` that have become whole with the loss of a die to the die that holds it. `page`
    /// names that of a plane, at an offset.
    pub(super) fn give_narrow_stripes(
        &mut self,
        line: LineId,
        data_pages: u32,
        page: impl Fn(PlaneId, u32) -> Ppn,
    ) {
        let die = self.die_of(line);
        for number in (0..self.planes_per_die).map(PlaneId::from_index) {
            let first = self.held_by_lost(line, number);
            let narrow = first..data_pages;
            let whole: Vec<_> =
                narrow.filter(|offset| self.is_whole(line, number, *offset)).collect();
            let holder = PlaneId::from_index(die.index() * self.planes_per_die + number.index());
            whole.into_iter().for_each(|offset| self.due.give(die, page(holder, offset)));
        }
    }

    /// Pages of parity of the plane number of `plane` in `line` whose stripes are whole.
    pub(super) fn whole_stripes(&self, line: LineId, plane: PlaneId) -> u32 {
        let offsets = 0..self.pages_per_block as u32;
        offsets.take_while(|offset| self.is_whole(line, plane, *offset)).count() as u32
    }

    const fn place_in_line(&self, line: LineId, plane: PlaneId) -> usize {
        line * self.planes_per_die + plane.index() % self.planes_per_die
    }

    /// Pages of parity that have been programmed of the plane number of `plane` in `line`.
    pub(super) fn written(&self, line: LineId, plane: PlaneId) -> u32 {
        self.written[self.place_in_line(line, plane)]
    }

    /// Sets the number of pages of parity that have been programmed on the plane number of `plane` in `line`.
    pub(super) fn set_written(&mut self, line: LineId, plane: PlaneId, pages: u32) {
        let place = self.place_in_line(line, plane);
        self.written[place] = pages;
    }

    /// `line` is free.
    pub(super) fn forget(&mut self, line: LineId) {
        let die = self.die_of(line);
        self.lines_of[die.index()] -= 1;
        let stripes = self.stripes_of(line);
        self.programmed[stripes].fill(0);
        let of_line = line * self.planes_per_die..(line + 1) * self.planes_per_die;
        self.written[of_line.clone()].fill(0);
        if let Some(lost) = &mut self.lost {
            lost.held[of_line].fill(0);
        }
        self.last.iter_mut().filter(|last| **last == Some(line)).for_each(|last| *last = None);
    }

    /// `die` holds the parity of one line more.
    pub(super) fn count_line(&mut self, die: DieId) {
        self.lines_of[die.index()] += 1;
    }

    /// Notes that `page` has been programmed with data. If its stripe is whole now, its parity is due: returns the page for
    /// that, if it is programmed at once. Blocks hold `data_pages` pages.
    #[inline(never)]
    pub(super) fn data_written(
        &mut self,
        page: Ppn,
        geometry: &Geometry,
        data_pages: u32,
    ) -> Option<Ppn> {
        let (block, offset) = (geometry.block_of(page), geometry.page_offset(page));
        let blocks = geometry.blocks_per_plane as usize;
        let (line, plane) = (block.index() % blocks, geometry.plane_of_block(block));
        if !self.add(line, plane, offset) {
            return None;
        }
        let die = self.die_of(line);
        let holder = geometry.first_plane(die).index() + plane.index() % self.planes_per_die;
        let page = geometry.page(BlockId::from_index(holder * blocks + line), offset);
        self.due.program(die, page, offset + 1 == data_pages).then_some(page)
    }
}

impl Lines {
    /// Whether the host may open a line of a class on `plane`, as far as parity is concerned: not for what would be
    /// written beside the last line, whose parity is on its die.
    pub(super) fn takes_part(&self, plane: PlaneId, stream: Stream) -> bool {
        let (Some(parity), Stream::Class(class)) = (&self.parity, stream) else { return true };
        let die = self.die_of(plane);
        parity.last[class.index()].is_none_or(|line| parity.die_of(line) != die)
    }

    /// Whether `plane` holds parity in `line`.
    pub fn holds_parity(&self, line: LineId, plane: PlaneId) -> bool {
        let die = self.die_of(plane);
        self.parity.as_ref().is_some_and(|parity| parity.die_of(line) == die)
    }
}

impl Lines {
    /// `die` holds the parity of `line`, which has been opened for `class`.
    pub(super) fn begin_parity(&mut self, line: LineId, class: Class, die: DieId) {
        let Some(parity) = &mut self.parity else { return };
        parity.of_lines[line] = die;
        if let Some(lost) = &mut parity.lost {
            lost.unprotected += u64::from(lost.die == die);
        }
        parity.count_line(die);
        parity.last[class.index()] = Some(line);
        parity.turn = parity.die_behind(die);
    }

    /// Programs `page` with parity: its block is full if it was the last.
    pub(in crate::ftl) fn program_parity(&mut self, manager: &mut BlockManager, page: Ppn) {
        let block = manager.geometry.block_of(page);
        if let Some(parity) = &mut self.parity {
            let (line, plane) =
                (block.index() % self.blocks, manager.geometry.plane_of_block(block));
            let offset = manager.geometry.page_offset(page);
            debug_assert_eq!(parity.written(line, plane), offset, "parity is programmed in order");
            parity.set_written(line, plane, offset + 1);
        }
        if manager.geometry.page_offset(page) + 1 < manager.limits.data_pages {
            return;
        }
        manager.blocks.seal(block, manager.streams.clock);
        manager.streams.block_changed(manager.blocks.state(block));
        self.close_in_line(manager, block);
        // The line may be a victim now, which others look for.
        self.wakes_others = true;
    }

    /// Parity of the lines, if they have any.
    pub fn parity(&self) -> Option<&Parity> {
        self.parity.as_deref()
    }

    /// Parity of the lines, to be changed.
    pub(in crate::ftl) fn parity_mut(&mut self) -> Option<&mut Parity> {
        self.parity.as_deref_mut()
    }
}

impl LinesOn<'_> {
    /// The die that holds the parity of a line which is opened now, as `plane` needs a block; `None` if lines have none.
    pub(super) fn take_parity_die(&self, plane: PlaneId) -> Option<DieId> {
        self.lines.parity.as_ref()?;
        let own = self.manager.geometry.die_of_plane(plane);
        let die = self.parity_die(|die| die != own).or_else(|| self.parity_die_for_now(plane));
        Some(die.expect("the host asks before, and what moves has no page on the die with the parity of its line"))
    }

    /// Picks the die that holds the parity of a new line for now. Where a die is lost, a line without parity
    /// may be collected, so that every die needs a block. With two blocks free, one die can wait for the
    /// second; else the new line gets no parity, for which the lost die stands.
    fn parity_die_for_now(&self, plane: PlaneId) -> Option<DieId> {
        let parity = self.lines.parity.as_ref()?;
        let lost = parity.lost.as_ref()?.die;
        let own = self.manager.geometry.die_of_plane(plane);
        let dies =
            (0..parity.dies).map(DieId::from_index).filter(|die| *die != lost && *die != own);
        match self.manager.space.free_blocks(plane) > 1 {
            true => dies.min_by_key(|die| parity.lines_of[die.index()]),
            false => Some(lost),
        }
    }

    /// Whether the host may open a line as `plane` needs a block, as far as parity is concerned: it leaves that to other
    /// planes if the parity is due to lie there.
    pub(super) fn leaves_parity_to_others(&self, plane: PlaneId) -> bool {
        let own = self.manager.geometry.die_of_plane(plane);
        self.parity_die(|_| true).is_some_and(|die| die != own)
    }

    /// Whether a die may hold the parity of a line that is opened as `plane` needs a block.
    pub(super) fn has_parity_die_but(&self, plane: PlaneId) -> bool {
        let own = self.manager.geometry.die_of_plane(plane);
        self.parity_die(|die| die != own).is_some()
    }

    /// Whether `block`, which is not free, holds parity.
    pub(in crate::ftl) fn is_parity(&self, block: BlockId) -> bool {
        let lines = self.lines;
        lines.holds_parity(lines.line_of(block), self.manager.geometry.plane_of_block(block))
    }

    /// Of the dies that may hold the parity of a line that is opened now, that with fewest lines of parity, in turn.
    fn parity_die(&self, may: impl Fn(DieId) -> bool) -> Option<DieId> {
        let parity = self.lines.parity.as_ref()?;
        let turn = parity.turn.index();
        let in_turn = (turn..parity.dies).chain(0..turn).map(DieId::from_index);
        let is_there = |die| parity.lost.as_ref().is_none_or(|lost| lost.die != die);
        let possible =
            in_turn.filter(|die| may(*die) && is_there(*die) && self.needs_no_block(*die));
        possible.min_by_key(|die| parity.lines_of[die.index()])
    }

    /// Whether the open blocks of every plane of `die` have room for what is still to be moved there.
    fn needs_no_block(&self, die: DieId) -> bool {
        self.manager.geometry.planes_of_die(die).all(|plane| {
            match self.manager.space[plane].reclaiming {
                Some(victim) => {
                    u32::from(self.manager.blocks.valid_pages(victim))
                        <= self.manager.rooms().open_room(plane)
                }
                None => true,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{device, on, write};
    use super::*;

    #[test]
    fn a_line_is_opened_if_another_die_can_do_without_a_block_of_it() {
        let mut ftl = device(&[("ssd.ftl.rain", "true")]);
        // Parity of the first line is on die 0. The others have a block of it, to be moved whole to nowhere.
        for plane in 1..4 {
            let pages = write(&mut ftl, plane, 4 * plane..4 * plane + 4);
            let block = ftl.geometry.block_of(pages[0]);
            let state = &mut ftl.tables.manager.space[PlaneId(plane)];
            *state.frontier_mut(Stream::Class(Class::new(0))) = None;
            state.reclaiming = Some(block);
        }
        assert!(on(&ftl).has_parity_die_but(PlaneId(1)), "die 0 needs none");
        assert!(!on(&ftl).has_parity_die_but(PlaneId(0)), "all but die 0 do");
        ftl.tables.manager.space[PlaneId(2)].reclaiming = None;
        assert!(on(&ftl).has_parity_die_but(PlaneId(0)));
    }

    #[test]
    fn a_line_has_parity_though_every_die_needs_a_block_as_long_as_another_line_is_free() {
        let mut ftl = device(&[("ssd.ftl.rain", "true")]);
        ftl.lose_die(DieId(3), &[]);
        let (plane, mut found) = (PlaneId(0), Vec::new());
        while ftl.tables.space.free_blocks(plane) > 0 {
            found.push(on(&ftl).parity_die_for_now(plane));
            ftl.tables.manager.space.take_free(plane);
        }
        let last = found.pop().expect("lines are free");
        assert!(found.len() > 2 && found.iter().all(|die| *die == Some(DieId(1))), "{found:?}");
        assert_eq!(last, Some(DieId(3)), "the lost die stands for it");
    }
}
