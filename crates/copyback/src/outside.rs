//! Common parts of external policies: what they are told about their device, and how they fail.

use crate::ids::SsdId;

/// A policy from outside has failed; says how, in a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Failed(pub String);

impl Failed {
    /// Failure of a run that was not supplied with the policy that is configured under `key`.
    pub fn not_supplied(key: &str) -> Self {
        Self(format!(
            "{key}: found a policy in Python, which this program has not; allowed: the others"
        ))
    }
}

/// Description of the device that a policy is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Device {
    /// Identifier of the drive.
    pub id: SsdId,
    /// Dies of the drive.
    pub dies: usize,
    /// Planes of a die that are managed apart.
    pub planes_per_die: u32,
    /// Blocks of a plane.
    pub blocks_per_plane: u32,
    /// Pages of a block that hold data.
    pub pages_per_block: u32,
    /// Logical pages; those that hold the mapping are behind the host's.
    pub logical_pages: usize,
}
