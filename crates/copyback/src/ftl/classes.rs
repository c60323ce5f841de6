//! Counts of the blocks of each class: whether the placement has sorted well.

use std::ops::AddAssign;

use crate::checkpoint::Checkpointed;
use crate::less::Less;
use crate::placement::{Class, Classes, Life};

/// Origins of the pages that a class takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Takes {
    /// Pages that the host writes.
    pub host: bool,
    /// Pages that collections move.
    pub moved: bool,
}

impl Takes {
    pub(super) fn of(classes: &Classes, class: Class) -> Self {
        Self { host: classes.takes_host(class), moved: classes.takes_moved(class) }
    }
}

/// Blocks of one class; lines, where these are collected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
pub struct OfClass {
    /// Blocks that have been filled.
    pub filled: u64,
    /// Blocks that have been chosen to be collected.
    pub victims: u64,
    /// Pages of these that were still valid.
    pub valid_pages: u64,
    /// Pages of these that could hold data.
    pub victim_pages: u64,
    /// Sum of the times for which these had been open and full, in pages that the host wrote to the drive.
    pub lives: u64,
    /// Pages that have died in blocks of it: that the host has overwritten or trimmed. Not counted where the placement
    /// looks at who writes alone.
    pub dead_pages: u64,
    /// Sum of the times for which these had been there, in pages that the host wrote to the drive.
    pub page_lives: u64,
}

/// Blocks of all classes.
#[derive(Debug, Clone, Default, Checkpointed)]
pub struct ClassTally {
    classes: Vec<OfClass>,
    /// Pages that were moved to another class, as theirs had no block and none was free.
    pub diverted: u64,
    /// Pages that the host had written to the drive when the counts began.
    began: u64,
    /// Pages that it wrote since then, up to the last loss of power, after which its clock begins anew.
    before_loss: u64,
}

impl ClassTally {
    /// No block of so many classes.
    pub fn new(classes: usize) -> Self {
        Self { classes: vec![OfClass::default(); classes], diverted: 0, began: 0, before_loss: 0 }
    }

    /// Counts of the blocks of each class.
    pub fn classes(&self) -> &[OfClass] {
        &self.classes
    }

    pub(super) fn sealed(&mut self, block: Life) {
        self.classes[block.class.index()].filled += 1;
    }

    /// A block has been chosen in which so many `pages` could hold data.
    pub(super) fn chosen(&mut self, block: Life, pages: u32, now: u64) {
        let class = &mut self.classes[block.class.index()];
        class.victims += 1;
        class.valid_pages += u64::from(block.valid);
        class.victim_pages += u64::from(pages);
        class.lives += now.less(block.opened);
    }

    /// A page of `class` has died that had been there for a `life`.
    pub(super) fn died(&mut self, class: Class, life: u64) {
        let class = &mut self.classes[class.index()];
        class.dead_pages += 1;
        class.page_lives += life;
    }

    /// Counts from `now` on.
    pub(super) fn reset(&mut self, now: u64) {
        *self = Self { began: now, ..Self::new(self.classes.len()) };
    }

    /// Pages that the host has written since the counts began.
    pub(super) fn host_pages(&self, now: u64) -> u64 {
        self.before_loss + now.less(self.began)
    }

    /// Continues these counts after a loss of power at `now`.
    pub(super) fn after_loss(&self, now: u64) -> Self {
        Self { before_loss: self.host_pages(now), began: 0, ..self.clone() }
    }
}

impl AddAssign<&Self> for ClassTally {
    fn add_assign(&mut self, other: &Self) {
        for (class, other) in self.classes.iter_mut().zip(&other.classes) {
            class.filled += other.filled;
            class.victims += other.victims;
            class.valid_pages += other.valid_pages;
            class.victim_pages += other.victim_pages;
            class.lives += other.lives;
            class.dead_pages += other.dead_pages;
            class.page_lives += other.page_lives;
        }
        self.diverted += other.diverted;
    }
}
