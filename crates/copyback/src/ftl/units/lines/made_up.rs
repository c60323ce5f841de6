//! Pages that a move could not read, and that are made up from the others of their stripes: until then they stay where they are,
//! valid, and no block of their line is erased. Then they are in the device's DRAM, and the collection of their plane programs
//! them, for which there is room as for any page of the line.

use std::collections::BTreeMap;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ftl::block_manager::BlockManager;
use crate::ids::{BlockId, DieId, PlaneId, Ppn};
use crate::nand::Geometry;

use super::{LineId, Lines, LinesOn};

/// Pages of the line that is being collected which could not be read.
#[derive(Debug, Default, Checkpointed)]
pub struct MadeUp {
    pages: BTreeMap<Ppn, State>,
}

/// Progress of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
enum State {
    /// Page that is being read, or those that it is reconstructed from.
    Reading,
    /// Page that is in DRAM.
    There,
}

impl MadeUp {
    /// Creates an empty record, on a drive of a checked configuration that reconstructs pages which its
    /// collections move. What is copied inside the flash nobody corrects.
    pub(super) fn new(config: &Resolved) -> Option<Box<Self>> {
        let makes_up = config.ssd.ftl.rain
            && config.ssd.faults.reads_may_fail()
            && !config.ssd.gc.copyback
            && !config.ssd.gc.zero_cost;
        makes_up.then(Box::default)
    }

    /// Whether `page` has been read in vain.
    pub(super) fn contains(&self, page: Ppn) -> bool {
        self.pages.contains_key(&page)
    }

    /// Whether `page` is being made up.
    pub(super) fn is_reading(&self, page: Ppn) -> bool {
        self.pages.get(&page) == Some(&State::Reading)
    }

    /// Notes that `page` has been made up, or cannot be.
    pub(super) fn note_there(&mut self, page: Ppn) {
        self.pages.insert(page, State::There);
    }

    /// `page` is not to be moved any more.
    pub(super) fn forget(&mut self, page: Ppn) {
        self.pages.remove(&page);
    }

    /// Forgets the pages of a lost die, which are rebuilt otherwise.
    pub(super) fn forget_die(&mut self, die: DieId, geometry: &Geometry) {
        let is_there = |page: &Ppn| geometry.die_of_plane(geometry.plane_of(*page)) == die;
        self.pages.retain(|page, _| !is_there(page));
    }
}

impl Lines {
    /// A move reads `page` in vain. Returns whether it waits for the others of its stripe: if these are there.
    pub(in crate::ftl) fn wait_for_stripe(&mut self, manager: &BlockManager, page: Ppn) -> bool {
        if !self.collected.makes_up_what_moves() || !self.on(manager).has_whole_stripe(page) {
            return false;
        }
        let block = manager.geometry.block_of(page);
        let (line, plane) = (self.line_of(block), manager.geometry.plane_of_block(block));
        if let Some(made_up) = self.collected.reconstructed_mut() {
            made_up.pages.insert(page, State::Reading);
        }
        let is_held = self.collected.is_holding();
        let empty = match is_held {
            true => Vec::from_iter(self.on(manager).has_nothing_to_move(block).then_some(plane)),
            false => self.on(manager).with_nothing_to_move(line),
        };
        match is_held {
            true => empty.into_iter().for_each(|plane| self.collected.note_empty(plane)),
            // The turn of its die ends with its collection.
            false => self.collected.hold(empty.into_iter()),
        }
        true
    }

    /// Whether `block`, nothing in which is valid any more, may be erased.
    pub fn may_erase(&self, block: BlockId) -> bool {
        self.collected.may_erase(self.line_of(block))
    }

    /// Whether lines have parity, and a block of them may be erased before another has been moved.
    pub fn loses_stripes_in_moves(&self) -> bool {
        self.parity.is_some() && !self.collected.erases_together()
    }
}

impl LinesOn<'_> {
    /// The page of `block`, of the line that is being collected, that is read next to be moved.
    pub fn next_to_move(&self, block: BlockId) -> Option<Ppn> {
        let made_up = self.lines.collected.made_up()?;
        let mut offset = 0;
        loop {
            let page = self.manager.next_valid(block, offset)?;
            if !made_up.contains(page) {
                return Some(page);
            }
            offset = self.manager.geometry.page_offset(page) + 1;
        }
    }

    /// A page of `block` that has been made up, and is programmed next.
    pub fn next_made_up(&self, block: BlockId) -> Option<Ppn> {
        let made_up = self.lines.collected.made_up()?;
        let of_block = |offset| self.manager.geometry.page(block, offset);
        let last = self.manager.geometry.pages_per_block - 1;
        let mut pages = made_up.pages.range(of_block(0)..=of_block(last));
        pages.find(|(_, state)| **state == State::There).map(|(page, _)| *page)
    }

    /// Whether the collection of `block`, of the line that is being collected, has nothing to do but to erase it.
    pub(super) fn has_nothing_to_move(&self, block: BlockId) -> bool {
        match self.lines.collected.makes_up_what_moves() {
            true => self.next_to_move(block).is_none() && self.next_made_up(block).is_none(),
            false => self.manager.blocks.valid_pages(block) == 0,
        }
    }

    /// The planes that have nothing to move of `line`, which is being collected.
    pub(super) fn with_nothing_to_move(&self, line: LineId) -> Vec<PlaneId> {
        let blocks = self.lines.blocks_of(line);
        blocks.filter(|(_, block)| self.has_nothing_to_move(*block)).map(|of| of.0).collect()
    }

    /// Whether nothing of the stripe of `page` has been erased, or is being erased.
    fn has_whole_stripe(&self, page: Ppn) -> bool {
        self.others_of_stripe(page).is_some_and(|others| {
            !others.iter().any(|other| self.is_being_erased(self.manager.geometry.block_of(*other)))
        })
    }

    /// Checks that what is made up is valid, of the line that is being collected, none of which is erased meanwhile.
    pub(super) fn check_made_up(&self) -> Result<(), String> {
        let lines = self.lines;
        let Some(made_up) = lines.collected.made_up() else { return Ok(()) };
        let is_sound = |page: &&Ppn| {
            let line = lines.line_of(self.manager.geometry.block_of(**page));
            self.manager.is_valid(**page)
                && lines.collected.is(line)
                && lines.collected.is_holding()
        };
        match made_up.pages.keys().find(|page| !is_sound(page)) {
            Some(page) => Err(format!("{page:?} is made up, but is not to be moved")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{device, write};

    #[test]
    fn a_page_that_was_read_in_vain_is_not_read_again_to_be_moved() {
        let mut ftl = device(&[
            ("ssd.ftl.rain", "true"),
            ("ssd.gc.copyback", "false"),
            ("ssd.faults", "{ read_errors = 0.1, retry_levels = 0 }"),
        ]);
        let on_plane = |plane: u32| 4 * plane..4 * plane + 4;
        let pages = write(&mut ftl, 1, on_plane(1));
        (2..4).for_each(|plane| _ = write(&mut ftl, plane, on_plane(plane)));
        let plan = ftl.begin_reclaim(ftl.geometry.block_of(pages[0]));
        assert!(plan.may_move(pages[0], &ftl) && plan.may_move(pages[1], &ftl));
        assert!(ftl.reads_in_vain_to_move(pages[0]), "the others of its stripe are there");
        assert!(!plan.may_move(pages[0], &ftl) && plan.may_move(pages[1], &ftl));
    }
}
