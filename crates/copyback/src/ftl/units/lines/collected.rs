//! The line that is being collected: what each plane has still to do of it, and whose turn that is.

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::{DieId, PlaneId, Ppn};
use crate::nand::Geometry;

use super::LineId;
use super::held::Held;
use super::made_up::MadeUp;

/// Progress of the line that is being collected, if one is.
#[derive(Debug, Checkpointed)]
pub struct Collected {
    planes_per_die: u32,
    line: Option<LineId>,
    /// A bit for each plane of a die whose block of the line is not erased yet.
    unfinished: Vec<u32>,
    /// Planes of these whose erase has begun, a bit for each.
    erasing: Vec<u32>,
    /// Pages of the line that are still valid.
    left: u32,
    held: Held,
    /// If what a move cannot read is made up.
    made_up: Option<Box<MadeUp>>,
    /// Whether dies do their share of the line one after the other.
    is_rotating: bool,
    /// The die that does, if they do.
    at_work: Option<DieId>,
    /// Whether that die is collecting: its turn ends no earlier.
    is_collecting: bool,
    /// Whether something has changed for other dies than the one that has changed it, since that was asked.
    wakes_others: bool,
}

impl Collected {
    /// Creates the state of an erased device of a checked configuration.
    pub(super) fn new(config: &Resolved, geometry: &Geometry) -> Self {
        Self {
            planes_per_die: geometry.planes_per_die,
            line: None,
            unfinished: vec![0; geometry.dies()],
            erasing: vec![0; geometry.dies()],
            left: 0,
            held: Held::new(config, geometry.dies()),
            made_up: MadeUp::new(config),
            is_rotating: config.ssd.gc.rotating,
            at_work: None,
            is_collecting: false,
            wakes_others: false,
        }
    }

    /// The line, if one is being collected.
    pub const fn line(&self) -> Option<LineId> {
        self.line
    }

    /// Whether it is `line` that is being collected.
    pub(super) fn is(&self, line: LineId) -> bool {
        self.line == Some(line)
    }

    /// Pages of the line that are still valid.
    pub(super) const fn left(&self) -> u32 {
        self.left
    }

    /// Whether something has changed for other dies since this was asked.
    pub(super) const fn take_wakes_others(&mut self) -> bool {
        std::mem::replace(&mut self.wakes_others, false)
    }

    const fn place_of(&self, plane: PlaneId) -> (usize, u32) {
        let (die, place) = (plane.0 / self.planes_per_die, plane.0 % self.planes_per_die);
        (die as usize, 1 << place)
    }
}

/// Work that is left on the line, and the dies that may do it.
impl Collected {
    /// A bit for each plane of `die` that has not yet done its share; `None` if no line is being collected.
    pub fn unfinished(&self, die: DieId) -> Option<u32> {
        self.line.map(|_| match self.may_work(die) {
            true => self.to_do(die.index()),
            false => 0,
        })
    }

    /// A bit for each plane of a die that has something to do.
    fn to_do(&self, die: usize) -> u32 {
        self.held.without_empty(die, self.unfinished[die])
    }

    /// Whether `die` may do its share now.
    fn may_work(&self, die: DieId) -> bool {
        !self.is_rotating || self.at_work.is_none_or(|other| other == die)
    }

    /// The first plane that has something to do, and may do it.
    pub fn first_unfinished(&self) -> Option<PlaneId> {
        let has_work =
            |die: &usize| self.to_do(*die) != 0 && self.may_work(DieId::from_index(*die));
        let die = (0..self.unfinished.len()).find(has_work)?;
        let plane = self.to_do(die).trailing_zeros() as usize;
        Some(PlaneId::from_index(die * self.planes_per_die as usize + plane))
    }

    /// Whether `plane` has something to do, and may do it.
    pub(super) fn is_due(&self, plane: PlaneId) -> bool {
        let (die, bit) = self.place_of(plane);
        self.may_work(DieId::from_index(die)) && self.to_do(die) & bit != 0
    }

    /// Whether `plane` has erased its block.
    pub(super) fn is_erased(&self, plane: PlaneId) -> bool {
        let (die, bit) = self.place_of(plane);
        self.unfinished[die] & bit == 0
    }

    /// Whether `plane` erases its block.
    pub(super) fn is_erasing(&self, plane: PlaneId) -> bool {
        let (die, bit) = self.place_of(plane);
        self.erasing[die] & bit != 0
    }

    /// Gives the turn to `die`, which begins to collect.
    pub(super) const fn begin_turn(&mut self, die: DieId) {
        (self.at_work, self.is_collecting) = (Some(die), true);
    }

    /// Begins to collect `line` with so many valid pages, on all planes.
    pub(super) fn begin(&mut self, line: LineId, valid: u32) {
        self.line = Some(line);
        self.unfinished.fill((1_u64.wrapping_shl(self.planes_per_die) - 1) as u32);
        self.left = valid;
        self.wakes_others = true;
    }

    /// Notes that `plane` begins to erase its block.
    pub(in crate::ftl) fn erase_begins(&mut self, plane: PlaneId) {
        let (die, bit) = self.place_of(plane);
        self.erasing[die] |= bit;
    }

    /// Notes that `plane` has erased its block. Returns whether it was the last.
    pub(super) fn erased(&mut self, plane: PlaneId) -> bool {
        let (die, bit) = self.place_of(plane);
        self.unfinished[die] &= !bit;
        self.erasing[die] &= !bit;
        self.pass_turn_on();
        let is_over = self.unfinished.iter().all(|planes| *planes == 0);
        if is_over {
            (self.at_work, self.line) = (None, None);
            self.wakes_others = true;
        }
        is_over
    }

    /// Ends a collection: the next die may begin, if they take turns.
    pub(in crate::ftl) fn end_turn(&mut self) {
        self.is_collecting = false;
        self.pass_turn_on();
    }

    /// Ends the turn of `die`, which is lost.
    pub(super) fn lose_die(&mut self, die: DieId) {
        if self.at_work == Some(die) {
            (self.at_work, self.is_collecting) = (None, false);
        }
    }

    /// Passes the turn on where dies take turns, if the die whose turn it is has nothing to do.
    fn pass_turn_on(&mut self) {
        let is_done = self.at_work.is_some_and(|die| self.to_do(die.index()) == 0);
        if self.is_rotating && is_done {
            self.at_work = None;
            self.wakes_others = true;
        }
    }
}

/// Erases that wait.
impl Collected {
    /// Whether the erases of every line wait until all of it has been moved.
    pub(super) const fn erases_together(&self) -> bool {
        self.held.are_always()
    }

    /// Whether those of this line do.
    pub(super) const fn is_holding(&self) -> bool {
        self.held.are_now()
    }

    /// Whether a block of `line`, nothing in which is valid any more, may be erased.
    pub(super) fn may_erase(&self, line: LineId) -> bool {
        !(self.is_holding() && self.is(line))
    }

    /// Holds the erases of the line that has just been chosen, if those of all lines wait; planes that are `empty` have
    /// nothing to move.
    pub(super) fn begin_holding(&mut self, empty: impl Iterator<Item = PlaneId>) {
        if self.erases_together() && self.left > 0 {
            self.hold_erases(empty);
        }
    }

    /// Holds erases until all of the line has been moved.
    pub(super) fn hold_erases(&mut self, empty: impl Iterator<Item = PlaneId>) {
        self.hold(empty);
        self.pass_turn_on();
    }

    /// Holds these planes: they wait, and no turn ends with that.
    pub(super) fn hold(&mut self, empty: impl Iterator<Item = PlaneId>) {
        self.held.begin();
        empty.for_each(|plane| self.note_empty(plane));
    }

    /// Notes that `plane` has nothing left to move.
    pub(super) fn note_empty(&mut self, plane: PlaneId) {
        let (die, bit) = self.place_of(plane);
        self.held.note_empty(die, bit);
    }

    /// Notes that a page of the line has been moved or is out of date.
    pub(super) fn page_went(&mut self, page: Ppn) {
        self.left -= 1;
        if let Some(made_up) = &mut self.made_up {
            made_up.forget(page);
        }
        if self.left == 0 {
            self.wakes_others |= self.held.end();
        }
    }

    /// Notes that `plane` has nothing left to move. If its die is collecting, its turn ends with that; between two
    /// collections of it, the host may have written what was left, and it ends now.
    pub(super) fn plane_is_empty(&mut self, plane: PlaneId) {
        self.note_empty(plane);
        if !self.is_collecting {
            self.pass_turn_on();
        }
    }
}

/// Pages that are made up.
impl Collected {
    /// Whether a page that a move cannot read is made up from the others of its stripe.
    pub const fn makes_up_what_moves(&self) -> bool {
        self.made_up.is_some()
    }

    /// Whether `page` could not be read for a move, and is being made up.
    pub fn waits_for_stripe(&self, page: Ppn) -> bool {
        self.made_up.as_ref().is_some_and(|made_up| made_up.is_reading(page))
    }

    /// Whether `page`, if it is moved, is read for that: it has not been read in vain.
    pub fn is_read_to_move(&self, page: Ppn) -> bool {
        self.made_up.as_ref().is_none_or(|made_up| !made_up.contains(page))
    }

    /// Pages of the line that are made up, on a drive that does so.
    pub(super) fn made_up(&self) -> Option<&MadeUp> {
        self.made_up.as_deref()
    }

    /// Pages that are reconstructed, to be changed.
    pub(super) fn reconstructed_mut(&mut self) -> Option<&mut MadeUp> {
        self.made_up.as_deref_mut()
    }

    /// Notes that `page` has been made up, or cannot be: its `plane` programs it.
    pub(in crate::ftl) fn page_is_made_up(&mut self, page: Ppn, plane: PlaneId) {
        if let Some(made_up) = &mut self.made_up {
            made_up.note_there(page);
        }
        let (die, bit) = self.place_of(plane);
        self.held.note_not_empty(die, bit);
        self.pass_turn_on();
        self.wakes_others = true;
    }
}
