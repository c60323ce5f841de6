//! Numbers of a drive that a mean-field model lays out (`precondition.valid_pages`).

use super::Drive;
use crate::{Config, ValidPages, VictimPolicy};

/// Choices with which the model gives what greedy and FIFO victims leave, as MQSim has it.
const CHOICES_OF_GREEDY: u32 = 30;

/// Numbers of a drive that a mean-field model lays out.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanField {
    /// Parts of the logical space that are laid out one after the other.
    pub parts: u32,
    /// Blocks of a plane that each part fills.
    pub blocks_per_part: u32,
    /// Share of valid pages that the model is given: logical pages filled of the physical pages that are not kept free.
    pub occupancy: f64,
    /// Model of the victim policy; none if there is no model of it.
    pub victims: Option<VictimModel>,
}

/// Model of a victim policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VictimModel {
    /// The block with fewest valid pages of so many that are drawn.
    Choices(u32),
    /// Any block.
    Random,
}

impl VictimModel {
    const fn of(policy: &VictimPolicy) -> Option<Self> {
        match policy {
            VictimPolicy::Greedy | VictimPolicy::Fifo { .. } => {
                Some(Self::Choices(CHOICES_OF_GREEDY))
            }
            VictimPolicy::Rga { d, .. } => Some(Self::Choices(*d)),
            VictimPolicy::Random | VictimPolicy::RandomPlus => Some(Self::Random),
            _ => None,
        }
    }
}

impl MeanField {
    pub(super) fn of(config: &Config, drive: &Drive) -> Option<Self> {
        let ValidPages::MeanField { parts } = config.precondition.valid_pages else { return None };
        let (all, thresholds) = (config.ssd.geometry.blocks_per_plane, &drive.thresholds);
        let kept = (thresholds.soft / 2).max(1 + thresholds.kept_for_collections);
        let not_kept_free = 1.0 - f64::from(thresholds.soft) / f64::from(all.max(1));
        let logical = config.precondition.fill.0 * (1.0 - config.ssd.ftl.over_provisioning.0);
        Some(Self {
            parts,
            blocks_per_part: all.saturating_sub(kept) / parts.max(1),
            occupancy: logical / not_kept_free,
            victims: VictimModel::of(&config.ssd.gc.victim),
        })
    }
}
