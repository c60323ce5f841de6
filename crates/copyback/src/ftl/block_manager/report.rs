//! Questions of other rooms about the pages and blocks, the placement and the victim policy.

use crate::ftl::audit::Audit;
use crate::ftl::bad_blocks::BadBlocks;
use crate::ftl::blocks::Blocks;
use crate::ftl::classes::{ClassTally, Takes};
use crate::ftl::space::Space;
use crate::ftl::staged::Staged;
use crate::ftl::streams::Streams;
use crate::ids::SsdId;
use crate::nand::Geometry;
use crate::outside::{Device, Failed};
use crate::placement::{Class, Placement};
use crate::victim::Victims;

use super::BlockManager;

impl BlockManager {
    /// Shape of the flash.
    #[inline(always)]
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Valid pages and erase counts of blocks.
    pub const fn blocks(&self) -> &Blocks {
        &self.blocks
    }

    /// Free and open blocks.
    #[inline(always)]
    pub const fn space(&self) -> &Space {
        &self.space
    }

    /// The placement, and the open blocks that pages go to.
    #[inline(always)]
    pub const fn streams(&self) -> &Streams {
        &self.streams
    }

    /// Pages in the device's DRAM on their way from one block to another.
    pub const fn staged(&self) -> &Staged {
        &self.staged
    }

    /// Blocks that have failed.
    pub const fn bad_blocks(&self) -> &BadBlocks {
        &self.bad_blocks
    }

    /// Content of every page, if it is kept.
    pub fn audit(&self) -> Option<&Audit> {
        self.audit.as_deref()
    }

    /// Description of the device for external policies.
    pub fn described(&self, id: SsdId) -> Device {
        Device {
            id,
            dies: self.geometry.dies(),
            planes_per_die: self.geometry.planes_per_die,
            blocks_per_plane: self.geometry.blocks_per_plane,
            pages_per_block: self.limits.data_pages,
            logical_pages: self.map.logical_pages(),
        }
    }

    /// Reason why an external victim policy or placement is no longer called, if it has failed.
    pub fn policy_failed(&self) -> Option<Failed> {
        self.victims.failed().or_else(|| self.streams.placement.failed())
    }

    /// Full blocks that the victim policy has refused and will not choose any more, if it does such a thing.
    pub fn lost_victims(&self) -> Option<u64> {
        let lost = |plane| self.victims.lost(plane).map(|lost| lost as u64);
        self.space.planes().map(lost).sum()
    }

    /// Says which plane of `drive` the host can open no block on as its victims are lost, if there is one.
    pub fn out_of_victims(&self, drive: usize) -> Option<String> {
        let plane = self.space.planes().find(|plane| self.is_out_of_victims(*plane))?;
        let (plane, lost) = (plane.0, self.victims.lost(plane)?);
        Some(format!(
            "ssd.gc.victim: \"fifo\" with ineligible = \"drop\" has lost {lost} full blocks of plane {plane} of \
             drive {drive}, and finds no other to collect; allowed: ineligible = \"collect\", a lower \
             precondition.fill or more ssd.ftl.over_provisioning"
        ))
    }

    /// Whether a plane can run out of victims though it has invalid pages.
    pub fn may_run_out_of_victims(&self) -> bool {
        self.victims.refuses()
    }

    /// Counts of the blocks of each class.
    pub const fn class_tally(&self) -> &ClassTally {
        &self.streams.tally
    }

    /// Pages that the host has written since that is counted.
    pub fn tallied_host_pages(&self) -> u64 {
        self.streams.tally.host_pages(self.streams.clock)
    }

    /// Blocks that each class holds, open ones included.
    pub fn blocks_of_classes(&self) -> &[u64] {
        &self.streams.held
    }

    /// Origins of the pages that each class takes.
    pub fn takes_of_classes(&self) -> Vec<Takes> {
        let classes = &self.streams.classes;
        (0..classes.count()).map(Class::new).map(|class| Takes::of(classes, class)).collect()
    }

    /// RAM in which the placement keeps what it knows of pages, in bytes.
    pub fn placement_bytes(&self) -> usize {
        self.streams.placement.bytes()
    }

    /// Whether the placement may look at the placement handles that the host names.
    pub const fn looks_at_handles(&self) -> bool {
        self.streams.placement.looks_at_handles()
    }

    /// Bytes of a page.
    pub const fn page_bytes(&self) -> u64 {
        self.streams.page_bytes
    }

    /// Pages of a block that hold data.
    pub const fn data_pages_per_block(&self) -> u32 {
        self.limits.data_pages
    }

    /// Pages of the host's address space.
    pub const fn logical_pages(&self) -> usize {
        self.limits.logical_pages
    }

    /// Translation pages of the device.
    pub const fn translation_pages(&self) -> usize {
        self.limits.translation_pages
    }

    /// The first broken invariant that the audit has seen, if any.
    pub fn violation(&self) -> Option<&str> {
        self.audit.as_ref().and_then(|audit| audit.violation())
    }
}
