//! Counts of free blocks at which collections begin and end.

use super::{Capacity, Shape};
use crate::quantity::Share;
use crate::{Allocation, GcEnd, Idle, Placement, Preemption, Protection, Ssd, Width};

/// Counts of free blocks of a plane at which collections begin and end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thresholds {
    /// Free blocks below which a plane is collected. A share gives at least what collections need.
    pub soft: u32,
    /// Free blocks below which a plane opens no block for host writes.
    pub hard: u32,
    /// Free blocks below which a plane joins the collection of another, if the width lets planes join at all.
    pub joining: u32,
    /// Free blocks that long idle periods aim at.
    pub idle_goal: u32,
    /// Free blocks that host writes never open.
    pub kept_for_collections: u32,
    /// Smallest soft threshold that makes sense beside the other settings.
    pub least_soft: u32,
    /// Free blocks that collections must be able to reach, beside spare ones and the hysteresis.
    pub least_goal: u32,
    /// Free blocks beyond these that collections must be able to reach.
    pub hysteresis: u32,
}

impl Thresholds {
    pub(super) fn of(ssd: &Ssd, shape: &Shape, has_slc: bool, capacity: &Capacity) -> Self {
        let all = ssd.geometry.blocks_per_plane;
        let kept_for_collections =
            u32::from(!can_do_without(ssd, shape, has_slc, capacity.translation_pages));
        let to_begin_with = 1 + kept_for_collections;
        let soft = ssd.gc.soft_threshold.resolve(all, to_begin_with);
        let hard = ssd.gc.hard_threshold.resolve(all, 1);
        // Where logical pages are bound to blocks, merges can be put off above the soft threshold, too.
        let delays = ssd.gc.idle.delays() && ssd.ftl.mapping.is_page_mapping();
        let least_soft = hard.max(to_begin_with).saturating_add(delays.into());
        let idle_margin =
            ssd.gc.idle.in_advance().map_or(0, |advance| advance.margin.resolve(all, soft, 1));
        let (least_goal, hysteresis) = match ssd.gc.least_invalid == Share::default() {
            true => (soft, ssd.gc.hysteresis_blocks),
            // Collections end where all victims are refused; only what the host needs must be within reach.
            false => (least_soft, 0),
        };
        Self {
            soft,
            hard,
            joining: match ssd.gc.width {
                Width::Serial | Width::Superblock => 0,
                Width::Blind { .. } => u32::MAX,
                Width::Threshold { margin, .. } => {
                    soft.saturating_add(margin.resolve(all, soft, 0))
                }
            },
            idle_goal: soft.saturating_add(idle_margin),
            kept_for_collections,
            least_soft,
            least_goal,
            hysteresis,
        }
    }
}

/// Whether collections need no free block that the host leaves. The block that the host has just opened has room for a
/// victim, and no plane ever holds more data than its share, if all of these hold: one class, a static allocation, collections
/// that neither yield nor fill blocks of their own, no translation pages. Where the host goes on after each victim, it may fill
/// that block before its plane has its turn after the others of the die. A drive without power-loss protection may find pages
/// of that block torn.
fn can_do_without(ssd: &Ssd, shape: &Shape, has_slc: bool, translation_pages: u64) -> bool {
    ssd.ftl.placement == Placement::OneClass
        && ssd.ftl.mapping.is_page_mapping()
        && !ssd.gc.has_lines()
        && matches!(ssd.ftl.allocation, Allocation::Order(_))
        && ssd.gc.preemption == Preemption::None
        && (ssd.gc.end == GcEnd::Enough || shape.planes_per_die == 1)
        && !ssd.gc.width.is_parallel()
        && ssd.gc.idle == Idle::None
        && ssd.power.protection == Protection::Capacitors
        && !has_slc
        && translation_pages == 0
}
