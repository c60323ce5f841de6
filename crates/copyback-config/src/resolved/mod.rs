//! The final numbers that follow from a configuration, worked out in one place: the checks judge by them, and the
//! simulator is built with them.
//!
//! Numbers of a configuration that no check has passed may make no sense, but they never overflow.

mod blocks;
mod capacity;
mod mean_field;
mod pages;
mod parity;
mod protocol;
mod shape;
mod slc;
mod table;
mod thresholds;
mod unit;
mod window;

use std::ops::Deref;

pub use blocks::Blocks;
pub use capacity::Capacity;
pub(super) use capacity::ROUNDING;
pub use mean_field::{MeanField, VictimModel};
pub use pages::Pages;
pub use protocol::Protocol;
pub use shape::Shape;
pub use slc::Slc;
pub use table::DemandPaging;
pub use thresholds::Thresholds;
pub use unit::Unit;
pub use window::WindowBounds;

use super::quantity::Time;
use super::{Config, Coordination, Ssd};

/// A configuration and its final numbers. It reads as the configuration does, which cannot change any more.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    config: Config,
    /// Numbers of each drive.
    pub drive: Drive,
    /// Thresholds of the protocol between drives and the controller of an array.
    pub protocol: Protocol,
    /// Bytes that the host sees.
    pub bytes: u64,
    /// Numbers of a drive that a mean-field model lays out, if one does.
    pub mean_field: Option<MeanField>,
}

impl Deref for Resolved {
    type Target = Config;

    fn deref(&self) -> &Config {
        &self.config
    }
}

impl Config {
    /// This configuration with its final numbers.
    pub fn resolve(&self) -> Resolved {
        let drive = Drive::of(&self.ssd);
        let protocol = Protocol::of(self, &drive);
        let bytes = self.array.capacity(drive.capacity.bytes);
        let mean_field = MeanField::of(self, &drive);
        Resolved { config: self.clone(), drive, protocol, bytes, mean_field }
    }
}

impl Resolved {
    /// Length of the windows in which drives collect in turn, if they do.
    pub fn window_length(&self) -> Option<Time> {
        match self.array.coordination {
            Coordination::Staggered { window, .. } => self.protocol.window.length(window),
            _ => None,
        }
    }
}

/// The final numbers of a drive.
#[derive(Debug, Clone, PartialEq)]
pub struct Drive {
    /// Dies and planes.
    pub shape: Shape,
    /// Sizes and counts of pages.
    pub pages: Pages,
    /// Unit that is collected as one.
    pub unit: Unit,
    /// SLC cache, if there is one.
    pub slc: Option<Slc>,
    /// Capacity, and pages of the mapping table.
    pub capacity: Capacity,
    /// Mapping table in flash, if the mapping is demand paged.
    pub table: Option<DemandPaging>,
    /// Counts of free blocks at which collections begin and end.
    pub thresholds: Thresholds,
    /// Uses of the blocks of a plane.
    pub blocks: Blocks,
}

impl Drive {
    /// The numbers of `ssd`.
    pub fn of(ssd: &Ssd) -> Self {
        let shape = Shape::of(ssd);
        let pages = Pages::of(ssd, &shape);
        let unit = Unit::of(ssd, &shape, &pages);
        let slc = Slc::of(ssd, &pages);
        let (capacity, table) = Capacity::of(ssd, &shape, &pages);
        let thresholds = Thresholds::of(ssd, &shape, slc.is_some(), &capacity);
        let blocks = Blocks::of(ssd, (&shape, &pages), slc.as_ref(), &capacity, &thresholds);
        Self { shape, pages, unit, slc, capacity, table, thresholds, blocks }
    }
}
