//! Estimate of a run's work, as far as its configuration says: made before anything is prepared, so that a run
//! which nobody could wait for is refused, and a long one is announced.

use super::quantity::{Rate, Size, Time};
use super::*;
use crate::units::Instant;

/// Steps of work beyond which a run is refused: some weeks at millions a second.
const MOST_STEPS: f64 = 1e13;
/// Steps of work beyond which a run is announced to take long: hours.
const MANY_STEPS: f64 = 3e10;

/// Bytes for each physical page: the drive, and its saved state on the way to or from a file. Measured are 7
/// to 15.
const PER_PAGE: f64 = 16.0;
/// Bytes for each that an audited run keeps besides. 36 were measured.
const AUDIT_PER_PAGE: f64 = 40.0;
/// Bytes for each that a drive whose power may fail keeps besides.
const WATCHED_PER_PAGE: f64 = 32.0;
/// Bytes for each block, beside its pages.
const PER_BLOCK: f64 = 64.0;
/// Bytes for each die: queues, clocks, and what it did over time.
const PER_DIE: f64 = 16_384.0;
/// Bytes for each page of a request that the drive works on.
const PER_PAGE_UNDER_WAY: f64 = 256.0;
/// Bytes for each request that a row is kept of, on its way to a file. Measured are 98.
const PER_REQUEST_ROW: f64 = 128.0;
/// Bytes for each page of a request that is foreseen, in lists that grow by doubling.
const PER_PAGE_FORESEEN: f64 = 24.0;

/// Estimate of a run's work: its upper bound, as far as that is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// Requests, unless only the run itself can tell.
    pub requests: Option<f64>,
    /// Bytes of memory, beside what any program takes.
    pub memory: f64,
    /// Steps of work, by the key that asks for them.
    work: Vec<Work>,
}

/// Work that a key asks for.
#[derive(Debug, Clone, PartialEq)]
struct Work {
    key: String,
    steps: f64,
    what: &'static str,
}

impl Resolved {
    /// Estimates the work of a run of this checked configuration.
    pub fn estimate(&self) -> Estimate {
        let flows = self.workload.flows();
        let loads: Vec<_> = flows.iter().map(|flow| Load::of(flow, self)).collect();
        let requests: Option<f64> = loads.iter().map(|load| load.requests).sum();
        let mut work = vec![self.preparation(), self.cuts(), self.wake_ups(&loads)];
        for (index, (flow, load)) in flows.iter().zip(&loads).enumerate() {
            let key = self.workload.flow_key(index);
            let requests = load.requests.unwrap_or_default();
            work.push(Work {
                key: format!("{key}.{}", counted_by(flow)),
                steps: requests * load.pages.max(1.0),
                what: "page operations of requests",
            });
            work.push(Work {
                key: format!("{key}.bursts"),
                steps: requests * load.periods,
                what: "bursts to go through",
            });
        }
        Estimate { requests, memory: self.memory(requests.unwrap_or_default(), &loads), work }
    }

    fn preparation(&self) -> Work {
        Work {
            key: "precondition.overwrites".to_owned(),
            steps: self.pages_beforehand(),
            what: "pages written beforehand",
        }
    }

    /// Pages that are written to prepare the drives, at most, without those that collections move.
    pub fn pages_beforehand(&self) -> f64 {
        let times = match self.precondition.overwrites {
            Overwrites::Fixed(times) => times,
            Overwrites::UntilSteady { round, most_rounds, .. } => round * f64::from(most_rounds),
        };
        let filled = self.precondition.fill.0 * self.drive.capacity.logical_pages as f64;
        filled * (1.0 + times) * f64::from(self.array.devices)
    }

    /// Each cut looks at every page of every drive.
    fn cuts(&self) -> Work {
        let cuts = match &self.ssd.power.cuts {
            Cuts::None | Cuts::OnCommand => 0.0,
            Cuts::At { times } => times.len() as f64,
            Cuts::Random { count, .. } => f64::from(*count),
        };
        let pages = self.mapped_pages() * f64::from(self.array.drives());
        let what = "pages looked at after cuts of power";
        Work { key: "ssd.power.cuts".to_owned(), steps: cuts * pages, what }
    }

    /// The controller of an array wakes up as long as there are requests.
    fn wake_ups(&self, loads: &[Load]) -> Work {
        let period = match self.array.coordination {
            Coordination::Uncoordinated
            | Coordination::ReactiveInclusive { .. }
            | Coordination::ReactiveSelective
            | Coordination::ProactiveIdle { .. }
            | Coordination::Python { .. } => None,
            Coordination::ProactiveSoftLimit { period, .. } => Some(period),
            Coordination::Staggered { window, .. } => self.protocol.window.length(window),
        };
        let busy: f64 = loads.iter().map(Load::busy).sum();
        let of = |period: Time| busy / ns(period) * f64::from(self.array.devices);
        let steps = period.map_or(0.0, of);
        Work { key: "array.coordination".to_owned(), steps, what: "messages of the controller" }
    }

    fn memory(&self, requests: f64, loads: &[Load]) -> f64 {
        let Geometry { pages_per_block, .. } = self.ssd.geometry;
        let flash_pages = self.physical_pages();
        let pages = self.mapped_pages();
        let audit = if self.audit { AUDIT_PER_PAGE } else { 0.0 };
        let watched = if self.ssd.power.is_watched() { WATCHED_PER_PAGE } else { 0.0 };
        let drive = pages * (PER_PAGE + audit + watched)
            + flash_pages / f64::from(pages_per_block) * PER_BLOCK
            + self.drive.shape.dies as f64 * PER_DIE;
        let rows = if self.metrics.requests { requests * PER_REQUEST_ROW } else { 0.0 };
        let under_way: f64 = loads.iter().map(|load| load.pages_under_way).sum();
        drive * f64::from(self.array.drives())
            + rows
            + under_way * PER_PAGE_UNDER_WAY
            + self.foreseen(loads) * PER_PAGE_FORESEEN
    }

    /// Pages of requests that are known before the run begins.
    fn foreseen(&self, loads: &[Load]) -> f64 {
        match self.ssd.ftl.placement {
            Placement::Oracle { .. } => {
                loads.iter().map(|load| load.requests.unwrap_or_default() * load.pages).sum()
            }
            _ => 0.0,
        }
    }

    fn physical_pages(&self) -> f64 {
        let Geometry { planes_per_die, blocks_per_plane, pages_per_block, .. } = self.ssd.geometry;
        let of_die = [planes_per_die, blocks_per_plane, pages_per_block];
        self.drive.shape.dies as f64 * of_die.map(f64::from).iter().product::<f64>()
    }

    /// Places for mapped pages; those of striped planes count each.
    fn mapped_pages(&self) -> f64 {
        let size = self.drive.pages.counted_size.0 as f64;
        self.physical_pages() * (self.ssd.geometry.page_size.0 as f64 / size)
    }
}

impl Estimate {
    /// Steps of work in all: page operations, those of collections left out, and wake-ups.
    pub fn steps(&self) -> f64 {
        self.work.iter().map(|work| work.steps).sum()
    }

    /// The key that asks for more than anybody could wait for, and what is wrong with it.
    pub(super) fn too_much(&self) -> Option<(String, String)> {
        let Work { key, steps, what } = self.most().filter(|_| self.steps() > MOST_STEPS)?;
        Some((
            key.clone(),
            format!("found about {steps:.0e} {what}; allowed: at most {MOST_STEPS:e}"),
        ))
    }

    /// Announcement for the user before a run that takes long.
    pub fn announcement(&self) -> Option<String> {
        let Work { key, steps, what } = self.most().filter(|_| self.steps() > MANY_STEPS)?;
        Some(format!("{key}: this run takes hours or more: up to {steps:.0e} {what}"))
    }

    fn most(&self) -> Option<&Work> {
        self.work.iter().max_by(|one, other| one.steps.total_cmp(&other.steps))
    }
}

/// Load of a flow.
struct Load {
    /// Unless only the run can tell.
    requests: Option<f64>,
    /// Pages of a request.
    pages: f64,
    /// Nanoseconds that a request takes where nothing else is done.
    service: f64,
    /// Bursts and quiet between two arrivals.
    periods: f64,
    /// Pages that the drive works on at once, at most.
    pages_under_way: f64,
}

impl Load {
    fn of(flow: &Flow, config: &Resolved) -> Self {
        let pages = pages_of_request(flow, config);
        let bytes = config.drive.pages.size.0;
        let page = config.ssd.timing.slowest(bytes) + transfer(bytes, config.host.link_rate);
        let overhead = ns(config.host.command_overhead) + ns(config.host.link_overhead);
        let service = pages * page + overhead;
        let requests = requests_of(flow, service, config);
        let depth = f64::from(config.host.most_of_queue().max(config.array.queue_depth));
        let depth = flow.iodepth().map_or(depth, |iodepth| depth.min(iodepth.into()));
        let outstanding = requests.map_or(depth, |requests| depth.min(requests));
        let pages_under_way = outstanding * pages;
        Self { requests, pages, service, periods: periods_a_gap(flow), pages_under_way }
    }

    /// Nanoseconds in which there is a request, if they come one by one.
    fn busy(&self) -> f64 {
        self.requests.unwrap_or_default() * self.service
    }
}

impl Timing {
    /// Nanoseconds of the slowest operation of a page of so many bytes.
    fn slowest(&self, bytes: u64) -> f64 {
        let array = self.read.slowest().max(self.program.slowest());
        ns(array) + transfer(bytes, self.transfer_rate)
    }
}

/// Nanoseconds in which so many bytes are transferred.
fn transfer(bytes: u64, rate: Rate) -> f64 {
    match rate {
        Rate::None => 0.0,
        Rate::BytesPerSecond(rate) => bytes as f64 * 1e9 / rate as f64,
    }
}

/// The key that says how many requests a flow has.
const fn counted_by(flow: &Flow) -> &'static str {
    match flow {
        Flow::Synthetic(SyntheticWorkload { io_size: Some(_), .. }) => "io_size",
        Flow::Synthetic(_) => "requests",
        Flow::Trace(TraceWorkload { duration: Some(_), .. }) => "duration",
        Flow::Trace(_) => "limit",
    }
}

/// Most requests that a flow needs to ask for its bytes: each of the least size, and flushes among them.
fn by_size(flow: &SyntheticWorkload, config: &Resolved) -> Option<u64> {
    let unit = flow.size_alignment.unwrap_or(flow.alignment_on(config.drive.pages.counted_size));
    let of_data = flow.io_size?.0.div_ceil(unit.0.max(1));
    // The cast of what is too large for it gives the largest number.
    Some((of_data as f64 / (1.0 - flow.flush_share.0)) as u64)
}

/// Number of a flow's requests: the configured one, or as many as there is time for.
fn requests_of(flow: &Flow, service: f64, config: &Resolved) -> Option<f64> {
    let stop = match &config.stop {
        Stop::None | Stop::ReadOnly => None,
        Stop::SteadyState(stop) => Some((stop.round, f64::from(stop.most_rounds), ns(stop.ramp))),
    };
    let by_count = match flow {
        Flow::Synthetic(flow) => {
            by_size(flow, config).into_iter().chain(flow.requests.limit()).min()
        }
        // Of a trace that is repeated each round has so many.
        Flow::Trace(flow) => flow.limit.filter(|_| flow.duration.is_none()),
    };
    let gap = match flow {
        Flow::Synthetic(flow) => flow.inter_arrival.as_ref().map(|gap| mean(gap) * flow.time_scale),
        Flow::Trace(_) => None,
    };
    let pace = gap.unwrap_or(service / flow.iodepth().map_or(1.0, f64::from)).max(1.0);
    let has_pace = gap.is_some() || flow.iodepth().is_some();
    let within = |time: f64| has_pace.then(|| time.min(Instant::END.as_ns() as f64) / pace);
    let by_stop = stop.and_then(|(round, rounds, ramp)| match round {
        RoundLength::Requests(requests) => Some(rounds * requests as f64),
        RoundLength::Time(time) => within(ramp + rounds * ns(time)),
    });
    let by_duration = flow.duration().and_then(|duration| within(ns(duration)));
    [by_count.map(|requests| requests as f64), by_stop, by_duration]
        .into_iter()
        .flatten()
        .reduce(f64::min)
}

fn pages_of_request(flow: &Flow, config: &Resolved) -> f64 {
    let Flow::Synthetic(flow) = flow else { return 1.0 };
    let bytes = mean_size(&flow.request_size).min(config.bytes as f64);
    (bytes / config.drive.pages.size.0 as f64).ceil()
}

fn mean_size(size: &RequestSize) -> f64 {
    match size {
        RequestSize::Fixed(Size(bytes)) | RequestSize::Exponential { mean: Size(bytes) } => {
            *bytes as f64
        }
        RequestSize::Histogram { sizes, .. } => {
            sizes.iter().map(|size| size.0 as f64).fold(0.0, f64::max)
        }
        RequestSize::ByOperation { read, write } => mean_size(read).max(mean_size(write)),
    }
}

/// Bursts and quiet that lie between two arrivals.
fn periods_a_gap(flow: &Flow) -> f64 {
    let Flow::Synthetic(SyntheticWorkload {
        bursts: Bursts::OnOff { on, .. },
        inter_arrival: Some(gap),
        ..
    }) = flow
    else {
        return 0.0;
    };
    mean(gap) / mean(on).max(1.0)
}

/// The mean of a distribution in nanoseconds, or what stands for it; unknown where a file holds it.
fn mean(times: &TimeDistribution) -> f64 {
    match times {
        TimeDistribution::Fixed(time)
        | TimeDistribution::Exponential { mean: time }
        | TimeDistribution::Pareto { mean: time, .. } => ns(*time),
        TimeDistribution::Histogram { times, .. } | TimeDistribution::Quantiles { times } => {
            times.iter().copied().map(ns).sum::<f64>() / times.len().max(1) as f64
        }
        TimeDistribution::Empirical { .. } => 0.0,
    }
}

fn ns(time: Time) -> f64 {
    time.0.as_ns() as f64
}
