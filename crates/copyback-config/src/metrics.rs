//! `[metrics]`: what is recorded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::Time;

/// Records of the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Metrics {
    /// Width of a row of the time series, at least `1us`; absent: chosen as the run goes, for about a thousand
    /// rows.
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
    /// Write what every die, collection and request did in this window of simulated time to
    /// `timeline.json.gz`, for the viewers of the Chrome trace event format; absent: nothing is
    /// written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Window>,
    /// Keep so many of the slowest requests, with what the dies did meanwhile that they used; absent:
    /// none. Of those that waited longest for the same collection, two are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 256))]
    pub slowest: Option<u32>,
}

/// A window of simulated time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Window {
    /// Begin, from the start of the run.
    pub from: Time,
    /// End; absent: the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<Time>,
}

impl Metrics {
    /// Whether every operation of the flash is looked at.
    pub const fn needs_journal(&self) -> bool {
        self.timeline.is_some() || self.slowest.is_some()
    }
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
            timeline: None,
            slowest: None,
        }
    }
}
