//! `[ssd.refresh]`: data that are written anew before they can no longer be read.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Share, Time};

/// Most reads of a block that any limit names.
pub const MOST_READS: u32 = 1_000_000_000;

/// Blocks that are collected for the sake of their data: never, unless the table says so.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Refresh {
    /// A block is collected once so many of its pages have been read since it was erased (read disturb; this is called
    /// read reclaim). Absent: never.
    #[schemars(range(min = 1, max = MOST_READS))]
    pub reads: Option<u32>,
    /// A block is collected once its first page was programmed so long ago (retention). Absent: never.
    pub age: Option<Time>,
}

impl Refresh {
    /// Whether no block is collected for the sake of its data.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// Read errors that reads of the same block bring.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DisturbedReadErrors {
    /// Share of pages that comes on top of those that cannot be corrected as they are first read.
    pub share: Share,
    /// Once so many pages of their block have been read since it was erased; before and beyond that the share follows
    /// a line.
    #[schemars(range(min = 1, max = MOST_READS))]
    pub reads: u32,
}

/// Read errors that time brings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgedReadErrors {
    /// Share of pages that comes on top of those that cannot be corrected as they are first read.
    pub share: Share,
    /// Time after the first page of their block was programmed; before and beyond that the share follows a
    /// line.
    pub age: Time,
}
