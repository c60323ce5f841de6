//! Far copies: each drive has a part for each copy, and each part is striped as RAID-0.
//!
//! ```text
//! 2 copies on 4 drives      0  1  2  3
//!                           4  5  6  7
//!                           ..........
//!                           3  0  1  2
//!                           7  4  5  6
//! ```

use super::*;

/// A part of every drive for each copy, one drive further right than the part before.
#[derive(Debug, Clone, Checkpointed)]
pub(super) struct Far {
    pub(super) devices: u64,
    /// Rows of a part.
    pub(super) rows: u64,
}

impl Far {
    pub(super) const fn unit(&self, chunk: u64, copy: u64) -> Unit {
        Unit { device: (chunk + copy) % self.devices, row: chunk / self.devices + copy * self.rows }
    }

    pub(super) const fn chunk(&self, unit: Unit) -> u64 {
        let (copy, row) = (unit.row / self.rows, unit.row % self.rows);
        row * self.devices + (unit.device + self.devices - copy) % self.devices
    }
}
