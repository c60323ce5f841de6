//! Bandwidth over windows of one length: how steady a drive or an array is (Kim et al., Harmonia,
//! figures 1 to 4, whose windows are a second).

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::units::{Duration, Instant};
use crate::workload::Operation;

/// Bandwidth over windows of one length that have ended, reads and writes together.
///
/// The deviation is that of the population, as for response times.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BandwidthSummary {
    /// Length of a window, in seconds of simulated time.
    pub window_s: f64,
    /// Windows that have ended.
    pub windows: u64,
    /// Mean over the windows; null before the first has ended.
    pub mean_mib_per_s: Option<f64>,
    /// Standard deviation over the windows; null before the first has ended.
    pub stddev_mib_per_s: Option<f64>,
    /// The slowest window; null before the first has ended.
    pub min_mib_per_s: Option<f64>,
    /// The fastest window; null before the first has ended.
    pub max_mib_per_s: Option<f64>,
    /// Standard deviation as a share of the mean; null if nothing was read or written.
    pub coefficient_of_variation: Option<f64>,
}

/// Sums over the windows that have ended.
#[derive(Debug, Checkpointed)]
pub struct Bandwidth {
    window: Duration,
    ends: Instant,
    /// Bytes of the window under way.
    current: u64,
    windows: u64,
    bytes: u64,
    square_sum: u128,
    least: Option<u64>,
    most: u64,
}

impl Bandwidth {
    /// Creates a record without measurements.
    pub fn new(window: Duration) -> Self {
        Self {
            window,
            ends: Instant::START + window,
            current: 0,
            windows: 0,
            bytes: 0,
            square_sum: 0,
            least: None,
            most: 0,
        }
    }

    /// The first window begins at `now`; nothing has been measured yet.
    pub fn begin(&mut self, now: Instant) {
        self.ends = now + self.window;
    }

    /// A request of `length` bytes has been completed at `now`. The last window, which is not whole,
    /// does not count.
    #[inline]
    pub fn completed(&mut self, operation: Operation, length: u64, now: Instant) {
        if now >= self.ends {
            self.end_windows(now);
        }
        if matches!(operation, Operation::Read | Operation::Write) {
            self.current += length;
        }
    }

    fn end_windows(&mut self, now: Instant) {
        self.end_window(self.current);
        self.current = 0;
        let empty = (now - self.ends).as_ns() / self.window.as_ns();
        if empty > 0 {
            self.windows += empty;
            self.least = Some(0);
        }
        self.ends += self.window * (empty + 1);
    }

    fn end_window(&mut self, bytes: u64) {
        self.windows += 1;
        self.bytes += bytes;
        self.square_sum += u128::from(bytes).pow(2);
        self.least = Some(self.least.map_or(bytes, |least| least.min(bytes)));
        self.most = self.most.max(bytes);
    }

    /// Summary of the bandwidth for `summary.json`.
    pub fn summary(&self) -> BandwidthSummary {
        let windows = self.windows as f64;
        let mean = self.bytes as f64 / windows;
        let stddev = (self.square_sum as f64 / windows - mean * mean).max(0.0).sqrt();
        let known = self.windows > 0;
        let rate =
            |bytes: f64| known.then(|| bytes / self.window.as_secs_f64() / f64::from(1 << 20));
        BandwidthSummary {
            window_s: self.window.as_secs_f64(),
            windows: self.windows,
            mean_mib_per_s: rate(mean),
            stddev_mib_per_s: rate(stddev),
            min_mib_per_s: self.least.and_then(|least| rate(least as f64)),
            max_mib_per_s: rate(self.most as f64),
            coefficient_of_variation: (known && mean > 0.0).then(|| stddev / mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_whole_and_empty_ones_count() {
        let second = Duration::from_us(1_000_000);
        let mut bandwidth = Bandwidth::new(second);
        let at = |ms: u64| Instant::START + Duration::from_us(ms * 1000);
        assert_eq!(bandwidth.summary().mean_mib_per_s, None);
        for (ms, mib) in [(100, 3), (999, 3), (1000, 2), (3500, 1), (4000, 9)] {
            bandwidth.completed(Operation::Write, mib << 20, at(ms));
        }
        // 6, 2, 0 and 1 MiB; the fifth second has only begun.
        let summary = bandwidth.summary();
        assert_eq!(summary.windows, 4);
        assert_eq!(summary.mean_mib_per_s, Some(2.25));
        assert_eq!(summary.min_mib_per_s, Some(0.0));
        assert_eq!(summary.max_mib_per_s, Some(6.0));
        let stddev = ((36.0 + 4.0 + 0.0 + 1.0) / 4.0 - 2.25f64.powi(2)).sqrt();
        let cv = summary.coefficient_of_variation.expect("a number");
        assert!((cv - stddev / 2.25).abs() < 1e-12, "{cv}");
    }
}
