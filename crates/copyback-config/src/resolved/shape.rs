//! Dies and planes.

use crate::{Geometry, LogicalBlocks, Ssd, Width};

/// Dies and planes of a drive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Dies of the drive.
    pub dies: u64,
    /// Planes that one multi-plane command can join.
    pub planes_per_command: u32,
    /// Physical planes that are managed as one.
    pub striped_planes: u32,
    /// Planes of a die that are managed apart.
    pub planes_per_die: u32,
    /// Planes of the drive that are managed apart.
    pub planes: u64,
    /// Planes that successive logical pages go round before they come back to the first of them: all, unless pages are
    /// bound to blocks.
    pub stripe_width: u64,
}

impl Shape {
    pub(super) fn of(ssd: &Ssd) -> Self {
        let Geometry { channels, chips_per_channel, dies_per_chip, planes_per_die, .. } =
            ssd.geometry;
        let dies = [channels, chips_per_channel, dies_per_chip].map(u64::from);
        let dies = dies.into_iter().fold(1, u64::saturating_mul);
        let planes_per_command = match ssd.commands.multi_plane {
            true => ssd.commands.planes_per_command.unwrap_or(planes_per_die).max(1),
            false => 1,
        };
        let striped_planes = if ssd.gc.width == Width::Superblock { planes_per_command } else { 1 };
        let planes_per_die = planes_per_die / striped_planes;
        let planes = dies.saturating_mul(planes_per_die.into());
        let stripe_width = match ssd.ftl.logical_blocks {
            _ if ssd.ftl.mapping.is_page_mapping() => planes,
            LogicalBlocks::Striped => planes,
            LogicalBlocks::Contiguous => 1,
            LogicalBlocks::Superpage { planes } => planes.into(),
        };
        Self { dies, planes_per_command, striped_planes, planes_per_die, planes, stripe_width }
    }
}
