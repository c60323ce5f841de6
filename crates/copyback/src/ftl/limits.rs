//! Page and block counts of a drive that never change.

use std::num::NonZeroU32;

use crate::checkpoint::Checkpointed;
use crate::config::{self, Resolved};
use crate::ids::{BlockId, Lpn, SsdId};
use crate::nand::Geometry;
use crate::outside::Device;
use crate::placement::{Class, Classes};

use super::audit::Audit;
use super::mapping::ReclaimPlan;

/// Page and block counts that never change.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Limits {
    pub(super) logical_pages: usize,
    /// Translation pages behind those.
    pub(super) translation_pages: usize,
    /// Pages of a block that hold data (all but a summary page).
    pub(super) data_pages: u32,
    /// Invalid pages that a victim has at least, as long as the host can open a block.
    pub(super) least_invalid: u32,
    /// Limits of the moves of a victim's pages.
    pub(super) moves: Moves,
    /// Whether victims are lines, and not blocks.
    pub(super) victims_are_lines: bool,
    /// Whether host writes and moved pages may fill the same block.
    pub(super) mixes: bool,
    /// Whether pages that are moved may go to another class than theirs: there are several.
    pub(super) diverts: bool,
    /// Whether moves are followed page by page: by the audit, or as pages may be lost.
    pub(super) follows_moves: bool,
    /// The class of all pages of the host, if there is one.
    pub(super) host_class: Option<Class>,
    /// The class of all writes that dies take, if they fill the same open block of a plane.
    pub(super) only_class: Option<Class>,
    /// Class that has room for such writes, if nothing but the work of a die changes that.
    pub(super) class_with_room: Option<Class>,
}

/// Limits of the moves of a victim's pages.
#[derive(Debug, Clone, Copy, Checkpointed)]
pub struct Moves {
    /// Pages that may be [filled up](super::open_pages) with nothing before the victim is erased.
    pub(super) filled_up: u32,
    /// LUNs that the victim is striped over, if its pages are moved LUN by LUN.
    luns: Option<NonZeroU32>,
}

impl Moves {
    fn new(config: &Resolved) -> Self {
        let luns = match config.ssd.gc.move_order {
            config::MoveOrder::AsWritten => None,
            config::MoveOrder::ByLun { luns } => NonZeroU32::new(luns),
        };
        Self { filled_up: config.drive.pages.filled_up_per_victim, luns }
    }
}

impl Limits {
    /// Pages that have an entry in the mapping.
    pub(super) fn mapped_pages(config: &Resolved) -> usize {
        (config.drive.capacity.logical_pages + config.drive.capacity.translation_pages) as usize
    }

    /// Pages of the host's address space.
    pub const fn logical_pages(&self) -> usize {
        self.logical_pages
    }

    /// Translation pages of the device.
    pub const fn translation_pages(&self) -> usize {
        self.translation_pages
    }

    /// Plan of reclaiming a block that is a unit of its own, in the order in which its pages are moved.
    pub(super) const fn plan_of(&self, victim: BlockId) -> ReclaimPlan {
        match self.moves.luns {
            None => ReclaimPlan::of_block(victim),
            Some(luns) => ReclaimPlan::by_lun(victim, luns),
        }
    }

    /// Pages of a block that hold data.
    pub const fn data_pages(&self) -> u32 {
        self.data_pages
    }

    /// Whether `lpn` is a translation page and not one of the host's.
    pub const fn is_translation_page(&self, lpn: Lpn) -> bool {
        lpn.index() >= self.logical_pages
    }

    /// Description of the device, which has this shape, for external policies.
    pub const fn described(&self, id: SsdId, geometry: &Geometry) -> Device {
        Device {
            id,
            dies: geometry.dies(),
            planes_per_die: geometry.planes_per_die,
            blocks_per_plane: geometry.blocks_per_plane,
            pages_per_block: self.data_pages,
            logical_pages: self.logical_pages + self.translation_pages,
        }
    }

    pub(super) fn new(config: &Resolved, classes: &Classes) -> Self {
        let host_class = classes.of_host().next().filter(|_| classes.of_host().len() == 1);
        let mixes = classes.mix();
        let has_places = matches!(config.ssd.ftl.allocation, config::Allocation::Order(_));
        let only_class = host_class.filter(|_| config.drive.capacity.translation_pages == 0);
        Self {
            logical_pages: config.drive.capacity.logical_pages as usize,
            translation_pages: config.drive.capacity.translation_pages as usize,
            data_pages: config.drive.pages.data_per_block as u32,
            least_invalid: config.drive.unit.least_invalid,
            moves: Moves::new(config),
            victims_are_lines: config.ssd.gc.has_lines(),
            mixes,
            follows_moves: Audit::is_kept(config) || config.ssd.faults.pages_may_be_lost(),
            diverts: classes.of_moves().len() > 1,
            host_class,
            only_class,
            class_with_room: only_class
                .filter(|_| !mixes && !has_places)
                .filter(|_| config.drive.slc.is_none() && !config.ssd.gc.has_lines()),
        }
    }
}
