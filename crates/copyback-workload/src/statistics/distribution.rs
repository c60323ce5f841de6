//! Whole numbers of any size: a histogram for quantiles, exact sums for the rest.

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::Serialize;

/// Significant decimal digits of the histogram: quantiles are at most 0.1% low.
const DIGITS: u8 = 3;

/// Points of a curve lie at least this far apart, as a ratio.
const NEXT_POINT: f64 = 1.04;

/// Distribution of a number: quantiles are at most 0.1% low, the rest is exact.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct DistributionStatistics {
    /// Number of values.
    pub count: u64,
    /// Mean of the values.
    pub mean: f64,
    /// The least.
    pub min: f64,
    /// The greatest.
    pub max: f64,
    /// 1st percentile.
    pub p1: f64,
    /// 10th percentile.
    pub p10: f64,
    /// 25th percentile.
    pub p25: f64,
    /// Median.
    pub p50: f64,
    /// 75th percentile.
    pub p75: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p99_9: f64,
}

/// A cumulative distribution.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Curve {
    /// Values, ascending.
    pub value: Vec<f64>,
    /// For each the share of values at or below it.
    pub share: Vec<f64>,
}

/// Distribution of a number. Its memory doesn't grow with the count.
#[derive(Debug)]
pub struct Distribution {
    histogram: Histogram<u64>,
    count: u64,
    sum: u128,
    squares: f64,
    min: u64,
    max: u64,
}

impl Default for Distribution {
    fn default() -> Self {
        let histogram = Histogram::new(DIGITS).expect("three digits are allowed");
        Self { histogram, count: 0, sum: 0, squares: 0.0, min: u64::MAX, max: 0 }
    }
}

impl Distribution {
    /// Adds a value.
    pub fn record(&mut self, value: u64) {
        self.record_many(value, 1);
    }

    /// Adds a value so many times.
    pub fn record_many(&mut self, value: u64, times: u64) {
        self.histogram.record_n(value, times).expect("the histogram grows with its values");
        self.count += times;
        self.sum += u128::from(value) * u128::from(times);
        self.squares += value as f64 * value as f64 * times as f64;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    /// Values in all.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Sum of the values.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Mean of the values; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Standard deviation in units of the mean; `None` if the mean is zero or there are no values.
    pub fn coefficient_of_variation(&self) -> Option<f64> {
        let mean = self.mean().filter(|mean| *mean > 0.0)?;
        let variance = (self.squares / self.count as f64 - mean * mean).max(0.0);
        Some(variance.sqrt() / mean)
    }

    /// Count, mean, extremes and quantiles, in units of `unit`; `None` without values.
    pub fn statistics(&self, unit: f64) -> Option<DistributionStatistics> {
        let quantile = |share| {
            let value = self.histogram.value_at_quantile(share);
            self.histogram.lowest_equivalent(value).max(self.min) as f64 / unit
        };
        Some(DistributionStatistics {
            count: self.count,
            mean: self.mean()? / unit,
            min: self.min as f64 / unit,
            max: self.max as f64 / unit,
            p1: quantile(0.01),
            p10: quantile(0.1),
            p25: quantile(0.25),
            p50: quantile(0.5),
            p75: quantile(0.75),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p99_9: quantile(0.999),
        })
    }

    /// Values in units of `unit`, and the share of values at or below each, for plots.
    pub fn curve(&self, unit: f64) -> Curve {
        let mut curve = Curve { value: Vec::new(), share: Vec::new() };
        let (mut seen, mut last) = (0, None);
        for step in self.histogram.iter_recorded() {
            seen += step.count_since_last_iteration();
            let value = self.histogram.lowest_equivalent(step.value_iterated_to());
            let near = last.is_some_and(|last| (value as f64) < last as f64 * NEXT_POINT);
            if near && seen < self.count {
                continue;
            }
            last = Some(value);
            curve.value.push(value as f64 / unit);
            curve.share.push(seen as f64 / self.count as f64);
        }
        curve
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nothing_there_is_nothing_to_tell() {
        let empty = Distribution::default();
        assert_eq!(empty.statistics(1.0), None);
        assert_eq!(empty.mean(), None);
        assert_eq!(empty.coefficient_of_variation(), None);
        assert_eq!(empty.curve(1.0), Curve { value: vec![], share: vec![] });
    }

    #[test]
    fn sums_are_exact_and_quantiles_close() {
        let mut numbers = Distribution::default();
        (1..=1000).for_each(|number| numbers.record(number));
        numbers.record_many(u64::MAX / 4, 1);
        assert_eq!(numbers.count(), 1001);
        assert_eq!(numbers.sum(), 500_500 + u128::from(u64::MAX / 4));
        let told = numbers.statistics(10.0).unwrap();
        assert_eq!(told.min, 0.1);
        assert!((told.p50 - 50.1).abs() < 0.06, "{told:?}");
        let mut round = Distribution::default();
        [4096, 8192, 8192].into_iter().for_each(|size| round.record(size));
        assert_eq!(round.statistics(1.0).unwrap().p50, 8192.0, "sizes stay round");
        assert_eq!(round.curve(1.0).value, [4096.0, 8192.0]);
        assert_eq!(numbers.curve(1.0).share.last(), Some(&1.0));
    }

    #[test]
    fn the_variation_of_two_values() {
        let mut numbers = Distribution::default();
        numbers.record_many(1, 5);
        numbers.record_many(3, 5);
        assert_eq!(numbers.coefficient_of_variation(), Some(0.5));
    }
}
