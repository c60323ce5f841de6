//! `[ssd.faults]`: what goes wrong in the flash.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::{Rate, Share, Time};
use super::{AgedReadErrors, Config, DisturbedReadErrors, Stop};

/// Faults of the flash: none, unless the table says so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FlashFaults {
    /// Share of blocks that are bad when the drive is new.
    pub factory_bad_blocks: Share,
    /// Share of page programs that fail. The block is replaced by a spare one and never used again.
    pub program_failures: Share,
    /// Share of block erases that fail. The block is never used again.
    pub erase_failures: Share,
    /// Standard deviation of the erases that a block lasts, as a share of `ssd.endurance.rated_cycles`, around
    /// which they are drawn; the erase after the last fails. Absent: blocks do not wear out.
    pub endurance_spread: Option<Share>,
    /// Share of pages of new flash that cannot be corrected as they are first read.
    pub read_errors: Share,
    /// Share of pages that cannot be corrected as they are first read, of flash that has been erased `ssd.endurance.rated_cycles` times, between and beyond which the
    /// share follows a line; absent: wear makes no difference.
    pub worn_read_errors: Option<Share>,
    /// Rise of that share by reads of the same block (read disturb); absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disturbed_read_errors: Option<DisturbedReadErrors>,
    /// Rise of that share by time (retention); absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aged_read_errors: Option<AgedReadErrors>,
    /// Of the pages that some read level cannot correct, the share that the next cannot either.
    pub retry_failures: Share,
    /// Times that a page is read again, each with other thresholds and for one more array read. What the last
    /// cannot correct is uncorrectable: a read of the host fails, and a page that is moved is lost, unless its line has parity.
    #[schemars(range(min = 0, max = 255))]
    pub retry_levels: u32,
    /// A die that fails as a whole, of a drive with parity in lines (`ssd.ftl.rain`), which rebuilds what was there.
    /// Absent: none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_die: Option<LostDie>,
}

/// A die that is lost, and how fast the drive rebuilds what was there.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LostDie {
    /// Number of the die, from 0, channel by channel.
    #[schemars(range(min = 0, max = 65_535))]
    pub die: u32,
    /// When. What the die has begun by then ends.
    pub at: Time,
    /// Pages are rebuilt at this rate at most; `"none"`: each as soon as one before it is done.
    #[serde(default = "no_limit")]
    pub rebuild_rate: Rate,
    /// Pages that are rebuilt at once, at most.
    #[serde(default = "default_rebuild_pages")]
    #[schemars(range(min = 1, max = 65_536))]
    pub rebuild_pages: u32,
}

const fn no_limit() -> Rate {
    Rate::None
}

const fn default_rebuild_pages() -> u32 {
    8
}

impl Default for FlashFaults {
    fn default() -> Self {
        Self {
            factory_bad_blocks: Share(0.0),
            program_failures: Share(0.0),
            erase_failures: Share(0.0),
            endurance_spread: None,
            read_errors: Share(0.0),
            worn_read_errors: None,
            disturbed_read_errors: None,
            aged_read_errors: None,
            retry_failures: Share(0.1),
            retry_levels: 7,
            lost_die: None,
        }
    }
}

impl FlashFaults {
    /// Whether flash is perfect.
    pub fn are_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a page may be read in vain, after all retries.
    pub fn reads_may_fail(&self) -> bool {
        let grow = |share: Option<Share>| share.is_some_and(|share| share.0 > 0.0);
        let has_errors = self.read_errors.0 > 0.0
            || grow(self.worn_read_errors)
            || grow(self.disturbed_read_errors.map(|errors| errors.share))
            || grow(self.aged_read_errors.map(|errors| errors.share));
        has_errors && (self.retry_failures.0 > 0.0 || self.retry_levels == 0)
    }

    /// Whether what is in a page may be lost: it is read in vain, or cannot be made up where its die is lost.
    pub fn pages_may_be_lost(&self) -> bool {
        self.reads_may_fail() || self.lost_die.is_some()
    }

    /// Whether blocks become bad as they are used.
    pub const fn retires_blocks(&self) -> bool {
        self.program_failures.0 > 0.0
            || self.erase_failures.0 > 0.0
            || self.endurance_spread.is_some()
    }
}

impl Config {
    /// Whether the run ends when a drive takes no writes any more: any rule that ends a run before its
    /// requests do would never again have what it asks for.
    pub fn ends_at_read_only(&self) -> bool {
        self.stop != Stop::None && self.ssd.faults.retires_blocks()
    }
}
