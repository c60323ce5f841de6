//! Heavy tails: response times far beyond what requests take by themselves, and their cause.

use crate::metrics::tail::TailSummary;
use crate::metrics::{LatencyStats, Ledger};
use crate::ssd::Part;
use crate::units::Duration;

/// A tail is heavy if the mean is so many times what requests take by themselves,
const HEAVY_MEAN: f64 = 5.0;
/// or p99.9 so many times.
const HEAVY_TAIL: f64 = 100.0;
/// Share of p99.9 that one wait for a collecting die has to be, to explain it.
const LEAST_HOLD: f64 = 0.25;
/// Share of the mean response time, or of the time of the slowest requests, that a cause has to account for, to be what the
/// tail comes from.
const LEAST_SHARE: f64 = 0.5;

/// Heavy tail of the reads and writes of a run or flow.
#[derive(Debug)]
pub struct HeavyTail {
    /// Whether one wait for a collecting die is a good part of p99.9.
    was_held_long: bool,
    /// Share of collections in the mean response time.
    of_mean: f64,
    /// The slowest requests, if there are enough.
    slowest: Option<TailSummary>,
}

impl HeavyTail {
    /// Tail of the requests of a ledger, if it is heavy.
    pub fn of(ledger: &Ledger) -> Option<Self> {
        let all = ledger.responses.all();
        let ns = |time: Duration| time.as_ns() as f64;
        let (mean, p99_9) = (all.mean().unwrap_or(0.0), all.quantile(0.999).map_or(0.0, ns));
        let alone = all.mean_part(Part::Service);
        let is_heavy = mean >= HEAVY_MEAN * alone || p99_9 >= HEAVY_TAIL * alone;
        is_heavy.then(|| Self {
            was_held_long: ns(ledger.holds.longest) >= LEAST_HOLD * p99_9,
            of_mean: share_of_collections(&all),
            slowest: TailSummary::of(&all.bands()),
        })
    }

    /// Whether it comes from dies that collected.
    pub fn has_stalls(&self) -> bool {
        let of_slowest = self.slowest.as_ref().map_or(0.0, TailSummary::share_of_collections);
        self.was_held_long && self.of_mean.max(of_slowest) >= LEAST_SHARE
    }

    /// Whether it comes from requests that waited for others of the host, whatever was collected.
    pub fn has_bursts(&self) -> bool {
        self.slowest.as_ref().is_some_and(|tail| tail.share_of_queues() >= LEAST_SHARE)
    }
}

fn share_of_collections(all: &LatencyStats) -> f64 {
    let parts = [Part::GcSamePlane, Part::GcOtherPlane, Part::Late];
    let time: f64 = parts.iter().map(|part| all.mean_part(*part)).sum();
    all.mean().map_or(0.0, |mean| time / mean)
}
