//! Tail of the response times: requests above the highest percentile that enough of them lie above.

use std::ops::Add;

use schemars::JsonSchema;
use serde::Serialize;

use super::blame::{BandSummary, PartTimes};

/// Percentiles that a tail may lie above, the highest first.
const PERCENTILES: [f64; 3] = [99.9, 99.0, 90.0];
/// Fewest requests that tell of a tail.
const FEWEST: u64 = 10;

/// Slowest reads and writes, and what their response times went to.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TailSummary {
    /// Percentile that they lie above: 99.9, or 99 or 90 where fewer than ten requests lie above that.
    pub above: f64,
    /// Requests above it.
    pub count: u64,
    /// Sums of the parts of their response times, in nanoseconds.
    pub time_ns: PartTimes,
}

impl TailSummary {
    /// Tail of requests in `bands`; `None` if there are too few to have one.
    pub fn of(bands: &[BandSummary]) -> Option<Self> {
        PERCENTILES.into_iter().find_map(|above| {
            let bands = bands.iter().filter(|band| band.above >= above);
            let count = bands.clone().map(|band| band.count).sum();
            let time_ns = bands.map(|band| band.time_ns).fold(PartTimes::default(), Add::add);
            (count >= FEWEST).then_some(Self { above, count, time_ns })
        })
    }

    /// Share of the time that collections account for.
    pub fn share_of_collections(&self) -> f64 {
        let PartTimes { gc_same_plane, gc_other_plane, late, .. } = self.time_ns;
        self.share(gc_same_plane + gc_other_plane + late)
    }

    /// Share of the time for which others of the host were served first, as they would have been without collections.
    pub fn share_of_queues(&self) -> f64 {
        self.share(self.time_ns.queue_behind_io + self.time_ns.host_queue)
    }

    fn share(&self, ns: u64) -> f64 {
        ns as f64 / self.time_ns.whole().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn band(above: f64, count: u64, late: u64) -> BandSummary {
        let time_ns = PartTimes { service: 100, late, ..PartTimes::default() };
        let (from_percentile, to_percentile, from_us, to_us) = (above, 100.0, 0.0, 1.0);
        BandSummary { above, from_percentile, to_percentile, from_us, to_us, count, time_ns }
    }

    #[test]
    fn the_highest_percentile_with_enough_requests_above_it_counts() {
        let of = |counts: [u64; 3]| {
            let bands =
                [band(50.0, 100, 0), band(90.0, counts[0], 100), band(99.0, counts[1], 300)];
            TailSummary::of(&[&bands[..], &[band(99.99, counts[2], 900)]].concat())
        };
        let tail = of([50, 20, 10]).expect("ten lie above p99.9");
        assert_eq!((tail.above, tail.count, tail.share_of_collections()), (99.9, 10, 0.9));
        let tail = of([50, 1, 9]).expect("ten lie above p99");
        assert_eq!((tail.above, tail.count, tail.time_ns.whole()), (99.0, 10, 1_400));
        assert_eq!(of([1, 1, 1]).map(|tail| tail.count), None);
    }
}
