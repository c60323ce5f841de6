//! Near copies: chunks come one after the other, each as often as it has copies.
//!
//! ```text
//! 2 copies on 5 drives      0  0  1  1  2
//!                           2  3  3  4  4
//! ```

use super::*;

/// Copies side by side. RAID-1 is one chunk that has a copy on every drive.
#[derive(Debug, Clone, Checkpointed)]
pub(super) struct Near {
    pub(super) devices: u64,
    pub(super) copies: u64,
}

impl Near {
    pub(super) const fn unit(&self, chunk: u64, copy: u64) -> Unit {
        let place = chunk * self.copies + copy;
        Unit { device: place % self.devices, row: place / self.devices }
    }

    pub(super) const fn chunk(&self, unit: Unit) -> u64 {
        (unit.row * self.devices + unit.device) / self.copies
    }
}
