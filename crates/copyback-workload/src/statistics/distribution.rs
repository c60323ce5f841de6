//! Whole numbers of any size: a histogram for quantiles, exact sums for the rest.

use hdrhistogram::Histogram;
use serde_json::{Value, json};

/// Significant decimal digits of the histogram: quantiles are at most 0.1% low.
const DIGITS: u8 = 3;

/// The quantiles that are told, and their keys.
const QUANTILES: [(&str, f64); 9] = [
    ("p1", 0.01),
    ("p10", 0.1),
    ("p25", 0.25),
    ("p50", 0.5),
    ("p75", 0.75),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99_9", 0.999),
];

/// Points of a curve lie at least this far apart, as a ratio.
const NEXT_POINT: f64 = 1.04;

/// How a number is distributed. Its memory doesn't grow with the count.
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

    /// Their sum.
    pub fn sum(&self) -> u128 {
        self.sum
    }

    /// Their mean; `None` without values.
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Standard deviation in units of the mean; `None` if the mean is zero or there are no values.
    pub fn coefficient_of_variation(&self) -> Option<f64> {
        let mean = self.mean().filter(|mean| *mean > 0.0)?;
        let variance = (self.squares / self.count as f64 - mean * mean).max(0.0);
        Some(variance.sqrt() / mean)
    }

    /// Count, mean, extremes and quantiles, in units of `unit`; null without values.
    pub fn json(&self, unit: f64) -> Value {
        let Some(mean) = self.mean() else { return Value::Null };
        let mut object = json!({
            "count": self.count,
            "mean": mean / unit,
            "min": self.min as f64 / unit,
            "max": self.max as f64 / unit,
        });
        for (key, share) in QUANTILES {
            let value = self.histogram.value_at_quantile(share);
            let value = self.histogram.lowest_equivalent(value).max(self.min);
            object[key] = json!(value as f64 / unit);
        }
        object
    }

    /// Values in units of `unit`, and the share of values at or below each, for plots.
    pub fn curve(&self, unit: f64) -> Value {
        let (mut values, mut shares) = (Vec::new(), Vec::new());
        let (mut seen, mut last) = (0, None);
        for step in self.histogram.iter_recorded() {
            seen += step.count_since_last_iteration();
            let value = self.histogram.lowest_equivalent(step.value_iterated_to());
            let near = last.is_some_and(|last| (value as f64) < last as f64 * NEXT_POINT);
            if near && seen < self.count {
                continue;
            }
            last = Some(value);
            values.push(value as f64 / unit);
            shares.push(seen as f64 / self.count as f64);
        }
        json!({ "value": values, "share": shares })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_nothing_there_is_nothing_to_tell() {
        let empty = Distribution::default();
        assert_eq!(empty.json(1.0), Value::Null);
        assert_eq!(empty.mean(), None);
        assert_eq!(empty.coefficient_of_variation(), None);
        assert_eq!(empty.curve(1.0), json!({ "value": [], "share": [] }));
    }

    #[test]
    fn sums_are_exact_and_quantiles_close() {
        let mut numbers = Distribution::default();
        (1..=1000).for_each(|number| numbers.record(number));
        numbers.record_many(u64::MAX / 4, 1);
        assert_eq!(numbers.count(), 1001);
        assert_eq!(numbers.sum(), 500_500 + u128::from(u64::MAX / 4));
        let told = numbers.json(10.0);
        assert_eq!(told["min"], 0.1);
        assert!((told["p50"].as_f64().unwrap() - 50.1).abs() < 0.06, "{told}");
        let mut round = Distribution::default();
        [4096, 8192, 8192].into_iter().for_each(|size| round.record(size));
        assert_eq!(round.json(1.0)["p50"], 8192.0, "sizes stay round");
        assert_eq!(round.curve(1.0)["value"], json!([4096.0, 8192.0]));
        assert_eq!(numbers.curve(1.0)["share"].as_array().unwrap().last().unwrap(), 1.0);
    }

    #[test]
    fn the_variation_of_two_values() {
        let mut numbers = Distribution::default();
        numbers.record_many(1, 5);
        numbers.record_many(3, 5);
        assert_eq!(numbers.coefficient_of_variation(), Some(0.5));
    }
}
