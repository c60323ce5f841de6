//! The drives that a coordinator talks to, and what it remembers of each.

use crate::checkpoint::Checkpointed;
use crate::collector::permit::Asked;
use crate::config::{Rebuild, Resolved};
use crate::ids::SsdId;

use super::{Order, Orders};

/// All drives of an array; of those that do not speak the protocol only that.
#[derive(Debug, Checkpointed)]
pub struct Members {
    drives: Vec<Drive>,
}

/// Last known state of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
enum Drive {
    /// Drive that does not speak the protocol, or is lost.
    Silent,
    /// Drive with space, as far as it has reported.
    Content,
    /// Drive that runs short of space: it is enrolled.
    Enrolled,
    /// Drive that was ordered to collect and has not reported the end.
    Collecting,
}

impl Members {
    /// The drives of a checked configuration.
    pub fn new(config: &Resolved) -> Self {
        let array = &config.array;
        let is_lost = |drive| array.rebuild == Rebuild::None && array.failed.contains(&drive);
        let speaks = |drive| !array.protocol.silent.contains(&drive) && !is_lost(drive);
        let of = |drive| if speaks(drive) { Drive::Content } else { Drive::Silent };
        Self { drives: (0..array.devices).map(of).collect() }
    }

    /// Drives, the silent ones included.
    pub const fn count(&self) -> usize {
        self.drives.len()
    }

    /// Whether `device` speaks the protocol.
    pub fn speaks(&self, device: SsdId) -> bool {
        self.drives[device.index()] != Drive::Silent
    }

    /// The drives that speak the protocol.
    pub fn speaking(&self) -> Vec<SsdId> {
        self.those(|drive| drive != Drive::Silent)
    }

    /// The drives that speak and have not been told to collect.
    pub fn not_collecting(&self) -> Vec<SsdId> {
        self.those(|drive| matches!(drive, Drive::Content | Drive::Enrolled))
    }

    /// The drives that are enrolled.
    pub fn enrolled(&self) -> Vec<SsdId> {
        self.those(|drive| drive == Drive::Enrolled)
    }

    fn those(&self, choose: impl Fn(Drive) -> bool) -> Vec<SsdId> {
        let chosen = self.drives.iter().enumerate().filter(|(_, drive)| choose(**drive));
        chosen.map(|(index, _)| SsdId::from_index(index)).collect()
    }

    /// `device` runs short. One that has been told to collect is looked after already: what it says
    /// now it said before it knew, or it says it again when it is done.
    /// Returns whether it is enrolled now.
    pub fn enrol(&mut self, device: SsdId) -> bool {
        let drive = &mut self.drives[device.index()];
        if *drive == Drive::Content {
            *drive = Drive::Enrolled;
        }
        *drive == Drive::Enrolled
    }

    /// `device` has said whether it runs short.
    pub fn stands(&mut self, device: SsdId, runs_short: bool) {
        let drive = &mut self.drives[device.index()];
        if matches!(drive, Drive::Content | Drive::Enrolled) {
            *drive = if runs_short { Drive::Enrolled } else { Drive::Content };
        }
    }

    /// `device` has done what it was told.
    pub fn done(&mut self, device: SsdId, runs_short: bool) {
        let drive = &mut self.drives[device.index()];
        if *drive == Drive::Collecting {
            *drive = if runs_short { Drive::Enrolled } else { Drive::Content };
        }
    }

    /// Tells `devices` to collect.
    pub fn force(&mut self, devices: &[SsdId], asked: Asked, orders: &mut Orders) {
        for device in devices {
            self.drives[device.index()] = Drive::Collecting;
            orders.push((*device, Order::Collect(asked)));
        }
    }
}
