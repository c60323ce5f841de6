//! `[metrics]`: what is recorded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::Time;

/// What is recorded.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Metrics {
    /// Width of a row of the time series; absent: chosen as the run goes, for about a thousand rows.
    pub interval: Option<Time>,
    /// Keep one row a request.
    pub requests: bool,
}
