//! `[precondition]`: the state that a run finds its drives in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choice::choice;
use super::gc::is_default;
use super::quantity::Share;
use super::steady::Overwrites;

/// Preparation of the drive before the measured run. Untimed, through the same mapping and collection code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Precondition {
    /// Share of the logical capacity that is written once, in order.
    pub fill: Share,
    /// Overwrites after that: so many times the filled capacity, or until write amplification is steady.
    pub overwrites: Overwrites,
    /// Pages that are overwritten.
    #[serde(skip_serializing_if = "Overwritten::is_uniform")]
    pub addresses: Overwritten,
    /// Distribution of valid pages over the blocks of the filled drive, before it is overwritten.
    #[serde(skip_serializing_if = "is_default")]
    pub valid_pages: ValidPages,
}

impl Default for Precondition {
    fn default() -> Self {
        Self {
            fill: Share(1.0),
            overwrites: Overwrites::Fixed(1.0),
            addresses: Overwritten::Uniform,
            valid_pages: ValidPages::AsWritten,
        }
    }
}

/// Fault of `precondition.addresses` where nothing is written.
pub const WRITES_NOTHING: &str = "found \"workload\" with a workload that writes nothing; allowed: \"uniform\", or a workload that writes";

/// Pages that are overwritten before a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overwritten {
    /// Single filled pages, each as likely as any other.
    #[default]
    Uniform,
    /// Pages that the workload writes: a trace from a random place on, as often as it takes; a generator with random
    /// draws of its own, and the hot pages of the run. The trims of the workload are done, too.
    Workload,
}

impl Overwritten {
    /// Whether each filled page is as likely as any other.
    pub const fn is_uniform(&self) -> bool {
        matches!(self, Self::Uniform)
    }
}

choice! {
    /// Distribution of valid pages over the blocks of the filled drive.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ValidPages {
        /// All pages of the blocks that were filled are valid.
        AsWritten,
        /// Blocks have as many valid pages as a mean-field model gives for the victim policy under uniform writes (Van
        /// Houdt, SIGMETRICS 2013), those with most valid pages first. MQSim prepares its drives so. All blocks but
        /// half of the soft threshold are used. For the victims `greedy`, `fifo`, `rga`, `random` and `random+`, on a
        /// drive that maps pages, allocates statically and collects blocks.
        MeanField {
            /// Equal parts of the logical space that are laid out one after the other, each in blocks of its own: MQSim
            /// has one for each flow.
            #[serde(default = "one")]
            #[schemars(range(min = 1, max = 1024))]
            parts: u32,
        },
    }
}

// The twin that `choice` reads through has the same variants and derives no default.
#[allow(clippy::derivable_impls)]
impl Default for ValidPages {
    fn default() -> Self {
        Self::AsWritten
    }
}

const fn one() -> u32 {
    1
}
