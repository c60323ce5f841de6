//! Parts of response times by how long the responses took: what the tail waits for, and not only the mean.
//!
//! Each response adds its parts to a bucket of its length: a microsecond wide at first, then [`PER_OCTAVE`] a factor of two. A *band* lies between
//! two percentiles, such as p99 and p99.9, and ends at the edge of a bucket; it says which percentile that edge is.

use derive_more::Add;
use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::ssd::Part;
use crate::units::Duration;

use super::latency::LatencyStats;
use super::responses::Responses;

/// Buckets a factor of two: an edge is at most 1.6% beyond the response time of the percentile that was asked for.
const PER_OCTAVE: u64 = 64;
/// Binary digits of a nanosecond count that no bucket tells apart: 1,024 ns.
const UNIT: u32 = 10;
/// Most buckets, which take 128 KiB: the last has all responses beyond some half an hour.
const MOST_BUCKETS: usize = 128 * 1024 / size_of::<Bucket>();
/// Percentiles that bands begin at, and of how many in ten thousand requests.
const PERCENTILES: [(f64, u64); 6] =
    [(0.0, 0), (50.0, 5_000), (90.0, 9_000), (99.0, 9_900), (99.9, 9_990), (99.99, 9_999)];

/// Parts of the response times of one class of requests, by bucket of the response time.
#[derive(Debug, Clone, Default, Checkpointed)]
pub struct Blame {
    buckets: Vec<Bucket>,
}

/// Requests that took about as long, and the sums of their parts in nanoseconds.
#[derive(Debug, Clone, Copy, Default, Checkpointed)]
pub struct Bucket {
    count: u64,
    parts: [u64; Part::ALL.len()],
}

/// Parts of the response times by operation, in bands from one percentile to the next.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct BlameSummary {
    /// Reads and writes.
    pub all: Vec<BandSummary>,
    /// Reads.
    pub read: Vec<BandSummary>,
    /// Writes.
    pub write: Vec<BandSummary>,
    /// Flushes, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush: Option<Vec<BandSummary>>,
    /// Trims, if there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trim: Option<Vec<BandSummary>>,
}

/// Requests whose response times lie between two percentiles, and what these times went to.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct BandSummary {
    /// Percentile that the band was to begin at: 0, 50, 90, 99, 99.9 or 99.99.
    pub above: f64,
    /// Percentile that it does begin at: so many percent of the requests were faster.
    pub from_percentile: f64,
    /// Percentile that it ends at.
    pub to_percentile: f64,
    /// Response time that it begins above, in microseconds.
    pub from_us: f64,
    /// Response time that it ends at, in microseconds.
    pub to_us: f64,
    /// Requests in it.
    pub count: u64,
    /// Sums of the parts of their response times, in nanoseconds.
    pub time_ns: PartTimes,
}

/// Sums of the parts of response times, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Add, Serialize, JsonSchema)]
pub struct PartTimes {
    /// The requests' own commands, array operations, transfers and controller overhead.
    pub service: u64,
    /// Waiting while the die collected the plane that the request needs.
    pub gc_same_plane: u64,
    /// Waiting while the die collected another of its planes.
    pub gc_other_plane: u64,
    /// Waiting for other host operations, as it would have without collections.
    pub queue_behind_io: u64,
    /// Waiting for other host operations only because collections had delayed them.
    pub late: u64,
    /// Waiting for a channel or the host link.
    pub bus: u64,
    /// In the write buffer, or waiting for room there.
    pub buffer: u64,
    /// Waiting until the page's mapping is in RAM.
    pub translation: u64,
    /// Waiting outside the device, because its queue was full or it was off.
    pub host_queue: u64,
}

impl PartTimes {
    fn of(parts: [u64; Part::ALL.len()]) -> Self {
        let of = |part: Part| parts[part as usize];
        Self {
            service: of(Part::Service),
            gc_same_plane: of(Part::GcSamePlane),
            gc_other_plane: of(Part::GcOtherPlane),
            queue_behind_io: of(Part::QueueBehindIo),
            late: of(Part::Late),
            bus: of(Part::Bus),
            buffer: of(Part::Buffer),
            translation: of(Part::Translation),
            host_queue: of(Part::HostQueue),
        }
    }

    /// Sum of all parts.
    pub const fn whole(&self) -> u64 {
        let Self { service, gc_same_plane, gc_other_plane, late, .. } = *self;
        let Self { queue_behind_io, bus, buffer, translation, host_queue, .. } = *self;
        let collections = gc_same_plane + gc_other_plane + late;
        service + collections + queue_behind_io + bus + buffer + translation + host_queue
    }
}

/// Place of the bucket of a response time of `ns` nanoseconds.
#[inline(always)]
const fn place(ns: u64) -> usize {
    let units = ns >> UNIT;
    if units < PER_OCTAVE {
        return units as usize;
    }
    let octave = (units / PER_OCTAVE).ilog2() as u64;
    (octave * PER_OCTAVE + (units >> octave)) as usize
}

/// Longest response time of a bucket, in nanoseconds.
const fn last_of(place: usize) -> u64 {
    let place = place as u64;
    let octave = (place / PER_OCTAVE).saturating_sub(1);
    let units = (place - octave * PER_OCTAVE + 1) << octave;
    (units << UNIT) - 1
}

impl Blame {
    /// Counts a response time. Returns the bucket that its parts are to be added to.
    #[inline(always)]
    pub fn count(&mut self, response: Duration) -> &mut Bucket {
        let place = place(response.as_ns()).min(MOST_BUCKETS - 1);
        if place >= self.buckets.len() {
            self.grow(place);
        }
        let bucket = &mut self.buckets[place];
        bucket.count += 1;
        bucket
    }

    // Apart, as it happens once a factor of two.
    #[inline(never)]
    fn grow(&mut self, place: usize) {
        let wanted = (place + 1).next_multiple_of(PER_OCTAVE as usize);
        self.buckets.resize(wanted.min(MOST_BUCKETS), Bucket::default());
    }

    /// Adds what `others` have recorded.
    pub fn merge(&mut self, others: &Self) {
        if let Some(last) =
            others.buckets.len().checked_sub(1).filter(|last| *last >= self.buckets.len())
        {
            self.grow(last);
        }
        for (bucket, other) in self.buckets.iter_mut().zip(&others.buckets) {
            bucket.count += other.count;
            for (sum, other) in bucket.parts.iter_mut().zip(other.parts) {
                *sum = sum.saturating_add(other);
            }
        }
    }

    /// Bands from one percentile to the next, those without a request left out. The longest response took `longest`.
    pub fn bands(&self, longest: Duration) -> Vec<BandSummary> {
        let all: u64 = self.buckets.iter().map(|bucket| bucket.count).sum();
        let mut bands: Vec<BandSummary> = Vec::new();
        let (mut counted, mut next, mut sums) = (0, 1, Bucket::default());
        let (mut begun_at, mut begun_above) = (0, 0);
        for (place, bucket) in self.buckets.iter().enumerate() {
            sums.add(bucket);
            counted += bucket.count;
            let is_over = |next: usize| match PERCENTILES.get(next) {
                Some((_, share)) => {
                    u128::from(counted) * 10_000 >= u128::from(all) * u128::from(*share)
                }
                None => counted == all,
            };
            if sums.count == 0 || !is_over(next) {
                continue;
            }
            let (above, _) = PERCENTILES[next - 1];
            while next < PERCENTILES.len() && is_over(next) {
                next += 1;
            }
            let until = if counted == all { longest.as_ns() } else { last_of(place) };
            let percentile = |count: u64| count as f64 * 100.0 / all as f64;
            bands.push(BandSummary {
                above,
                from_percentile: percentile(begun_at),
                to_percentile: percentile(counted),
                from_us: Duration::from_ns(begun_above).as_us_f64(),
                to_us: Duration::from_ns(until).as_us_f64(),
                count: sums.count,
                time_ns: PartTimes::of(sums.parts),
            });
            (begun_at, begun_above, sums) = (counted, until, Bucket::default());
        }
        bands
    }
}

impl Bucket {
    /// Adds a part of a response time, in nanoseconds.
    #[inline(always)]
    pub const fn add_part(&mut self, part: Part, ns: u64) {
        let sum = &mut self.parts[part as usize];
        *sum = sum.saturating_add(ns);
    }

    fn add(&mut self, other: &Self) {
        self.count += other.count;
        for (sum, part) in self.parts.iter_mut().zip(other.parts) {
            *sum = sum.saturating_add(part);
        }
    }
}

impl BlameSummary {
    /// Bands of the response times of each operation.
    pub fn of(responses: &Responses) -> Self {
        Self {
            all: responses.all().bands(),
            read: responses.reads.bands(),
            write: responses.writes.bands(),
            flush: responses.flushes().map(LatencyStats::bands),
            trim: responses.trims().map(LatencyStats::bands),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(blame: &mut Blame, part: Part, ns: u64) {
        blame.count(Duration::from_ns(ns)).add_part(part, ns);
    }

    #[test]
    fn a_bucket_ends_where_the_next_begins() {
        for place_of_bucket in 0..MOST_BUCKETS - 1 {
            let last = last_of(place_of_bucket);
            assert_eq!((place(last), place(last + 1)), (place_of_bucket, place_of_bucket + 1));
            let first = if place_of_bucket == 0 { 0 } else { last_of(place_of_bucket - 1) + 1 };
            let is_narrow = last - first < 1 << UNIT || (last - first) * PER_OCTAVE <= first;
            assert!(is_narrow, "{first} to {last}");
        }
    }

    #[test]
    fn a_tail_of_one_in_a_thousand_is_told_apart_from_the_rest() {
        let mut blame = Blame::default();
        (0..9_990).for_each(|_| record(&mut blame, Part::Service, 80_000));
        (0..10).for_each(|_| record(&mut blame, Part::GcSamePlane, 5_000_000));
        let bands = blame.bands(Duration::from_ns(5_000_000));
        let [rest, tail] = &bands[..] else { panic!("{bands:?}") };
        assert_eq!((rest.above, rest.count, rest.time_ns.service), (0.0, 9_990, 9_990 * 80_000));
        assert_eq!((rest.from_percentile, rest.to_percentile), (0.0, 99.9));
        assert_eq!((tail.above, tail.count), (99.9, 10));
        assert_eq!((tail.time_ns.gc_same_plane, tail.time_ns.service), (50_000_000, 0));
        assert_eq!((tail.to_percentile, tail.to_us), (100.0, 5_000.0));
        assert!(rest.to_us >= 80.0 && rest.to_us < 83.0, "{}", rest.to_us);
    }

    #[test]
    fn bands_add_up_to_all_that_was_recorded_and_follow_one_another() {
        let (mut blame, mut all, mut count) = (Blame::default(), [0; Part::ALL.len()], 0);
        let mut ns = 1_u64;
        for step in 0..100_000_u64 {
            ns = (ns * 48_271 + step) % 90_000_000;
            let part = Part::ALL[(ns % 9) as usize];
            let response = (ns >> 10) << step.trailing_ones();
            record(&mut blame, part, response);
            all[part as usize] += response;
            count += 1;
        }
        let bands = blame.bands(Duration::from_ns(1 << 40));
        assert_eq!(bands.iter().map(|band| band.count).sum::<u64>(), count);
        let mut sums = Bucket::default();
        blame.buckets.iter().for_each(|bucket| sums.add(bucket));
        assert_eq!(sums.parts, all);
        let services: u64 = bands.iter().map(|band| band.time_ns.service).sum();
        assert_eq!(services, all[Part::Service as usize]);
        for pair in bands.windows(2) {
            assert_eq!(
                (pair[0].to_us, pair[0].to_percentile),
                (pair[1].from_us, pair[1].from_percentile)
            );
        }
        assert_eq!(bands.len(), PERCENTILES.len());
    }

    #[test]
    fn what_is_recorded_apart_is_merged() {
        let (mut first, mut second, mut both) =
            (Blame::default(), Blame::default(), Blame::default());
        for ns in [70, 1_000_000, 3] {
            record(&mut first, Part::Bus, ns);
            record(&mut both, Part::Bus, ns);
        }
        for ns in [80_000_000_000, 2] {
            record(&mut second, Part::Late, ns);
            record(&mut both, Part::Late, ns);
        }
        first.merge(&second);
        let longest = Duration::from_ns(80_000_000_000);
        assert_eq!(first.bands(longest), both.bands(longest));
        assert_eq!(Blame::default().bands(Duration::ZERO), []);
    }
}
