//! The translation layer where blocks become bad. Each plane keeps spare blocks aside, so that nothing
//! else ever notices:
//!
//! ```text
//!   a program fails   the pages of the block so far are copied to a spare one, to the same offsets, and the
//!                     page is programmed there; everything that named the block names the spare one
//!   an erase fails    a spare block is free in place of the block
//! ```
//!
//! When free blocks are left again, they become spare. A drive is read-only for good once a plane has no
//! spare block, or too few good ones to hold its data beside those it must keep free.

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::ids::{BlockId, PlaneId, Ppn};
use crate::nand::{Faults, Geometry};

use super::space::Space;

/// Faults of a drive's flash, if there can be any.
#[derive(Debug, Default, Checkpointed)]
pub struct BadBlocks(Option<Box<Account>>);

/// Faults of the flash's blocks, and their effects.
#[derive(Debug, Checkpointed)]
struct Account {
    flash: Faults,
    /// Good blocks and bad ones.
    blocks: usize,
    /// Spare blocks that each plane should have.
    spare_blocks: usize,
    /// Good blocks that each plane needs ...
    needed: usize,
    /// ... and has.
    good: Vec<usize>,
    /// Blocks that were bad when the drive was new.
    factory_bad: u64,
    tally: FaultTally,
    /// Blocks that have been replaced since they were last taken.
    replaced: Vec<Replaced>,
    read_only: bool,
}

/// Blocks that became bad, since the drive began to count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
pub struct FaultTally {
    /// Page programs that failed.
    pub program_failures: u64,
    /// Block erases that failed, those of blocks that were worn out included.
    pub erase_failures: u64,
}

/// A block that was replaced because a program failed.
#[derive(Debug, Checkpointed)]
pub struct Replaced {
    /// The page of the spare block that takes what failed.
    pub again: Ppn,
    /// Pages of the spare block that were copied to it.
    pub copied: Vec<Ppn>,
}

impl BadBlocks {
    /// Whether the drive can take writes, and `spare` blocks of `plane` are none too many.
    pub(super) fn can_have_spare(&self, plane: PlaneId, spare: usize) -> bool {
        let Some(account) = &self.0 else { return spare == 0 };
        let most = account.spare_blocks;
        spare <= most && (most == 0 || spare > 0) && account.good[plane.index()] >= account.needed
    }

    /// Of a checked configuration; `name` is the drive's place in the names of random streams.
    pub fn new(config: &Resolved, name: &str) -> Self {
        let geometry = Geometry::new(config);
        let account = |flash| Account {
            flash,
            blocks: geometry.blocks(),
            good: vec![geometry.blocks_per_plane as usize; geometry.planes()],
            factory_bad: 0,
            spare_blocks: config.drive.blocks.spare as usize,
            needed: config.drive.blocks.needed as usize,
            tally: FaultTally::default(),
            replaced: Vec::new(),
            read_only: false,
        };
        Self(Faults::new(config, name).map(|flash| Box::new(account(flash))))
    }

    /// Whether anything can go wrong in the flash.
    pub const fn are_possible(&self) -> bool {
        self.0.is_some()
    }

    /// Whether `block` is bad when the drive is new.
    pub fn is_bad_when_new(&self, block: BlockId) -> bool {
        self.0.as_ref().is_some_and(|account| account.flash.is_bad_when_new(block))
    }

    /// Whether the drive can take no writes any more, for want of good blocks.
    pub fn is_read_only(&self) -> bool {
        self.0.as_ref().is_some_and(|account| account.read_only)
    }

    /// Blocks that are bad, and how many of them were so when the drive was new.
    pub fn count(&self) -> (u64, u64) {
        let Some(account) = &self.0 else { return (0, 0) };
        let good: usize = account.good.iter().sum();
        ((account.blocks - good) as u64, account.factory_bad)
    }

    /// Failures since the drive began to count.
    pub fn tally(&self) -> FaultTally {
        self.0.as_ref().map_or_else(FaultTally::default, |account| account.tally)
    }

    /// Counts from now on what fails.
    pub fn reset_tally(&mut self) {
        if let Some(account) = &mut self.0 {
            account.tally = FaultTally::default();
            account.replaced.clear();
        }
    }

    /// Whether the program of a page of `block`, which has been erased so often, fails. Counts those that do.
    pub(super) fn program_fails(&mut self, block: BlockId, erases: u32, offset: u32) -> bool {
        let Some(account) = &mut self.0 else { return false };
        let fails = account.flash.program_fails(block, erases, offset);
        account.tally.program_failures += u64::from(fails);
        fails
    }

    /// Whether the erase of `block`, which has been erased so often, fails. Counts those that do.
    pub(super) fn erase_fails(&mut self, block: BlockId, erases: u32) -> bool {
        let Some(account) = &mut self.0 else { return false };
        let fails = account.flash.erase_fails(block, erases);
        account.tally.erase_failures += u64::from(fails);
        fails
    }

    /// Flash that may fail, if it may.
    pub(super) fn flash(&self) -> Option<&Faults> {
        self.0.as_ref().map(|account| &account.flash)
    }

    /// Whether planes keep blocks to take the place of bad ones.
    pub(super) fn keeps_spare_blocks(&self) -> bool {
        self.0.as_ref().is_some_and(|account| account.spare_blocks > 0)
    }

    /// Counts blocks that were bad when the drive was new.
    pub(super) const fn count_factory_bad(&mut self, blocks: usize) {
        if let Some(account) = &mut self.0 {
            account.factory_bad = blocks as u64;
        }
    }

    /// Notes that a block of `plane` is never used again.
    pub(super) fn retired(&mut self, plane: PlaneId) {
        if let Some(account) = &mut self.0 {
            account.good[plane.index()] -= 1;
        }
    }

    /// Notes that a block has been replaced.
    pub(super) fn has_replaced(&mut self, replaced: Replaced) {
        if let Some(account) = &mut self.0 {
            account.replaced.push(replaced);
        }
    }

    /// Takes the blocks that have been replaced since the last call.
    pub fn take_replaced(&mut self) -> Vec<Replaced> {
        self.0.as_mut().map(|account| std::mem::take(&mut account.replaced)).unwrap_or_default()
    }

    /// Notes whether `plane` has too few good blocks for the drive to take writes.
    pub(super) fn look_for_end(&mut self, plane: PlaneId, space: &Space) {
        let Some(account) = &mut self.0 else { return };
        let has_no_spare = account.spare_blocks > 0 && space[plane].spare == 0;
        account.read_only |= has_no_spare || account.good[plane.index()] < account.needed;
    }
}
