//! `array.slow`: drives of an array that are slow for a while.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::quantity::Time;

/// Time in which a drive is slow (fail-slow; Gunawi et al., FAST 2018): its flash and channels take longer. What has begun
/// before goes on as it began.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SlowDrive {
    /// The drive, counted from 0; spares come behind the others.
    #[schemars(range(max = 1279))]
    pub drive: u32,
    /// When it becomes slow, from the start of the run.
    pub at: Time,
    /// Time for which the drive stays slow.
    #[serde(rename = "for")]
    pub lasts: Time,
    /// Factor by which reads, programs, erases and transfers of its flash take longer.
    #[serde(default = "ten_times")]
    #[schemars(range(min = 1.0, max = 10_000.0))]
    pub factor: f64,
}

impl SlowDrive {
    /// Whether the two are of one drive and overlap.
    pub fn overlaps(&self, other: &Self) -> bool {
        let ends = |period: &Self| period.at.0.as_ns().saturating_add(period.lasts.0.as_ns());
        self.drive == other.drive
            && self.at.0.as_ns() < ends(other)
            && other.at.0.as_ns() < ends(self)
    }
}

const fn ten_times() -> f64 {
    10.0
}
