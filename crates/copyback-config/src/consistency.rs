//! `array.consistency_policy`: care of an array for the day its power fails.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::array::{default_least_rate, default_most_rate, default_rebuild_unit};
use super::choice::choice;
use super::quantity::{Rate, Size, Time};

/// Bytes of one write of a bitmap, and of the header of a partial parity log, as in Linux md.
pub const METADATA_BLOCK: u64 = 4096;

/// Bits of a block of the bitmap.
pub const BITS_OF_BLOCK: u64 = 8 * METADATA_BLOCK;

choice! {
    /// Care for stripes that a cut of power leaves half written: their parity, or their copies, may not agree. Names and
    /// rules are those of Linux md (`mdadm --consistency-policy`; `man 4 md`).
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum ConsistencyPolicy {
        /// No care: stripes disagree until a write makes their parity from all data.
        None,
        /// After a cut all stripes are read, and made to agree.
        Resync {
            /// Bytes of each drive, of RAID-10 those of the array, in a second while requests come.
            #[serde(default = "default_least_rate")]
            least: Rate,
            /// Bytes in a second while none do, if the drives keep up.
            #[serde(default = "default_most_rate")]
            most: Rate,
            /// Bytes at a time; whole stripe units.
            #[serde(default = "default_rebuild_unit")]
            unit: Size,
        },
        /// Write-intent bitmap on each drive: a bit is set before a chunk is written, and after a cut only chunks with a bit
        /// are read and made to agree.
        Bitmap {
            /// Bytes of each drive, of RAID-10 those of the array, for which a bit stands (`mdadm --bitmap-chunk`); whole
            /// stripe units.
            #[serde(default = "default_chunk")]
            chunk: Size,
            /// Time from one look for bits to clear to the next (`mdadm --delay`). A chunk's bit is cleared once no write has
            /// been in the chunk for so long.
            #[serde(default = "default_delay")]
            #[schemars(extend("shortest" = "1us"))]
            delay: Time,
            /// Bytes of each drive, of RAID-10 those of the array, in a second while requests come.
            #[serde(default = "default_least_rate")]
            least: Rate,
            /// Bytes in a second while none do, if the drives keep up.
            #[serde(default = "default_most_rate")]
            most: Rate,
            /// Bytes at a time; whole stripe units.
            #[serde(default = "default_rebuild_unit")]
            unit: Size,
        },
        /// Partial parity log, of RAID-5 alone: before a stripe is written, the drive with its parity logs what the data that
        /// stay add up to. After a cut parity is made from the log, whatever drive is missing
        /// (Linux `raid5-ppl.rst`).
        Ppl {
            /// Bytes of each drive for its log.
            #[serde(default = "default_space")]
            space: Size,
        },
        /// Journal on one more drive like the others, behind the spares (`mdadm --write-journal`), with parity alone: before a
        /// stripe is written, all data and parity that will be written go there. After a cut they are written again from the
        /// journal (Linux `raid5-cache.rst`, write-through mode).
        Journal,
    }
}

impl Default for ConsistencyPolicy {
    fn default() -> Self {
        Self::Resync {
            least: default_least_rate(),
            most: default_most_rate(),
            unit: default_rebuild_unit(),
        }
    }
}

impl ConsistencyPolicy {
    /// Bytes of a drive that it takes for itself, where a resync of everything goes over `resynced` bytes.
    pub const fn metadata_bytes(self, resynced: u64) -> u64 {
        match self {
            Self::None | Self::Resync { .. } | Self::Journal => 0,
            Self::Bitmap { chunk, .. } => {
                let chunk = if chunk.0 == 0 { 1 } else { chunk.0 };
                resynced.div_ceil(chunk).div_ceil(BITS_OF_BLOCK) * METADATA_BLOCK
            }
            Self::Ppl { space } => space.0,
        }
    }

    /// Whether something is written before the data.
    pub const fn writes_ahead(self) -> bool {
        matches!(self, Self::Bitmap { .. } | Self::Ppl { .. } | Self::Journal)
    }

    /// Number of drives that it takes for itself.
    pub const fn drives(self) -> u32 {
        matches!(self, Self::Journal) as u32
    }
}

/// The default of `mdadm` for bitmaps on the drives themselves.
const fn default_chunk() -> Size {
    Size(64 << 20)
}

/// The default of `mdadm`.
const fn default_delay() -> Time {
    Time::from_us(5_000_000)
}

/// The space that `mdadm` sets aside with its metadata of version 1.
const fn default_space() -> Size {
    Size(1 << 20)
}
