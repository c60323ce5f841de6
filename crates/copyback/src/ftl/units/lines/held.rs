//! Erases of a line that wait until all of it has been moved (`ssd.gc.line_erase`), so that its stripes are whole as long as
//! one of its pages is needed.

use crate::checkpoint::Checkpointed;
use crate::config::{LineErase, Resolved};
use crate::ftl::block_manager::BlockManager;
use crate::ids::{BlockId, PlaneId, Ppn};

use super::Lines;

/// Whether erases of the line that is being collected wait.
#[derive(Debug, Checkpointed)]
pub struct Held {
    /// Whether those of every line do.
    always: bool,
    /// Whether those of this one do.
    now: bool,
    /// Of a line whose erases wait, a bit for each plane of a die that has nothing left to move.
    empty: Vec<u32>,
}

impl Held {
    /// Reads the rules of a checked configuration.
    pub fn new(config: &Resolved, dies: usize) -> Self {
        let always = config.ssd.gc.line_erase == LineErase::Together;
        Self { always, now: false, empty: vec![0; dies] }
    }

    /// Removes the planes without work from these planes of a die.
    pub fn without_empty(&self, die: usize, planes: u32) -> u32 {
        if self.now { planes & !self.empty[die] } else { planes }
    }
}

impl Lines {
    /// The erases of the line that has just been chosen wait, if those of all lines do; planes that are `empty` have nothing
    /// to move.
    pub(super) fn begin_holding(&mut self, empty: impl Iterator<Item = PlaneId>) {
        if self.held.always && self.left > 0 {
            self.hold_erases(empty);
        }
    }

    /// The erases of the line that is being collected wait until all of it has been moved.
    pub(super) fn hold_erases(&mut self, empty: impl Iterator<Item = PlaneId>) {
        self.hold(empty);
        self.pass_turn_on();
    }

    /// Holds these planes: they wait, and no turn ends with that.
    pub(super) fn hold(&mut self, empty: impl Iterator<Item = PlaneId>) {
        self.held.now = true;
        self.held.empty.fill(0);
        empty.for_each(|plane| self.note_empty(plane));
    }

    /// Whether those of every line do.
    pub const fn erases_together(&self) -> bool {
        self.held.always
    }

    /// Whether they wait.
    pub(super) const fn is_holding(&self) -> bool {
        self.held.now
    }

    /// `plane` has something to move of it again.
    pub(super) fn note_not_empty(&mut self, plane: PlaneId) {
        let (die, bit) = self.place_of(plane);
        self.held.empty[die] &= !bit;
    }

    /// `plane` has nothing left to move of it.
    pub(super) fn note_empty(&mut self, plane: PlaneId) {
        let (die, bit) = self.place_of(plane);
        self.held.empty[die] |= bit;
    }

    /// Passes the turn on where dies take turns, if the die whose turn it is has nothing to do.
    pub(super) fn pass_turn_on(&mut self) {
        let is_done = self.at_work.is_some_and(|die| self.to_do(die.index()) == 0);
        if self.is_rotating && is_done {
            self.at_work = None;
            self.wakes_others = true;
        }
    }

    /// All of the line has been moved: each plane erases its block.
    pub(super) fn let_erase(&mut self) {
        self.wakes_others |= self.held.now;
        self.held.now = false;
    }
}

impl Lines {
    /// `plane` has nothing left to move of the line that is being collected. If its die is collecting, its turn ends with
    /// that; between two collections of it, the host may have written what was left, and it ends now.
    fn note_empty_in_line(&mut self, plane: PlaneId) {
        self.note_empty(plane);
        if !self.is_collecting {
            self.pass_turn_on();
        }
    }

    /// A collection has ended: the next die may begin, if they take turns.
    pub(in crate::ftl) fn end_turn(&mut self) {
        self.is_collecting = false;
        self.pass_turn_on();
    }

    /// `page`, whose block is not closed, has been moved or is out of date.
    #[inline(never)]
    pub(in crate::ftl) fn lost_in_open_line(&mut self, manager: &mut BlockManager, page: Ppn) {
        let block = manager.geometry.block_of(page);
        let (plane, valid) =
            (manager.geometry.plane_of_block(block), manager.blocks.valid_pages(block));
        let is_lost = self.is_of_lost(plane);
        if self.collected != Some(self.line_of(block)) {
            return;
        }
        self.left -= 1;
        if let Some(made_up) = &mut self.made_up {
            made_up.forget(page);
        }
        if self.left == 0 {
            self.let_erase();
        }
        if self.held.now && self.on(manager).has_nothing_to_move(block) {
            self.note_empty_in_line(plane);
        }
        if is_lost {
            self.lost_page_went(manager, block);
            if valid == 0 {
                self.drop_lost_block(manager, plane, block);
            }
        }
    }

    /// Whether `block`, nothing in which is valid any more, may be erased.
    pub fn may_erase(&self, block: BlockId) -> bool {
        !(self.held.now && self.collected == Some(self.line_of(block)))
    }
}
