//! The workload over time, in intervals that widen as it grows: memory doesn't grow with its length.

use schemars::JsonSchema;
use serde::Serialize;

/// Most intervals. Their number is at least half of this once the workload fills them.
const MOST: usize = 1024;

/// The workload over time: a number for each interval.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SeriesStatistics {
    /// Width of an interval, in units of `unit`.
    pub interval: f64,
    /// Seconds, or requests if these have no times.
    pub unit: SeriesUnit,
    /// Requests of all kinds.
    pub requests: Vec<u64>,
    /// Reads among them.
    pub reads: Vec<u64>,
    /// Bytes that these read.
    pub read_bytes: Vec<u64>,
    /// Bytes that others wrote.
    pub write_bytes: Vec<u64>,
    /// Pages touched since the start.
    pub touched_pages: Vec<u64>,
    /// Pages written since the start.
    pub written_pages: Vec<u64>,
}

/// Unit of the horizontal axis of a series: time or requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SeriesUnit {
    /// Seconds.
    S,
    /// Requests.
    Requests,
}

impl SeriesUnit {
    /// Units of place in one of these.
    fn places(self) -> f64 {
        match self {
            Self::S => 1e9,
            Self::Requests => 1.0,
        }
    }
}

/// Counts of one interval of a series.
#[derive(Debug, Clone, Copy, Default)]
pub struct Interval {
    /// Requests of all kinds.
    pub requests: u64,
    /// Reads among them.
    pub reads: u64,
    /// Bytes that these read.
    pub read_bytes: u64,
    /// Bytes that others wrote.
    pub write_bytes: u64,
    /// Pages touched since the start.
    pub touched: u64,
    /// Pages written since the start.
    pub written: u64,
}

/// Intervals of equal width, in any unit of place: nanoseconds, or requests.
#[derive(Debug)]
pub struct Series {
    width: u64,
    intervals: Vec<Interval>,
}

impl Default for Series {
    fn default() -> Self {
        Self { width: 1, intervals: Vec::new() }
    }
}

impl Series {
    /// The interval that `place` lies in, no earlier than the one before. New intervals start with
    /// the footprint of the last.
    pub fn at(&mut self, place: u64) -> &mut Interval {
        while place / self.width >= MOST as u64 {
            self.widen();
        }
        let index = (place / self.width) as usize;
        let last = self.intervals.last().copied().unwrap_or_default();
        let Interval { touched, written, .. } = last;
        while self.intervals.len() <= index {
            self.intervals.push(Interval { touched, written, ..Interval::default() });
        }
        &mut self.intervals[index]
    }

    fn widen(&mut self) {
        self.width *= 2;
        let pairs = self.intervals.chunks(2);
        let joined = pairs.filter_map(|pair| pair.iter().copied().reduce(joined));
        self.intervals = joined.collect();
    }

    /// One list a column. Places are nanoseconds, or requests.
    pub fn statistics(&self, unit: SeriesUnit) -> SeriesStatistics {
        let column = |of: fn(&Interval) -> u64| self.intervals.iter().map(of).collect();
        SeriesStatistics {
            interval: self.width as f64 / unit.places(),
            unit,
            requests: column(|interval| interval.requests),
            reads: column(|interval| interval.reads),
            read_bytes: column(|interval| interval.read_bytes),
            write_bytes: column(|interval| interval.write_bytes),
            touched_pages: column(|interval| interval.touched),
            written_pages: column(|interval| interval.written),
        }
    }
}

fn joined(first: Interval, second: Interval) -> Interval {
    Interval {
        requests: first.requests + second.requests,
        reads: first.reads + second.reads,
        read_bytes: first.read_bytes + second.read_bytes,
        write_bytes: first.write_bytes + second.write_bytes,
        touched: second.touched,
        written: second.written,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widens_and_loses_nothing() {
        let mut series = Series::default();
        for place in 0..1_000_000 {
            let interval = series.at(place);
            interval.requests += 1;
            interval.touched = place + 1;
        }
        assert!((MOST / 2..=MOST).contains(&series.intervals.len()));
        let total: u64 = series.intervals.iter().map(|interval| interval.requests).sum();
        assert_eq!(total, 1_000_000);
        assert_eq!(series.intervals.last().unwrap().touched, 1_000_000);
        assert!(series.intervals.is_sorted_by_key(|interval| interval.touched));
    }

    #[test]
    fn a_footprint_lasts_over_empty_intervals() {
        let mut series = Series::default();
        series.at(0).touched = 5;
        series.at(3).requests += 1;
        let told = series.statistics(SeriesUnit::Requests);
        assert_eq!(told.touched_pages, [5, 5, 5, 5]);
        assert_eq!(told.requests, [0, 0, 0, 1]);
        series.at(u64::MAX / 2);
        assert!(series.intervals.len() <= MOST);
    }
}
