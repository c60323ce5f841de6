//! HOW WIDE: which planes of a die join a collection.

use crate::config;
use crate::ids::PlaneId;

/// The width of a device's collections.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// Only the plane that needs space; the others of the die wait.
    Serial,
}

impl Width {
    /// The width that a checked configuration describes.
    pub const fn new(config: config::Width) -> Self {
        match config {
            config::Width::Serial => Self::Serial,
        }
    }

    /// The planes that are collected together when `demanding` needs space.
    pub fn planes(self, demanding: PlaneId) -> impl Iterator<Item = PlaneId> {
        match self {
            Self::Serial => std::iter::once(demanding),
        }
    }
}
