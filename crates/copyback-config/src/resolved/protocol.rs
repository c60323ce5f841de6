//! Thresholds of the protocol between drives and the controller of an array.

use super::{Drive, WindowBounds};
use crate::{Config, FreeBlocks, Round};

/// Thresholds of the protocol between drives and the controller of an array: counts of blocks of a plane.
#[derive(Debug, Clone, PartialEq)]
pub struct Protocol {
    /// Free blocks below which a drive tells the controller that it runs short (T_soft).
    pub register: u32,
    /// Free blocks at which a drive that was told to collect is done with it.
    pub target: u32,
    /// Blocks that are collected in a round, at most; as many as it takes if none.
    pub most_blocks: Option<u32>,
    /// Bounds of the windows of staggered collections.
    pub window: WindowBounds,
}

impl Protocol {
    pub(super) fn of(config: &Config, drive: &Drive) -> Self {
        let protocol = &config.array.protocol;
        let (all, soft) = (config.ssd.geometry.blocks_per_plane, drive.thresholds.soft);
        let register = protocol.register_margin.resolve(all, soft, 1);
        let target = protocol.target_margin.resolve(all, soft, register);
        let target = soft.saturating_add(target);
        Self {
            register: soft.saturating_add(register),
            target,
            window: WindowBounds::of(config, drive, (soft, target)),
            most_blocks: match protocol.round {
                Round::UntilTarget => None,
                Round::Blocks { blocks } => Some(blocks),
                Round::Share { share } => Some(FreeBlocks::Share(share).resolve(all, 1)),
            },
        }
    }
}
