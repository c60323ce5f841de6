//! Parity that is due: pages that dies have to program, as the stripes that they are of are whole.

use std::collections::VecDeque;

use crate::checkpoint::Checkpointed;
use crate::ids::{DieId, Ppn};

/// Pages of parity that are to be programmed.
#[derive(Debug, Checkpointed)]
pub struct DueParity {
    of_dies: Vec<VecDeque<Ppn>>,
    /// Pages of all dies.
    pages: usize,
    /// Pages that waited for their dies at once, at most.
    most: usize,
    /// Dies that have been given parity to program since that was asked.
    given: Vec<DieId>,
    /// Whether programs take time: not while a drive is prepared.
    takes_time: bool,
    untimed: UntimedParity,
}

/// Parity that was programmed in no time.
#[derive(Debug, Clone, Copy, Default, Checkpointed)]
pub struct UntimedParity {
    /// Pages.
    pub pages: u64,
    /// Blocks that they filled.
    pub filled: u64,
}

impl DueParity {
    /// No parity is due, in a drive that is prepared.
    pub(super) fn new(dies: usize) -> Self {
        Self {
            of_dies: vec![VecDeque::new(); dies],
            pages: 0,
            most: 0,
            given: Vec::new(),
            takes_time: false,
            untimed: UntimedParity::default(),
        }
    }

    /// `die` has to program `page`.
    pub(super) fn give(&mut self, die: DieId, page: Ppn) {
        self.of_dies[die.index()].push_back(page);
        self.given.push(die);
        self.pages += 1;
        self.most = self.most.max(self.pages);
    }

    /// `die` has to program `page`, which `fills` its block or not. Returns whether that is done at once, in no time.
    pub(super) fn program(&mut self, die: DieId, page: Ppn, fills: bool) -> bool {
        // What takes no time does not overtake what does: parity of a block is programmed in order.
        if self.takes_time || !self.of_dies[die.index()].is_empty() {
            self.give(die, page);
            return false;
        }
        self.untimed.pages += 1;
        self.untimed.filled += u64::from(fills);
        true
    }

    /// `die` is lost, with what it had to program.
    pub(super) fn lose(&mut self, die: DieId) {
        let due = &mut self.of_dies[die.index()];
        self.pages -= due.len();
        due.clear();
    }

    /// The page that `die` programs next, if any is due.
    pub fn next(&self, die: DieId) -> Option<Ppn> {
        self.of_dies[die.index()].front().copied()
    }

    /// Takes the page that `die` programs next.
    pub fn take_next(&mut self, die: DieId) -> Option<Ppn> {
        let page = self.of_dies[die.index()].pop_front()?;
        self.pages -= 1;
        Some(page)
    }

    /// Pages that waited for their dies at once, at most.
    pub const fn most(&self) -> u64 {
        self.most as u64
    }

    /// Takes the dies that have been given parity to program since the last call.
    pub fn take_given(&mut self) -> Vec<DieId> {
        std::mem::take(&mut self.given)
    }

    /// Whether programs take time from now on: not while a drive is prepared.
    pub const fn take_time(&mut self, takes_time: bool) {
        self.takes_time = takes_time;
    }

    /// Takes how much parity has been programmed in no time since the last call.
    pub fn take_untimed(&mut self) -> UntimedParity {
        std::mem::take(&mut self.untimed)
    }

    /// Counts from now on; what is programmed takes time.
    pub(super) fn run_begins(&mut self) {
        (self.untimed, self.most) = (UntimedParity::default(), self.pages);
        self.takes_time = true;
    }
}
