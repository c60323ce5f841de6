//! When a closed loop pauses.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    choice::choice,
    quantity::{MOST_REQUESTS, Time},
};

choice! {
    /// Pauses of a closed loop, as fio's `thinktime` and its family make them: once one is due, no request is issued, all that are
    /// under way end, and then the pause begins.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ThinkTime {
        /// No pauses.
        None,
        /// Pauses of one length.
        Pause {
            /// Length of a pause.
            time: Time,
            /// A pause is due after so many reads, writes and trims. Default: 1, but with `iotime` no number of them.
            #[serde(default)]
            #[schemars(range(min = 1, max = MOST_REQUESTS))]
            blocks: Option<u64>,
            /// Requests that count.
            #[serde(default)]
            blocks_type: CountedBlocks,
            /// A pause is due, too, when the first request is issued so long after the last pause.
            #[serde(default)]
            iotime: Option<Time>,
        },
    }
}

#[allow(clippy::derivable_impls, reason = "the macro repeats the variants' attributes on a twin")]
impl Default for ThinkTime {
    fn default() -> Self {
        Self::None
    }
}

impl ThinkTime {
    /// Whether there are no pauses.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// Requests that make a pause due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CountedBlocks {
    /// Requests that have ended. One that ends after the pause is due counts for the next.
    #[default]
    Complete,
    /// Requests that were issued.
    Issue,
}
