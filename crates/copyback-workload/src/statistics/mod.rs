//! Statistics of a workload: counts, sizes, arrivals, sequentiality, footprint and overwrites, in one pass over
//! its requests.
//!
//! Memory grows with the footprint (see [`footprint`]) and with the number of devices, and not with
//! the number of requests.

mod arrivals;
mod distribution;
mod footprint;
mod runs;
mod series;
mod sizes;
mod summary;
mod survey;

use std::collections::BTreeMap;

use self::arrivals::Arrivals;
use self::distribution::{Distribution, DistributionStatistics};
use self::footprint::Footprint;
use self::runs::Runs;
use self::series::{Series, SeriesUnit};
use self::sizes::Sizes;
use self::summary::{
    ByKind, Curves, OperationStatistics, Operations, RequestStatistics, TraceDevice, TraceDevices,
    TraceHandle,
};
pub use self::summary::{TraceStatistics, statistics_schema};
pub use self::survey::Survey;
use crate::{Handle, Hint, Operation, Request};

/// Largest read or write, in bytes: its pages are counted one by one.
const LARGEST: u64 = 4 << 30;
/// Devices that are told, busiest first.
const DEVICES_LISTED: usize = 10;
const SECTOR: u64 = 512;
const NS_PER_US: f64 = 1e3;

/// Kinds of requests: reads, writes, trims and flushes, in the order of their numbers.
const KINDS: usize = 4;

/// Statistics of the requests so far.
#[derive(Debug)]
pub struct Statistics {
    /// Whether arrival times mean anything.
    timed: bool,
    requests: u64,
    kinds: [Kind; KINDS],
    /// First byte beyond the highest request.
    end: u64,
    /// Requests to each device.
    devices: BTreeMap<u64, u64>,
    /// Writes by placement handle, where they name one apart from the number of the flow.
    handles: Option<BTreeMap<Handle, Written>>,
    arrivals: Arrivals,
    footprint: Footprint,
    series: Series,
}

/// Writes with a handle.
#[derive(Debug, Default)]
struct Written {
    requests: u64,
    bytes: u64,
}

#[derive(Debug, Default)]
struct Kind {
    count: u64,
    sizes: Sizes,
    runs: Runs,
    /// Measured response times, in nanoseconds.
    measured: Distribution,
}

impl Statistics {
    /// No requests yet. `timed` tells whether they have arrival times: in a closed loop they don't.
    pub fn new(timed: bool) -> Self {
        Self {
            timed,
            requests: 0,
            kinds: Default::default(),
            end: 0,
            devices: BTreeMap::new(),
            handles: None,
            arrivals: Arrivals::default(),
            footprint: Footprint::default(),
            series: Series::default(),
        }
    }

    /// Counts writes by their placement handles, too.
    pub fn by_handle(self) -> Self {
        Self { handles: Some(BTreeMap::new()), ..self }
    }

    /// Adds a request to `device`. Requests come in order of arrival.
    ///
    /// # Errors
    /// A sentence, if it reads or writes more than 4 GiB.
    pub fn add(&mut self, request: &Request, device: u64) -> Result<(), String> {
        let Request { arrival, operation, offset, length, measured, .. } = *request;
        let moves_data = matches!(operation, Operation::Read | Operation::Write);
        if moves_data && length > LARGEST {
            return Err(format!(
                "size: found {length} bytes; expected at most {LARGEST}, as each page is counted"
            ));
        }
        let end = offset.saturating_add(length);
        let kind = &mut self.kinds[usize::from(operation.number())];
        kind.count += 1;
        if operation != Operation::Flush {
            kind.sizes.add(length);
            kind.runs.add(device, offset, end);
            self.end = self.end.max(end);
        }
        if let Some(measured) = measured {
            kind.measured.record(measured.as_ns());
        }
        match operation {
            Operation::Read => self.footprint.read(offset, end),
            Operation::Write => self.footprint.write(offset, end),
            Operation::Trim | Operation::Flush => {}
        }
        *self.devices.entry(device).or_default() += 1;
        if let (Some(handles), Operation::Write) = (&mut self.handles, operation)
            && let Some(handle) = request.hint.and_then(Hint::handle)
        {
            let written = handles.entry(handle).or_default();
            written.requests += 1;
            written.bytes += length;
        }
        let place = if self.timed { arrival.as_ns() } else { self.requests };
        self.requests += 1;
        if self.timed {
            self.arrivals.add(arrival);
        }
        self.note(place, operation, length);
        Ok(())
    }

    fn note(&mut self, place: u64, operation: Operation, length: u64) {
        let interval = self.series.at(place);
        interval.requests += 1;
        interval.touched = self.footprint.touched();
        interval.written = self.footprint.written();
        match operation {
            Operation::Read => {
                interval.reads += 1;
                interval.read_bytes += length;
            }
            Operation::Write => interval.write_bytes += length,
            Operation::Trim | Operation::Flush => {}
        }
    }

    /// Requests so far.
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Everything that is known.
    pub fn summary(&self) -> RequestStatistics {
        let [reads, writes, ..] = &self.kinds;
        let bytes = reads.sizes.bytes() + writes.sizes.bytes();
        let moving = reads.count + writes.count;
        let span = self.arrivals.span().as_secs_f64();
        let unit = if self.timed { SeriesUnit::S } else { SeriesUnit::Requests };
        RequestStatistics {
            timed: self.timed,
            requests: self.requests,
            seconds: self.timed.then_some(span),
            requests_per_s: (self.timed && span > 0.0).then(|| self.requests as f64 / span),
            read_share: (moving > 0).then(|| reads.count as f64 / moving as f64),
            bytes: bytes as u64,
            mean_bytes: (moving > 0).then(|| bytes as f64 / moving as f64),
            end_bytes: self.end,
            sectors: self.end.div_ceil(SECTOR),
            operations: self.operations(),
            devices: self.devices(),
            handles: self.handles(),
            footprint: self.footprint.pages(),
            overwrites: self.footprint.overwrites(),
            interarrival_us: self.timed.then(|| self.arrivals.gaps()).flatten(),
            rates: self.timed.then(|| self.arrivals.rates()),
            idle: self.timed.then(|| self.arrivals.idle()),
            measured_response_us: self.measured(),
            series: self.series.statistics(unit),
            curves: self.curves(),
        }
    }

    fn operations(&self) -> Operations {
        let [read, write, trim, flush] = self.kinds.each_ref().map(|kind| OperationStatistics {
            count: kind.count,
            bytes: kind.sizes.bytes() as u64,
            size_bytes: kind.sizes.statistics(),
            common_sizes: kind.sizes.common(),
            sequential_share: kind.runs.share(),
            sequential_share_of_streams: kind.runs.share_of_streams(),
        });
        Operations { read, write, trim, flush }
    }

    fn devices(&self) -> TraceDevices {
        let listed = self.devices.iter();
        let mut busiest: Vec<_> =
            listed.map(|(&device, &requests)| TraceDevice { device, requests }).collect();
        busiest.sort_by_key(|listed| (std::cmp::Reverse(listed.requests), listed.device));
        busiest.truncate(DEVICES_LISTED);
        TraceDevices { count: self.devices.len(), busiest }
    }

    fn handles(&self) -> Option<Vec<TraceHandle>> {
        let handles = self.handles.as_ref()?.iter();
        let of = |(handle, written): (&Handle, &Written)| TraceHandle {
            handle: handle.0,
            requests: written.requests,
            bytes: written.bytes,
        };
        Some(handles.map(of).collect())
    }

    /// Gathers one statistic of each kind of request.
    fn by_kind<T>(&self, of: impl Fn(&Kind) -> Option<T>) -> ByKind<T> {
        let [read, write, trim, flush] = self.kinds.each_ref().map(of);
        ByKind { read, write, trim, flush }
    }

    /// Measured response times of each kind; `None` if there are none.
    fn measured(&self) -> Option<ByKind<DistributionStatistics>> {
        let measured = self.kinds.iter().any(|kind| kind.measured.count() > 0);
        measured.then(|| self.by_kind(|kind| kind.measured.statistics(NS_PER_US)))
    }

    fn curves(&self) -> Curves {
        Curves {
            size_bytes: self.by_kind(|kind| (kind.sizes.count() > 0).then(|| kind.sizes.curve())),
            interarrival_us: self.timed.then(|| self.arrivals.gap_curve()),
            overwrite_distance_bytes: self.footprint.overwrite_curve(),
            measured_response_us: self.by_kind(|kind| {
                (kind.measured.count() > 0).then(|| kind.measured.curve(NS_PER_US))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use copyback_config::units::{Duration, Instant};

    fn request(us: u64, operation: Operation, offset: u64, length: u64) -> Request {
        let measured = (operation == Operation::Read).then(|| Duration::from_us(us));
        Request {
            arrival: Instant::from_ns(us * 1000),
            operation,
            offset,
            length,
            measured,
            hint: None,
        }
    }

    fn of(timed: bool) -> Value {
        let mut statistics = Statistics::new(timed);
        for (us, operation, offset, length) in [
            (0, Operation::Write, 0, 8192),
            (1_000_000, Operation::Read, 4096, 4096),
            (1_500_000, Operation::Trim, 1 << 40, 1 << 50),
            (2_000_000, Operation::Flush, 0, 0),
            (4_000_000, Operation::Write, 8192, 1024),
        ] {
            let request = request(us, operation, offset, length);
            statistics.add(&request, offset / 8192).unwrap();
        }
        serde_json::to_value(statistics.summary()).unwrap()
    }

    #[test]
    fn counts_of_a_small_workload() {
        let listed = of(true);
        assert_eq!(listed["requests"], 5);
        assert_eq!(listed["seconds"], 4.0);
        assert_eq!(listed["requests_per_s"], 1.25);
        assert_eq!(listed["read_share"], 1.0 / 3.0);
        assert_eq!(listed["bytes"], 13_312);
        assert_eq!(listed["footprint"]["touched_pages"], 3);
        assert_eq!(listed["footprint"]["written_pages"], 3);
        assert_eq!(listed["operations"]["flush"]["count"], 1);
        assert_eq!(listed["operations"]["flush"]["size_bytes"], Value::Null);
        assert_eq!(listed["operations"]["trim"]["bytes"], 1_u64 << 50);
        assert_eq!(listed["devices"]["count"], 3);
        assert_eq!(listed["devices"]["busiest"][0], json!({ "device": 0, "requests": 3 }));
        assert_eq!(listed["measured_response_us"]["read"]["max"], 1e6);
        assert_eq!(listed["measured_response_us"].get("write"), None);
        assert_eq!(listed["series"]["unit"], "s");
    }

    #[test]
    fn a_closed_loop_has_no_times() {
        let listed = of(false);
        for key in ["seconds", "requests_per_s", "interarrival_us", "rates", "idle"] {
            assert_eq!(listed[key], Value::Null, "{key}");
        }
        assert_eq!(listed["series"]["unit"], "requests");
        assert_eq!(listed["series"]["requests"], json!([1, 1, 1, 1, 1]));
    }

    #[test]
    fn refuses_what_would_fill_the_memory() {
        let mut statistics = Statistics::new(true);
        let huge = request(0, Operation::Write, 0, LARGEST + 1);
        assert_eq!(
            statistics.add(&huge, 0).unwrap_err(),
            "size: found 4294967297 bytes; expected at most 4294967296, as each page is counted"
        );
    }
}
