//! Questions of other rooms about the pages and blocks, the placement and the victim policy.

use crate::ftl::audit::Audit;
use crate::ftl::bad_blocks::BadBlocks;
use crate::ftl::blocks::Blocks;
use crate::ftl::limits::Limits;
use crate::ftl::lost_pages::LostPages;
use crate::ftl::space::Space;
use crate::ftl::staged::Staged;
use crate::ftl::streams::Streams;
use crate::nand::Geometry;
use crate::outside::Failed;

use super::BlockManager;

impl BlockManager {
    /// Shape of the flash.
    #[inline(always)]
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Page and block counts that never change.
    #[inline(always)]
    pub const fn limits(&self) -> &Limits {
        &self.limits
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

    /// Pages whose data are lost.
    pub const fn lost_pages(&self) -> &LostPages {
        &self.lost_pages
    }

    /// Content of every page, if it is kept.
    pub fn audit(&self) -> Option<&Audit> {
        self.audit.as_deref()
    }

    /// Reason why an external victim policy or placement is no longer called, if it has failed.
    pub fn policy_failed(&self) -> Option<Failed> {
        self.victims.failed().or_else(|| self.streams.placement.failed())
    }
}
