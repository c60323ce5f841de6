//! `[ssd.power]`: what a drive does for the day its power fails, and when that is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    choice::choice,
    gc::is_default,
    quantity::{Size, Time},
};

/// Protection of the drive against loss of power, and when its power fails.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Power {
    /// Protection that holds the drive up when its power fails.
    pub protection: Protection,
    /// Whether a drive without protection holds the erase of a block until the programs are over that
    /// superseded its pages: else a cut can take the old and the new version of a page. `false` is the
    /// careless drive, to see what it loses.
    pub erase_barrier: bool,
    /// Bytes of a page's spare area that say what the page is: its logical page and the order in which it
    /// was written. A scan reads just these.
    pub metadata: Size,
    /// Whether a flush is answered only when all that was acknowledged before is in the flash.
    #[serde(skip_serializing_if = "is_default")]
    pub flush: Flush,
    /// Number of pages of a block, one behind the other, that share their cells: the bits of a cell that holds
    /// several. A program that a cut interrupts takes those of them that were programmed before, though they
    /// were durable; of a drive without protection, and not in blocks that an SLC cache fills. 1: a torn page
    /// harms no other.
    #[serde(skip_serializing_if = "is_alone")]
    #[schemars(range(min = 1, max = 8))]
    pub paired_pages: u32,
    /// When the power fails. That of an array fails in its controller and all of its drives at once.
    pub cuts: Cuts,
}

impl Default for Power {
    fn default() -> Self {
        Self {
            protection: Protection::Capacitors,
            erase_barrier: true,
            metadata: Size(16),
            flush: Flush::Honoured,
            paired_pages: 1,
            cuts: Cuts::None,
        }
    }
}

const fn is_alone(pages: &u32) -> bool {
    *pages == 1
}

/// Protection that holds a drive up when its power fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Protection {
    /// Capacitors: what is in the flash is finished, and the mapping and the write buffer are saved to
    /// flash that is kept for that, and read back later. A write is durable when it is acknowledged.
    Capacitors,
    /// No protection: what the flash is doing is cut off, and RAM is lost. The mapping is found again in the
    /// spare areas of the pages. A write that the buffer holds is durable when a flush after it is
    /// acknowledged.
    None,
}

/// Treatment of a flush by a drive with a write buffer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Flush {
    /// Writes the buffer's content to the flash, and answers then.
    #[default]
    Honoured,
    /// Answers at once and writes no page: a drive that lies, to see what that costs when its power fails.
    Ignored,
}

choice! {
    /// When the power fails.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Cuts {
        /// Never.
        None,
        /// At these times of the run, in order.
        At {
            /// The times.
            #[schemars(length(max = 100_000))]
            times: Vec<Time>,
        },
        /// At random: exponential times from the start of the run, and from each cut to the next. Some fall
        /// into the recovery from the one before.
        Random {
            /// Largest number of cuts: the run may end before.
            #[schemars(range(min = 1, max = 100_000))]
            count: u32,
            /// Mean time from one to the next.
            mean_interval: Time,
        },
        /// When somebody says so to a drive that is served, with
        /// `copyback serve --cut`. In a run: when the log of such a drive, replayed, says that it was.
        OnCommand,
    }
}

impl Power {
    /// Whether nothing is said about it.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether what is in the flash is kept account of, page by page.
    pub fn is_watched(&self) -> bool {
        self.protection == Protection::None || self.cuts != Cuts::None
    }

    /// Whether erases wait for programs that supersede what they erase.
    pub fn holds_erases(&self) -> bool {
        self.protection == Protection::None && self.erase_barrier
    }
}
