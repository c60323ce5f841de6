//! Counts of lines.

use std::ops::AddAssign;

use crate::checkpoint::Checkpointed;

use super::Lines;

/// Counts of lines, since the run began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
pub struct LineTally {
    /// Lines that were opened.
    pub opened: u64,
    /// Lines that were chosen to be collected.
    pub victims: u64,
    /// Pages of these that were still valid.
    pub valid_pages: u64,
    /// Pages of these that could hold data.
    pub victim_pages: u64,
    /// Lines that have been collected, and are free.
    pub freed: u64,
    /// Pages of the host that went to the block of another class, as there was neither a free line nor a victim.
    pub borrowed: u64,
}

impl AddAssign for LineTally {
    fn add_assign(&mut self, other: Self) {
        self.opened += other.opened;
        self.victims += other.victims;
        self.valid_pages += other.valid_pages;
        self.victim_pages += other.victim_pages;
        self.freed += other.freed;
        self.borrowed += other.borrowed;
    }
}

impl Lines {
    /// Counts from now on.
    pub(in crate::ftl) fn reset_tally(&mut self) {
        self.tally = LineTally::default();
        if let Some(parity) = &mut self.parity {
            parity.due.run_begins();
        }
    }

    /// Counts of lines since the run began.
    pub const fn tally(&self) -> LineTally {
        self.tally
    }
}
