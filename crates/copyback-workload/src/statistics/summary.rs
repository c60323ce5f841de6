//! Summary of a workload, as it is written as JSON.

use schemars::JsonSchema;
use serde::Serialize;

use super::arrivals::{GapStatistics, IdleStatistics, RateStatistics};
use super::distribution::{Curve, DistributionStatistics};
use super::footprint::{FootprintStatistics, OverwriteStatistics};
use super::series::SeriesStatistics;
use super::sizes::CommonSize;
use crate::schema;

/// Statistics of a workload. Sizes are in bytes, times in the unit that the key names. What can't be known of so
/// few requests, or without arrival times, is null.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TraceStatistics {
    /// Version of this form.
    pub schema: u32,
    /// Version of the simulator.
    pub version: &'static str,
    /// The trace's name, or what kind of workload it is.
    pub source: String,
    /// The trace's format; null of what is generated.
    pub format: Option<&'static str>,
    /// Statistics of the requests; their keys are keys of this.
    #[serde(flatten)]
    pub requests: RequestStatistics,
    /// Notes for the user about the trace.
    pub notes: Vec<String>,
}

/// Statistics of requests.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RequestStatistics {
    /// Whether the requests have times; those of a closed loop have none.
    pub timed: bool,
    /// Requests in all.
    pub requests: u64,
    /// From the first arrival to the last.
    pub seconds: Option<f64>,
    /// Requests a second over that time.
    pub requests_per_s: Option<f64>,
    /// Share of reads among reads and writes.
    pub read_share: Option<f64>,
    /// Bytes read and written.
    pub bytes: u64,
    /// Bytes of a read or a write, on average.
    pub mean_bytes: Option<f64>,
    /// First byte beyond the highest request.
    pub end_bytes: u64,
    /// Sectors of 512 bytes up to there.
    pub sectors: u64,
    /// The requests by kind.
    pub operations: Operations,
    /// The devices that they are to.
    pub devices: TraceDevices,
    /// Writes by placement handle, in the order of the handles; missing where none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handles: Option<Vec<TraceHandle>>,
    /// The pages that they touch.
    pub footprint: FootprintStatistics,
    /// Overwrites: how often and how soon pages are written again.
    pub overwrites: OverwriteStatistics,
    /// Times between arrivals, in microseconds.
    pub interarrival_us: Option<GapStatistics>,
    /// Arrivals in windows, the shortest first.
    pub rates: Option<Vec<RateStatistics>>,
    /// Gaps longer than some thresholds, the lowest first.
    pub idle: Option<Vec<IdleStatistics>>,
    /// The response times that the trace holds, in microseconds, by kind.
    pub measured_response_us: Option<ByKind<DistributionStatistics>>,
    /// The workload over time.
    pub series: SeriesStatistics,
    /// Cumulative distributions, for plots.
    pub curves: Curves,
}

/// Statistics of each kind of request.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Operations {
    /// Reads.
    pub read: OperationStatistics,
    /// Writes.
    pub write: OperationStatistics,
    /// Trims.
    pub trim: OperationStatistics,
    /// Flushes.
    pub flush: OperationStatistics,
}

/// Statistics of the requests of one kind.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct OperationStatistics {
    /// Number of requests.
    pub count: u64,
    /// Sum of their lengths, in bytes.
    pub bytes: u64,
    /// Distribution of their lengths, in bytes.
    pub size_bytes: Option<DistributionStatistics>,
    /// The most common sizes, most common first.
    pub common_sizes: Vec<CommonSize>,
    /// Share that starts where the one before it ended.
    pub sequential_share: Option<f64>,
    /// Share that starts where one of the 32 before it ended.
    pub sequential_share_of_streams: Option<f64>,
}

/// The devices of a trace.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TraceDevices {
    /// Number of devices in the trace.
    pub count: usize,
    /// The ten with the most requests, busiest first.
    pub busiest: Vec<TraceDevice>,
}

/// A device of a trace.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TraceDevice {
    /// Number of the device in the trace.
    pub device: u64,
    /// Requests to it.
    pub requests: u64,
}

/// Writes with a placement handle.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TraceHandle {
    /// The handle.
    pub handle: u16,
    /// Writes with it.
    pub requests: u64,
    /// Bytes that were written with the handle.
    pub bytes: u64,
}

/// One statistic for each kind of request that has it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[schemars(rename = "{T}ByKind")]
pub struct ByKind<T> {
    /// Of reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read: Option<T>,
    /// Of writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<T>,
    /// Of trims.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<T>,
    /// Of flushes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush: Option<T>,
}

/// Cumulative distributions.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Curves {
    /// Sizes of requests.
    pub size_bytes: ByKind<Curve>,
    /// Times between arrivals.
    pub interarrival_us: Option<Curve>,
    /// Bytes written from one write of a page to the next, the first of them included.
    pub overwrite_distance_bytes: Curve,
    /// Response times that the trace holds.
    pub measured_response_us: ByKind<Curve>,
}

/// The JSON schema of [`TraceStatistics`].
pub fn statistics_schema() -> String {
    schema::of::<TraceStatistics>()
}
