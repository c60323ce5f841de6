//! What has become of the blocks of each class: whether the placement has sorted well.

use std::ops::AddAssign;

use crate::checkpoint::Checkpointed;
use crate::placement::Life;

/// Blocks of one class.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
pub struct OfClass {
    /// Blocks that have been filled.
    pub filled: u64,
    /// Blocks that have been chosen to be collected.
    pub victims: u64,
    /// Pages of these that were still valid.
    pub valid_pages: u64,
    /// How long these had been open and full, in pages that the host wrote to the drive, added up.
    pub lives: u64,
}

/// Blocks of all classes.
#[derive(Debug, Clone, Default, Checkpointed)]
pub struct ClassTally {
    classes: Vec<OfClass>,
    /// Pages that were moved to another class, as theirs had no block and none was free.
    pub diverted: u64,
}

impl ClassTally {
    /// No block of so many classes.
    pub fn new(classes: usize) -> Self {
        Self { classes: vec![OfClass::default(); classes], diverted: 0 }
    }

    /// What has become of the blocks of each class.
    pub fn classes(&self) -> &[OfClass] {
        &self.classes
    }

    pub(super) fn sealed(&mut self, block: Life) {
        self.classes[block.class.index()].filled += 1;
    }

    pub(super) fn chosen(&mut self, block: Life, now: u64) {
        let class = &mut self.classes[block.class.index()];
        class.victims += 1;
        class.valid_pages += u64::from(block.valid);
        class.lives += now - block.opened;
    }

    /// Counts from now on.
    pub(super) fn reset(&mut self) {
        *self = Self::new(self.classes.len());
    }
}

impl AddAssign<&Self> for ClassTally {
    fn add_assign(&mut self, other: &Self) {
        for (class, other) in self.classes.iter_mut().zip(&other.classes) {
            class.filled += other.filled;
            class.victims += other.victims;
            class.valid_pages += other.valid_pages;
            class.lives += other.lives;
        }
        self.diverted += other.diverted;
    }
}
