//! Random requests: synthetic ones and traces.

use std::fmt::Write;
use std::path::PathBuf;

use copyback::config::quantity::{Rate, Share, Size, Time};
use copyback::config::{
    AddressDistribution, BeyondDevice, Bursts, Config, FlowsWorkload, RateLimit, RequestCount,
    RequestSize, Skip, Ssd, SyntheticWorkload, TimeDistribution, TraceFormat, TraceWorkload,
    Workload,
};
use copyback::workload::AddressSpace;
use copyback::workload::synthetic::Generator;
use copyback::workload::{Operation, Request};

use crate::draw::Draw;

/// Requests of a run that is to be long.
const MANY: u64 = 600;
const SECTOR: u64 = 512;

/// The requests of a flow.
pub struct Flow {
    pub requests: Vec<Request>,
    /// Whether its requests arrive at other times than they say.
    pub is_untimed: bool,
    trace: Option<(PathBuf, String)>,
}

impl Flow {
    pub fn write_trace(&self) {
        if let Some((path, text)) = &self.trace {
            std::fs::write(path, text).expect("the case's folder is writable");
        }
    }
}

/// A random workload; `path` names the trace at a place.
pub fn draw(draw: &mut Draw, ssd: &Ssd, path: &dyn Fn(u64) -> PathBuf) -> Workload {
    let one = |draw: &mut Draw, index: u64| {
        if draw.chance(0.5) {
            copyback::config::Flow::Synthetic(synthetic(draw, ssd))
        } else {
            copyback::config::Flow::Trace(trace(draw, path(index)))
        }
    };
    if draw.chance(0.3) {
        let mut flows: Vec<_> = (0..draw.within(1, 5)).map(|index| one(draw, index)).collect();
        for (index, flow) in flows.iter_mut().enumerate() {
            start(draw, index as u64, flow);
        }
        return Workload::Flows(FlowsWorkload { flows, names: Vec::new() });
    }
    match one(draw, 0) {
        copyback::config::Flow::Synthetic(workload) => Workload::Synthetic(workload),
        copyback::config::Flow::Trace(workload) => Workload::Trace(workload),
    }
}

/// How many requests a case has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// As many as are drawn: often few.
    Drawn,
    /// Many more.
    Long,
}

impl Length {
    const fn of(self, requests: u64) -> u64 {
        match self {
            Self::Drawn => requests,
            Self::Long => requests + MANY,
        }
    }

    /// Makes what is generated as long.
    pub fn set(self, workload: &mut Workload) {
        let set = |workload: &mut SyntheticWorkload| {
            if let RequestCount::Fixed(requests) = &mut workload.requests {
                requests.0 = self.of(requests.0);
            }
        };
        match workload {
            Workload::Synthetic(workload) => set(workload),
            Workload::Trace(_) => {}
            Workload::Flows(flows) => {
                for flow in &mut flows.flows {
                    if let copyback::config::Flow::Synthetic(workload) = flow {
                        set(workload);
                    }
                }
            }
        }
    }
}

fn synthetic(draw: &mut Draw, ssd: &Ssd) -> SyntheticWorkload {
    let iodepth = draw.chance(0.5).then(|| draw.small_within(1, 40) as u32);
    let inter_arrival = iodepth.is_none().then(|| times(draw));
    let bursts = match inter_arrival.is_some() && draw.chance(0.3) {
        true => bursts(draw),
        false => Bursts::None,
    };
    let offset = 0.5 * draw.share();
    let offset = draw.of(&[0.0, 0.0, offset]);
    let read_share = draw.of(&[0.0, 0.3, 0.7, 1.0]);
    let (trims, flushes) = (draw.of(&[0.0, 0.0, 0.3]), draw.of(&[0.0, 0.0, 0.1]));
    let alignment = draw.of(&[
        None,
        Some(Size(SECTOR)),
        Some(Size(ssd.geometry.page_size.0)),
        Some(Size(4096)),
    ]);
    let rate = if iodepth.is_some() { rate_limit(draw) } else { RateLimit::None };
    SyntheticWorkload {
        requests: draw.small_within(1, 600).into(),
        request_size: request_size(draw, 8 * ssd.geometry.page_size.0),
        alignment,
        size_alignment: alignment.filter(|_| draw.chance(0.3)).map(|_| Size(SECTOR)),
        read_share: Share(read_share),
        trim_share: Share((1.0 - read_share) * trims),
        flush_share: Share((1.0 - read_share) * flushes),
        trim_before_write: draw.chance(0.1),
        flush_every: draw.chance(0.1).then(|| draw.small_within(1, 50)),
        sequential_share: Share(draw.of(&[0.0, 0.4, 1.0])),
        sequential_run: draw.chance(0.2).then(|| draw.small_within(1, 20)),
        sequential_skip: alignment.map_or(Skip::None, |alignment| skip(draw, alignment)),
        time_scale: match draw.of(&[1.0, 1.0, 0.25, 30.0]) {
            scale if inter_arrival.is_some() => scale,
            _ => 1.0,
        },
        inter_arrival,
        bursts,
        iodepth,
        rate,
        address: address(draw),
        offset: Share(offset),
        footprint: Share(draw.of(&[1.0 - offset, 0.3, 0.05])),
        ..SyntheticWorkload::default()
    }
}

/// Lets the flow that comes at `index` start late, or after others.
fn start(draw: &mut Draw, index: u64, flow: &mut copyback::config::Flow) {
    let (at, after) = match flow {
        copyback::config::Flow::Synthetic(flow) => (&mut flow.starts_at, &mut flow.starts_after),
        copyback::config::Flow::Trace(flow) => (&mut flow.starts_at, &mut flow.starts_after),
    };
    if draw.chance(0.3) {
        *at = draw.time(1, 10_000_000);
    }
    if index > 0 && draw.chance(0.3) {
        after.push(draw.within(0, index - 1) as u16);
    }
}

fn rate_limit(draw: &mut Draw) -> RateLimit {
    let requests = RateLimit::Requests { gap: times(draw) };
    let bytes = RateLimit::Bytes {
        per_second: Rate::BytesPerSecond(draw.small_within(10_000_000, 1_000_000_000)),
    };
    let by_operation =
        RateLimit::ByOperation { read: Box::new(requests.clone()), write: Box::new(bytes.clone()) };
    draw.of(&[RateLimit::None, requests, bytes, by_operation])
}

fn skip(draw: &mut Draw, alignment: Size) -> Skip {
    let bytes = Size(draw.small_within(1, 64) * alignment.0);
    let every = draw.chance(0.5).then(|| Size(draw.small_within(1, 8) * alignment.0));
    draw.of(&[Skip::None, Skip::Forward { bytes, every }, Skip::Backward { bytes }])
}

fn request_size(draw: &mut Draw, most: u64) -> RequestSize {
    let size = Size(draw.small_within(1, most));
    let other = Size(draw.small_within(1, most));
    draw.of(&[
        RequestSize::Fixed(size),
        RequestSize::Exponential { mean: size },
        RequestSize::Histogram { sizes: vec![size, other], weights: vec![3.0, 1.0] },
        RequestSize::ByOperation {
            read: Box::new(RequestSize::Fixed(size)),
            write: Box::new(RequestSize::Exponential { mean: other }),
        },
    ])
}

fn times(draw: &mut Draw) -> TimeDistribution {
    let (time, other) = (draw.time(100, 1_000_000), draw.time(100, 1_000_000));
    let (first, last) = (time.min(other), time.max(other));
    draw.of(&[
        TimeDistribution::Fixed(time),
        TimeDistribution::Exponential { mean: time },
        TimeDistribution::Pareto { mean: time, shape: 1.5 },
        TimeDistribution::Histogram { times: vec![time, other], weights: vec![1.0, 5.0] },
        TimeDistribution::Quantiles { times: vec![first, first, last] },
    ])
}

fn bursts(draw: &mut Draw) -> Bursts {
    let (on, off) = (times(draw), times(draw));
    let background = draw.chance(0.3).then(|| times(draw));
    Bursts::OnOff { on, off, background }
}

fn address(draw: &mut Draw) -> AddressDistribution {
    let (requests, pages) = (Share(draw.share()), Share(0.05 + 0.9 * draw.share()));
    let rest = |share: Share| Share(1.0 - share.0);
    let scattered = draw.chance(0.5);
    draw.of(&[
        AddressDistribution::Uniform,
        AddressDistribution::HotCold { requests, pages, scattered },
        AddressDistribution::Zoned {
            requests: vec![requests, rest(requests)],
            pages: vec![pages, rest(pages)],
            scattered,
        },
        AddressDistribution::Zipf {
            theta: 2.0 * requests.0,
            scattered,
            ranks: scattered.then_some(1 << 40),
        },
        AddressDistribution::Pareto { h: pages.0, scattered },
    ])
}

fn trace(draw: &mut Draw, path: PathBuf) -> TraceWorkload {
    TraceWorkload {
        path,
        format: draw.chance(0.5).then_some(TraceFormat::Blkreplay),
        time_scale: draw.of(&[1.0, 1.0, 0.25, 30.0]),
        limit: draw.chance(0.2).then(|| draw.within(1, 100)),
        beyond_device: draw.of(&[BeyondDevice::Refuse, BeyondDevice::Wrap]),
        iodepth: draw.chance(0.5).then(|| draw.small_within(1, 40) as u32),
        ..TraceWorkload::new("")
    }
}

/// Every request of every flow; `None` if the device has no room for a workload, or a run would refuse it on its way.
pub fn flows(config: &Config, number: u64, length: Length) -> Option<Vec<Flow>> {
    let flow = |(index, flow): (usize, &copyback::config::Flow)| match flow {
        copyback::config::Flow::Synthetic(workload) => generated(config, workload, index),
        copyback::config::Flow::Trace(workload) => {
            let mut draw = Draw::new(number, &format!("swarm/trace/{index}"));
            Some(replayed(config, workload, &mut draw, length))
        }
    };
    use copyback::config::Flow as Kind;
    let flows = match &config.workload {
        Workload::Synthetic(workload) => &vec![Kind::Synthetic(workload.clone())],
        Workload::Trace(workload) => &vec![Kind::Trace(workload.clone())],
        Workload::Flows(flows) => &flows.flows,
    };
    let untimed = |flow: &Kind| {
        flow.iodepth().is_some()
            || flow.starts_at() > Time::default()
            || !flow.starts_after().is_empty()
    };
    let all = flows.iter().enumerate();
    all.map(|(index, of)| Some(Flow { is_untimed: untimed(of), ..flow((index, of))? })).collect()
}

fn generated(config: &Config, workload: &SyntheticWorkload, index: usize) -> Option<Flow> {
    let name = format!("workload/{index}");
    let generator = Generator::new(
        workload,
        AddressSpace::of(&config.resolve()),
        config.seed,
        &name,
        "workload",
    );
    let mut generator = generator.ok()?;
    let requests = std::iter::from_fn(|| generator.next_request().transpose());
    let requests = requests.collect::<Result<_, _>>().ok()?;
    Some(Flow { requests, is_untimed: false, trace: None })
}

fn replayed(config: &Config, workload: &TraceWorkload, draw: &mut Draw, length: Length) -> Flow {
    let (mut text, mut requests) = (String::new(), Vec::new());
    let sectors = config.resolve().bytes / SECTOR;
    let longest = (4 * config.ssd.geometry.page_size.0 / SECTOR).min(sectors);
    let pause = draw.small_within(1, 1_000_000);
    let shares = [draw.share(), draw.share(), draw.share() * 0.5, draw.share() * 0.2];
    let beyond = if workload.beyond_device == BeyondDevice::Wrap { 3 } else { 1 };
    let mut time = 0;
    for _ in 0..length.of(draw.small_within(1, 600)) {
        let operation = operation(draw, shares);
        // Large ones now and then, but no days of simulated time.
        let most = if draw.chance(0.03) { (8 * longest).min(sectors) } else { longest };
        let length = draw.within(1, most);
        let sector = draw.within(0, beyond * sectors - length);
        let letter = ["R", "W", "D", "F"][operation as usize];
        let seconds = format!("{}.{:09}", time / 1_000_000_000, time % 1_000_000_000);
        writeln!(text, "{seconds} ; {sector} ; {length} ; {letter}").expect("text grows");
        requests.push(request(config, workload, time, operation, sector, length));
        time += if draw.chance(0.3) { 0 } else { draw.within(0, 2 * pause) };
    }
    requests.truncate(workload.limit.unwrap_or(u64::MAX) as usize);
    let trace = Some((workload.path.clone(), text));
    Flow { requests, is_untimed: false, trace }
}

fn operation(draw: &mut Draw, shares: [f64; 4]) -> Operation {
    let mut rest = draw.share() * shares.iter().sum::<f64>();
    let all = [Operation::Read, Operation::Write, Operation::Trim, Operation::Flush];
    for (operation, share) in all.into_iter().zip(shares) {
        if rest < share {
            return operation;
        }
        rest -= share;
    }
    Operation::Write
}

fn request(
    config: &Config,
    workload: &TraceWorkload,
    time: u64,
    operation: Operation,
    sector: u64,
    sectors: u64,
) -> Request {
    let capacity = config.resolve().bytes;
    let scaled = (time as f64 * workload.time_scale).round() as u64;
    let length = sectors * SECTOR;
    let offset = match sector * SECTOR + length <= capacity {
        true => sector * SECTOR,
        false => (sector * SECTOR % capacity).min(capacity - length),
    };
    let range = if operation == Operation::Flush { (0, 0) } else { (offset, length) };
    let arrival = Time::from_ns(scaled).0;
    Request {
        arrival: copyback::units::Instant::START + arrival,
        operation,
        offset: range.0,
        length: range.1,
        measured: None,
        hint: None,
    }
}
