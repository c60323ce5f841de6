//! Layouts without parity: every operation goes where the bytes lie.

use std::ops::Range;

use super::plan::Pieces;
use crate::checkpoint::Checkpointed;
use crate::ids::SsdId;

/// The drives one after the other.
#[derive(Debug, Clone, Checkpointed)]
pub(super) struct Concatenated {
    pub(super) device_bytes: u64,
}

impl Concatenated {
    /// The drive that has all of these bytes, and where they begin there, if they lie in one.
    pub(super) fn place_of(&self, bytes: &Range<u64>) -> Option<(SsdId, u64)> {
        let (device, offset) = (bytes.start / self.device_bytes, bytes.start % self.device_bytes);
        let fits = offset + (bytes.end - bytes.start) <= self.device_bytes;
        fits.then(|| (SsdId::from_index(device as usize), offset))
    }

    pub(super) fn pieces(&self, bytes: Range<u64>, pieces: &mut Pieces) {
        let mut start = bytes.start;
        while start < bytes.end {
            // Most arrays are one drive: nothing to divide.
            let (device, offset) = match start < self.device_bytes {
                true => (0, start),
                false => (start / self.device_bytes, start % self.device_bytes),
            };
            let length = (bytes.end - start).min(self.device_bytes - offset);
            pieces.push(SsdId::from_index(device as usize), offset..offset + length);
            start += length;
        }
    }
}

/// Units of some bytes that go from drive to drive.
#[derive(Debug, Clone, Checkpointed)]
pub(super) struct Striped {
    pub(super) devices: u32,
    pub(super) unit: u64,
}

impl Striped {
    /// The drive that has all of these bytes, and where they begin there, if they lie in one unit.
    pub(super) fn place_of(&self, bytes: &Range<u64>) -> Option<(SsdId, u64)> {
        let (unit, offset) = (bytes.start / self.unit, bytes.start % self.unit);
        let (stripe, device) = (unit / u64::from(self.devices), unit % u64::from(self.devices));
        let fits = offset + (bytes.end - bytes.start) <= self.unit;
        fits.then(|| (SsdId::from_index(device as usize), stripe * self.unit + offset))
    }

    /// Splits a request into one range of each drive: its cost is that of the drives, however long it is.
    pub(super) fn pieces(&self, bytes: Range<u64>, pieces: &mut Pieces) {
        let devices = u64::from(self.devices);
        let (first, last) = (bytes.start / self.unit, (bytes.end - 1) / self.unit);
        for unit in first..=last.min(first + devices - 1) {
            let device = unit % devices;
            let range = self.below(bytes.start, device)..self.below(bytes.end, device);
            pieces.push(SsdId::from_index(device as usize), range);
        }
    }

    /// Bytes of `device` among the first `bytes` of the array.
    fn below(&self, bytes: u64, device: u64) -> u64 {
        let width = self.unit * u64::from(self.devices);
        let (stripes, rest) = (bytes / width, bytes % width);
        stripes * self.unit + rest.saturating_sub(device * self.unit).min(self.unit)
    }
}
