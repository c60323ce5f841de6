//! Effects of power cuts, for the summary.

use schemars::JsonSchema;
use serde::Serialize;

use crate::drive::PowerLoss;
use crate::units::Duration;

/// Cuts of power, recoveries and what was lost, of all drives together.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct PowerLossSummary {
    /// Number of power cuts. A cut takes all drives at once.
    pub cuts: u64,
    /// Cuts of those that came before a drive was back from the one before.
    pub cuts_in_recovery: u64,
    /// Number of recoveries that were completed.
    pub recoveries: u64,
    /// Times of the recoveries, those that were cut off left out.
    pub recovery_ms: RecoverySummary,
    /// Pages read to find the mapping again, if only in part.
    #[schemars(extend("page" = "Pages read for that"))]
    pub pages_read: u64,
    /// Pages whose program was cut off.
    #[schemars(extend("page" = "Torn pages"))]
    pub torn_pages: u64,
    /// Blocks whose erase was cut off.
    #[schemars(extend("page" = "Erases cut off"))]
    pub cut_erases: u64,
    /// Blocks that recoveries erased.
    pub blocks_erased: u64,
    /// Commands that the host had to hand in anew.
    #[schemars(extend("page" = "Requests handed in anew"))]
    pub interrupted_requests: u64,
    /// Pages with acknowledged writes that were in the write buffer only. No flush had been acknowledged for them,
    /// but for those in `flushed_pages_lost`.
    #[schemars(extend("page" = "Buffered pages lost"))]
    pub buffered_pages_lost: u64,
    /// Pages of those for which a flush had been acknowledged. Always 0, unless `ssd.power.flush = "ignored"`.
    #[schemars(extend("page" = "Of these, flushed", "if" = "flushed_pages_lost > 0"))]
    pub flushed_pages_lost: u64,
    /// Whole pages that these took with them, as they share cells (`ssd.power.paired_pages`).
    #[schemars(extend("page" = "Whole pages torn with others", "if" = "paired_pages_torn > 0"))]
    pub paired_pages_torn: u64,
    /// Pages of which a durable write was lost with a torn page that shares its cells. Always 0, unless
    /// `ssd.power.paired_pages` is above 1.
    #[schemars(extend("page" = "Durable pages lost with them", "if" = "paired_pages_torn > 0"))]
    pub paired_pages_lost: u64,
    /// Pages of which a durable write was lost otherwise.
    #[schemars(extend("page" = "Durable pages lost"))]
    pub durable_pages_lost: u64,
}

/// Times of recoveries, in milliseconds; zero without any.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RecoverySummary {
    /// On average.
    pub mean: f64,
    /// The longest.
    pub max: f64,
    /// Together.
    pub total: f64,
}

impl PowerLossSummary {
    /// Summary of what cuts did to the drives of an array, if their power may fail.
    pub fn of_all(losses: impl Iterator<Item = PowerLoss>) -> Option<Self> {
        losses.reduce(PowerLoss::and).map(|loss| Self::of(&loss))
    }

    fn of(loss: &PowerLoss) -> Self {
        let ms = |time: Duration| time.as_us_f64() / 1e3;
        let mean = |all: f64| if loss.recoveries == 0 { 0.0 } else { all / loss.recoveries as f64 };
        Self {
            cuts: loss.cuts,
            cuts_in_recovery: loss.cuts_in_recovery,
            recoveries: loss.recoveries,
            recovery_ms: RecoverySummary {
                mean: mean(ms(loss.recovery_time)),
                max: ms(loss.longest_recovery),
                total: ms(loss.recovery_time),
            },
            pages_read: loss.pages_read,
            torn_pages: loss.torn_pages,
            paired_pages_torn: loss.paired_pages_torn,
            cut_erases: loss.cut_erases,
            blocks_erased: loss.blocks_erased,
            interrupted_requests: loss.interrupted_commands,
            buffered_pages_lost: loss.buffered_pages_lost,
            flushed_pages_lost: loss.flushed_pages_lost,
            paired_pages_lost: loss.paired_pages_lost,
            durable_pages_lost: loss.durable_pages_lost,
        }
    }
}
