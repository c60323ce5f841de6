//! `[ssd.gc]`: when, what, how wide and with what right blocks are collected.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use super::{Ssd, choice::choice, quantity::Share};

/// Garbage collection: five independent choices and the thresholds that start it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Gc {
    /// WHO: which block is collected.
    pub victim: VictimPolicy,
    /// WHEN: whether a collection that has begun yields to host requests.
    pub preemption: Preemption,
    /// HOW WIDE: which planes of the die join a collection.
    pub width: Width,
    /// Whether idle time is used to collect.
    pub idle: Idle,
    /// A plane with fewer free blocks than this is collected.
    pub soft_threshold: FreeBlocks,
    /// A plane with fewer free blocks than this opens no block for host writes.
    pub hard_threshold: FreeBlocks,
    /// When a plane below the soft threshold is looked at.
    pub start: GcStart,
    /// Once started, collect until this many blocks above the soft threshold are free.
    pub hysteresis_blocks: u32,
    /// Move pages inside the plane with the copyback command instead of over the channel.
    pub copyback: bool,
    /// Collections change the state of the flash and take no time: the ideal bound.
    pub zero_cost: bool,
}

impl Default for Gc {
    fn default() -> Self {
        Self {
            victim: VictimPolicy::Greedy,
            preemption: Preemption::None,
            width: Width::Serial,
            idle: Idle::None,
            soft_threshold: FreeBlocks::Share(Share(0.05)),
            hard_threshold: FreeBlocks::Blocks { blocks: 1 },
            start: GcStart::AtOnce,
            hysteresis_blocks: 0,
            copyback: true,
            zero_cost: false,
        }
    }
}

/// A number of free blocks of a plane: a share of the plane's blocks, or a count.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum FreeBlocks {
    /// Share of the plane's blocks, rounded up, and at least what collections need.
    Share(Share),
    /// A number of blocks.
    Blocks {
        /// Free blocks in the plane.
        blocks: u32,
    },
}

impl Ssd {
    /// The soft threshold in blocks of a plane. A share gives at least what collections need.
    pub fn soft_threshold(&self) -> u32 {
        let least = 1 + self.ftl.blocks_kept_for_collections();
        self.gc.soft_threshold.resolve(self.geometry.blocks_per_plane, least)
    }

    /// The hard threshold in blocks of a plane.
    pub fn hard_threshold(&self) -> u32 {
        self.gc.hard_threshold.resolve(self.geometry.blocks_per_plane, 1)
    }
}

impl FreeBlocks {
    /// The number of blocks of a plane that has `blocks_per_plane`; a share gives `least` or more.
    fn resolve(self, blocks_per_plane: u32, least: u32) -> u32 {
        match self {
            Self::Share(share) => {
                let exact = share.0 * f64::from(blocks_per_plane);
                (exact.ceil() as u32).max(least)
            }
            Self::Blocks { blocks } => blocks,
        }
    }
}

impl<'de> Deserialize<'de> for FreeBlocks {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(FreeBlocksVisitor)
    }
}

struct FreeBlocksVisitor;

impl<'de> de::Visitor<'de> for FreeBlocksVisitor {
    type Value = FreeBlocks;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a share of the blocks such as 0.05 or \"5%\", or { blocks = 2 }")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<FreeBlocks, E> {
        text.parse().map(FreeBlocks::Share).map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, share: f64) -> Result<FreeBlocks, E> {
        Ok(FreeBlocks::Share(Share(share)))
    }

    fn visit_u64<E: de::Error>(self, share: u64) -> Result<FreeBlocks, E> {
        Ok(FreeBlocks::Share(Share(share as f64)))
    }

    fn visit_map<A: de::MapAccess<'de>>(self, table: A) -> Result<FreeBlocks, A::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Blocks {
            blocks: u32,
        }
        let Blocks { blocks } = Blocks::deserialize(de::value::MapAccessDeserializer::new(table))?;
        Ok(FreeBlocks::Blocks { blocks })
    }
}

choice! {
    /// Which block is collected.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum VictimPolicy {
        /// Fewest valid pages; ties go to the block that reached that count first.
        Greedy,
        /// Fewest valid pages among d blocks drawn at random (d-choices; Van Houdt 2013).
        Rga {
            /// Blocks drawn, with replacement.
            #[serde(default = "default_rga_d")]
            d: u32,
        },
        /// Any block at random.
        Random,
        /// Random, drawn again until the block has an invalid page.
        #[serde(rename = "random+")]
        RandomPlus,
        /// The block that was filled first.
        Fifo,
        /// Most (1 - u) / 2u x age, age since the block last lost a page (Rosenblum 1992, Kawaguchi
        /// 1995).
        CostBenefit,
    }
}

const fn default_rga_d() -> u32 {
    10
}

/// Whether a collection that has begun yields to host requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Preemption {
    /// A die that collects serves nobody until none of its planes is short of space.
    None,
}

/// When a plane below the soft threshold is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GcStart {
    /// As soon as its die is free.
    AtOnce,
    /// When a host operation is about to be served by its die.
    BeforeOperation,
}

/// Which planes of a die join a collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Width {
    /// Only the plane that needs space.
    Serial,
}

/// Whether idle time is used to collect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Idle {
    /// Collections run on demand only.
    None,
}
