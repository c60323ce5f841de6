//! Drives that serve an array: which of them holds each place of the layout, and what is missing. A spare takes the place
//! of a drive that has failed.

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::drive::Drive;
use crate::ids::SsdId;
use crate::layout::Missing;
use crate::units::{Instant, earlier};

use super::failures::Failures;
use super::slow_drives::SlowDrives;

/// Drives of an array by the places of its layout, and those that have failed.
///
/// A layout speaks of places, `0..devices`. The drives are these, the spares behind them, and that of a journal, whose place is
/// `devices`.
#[derive(Debug, Checkpointed)]
pub(super) struct Members {
    /// Drive of each place; of a place without one, the drive that it had. The place of a journal is the last.
    drives: Vec<SsdId>,
    /// Number of places that the layout has.
    of_layout: usize,
    failed: Vec<SsdId>,
    /// Places whose bytes are missing, or some of them.
    pub(super) missing: Missing,
    /// Failures in the run, if drives may fail.
    pub(super) failures: Option<Box<Failures>>,
    /// Drives that are slow for a while, if any are.
    pub(super) slow: Option<Box<SlowDrives>>,
    /// Spares that wait, the next one last.
    spares: Vec<SsdId>,
}

impl Members {
    /// The members of an array at the start of a run: each drive has its own place.
    pub(super) fn new(config: &Resolved) -> Self {
        let array = &config.array;
        let drives = |range: std::ops::Range<u32>| range.map(|drive| SsdId(drive as u16));
        let mut missing = Missing::default();
        array.failed.iter().for_each(|device| missing.lose(SsdId(*device as u16)));
        Self {
            drives: drives(0..array.devices)
                .chain(drives(array.members()..array.drives()))
                .collect(),
            of_layout: array.devices as usize,
            failed: Vec::new(),
            missing,
            failures: Failures::new(config),
            slow: SlowDrives::new(config),
            spares: drives(array.devices..array.members()).rev().collect(),
        }
    }

    /// Whether any drive may fail or be slow.
    pub(super) const fn may_change(&self) -> bool {
        self.failures.is_some() || self.slow.is_some()
    }

    /// When a drive fails next, and when one becomes slow or ceases to be so.
    pub(super) fn next_times(&self) -> [Option<Instant>; 2] {
        let failure = self.failures.as_ref().and_then(|failures| failures.next_time());
        [failure, self.slow.as_ref().and_then(|slow| slow.next_time())]
    }

    /// The earlier of the two.
    pub(super) fn next_time(&self) -> Option<Instant> {
        let [failure, slow] = self.next_times();
        earlier(failure, slow)
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

    /// Whether the layout has `place`, which is not that of a journal.
    #[inline]
    pub(super) const fn is_of_layout(&self, place: SsdId) -> bool {
        place.index() < self.of_layout
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
    use crate::test_config;

    /// Members of an array of so many drives with a spare.
    fn members(devices: &str) -> Members {
        Members::new(&test_config::changed(&[
            ("array.layout", "raid1"),
            ("array.devices", devices),
            ("array.spares", "1"),
            ("array.rebuild", "throttled"),
            ("array.failures", "{ type = 'random', life = '1h' }"),
        ]))
    }

    #[test]
    fn a_spare_takes_the_place_of_a_drive_that_fails() {
        let mut members = members("3");
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
        let mut members = members("2");
        assert_eq!(members.fail(SsdId(2)), None);
        assert_eq!(members.replace(SsdId(0)), None);
    }
}
