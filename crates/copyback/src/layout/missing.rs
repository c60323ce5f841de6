//! Drives that are lost, and how far their replacements are.

use smallvec::SmallVec;

use crate::checkpoint::Checkpointed;
use crate::ids::SsdId;

/// Drives that can be neither read nor written, and from which of their bytes on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Checkpointed)]
pub struct Missing {
    /// The drive, and the first of its bytes that is missing: all before it are rebuilt.
    drives: SmallVec<[(SsdId, u64); 2]>,
}

impl Missing {
    /// `device` is lost, with all its bytes.
    pub fn lose(&mut self, device: SsdId) {
        self.rebuilt(device, 0);
    }

    /// The replacement of `device` holds its bytes before `end`, and only these.
    pub fn rebuilt(&mut self, device: SsdId, end: u64) {
        self.restore(device);
        self.drives.push((device, end));
    }

    /// The replacement of `device` holds all its bytes.
    pub fn restore(&mut self, device: SsdId) {
        self.drives.retain(|(missing, _)| *missing != device);
    }

    /// Adds all that is missing in `other`.
    pub fn add(&mut self, other: &Self) {
        for (device, from) in other.iter() {
            let end = self.from(device).map_or(from, |own| own.min(from));
            self.rebuilt(device, end);
        }
    }

    /// Whether every drive is there.
    pub fn is_empty(&self) -> bool {
        self.drives.is_empty()
    }

    /// Drives that miss something.
    pub fn count(&self) -> u32 {
        self.drives.len() as u32
    }

    /// The first byte of `device` that is missing, if any is.
    pub fn from(&self, device: SsdId) -> Option<u64> {
        self.iter().find(|(missing, _)| *missing == device).map(|(_, from)| from)
    }

    /// The drives that miss something, each with its first byte that is missing.
    pub fn iter(&self) -> impl Iterator<Item = (SsdId, u64)> + '_ {
        self.drives.iter().copied()
    }
}
