//! `[precondition]`: the state that a run finds its drives in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
}

impl Default for Precondition {
    fn default() -> Self {
        Self {
            fill: Share(1.0),
            overwrites: Overwrites::Fixed(1.0),
            addresses: Overwritten::Uniform,
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
