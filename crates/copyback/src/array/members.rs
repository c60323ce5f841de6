//! Drives that serve an array: which of them holds each place of the layout. A spare takes the place of a drive that has
//! failed.

use crate::checkpoint::Checkpointed;
use crate::config;
use crate::drive::Drive;
use crate::ids::SsdId;

/// Drives of an array by the places of its layout, and those that have failed.
///
/// A layout speaks of places, `0..devices`. The drives are these and the spares behind them.
#[derive(Debug, Checkpointed)]
pub(super) struct Members {
    /// Drive of each place; of a place without one, the drive that it had.
    drives: Vec<SsdId>,
    failed: Vec<SsdId>,
    /// Spares that wait, the next one last.
    spares: Vec<SsdId>,
}

impl Members {
    /// The members of an array at the start of a run: each drive has its own place.
    pub(super) fn new(config: &config::Array) -> Self {
        let drives = |range: std::ops::Range<u32>| range.map(|drive| SsdId(drive as u16));
        Self {
            drives: drives(0..config.devices).collect(),
            failed: Vec::new(),
            spares: drives(config.devices..config.drives()).rev().collect(),
        }
    }

    /// The drive of `place`.
    #[inline]
    pub(super) fn drive(&self, place: SsdId) -> SsdId {
        self.drives[place.index()]
    }

    /// The place of `drive`, if it has one and has not failed.
    #[inline]
    pub(super) fn place(&self, drive: SsdId) -> Option<SsdId> {
        if self.has_failed(drive) {
            return None;
        }
        // Nearly every drive is in its own place.
        if self.drives.get(drive.index()) == Some(&drive) {
            return Some(drive);
        }
        self.drives.iter().position(|other| *other == drive).map(SsdId::from_index)
    }

    /// Whether `drive` has failed.
    #[inline]
    pub(super) fn has_failed(&self, drive: SsdId) -> bool {
        !self.failed.is_empty() && self.failed.contains(&drive)
    }

    /// `drive` fails. Returns the place that it had, if it had one.
    pub(super) fn fail(&mut self, drive: SsdId) -> Option<SsdId> {
        let place = self.place(drive);
        self.spares.retain(|spare| *spare != drive);
        self.failed.push(drive);
        place
    }

    /// Puts the next spare in `place`, if there is one.
    pub(super) fn replace(&mut self, place: SsdId) -> Option<SsdId> {
        let spare = self.spares.pop()?;
        self.drives[place.index()] = spare;
        Some(spare)
    }
}

/// Drives of an array by the places of its layout.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub(super) drives: &'a [Drive],
    pub(super) members: &'a Members,
}

impl Places<'_> {
    /// The drive of `place`.
    #[inline]
    pub(super) fn at(&self, place: SsdId) -> &Drive {
        &self.drives[self.members.drive(place).index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spare_takes_the_place_of_a_drive_that_fails() {
        let config = config::Array { devices: 3, spares: 1, ..config::Array::default() };
        let mut members = Members::new(&config);
        assert_eq!(members.place(SsdId(3)), None);
        assert_eq!(members.fail(SsdId(1)), Some(SsdId(1)));
        assert_eq!(members.place(SsdId(1)), None);
        assert_eq!(members.replace(SsdId(1)), Some(SsdId(3)));
        assert_eq!((members.drive(SsdId(1)), members.place(SsdId(3))), (SsdId(3), Some(SsdId(1))));
        assert_eq!(members.fail(SsdId(3)), Some(SsdId(1)));
        assert_eq!(members.replace(SsdId(1)), None);
    }

    #[test]
    fn a_spare_that_fails_takes_no_place() {
        let config = config::Array { devices: 2, spares: 1, ..config::Array::default() };
        let mut members = Members::new(&config);
        assert_eq!(members.fail(SsdId(2)), None);
        assert_eq!(members.replace(SsdId(0)), None);
    }
}
