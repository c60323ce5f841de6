//! `[metrics]`: what is recorded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::Time;

/// What is recorded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Metrics {
    /// Width of a row of the time series; absent: chosen as the run goes, for about a thousand rows.
    pub interval: Option<Time>,
    /// Keep one row a request.
    pub requests: bool,
    /// Bandwidth is measured over windows of this length; the summary tells how it varies.
    pub bandwidth_window: Time,
    /// The summary tells the worst response time of each window of this length.
    pub worst_window: Time,
    /// The summary tells what response times have beyond this bound; absent: nothing is told.
    pub excess_bound: Option<Time>,
    /// Keep a histogram of the response times of each interval of this length, and write `latency.hlog`, a
    /// log in the format of HdrHistogram; absent: none.
    pub histogram_interval: Option<Time>,
    /// The summary tells how long drives have no command, and what their dies do meanwhile.
    pub idle_time: bool,
    /// Keep when each drive of an array collected, and write `collections.parquet`.
    pub collections: bool,
    /// Keep one row a command that the controller sent to a drive of an array, and write
    /// `commands.parquet`.
    pub commands: bool,
    /// Keep what the controller and the drives of an array tell one another, and write
    /// `messages.parquet`.
    pub messages: bool,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            interval: None,
            requests: false,
            bandwidth_window: Time::from_us(1_000_000),
            worst_window: Time::from_us(86_400_000_000),
            excess_bound: None,
            histogram_interval: None,
            idle_time: false,
            collections: false,
            commands: false,
            messages: false,
        }
    }
}
