//! Response times: a histogram for percentiles, exact sums for the rest.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::ssd::{Part, Parts};
use crate::units::Duration;

use super::blame::{BandSummary, Blame};

/// Significant decimal digits of the histogram: percentiles are at most 0.1% high.
pub(super) const DIGITS: u8 = 3;

/// Response times of one class of requests, in microseconds.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct ResponseSummary {
    /// Requests.
    pub count: u64,
    /// Mean; null without requests.
    #[schemars(extend("column" = "mean: {:time_us}", "compared" = "less"))]
    pub mean: Option<f64>,
    /// Standard deviation of the sample; null for fewer than two requests.
    pub stddev: Option<f64>,
    /// Variance of the sample, in square microseconds; null for fewer than two requests.
    pub variance: Option<f64>,
    /// The shortest; null without requests.
    pub min: Option<f64>,
    /// Half of the requests take no longer, to 0.1%; null without requests.
    #[schemars(extend("column" = "p50: {:time_us}"))]
    pub p50: Option<f64>,
    /// 90% of the requests take no longer.
    pub p90: Option<f64>,
    /// 95% of the requests take no longer.
    pub p95: Option<f64>,
    /// 99% of the requests take no longer.
    #[schemars(extend("column" = "p99: {:time_us}", "compared" = "less"))]
    pub p99: Option<f64>,
    /// 99.9% of the requests take no longer.
    #[schemars(extend("column" = "p99.9: {:time_us}", "compared" = "less"))]
    pub p99_9: Option<f64>,
    /// 99.99% of the requests take no longer.
    #[schemars(extend("column" = "p99.99: {:time_us}", "compared" = "less"))]
    pub p99_99: Option<f64>,
    /// The longest; null without requests.
    #[schemars(extend("column" = "max: {:time_us}", "compared" = "less"))]
    pub max: Option<f64>,
}

/// Parts of the mean response time, in microseconds; they add up to it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BreakdownSummary {
    /// The request's own commands, array operations, transfers and controller overhead.
    pub service: f64,
    /// Waiting while the die collected the plane that the request needs.
    pub gc_same_plane: f64,
    /// Waiting while the die collected another of its planes.
    pub gc_other_plane: f64,
    /// Waiting for other host operations, as it would have without collections.
    pub queue_behind_io: f64,
    /// Waiting for other host operations only because collections had delayed them.
    pub late: f64,
    /// Waiting for a channel or the host link.
    pub bus: f64,
    /// In the write buffer, or waiting for room there.
    pub buffer: f64,
    /// Waiting until the page's mapping is in RAM.
    pub translation: f64,
    /// Waiting outside the device, because its queue was full or it was off.
    pub host_queue: f64,
}

/// Response times of one class of requests.
#[derive(Debug, Clone, Checkpointed)]
pub struct LatencyStats {
    histogram: Histogram<u64>,
    count: u64,
    sum: u128,
    min: Duration,
    max: Duration,
    /// Differences from the first value, so that their squares lose no digits.
    first: u64,
    difference_sum: i128,
    difference_square_sum: i128,
    parts: [u128; Part::ALL.len()],
    /// Parts by length of the response.
    blame: Blame,
}

impl Default for LatencyStats {
    fn default() -> Self {
        Self {
            histogram: Histogram::new(DIGITS).expect("three digits are allowed"),
            count: 0,
            sum: 0,
            min: Duration::from_ns(u64::MAX),
            max: Duration::ZERO,
            first: 0,
            difference_sum: 0,
            difference_square_sum: 0,
            parts: [0; Part::ALL.len()],
            blame: Blame::default(),
        }
    }
}

impl LatencyStats {
    /// Adds a response time and its parts.
    #[inline(always)]
    pub fn record(&mut self, response: Duration, parts: &Parts) {
        self.record_whole(response);
        let bucket = self.blame.count(response);
        for part in Part::ALL {
            // Most are zero, and wide sums take longer than to look.
            if !parts[part].is_zero() {
                self.parts[part as usize] += u128::from(parts[part].as_ns());
                bucket.add_part(part, parts[part].as_ns());
            }
        }
    }

    /// Adds a response time of which no parts are known.
    #[inline(always)]
    pub fn record_whole(&mut self, response: Duration) {
        let ns = response.as_ns();
        self.histogram.record(ns).expect("the histogram grows with its values");
        if self.count == 0 {
            self.first = ns;
        }
        let difference = i128::from(ns) - i128::from(self.first);
        self.count += 1;
        self.sum += u128::from(ns);
        self.difference_sum += difference;
        // Only the absurd times of a damaged trace can reach the end of the range.
        let apart = u128::from(ns.abs_diff(self.first));
        let square = i128::try_from(apart * apart).unwrap_or(i128::MAX);
        self.difference_square_sum = self.difference_square_sum.saturating_add(square);
        self.min = self.min.min(response);
        self.max = self.max.max(response);
    }

    /// The statistics of these requests and `others`, of which the first came after the first of these.
    pub fn merged(&self, others: &Self) -> Self {
        let mut all = self.clone();
        if others.count == 0 {
            return all;
        }
        all.histogram.add(&others.histogram).expect("the histogram grows with its values");
        all.count += others.count;
        all.sum += others.sum;
        // The differences of the others are from their own first value.
        let count = i128::from(others.count);
        let shift = i128::from(others.first) - i128::from(self.first);
        let shifted_squares = shift.saturating_mul(2 * others.difference_sum + shift * count);
        all.difference_sum += others.difference_sum + shift * count;
        all.difference_square_sum = all
            .difference_square_sum
            .saturating_add(others.difference_square_sum)
            .saturating_add(shifted_squares);
        all.min = all.min.min(others.min);
        all.max = all.max.max(others.max);
        for (all, others) in all.parts.iter_mut().zip(&others.parts) {
            *all += others;
        }
        all.blame.merge(&others.blame);
        all
    }

    /// Number of requests.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Sum in nanoseconds.
    pub const fn total(&self) -> u128 {
        self.sum
    }

    /// Mean in nanoseconds; `None` without requests.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Sample variance in square nanoseconds; `None` for fewer than two requests.
    pub fn variance(&self) -> Option<f64> {
        let n = self.count as f64;
        let mean_difference = self.difference_sum as f64 / n;
        let squares = self.difference_square_sum as f64 - n * mean_difference * mean_difference;
        (self.count > 1).then(|| (squares / (n - 1.0)).max(0.0))
    }

    /// Shortest; `None` without requests.
    pub fn min(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.min)
    }

    /// Longest; `None` without requests.
    pub fn max(&self) -> Option<Duration> {
        (self.count > 0).then_some(self.max)
    }

    /// The response time that this share of the requests does not exceed, at most 0.1% high.
    pub fn quantile(&self, quantile: f64) -> Option<Duration> {
        let bound = |ns: u64| Duration::from_ns(ns).min(self.max).max(self.min);
        (self.count > 0).then(|| bound(self.histogram.value_at_quantile(quantile)))
    }

    /// Mean of one part in nanoseconds; zero without requests.
    pub fn mean_part(&self, part: Part) -> f64 {
        self.parts[part as usize] as f64 / self.count.max(1) as f64
    }

    /// Summary of the response times for `summary.json`.
    pub fn summary(&self) -> ResponseSummary {
        let us = |ns: f64| ns / 1e3;
        let quantile = |q: f64| self.quantile(q).map(Duration::as_us_f64);
        ResponseSummary {
            count: self.count(),
            mean: self.mean().map(us),
            stddev: self.variance().map(|variance| us(variance.sqrt())),
            variance: self.variance().map(|variance| variance / 1e6),
            min: self.min().map(Duration::as_us_f64),
            max: self.max().map(Duration::as_us_f64),
            p50: quantile(0.50),
            p90: quantile(0.90),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p99_9: quantile(0.999),
            p99_99: quantile(0.9999),
        }
    }

    /// Summary of their parts for `summary.json`.
    pub fn breakdown(&self) -> BreakdownSummary {
        let us = |part| self.mean_part(part) / 1e3;
        BreakdownSummary {
            service: us(Part::Service),
            gc_same_plane: us(Part::GcSamePlane),
            gc_other_plane: us(Part::GcOtherPlane),
            queue_behind_io: us(Part::QueueBehindIo),
            late: us(Part::Late),
            bus: us(Part::Bus),
            buffer: us(Part::Buffer),
            translation: us(Part::Translation),
            host_queue: us(Part::HostQueue),
        }
    }

    /// Parts of the response times in bands from one percentile to the next.
    pub fn bands(&self) -> Vec<BandSummary> {
        self.blame.bands(self.max)
    }

    /// Points of the distribution: response time in microseconds, and the share of requests up to
    /// it. Denser towards the tail.
    pub fn distribution(&self) -> Vec<(f64, f64)> {
        const TICKS_PER_HALF_DISTANCE: u32 = 40;
        let mut points: Vec<(f64, f64)> = self
            .histogram
            .iter_quantiles(TICKS_PER_HALF_DISTANCE)
            .map(|step| {
                let value = Duration::from_ns(step.value_iterated_to()).min(self.max).max(self.min);
                (value.as_us_f64(), step.quantile())
            })
            .collect();
        points.dedup();
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(values: &[u64]) -> LatencyStats {
        let mut stats = LatencyStats::default();
        for value in values {
            stats.record(Duration::from_ns(*value), &Parts::default());
        }
        stats
    }

    #[test]
    fn moments_are_exact_even_far_from_zero() {
        let base = 10_000_000_000_000_000;
        let stats = stats(&[base + 1, base + 2, base + 3, base + 4]);
        assert_eq!(stats.variance(), Some(5.0 / 3.0));
        assert_eq!(stats.min(), Some(Duration::from_ns(base + 1)));
        assert_eq!(stats.max(), Some(Duration::from_ns(base + 4)));
    }

    #[test]
    fn merged_is_as_if_all_had_been_recorded_together() {
        let (first, others) = ([70, 1_000_000, 3, 90], [5_000, 2, 80_000_000_000]);
        let together = stats(&[&first[..], &others[..]].concat());
        let merged = stats(&first).merged(&stats(&others));
        assert_eq!(merged.count(), together.count());
        assert_eq!(merged.variance(), together.variance());
        assert_eq!((merged.min(), merged.max()), (together.min(), together.max()));
        assert_eq!((merged.mean(), merged.total()), (together.mean(), together.total()));
        assert_eq!(merged.distribution(), together.distribution());
        let alone = stats(&first);
        assert_eq!(alone.merged(&stats(&[])).variance(), alone.variance());
    }

    #[test]
    fn nothing_recorded_means_no_values() {
        let stats = stats(&[]);
        assert_eq!((stats.mean(), stats.variance(), stats.quantile(0.5)), (None, None, None));
    }

    #[test]
    fn quantiles_are_within_a_thousandth() {
        let values: Vec<u64> = (1..=100_000).collect();
        let stats = stats(&values);
        for quantile in [0.5, 0.9, 0.99, 0.999, 0.9999] {
            let exact = (quantile * 100_000.0_f64).ceil();
            let found = stats.quantile(quantile).unwrap().as_ns() as f64;
            assert!(found >= exact && found <= exact * 1.001 + 1.0, "{quantile}: {found}");
        }
    }
}
