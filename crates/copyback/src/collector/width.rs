//! HOW WIDE: which planes of a die join a collection. How several are collected together is told in
//! [`lanes`](super::lanes).

use crate::checkpoint::Checkpointed;
use crate::config;
use crate::ftl::Space;
use crate::ids::PlaneId;

/// The width of a device's collections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Width {
    /// Only the plane that needs space; the others of the die wait. Superblocks look like this too:
    /// their planes are one.
    Serial,
    /// Every plane that a multi-plane command can reach.
    Blind,
    /// Planes with fewer free blocks than this, among those that may join.
    Threshold(usize),
}

impl Width {
    /// The width that a checked configuration describes.
    pub fn new(config: &config::Resolved) -> Self {
        match config.ssd.gc.width {
            config::Width::Serial | config::Width::Superblock => Self::Serial,
            config::Width::Blind { .. } => Self::Blind,
            config::Width::Threshold { .. } => {
                Self::Threshold(config.drive.thresholds.joining as usize)
            }
        }
    }

    /// Whether planes other than the demanding one ever join.
    pub const fn is_parallel(self) -> bool {
        !matches!(self, Self::Serial)
    }

    /// Whether `plane` joins the collection of another.
    pub fn joins(self, space: &Space, plane: PlaneId) -> bool {
        match self {
            Self::Serial => false,
            Self::Blind => true,
            Self::Threshold(below) => space.has_less_than(plane, below),
        }
    }
}
