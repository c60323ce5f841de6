//! Offset copies: each stripe comes once for each copy.
//!
//! ```text
//! 2 copies on 4 drives      0  1  2  3
//!                           3  0  1  2
//!                           4  5  6  7
//!                           7  4  5  6
//! ```

use super::*;

/// The copies of a stripe one below the other, each one drive further right than the one before.
#[derive(Debug, Clone, Checkpointed)]
pub(super) struct Offset {
    pub(super) devices: u64,
    pub(super) copies: u64,
}

impl Offset {
    pub(super) const fn unit(&self, chunk: u64, copy: u64) -> Unit {
        Unit {
            device: (chunk + copy) % self.devices,
            row: chunk / self.devices * self.copies + copy,
        }
    }

    pub(super) const fn chunk(&self, unit: Unit) -> u64 {
        let (stripe, copy) = (unit.row / self.copies, unit.row % self.copies);
        stripe * self.devices + (unit.device + self.devices - copy) % self.devices
    }
}
