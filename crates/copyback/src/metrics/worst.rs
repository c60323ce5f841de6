//! The worst response time of each window (Jung, Prabhakar, Kandemir, Middleware 2012, section 6.2,
//! whose windows are days).

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::units::{Duration, Instant};
use crate::workload::Operation;

/// Windows beyond which the run is refused rather than the memory filled.
const MOST_WINDOWS: usize = 1 << 20;

/// The longest response time of each window in which requests have ended.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct WorstResponseSummary {
    /// Length of a window, in seconds of simulated time.
    pub window_s: f64,
    /// Reads and writes.
    pub all: WorstOfWindows,
    /// Reads.
    pub read: WorstOfWindows,
    /// Writes.
    pub write: WorstOfWindows,
    /// Every window in which requests have ended, in order.
    pub by_window: Vec<WindowSummary>,
}

/// The longest response times of windows, in microseconds: their mean and extremes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WorstOfWindows {
    /// Windows with such a request.
    pub windows: usize,
    /// Mean over these windows; null without any.
    pub mean: Option<f64>,
    /// The least of them; null without any.
    pub min: Option<f64>,
    /// The greatest of them; null without any.
    pub max: Option<f64>,
}

/// The longest response times of one window, in microseconds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct WindowSummary {
    /// When the window begins, in seconds of simulated time.
    pub start_s: f64,
    /// Of reads; null if none has ended.
    pub read: Option<f64>,
    /// Of writes; null if none has ended.
    pub write: Option<f64>,
}

/// The windows in which requests have ended.
#[derive(Debug, Checkpointed)]
pub struct WorstResponses {
    length: Duration,
    /// When the last of `windows` ends.
    ends: Instant,
    windows: Vec<Window>,
}

/// The longest response times of a window.
#[derive(Debug, Clone, Copy, Checkpointed)]
struct Window {
    start: Instant,
    read: Option<Duration>,
    write: Option<Duration>,
}

impl WorstResponses {
    /// Creates a record without measurements.
    pub const fn new(length: Duration) -> Self {
        Self { length, ends: Instant::START, windows: Vec::new() }
    }

    /// Whether there are more windows than can be kept.
    pub const fn overflows(&self) -> bool {
        self.windows.len() > MOST_WINDOWS
    }

    /// A request has been completed at `now`.
    #[inline]
    pub fn completed(&mut self, operation: Operation, response: Duration, now: Instant) {
        if !matches!(operation, Operation::Read | Operation::Write) {
            return;
        }
        if now >= self.ends {
            self.begin_window(now);
        }
        let Some(window) = self.windows.last_mut() else { return };
        let worst = match operation {
            Operation::Read => &mut window.read,
            _ => &mut window.write,
        };
        *worst = (*worst).max(Some(response));
    }

    fn begin_window(&mut self, now: Instant) {
        let start = Instant::START + self.length * (now.as_ns() / self.length.as_ns());
        self.ends = start + self.length;
        self.windows.push(Window { start, read: None, write: None });
    }

    /// Summary of the worst responses for `summary.json`.
    pub fn summary(&self) -> WorstResponseSummary {
        let of =
            |worst: fn(&Window) -> Option<Duration>| spread(self.windows.iter().filter_map(worst));
        WorstResponseSummary {
            window_s: self.length.as_secs_f64(),
            all: of(|window| window.read.max(window.write)),
            read: of(|window| window.read),
            write: of(|window| window.write),
            by_window: self.windows.iter().map(row).collect(),
        }
    }
}

fn row(window: &Window) -> WindowSummary {
    let us = |worst: Option<Duration>| worst.map(Duration::as_us_f64);
    let start_s = (window.start - Instant::START).as_secs_f64();
    WindowSummary { start_s, read: us(window.read), write: us(window.write) }
}

fn spread(worst: impl Iterator<Item = Duration> + Clone) -> WorstOfWindows {
    let windows = worst.clone().count();
    let sum: f64 = worst.clone().map(Duration::as_us_f64).sum();
    WorstOfWindows {
        windows,
        mean: (windows > 0).then(|| sum / windows as f64),
        min: worst.clone().min().map(Duration::as_us_f64),
        max: worst.max().map(Duration::as_us_f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_window_has_its_worst_and_empty_ones_do_not_count() {
        let mut worst = WorstResponses::new(Duration::from_us(100));
        let at = |us: u64| Instant::from_ns(us * 1000);
        for (operation, response, now) in [
            (Operation::Read, 7, 10),
            (Operation::Write, 9, 99),
            (Operation::Read, 30, 100),
            (Operation::Read, 20, 199),
            (Operation::Flush, 800, 230),
            (Operation::Write, 1, 900),
        ] {
            worst.completed(operation, Duration::from_us(response), at(now));
        }
        let summary = worst.summary();
        let spread = |windows, mean, min, max| WorstOfWindows {
            windows,
            mean: Some(mean),
            min: Some(min),
            max: Some(max),
        };
        assert_eq!(summary.all, spread(3, 40.0 / 3.0, 1.0, 30.0));
        assert_eq!(summary.write, spread(2, 5.0, 1.0, 9.0));
        let rows = summary.by_window;
        assert_eq!(rows[1], WindowSummary { start_s: 100e-6, read: Some(30.0), write: None });
        assert_eq!(rows[2].start_s, 900e-6);
    }

    #[test]
    fn nothing_has_no_worst() {
        let summary = WorstResponses::new(Duration::from_us(1)).summary();
        assert_eq!(summary.all.max, None);
    }
}
