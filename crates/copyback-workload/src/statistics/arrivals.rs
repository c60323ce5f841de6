//! When requests arrive: the times between them, bursts and idle times.

use schemars::JsonSchema;
use serde::Serialize;

use super::distribution::{Curve, Distribution, DistributionStatistics};
use copyback_config::units::{Duration, Instant};

/// Windows in which arrivals are counted.
const WINDOWS: [Duration; 4] = [
    Duration::from_us(100_000),
    Duration::from_us(1_000_000),
    Duration::from_us(10_000_000),
    Duration::from_us(60_000_000),
];

/// Gaps longer than these are idle times.
const IDLE: [Duration; 4] = [
    Duration::from_us(10_000),
    Duration::from_us(100_000),
    Duration::from_us(1_000_000),
    Duration::from_us(10_000_000),
];

const NS_PER_US: f64 = 1e3;

/// Times between arrivals.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct GapStatistics {
    /// Distribution of the gaps; its keys are keys of this.
    #[serde(flatten)]
    pub distribution: DistributionStatistics,
    /// Standard deviation in units of the mean; null if the mean is zero.
    pub coefficient_of_variation: Option<f64>,
}

/// Arrivals in windows of one width. Only windows that have ended count.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct RateStatistics {
    /// Width of a window, in seconds.
    pub window_s: f64,
    /// Number of windows that have ended.
    pub windows: u64,
    /// Arrivals in one, on average.
    pub mean: Option<f64>,
    /// Arrivals in the fullest.
    pub peak: Option<u64>,
    /// The fullest as a multiple of the mean.
    pub peak_to_mean: Option<f64>,
    /// Variance over mean: one if arrivals are independent.
    pub index_of_dispersion: Option<f64>,
}

/// Gaps longer than a threshold.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct IdleStatistics {
    /// The threshold, in seconds.
    pub longer_than_s: f64,
    /// Number of gaps that are longer than the threshold.
    pub gaps: u64,
    /// Share of the whole time that these gaps take, 0 to 1.
    pub share: Option<f64>,
}

/// Counts arrivals: gaps, rates and idle time.
#[derive(Debug)]
pub struct Arrivals {
    last: Option<Instant>,
    gaps: Distribution,
    windows: [Counts; WINDOWS.len()],
    idle: [Idle; IDLE.len()],
}

#[derive(Debug, Default)]
struct Idle {
    gaps: u64,
    time: Duration,
}

impl Default for Arrivals {
    fn default() -> Self {
        let windows = WINDOWS.map(Counts::new);
        Self { last: None, gaps: Distribution::default(), windows, idle: Default::default() }
    }
}

impl Arrivals {
    /// Adds an arrival, no earlier than the one before.
    pub fn add(&mut self, at: Instant) {
        if let Some(last) = self.last {
            self.gap(at - last);
        }
        self.last = Some(at);
        for window in &mut self.windows {
            window.add(at);
        }
    }

    fn gap(&mut self, gap: Duration) {
        self.gaps.record(gap.as_ns());
        for (idle, least) in self.idle.iter_mut().zip(IDLE) {
            if gap > least {
                idle.gaps += 1;
                idle.time += gap;
            }
        }
    }

    /// From the first arrival to the last.
    pub fn span(&self) -> Duration {
        Duration::from_ns(self.last.map_or(0, Instant::as_ns))
    }

    /// Times between arrivals, in microseconds; `None` of fewer than two.
    pub fn gaps(&self) -> Option<GapStatistics> {
        let distribution = self.gaps.statistics(NS_PER_US)?;
        let coefficient_of_variation = self.gaps.coefficient_of_variation();
        Some(GapStatistics { distribution, coefficient_of_variation })
    }

    /// The curve of [`gaps`](Self::gaps).
    pub fn gap_curve(&self) -> Curve {
        self.gaps.curve(NS_PER_US)
    }

    /// Arrivals in each kind of window.
    pub fn rates(&self) -> Vec<RateStatistics> {
        self.windows.iter().map(Counts::statistics).collect()
    }

    /// Idle times: gaps longer than a threshold, and their share of the whole time.
    pub fn idle(&self) -> Vec<IdleStatistics> {
        let span = self.span().as_secs_f64();
        let statistics = self.idle.iter().zip(IDLE).map(|(idle, least)| {
            let share = (span > 0.0).then(|| idle.time.as_secs_f64() / span);
            IdleStatistics { longer_than_s: least.as_secs_f64(), gaps: idle.gaps, share }
        });
        statistics.collect()
    }
}

/// Arrivals in windows of one width. Only windows that have ended count.
#[derive(Debug)]
struct Counts {
    width: Duration,
    /// The window that is open, and the arrivals in it.
    open: u64,
    count: u64,
    /// Of the windows that have ended.
    arrivals: u64,
    squares: u128,
    peak: u64,
}

impl Counts {
    fn new(width: Duration) -> Self {
        Self { width, open: 0, count: 0, arrivals: 0, squares: 0, peak: 0 }
    }

    fn add(&mut self, at: Instant) {
        let window = at.as_ns() / self.width.as_ns();
        if window != self.open {
            self.arrivals += self.count;
            self.squares += u128::from(self.count) * u128::from(self.count);
            self.peak = self.peak.max(self.count);
            self.count = 0;
            // Those between had none.
            self.open = window;
        }
        self.count += 1;
    }

    fn statistics(&self) -> RateStatistics {
        let windows = self.open as f64;
        let mean = self.arrivals as f64 / windows;
        let is_known = self.open > 0 && mean > 0.0;
        let variance = || (self.squares as f64 / windows - mean * mean).max(0.0);
        RateStatistics {
            window_s: self.width.as_secs_f64(),
            windows: self.open,
            mean: is_known.then_some(mean),
            peak: is_known.then_some(self.peak),
            peak_to_mean: is_known.then(|| self.peak as f64 / mean),
            index_of_dispersion: (is_known && self.open > 1).then(|| variance() / mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: &[u64]) -> Arrivals {
        let mut arrivals = Arrivals::default();
        ms.iter().for_each(|ms| arrivals.add(Instant::from_ns(ms * 1_000_000)));
        arrivals
    }

    #[test]
    fn gaps_and_idle_times() {
        let arrivals = at(&[0, 5, 15, 40, 1000]);
        let gaps = arrivals.gaps().unwrap().distribution;
        assert_eq!((gaps.count, gaps.mean, gaps.max), (4, 250_000.0, 960_000.0));
        let idle = arrivals.idle();
        let statistics =
            |longer_than_s, gaps, share| IdleStatistics { longer_than_s, gaps, share: Some(share) };
        assert_eq!(idle[0], statistics(0.01, 2, 0.985), "a gap of 10 ms is no longer than 10 ms");
        assert_eq!(idle[1], statistics(0.1, 1, 0.96));
        assert_eq!(idle[2], statistics(1.0, 0, 0.0));
    }

    #[test]
    fn windows_that_ended_and_the_empty_ones_between() {
        // Of one second: 4, 0, 2, and an open one.
        let rates = at(&[0, 1, 2, 999, 2000, 2500, 3000]).rates();
        let second = &rates[1];
        assert_eq!((second.windows, second.mean), (3, Some(2.0)));
        assert_eq!((second.peak, second.peak_to_mean), (Some(4), Some(2.0)));
        // Variance ((4-2)^2 + (0-2)^2 + 0) / 3 over a mean of 2.
        assert!((second.index_of_dispersion.unwrap() - 4.0 / 3.0).abs() < 1e-12);
        assert_eq!(rates[2].peak, None, "no window of 10 s has ended");
    }

    #[test]
    fn a_single_arrival() {
        let arrivals = at(&[0]);
        assert!(arrivals.gaps().is_none());
        assert_eq!(arrivals.idle()[0].share, None);
    }
}
