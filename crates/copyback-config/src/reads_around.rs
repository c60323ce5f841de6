//! Reads of an array that go around drives which collect (`array.reads_around_gc`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    choice::{choice, quantity_or_choice},
    quantity::Time,
};

quantity_or_choice! {
    /// Reads that go around drives which collect: they are reconstructed from the other drives of the stripe and its
    /// parity.
    #[derive(Debug, Clone, Copy, PartialEq)]
    pub enum ReadsAroundGc or
        /// Whether reads that would wait behind a collection go around it if no other drive of the stripe collects. They
        /// learn of it at no cost.
        Fixed(bool), "true or false, \"windows\", or a table with the key type"
    {
        /// A drive fails a read at once that would wait behind a collection (PL_IO of IODA, Li et al., SOSP 2021).
        FailFast {
            /// Time from sending a read to its failure. It passes twice if drives fail that are needed for the
            /// reconstruction.
            #[serde(default)]
            #[schemars(extend("longest" = "1min"))]
            round_trip: Time,
            /// Drive that a read goes around if several of the stripe collect.
            #[serde(default = "none")]
            several: SeveralBusy,
        },
        /// Reads go around the drive whose window it is, whether it collects or not (PL_Win of IODA). Needs
        /// `coordination = "staggered"`.
        Windows,
    }
}

impl Default for ReadsAroundGc {
    fn default() -> Self {
        Self::Fixed(false)
    }
}

impl ReadsAroundGc {
    /// Whether no read goes around anything.
    pub fn is_off(self) -> bool {
        self == Self::Fixed(false)
    }

    /// Choice as it is written in a configuration.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fixed(false) => "false",
            Self::Fixed(true) => "true",
            Self::FailFast { .. } => "\"fail_fast\"",
            Self::Windows => "\"windows\"",
        }
    }
}

choice! {
    /// Drive that a read goes around if several drives of its stripe collect. The others are waited for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum SeveralBusy {
        /// The read goes around none, and waits for its own.
        None,
        /// One of them at random, as a failure says no more than that a drive collects (IOD1).
        Random,
        /// The one that collects for longest, as each drive reports its busy remaining time with the failure (PL_BRT,
        /// IOD2).
        LongestBusy,
    }
}

const fn none() -> SeveralBusy {
    SeveralBusy::None
}
