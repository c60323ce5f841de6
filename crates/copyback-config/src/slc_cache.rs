//! `[ssd.slc_cache]`: blocks that are programmed with fewer bits a cell than the others, and take the host's pages first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FreeBlocks;
use super::quantity::{Share, Time};

/// A cache of blocks that are programmed with fewer bits a cell than the others; off unless it has blocks. The host's
/// pages go there first, and collections fold them into native blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SlcCache {
    /// Blocks of each plane that are always in the cache's mode: a share of its blocks (rounded up), or a count. They
    /// hold none of the logical pages that the drive's capacity is counted by.
    #[serde(rename = "static")]
    pub fixed: FreeBlocks,
    /// Free native blocks of each plane that are lent to the cache at most, when the drive is empty.
    pub dynamic: FreeBlocks,
    /// Share of the drive's logical pages that hold data at which no block is lent any more. Up to it, what is lent
    /// falls as a straight line.
    pub dynamic_until: Share,
    /// Bits a cell of native blocks.
    #[schemars(range(min = 2, max = 4))]
    pub native_bits: u32,
    /// Bits a cell of blocks of the cache. Such a block has native pages x bits / native_bits, rounded down.
    #[schemars(range(min = 1, max = 3))]
    pub bits: u32,
    /// Treatment of a write of the host that finds no room in the cache.
    pub when_full: WhenFull,
    /// A plane on which the cache can open fewer blocks than this folds at once; 0: only in idle time, and where native
    /// blocks are short.
    #[schemars(range(min = 0, max = 16_777_216))]
    pub fold_below: u32,
    /// Time for which the drive must have had no command before it folds in idle time.
    pub fold_after_idle: Time,
    /// Full blocks of the cache that idle time leaves on each plane: they may die there.
    #[schemars(range(min = 0, max = 16_777_216))]
    pub idle_keeps: u32,
    /// Latencies of blocks in the cache's mode.
    pub timing: SlcTiming,
}

/// Latencies of blocks in the cache's mode. All pages of such a block are of one type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SlcTiming {
    /// Array read (tR).
    #[schemars(extend("longest" = "1min"))]
    pub read: Time,
    /// Array program (tPROG).
    #[schemars(extend("longest" = "1min"))]
    pub program: Time,
    /// Block erase (tBERS).
    #[schemars(extend("longest" = "1min"))]
    pub erase: Time,
}

/// Treatment of a write of the host that finds no room in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenFull {
    /// Write to a native block.
    WritePast,
    /// Wait until a block has been folded.
    Wait,
}

impl Default for SlcCache {
    fn default() -> Self {
        Self {
            fixed: FreeBlocks::Blocks { blocks: 0 },
            dynamic: FreeBlocks::Blocks { blocks: 0 },
            dynamic_until: Share(0.75),
            native_bits: 3,
            bits: 1,
            when_full: WhenFull::WritePast,
            fold_below: 0,
            fold_after_idle: Time::from_us(10_000),
            idle_keeps: 0,
            timing: SlcTiming::default(),
        }
    }
}

impl Default for SlcTiming {
    fn default() -> Self {
        Self { read: Time::from_us(20), program: Time::from_us(75), erase: Time::from_us(1500) }
    }
}

impl SlcCache {
    /// Whether nothing is said about it.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
