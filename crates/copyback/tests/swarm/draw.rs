//! A random configuration from a number.

use std::path::{Path, PathBuf};

use copyback::config::quantity::{Limit, Rate, Share, Size, Time};
use copyback::config::{
    Allocation, AllocationChoice, AllocationOrder, Array, Buffer, BusArbitration, Commands, Config,
    Controller, Duplex, Endurance, Eviction, FlashFaults, FreeBlockOrder, FreeBlocks, Ftl, Gc,
    GcEnd, GcStart, Geometry, Host, Idle, InAdvance, Interface, Loader, LogicalBlocks, Mapping,
    Margin, Metrics, Overwrites, Overwritten, PageLatency, PipelineOrder, Placement, PlaneChoice,
    Power, Precondition, Preemption, Refresh, Register, Scheduling, SlcCache, Ssd, Stop,
    SummaryPage, Suspend, ThresholdScope, ThresholdUnit, Throttle, Timing, ValidPages,
    VictimPolicy, Wear, Width, Within,
};
use rand::RngExt;
use tempfile::TempDir;

use crate::array;
use crate::choices::Choices;
use crate::faults;
use crate::merges;
use crate::newer;
use crate::pool::Failure;
use crate::power;
use crate::rain;
use crate::victims;
use crate::workload::{self, Flow, Length};

/// A configuration that passes its checks, and the traces that go with it.
pub struct Case {
    /// The number that it comes from.
    pub number: u64,
    /// How many draws it took.
    pub draws: u64,
    pub config: Config,
    pub flows: Vec<Flow>,
    /// The case's files are here. No other case has them, of this process or another.
    folder: TempDir,
}

/// Random choices, or those that somebody has made.
pub struct Draw(Choices);

impl Draw {
    /// The choices called `name` of a case.
    pub fn new(number: u64, name: &str) -> Self {
        Self(Choices::random(number, name))
    }

    pub fn within(&mut self, least: u64, most: u64) -> u64 {
        self.0.random_range(least..=most)
    }

    /// Small values more often than large ones: every power of two alike.
    pub fn small_within(&mut self, least: u64, most: u64) -> u64 {
        let (low, high) = ((least as f64).ln(), (most as f64 + 1.0).ln());
        let value = (low + (high - low) * self.share()).exp() as u64;
        value.clamp(least, most)
    }

    pub fn share(&mut self) -> f64 {
        self.0.random_range(0.0..1.0)
    }

    pub fn chance(&mut self, share: f64) -> bool {
        self.share() < share
    }

    pub fn of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.0.random_range(0..choices.len())].clone()
    }

    pub fn time(&mut self, least_ns: u64, most_ns: u64) -> Time {
        Time::from_ns(self.small_within(least_ns, most_ns))
    }
}

/// Kinds of cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Drive,
    Lines,
    Array,
    Cuts,
    Faults,
}

impl Kind {
    pub const ALL: [Self; 5] = [Self::Drive, Self::Lines, Self::Array, Self::Cuts, Self::Faults];

    /// That of its random choices.
    const fn name(self) -> &'static str {
        match self {
            Self::Drive => "swarm",
            Self::Lines => rain::NAME,
            Self::Array => "swarm/array",
            Self::Cuts => "swarm/power",
            Self::Faults => "swarm/faults",
        }
    }
}

impl Case {
    /// The case of this number, of one drive.
    pub fn draw(number: u64) -> Self {
        Self::of(number, Kind::Drive.name(), config)
    }

    /// The case of this number, of several drives.
    pub fn draw_array(number: u64) -> Self {
        Self::of(number, Kind::Array.name(), |draw, folder| {
            let config = config(draw, folder);
            array::draw(draw, config)
        })
    }

    /// The case of this number, of one drive that loses its power now and then.
    pub fn draw_with_cuts(number: u64) -> Self {
        Self::of(number, Kind::Cuts.name(), |draw, folder| {
            let config = config(draw, folder);
            power::draw(draw, config)
        })
    }

    /// The case of this number, of one drive or several whose flash has faults.
    pub fn draw_faults(number: u64) -> Self {
        Self::of(number, Kind::Faults.name(), |draw, folder| {
            let config = config(draw, folder);
            let config = if draw.chance(0.3) { array::draw(draw, config) } else { config };
            faults::draw(draw, config)
        })
    }

    /// The case of this number, of a drive with lines.
    pub fn draw_lines(number: u64) -> Self {
        Self::of(number, Kind::Lines.name(), config)
    }

    /// The case of this number and kind whose choices somebody has made, as long as they last.
    pub fn made(number: u64, kind: Kind, choices: &[u8]) -> Self {
        let choices = Choices::made(choices, number, "swarm/made");
        let draw = Draw(choices);
        Self::from(number, kind.name(), draw, Length::Long, |draw, folder| {
            let config = config(draw, folder);
            match kind {
                Kind::Drive | Kind::Lines => config,
                Kind::Array => array::draw(draw, config),
                Kind::Cuts => power::draw(draw, config),
                Kind::Faults => faults::draw(draw, config),
            }
        })
    }

    fn of(number: u64, name: &str, config: impl Fn(&mut Draw, &Path) -> Config) -> Self {
        Self::from(number, name, Draw::new(number, name), Length::Drawn, config)
    }

    fn from(
        number: u64,
        name: &str,
        mut draw: Draw,
        length: Length,
        config: impl Fn(&mut Draw, &Path) -> Config,
    ) -> Self {
        let mut folder = TempDir::with_prefix("copyback-swarm-").expect("there is room for files");
        let mut draws = 0;
        loop {
            draws += 1;
            let mut config = config(&mut draw, folder.path());
            newer::draw(&mut config, number, name);
            // Choices that somebody has made stay the case that they were.
            if length == Length::Drawn && merges::copy_too_many(&config) {
                continue;
            }
            length.set(&mut config.workload);
            let text = config.to_toml();
            let Ok(loaded) = Loader::new().toml(&text, "swarm.toml", None).load() else { continue };
            assert_eq!(loaded, config, "a configuration survives its own TOML");
            let Some(flows) = workload::flows(&config, number, length) else { continue };
            let case = Self { number, draws, config, flows, folder };
            if !victims::run_out(&case) {
                return case;
            }
            folder = case.folder;
        }
    }

    pub fn write_traces(&self) {
        self.flows.iter().for_each(Flow::write_trace);
    }

    /// A file of the case's own, which goes when the case does.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Leaves the traces to a human who looks into the case.
    pub fn keep_traces(&mut self) {
        self.folder.disable_cleanup(true);
    }

    /// What a human needs to look into a failure.
    pub fn failure(&self, problem: String) -> Failure {
        let description = format!(
            "{problem}\nreplay: COPYBACK_SWARM_REPLAY={} cargo test -p copyback --test swarm -- \
             --nocapture\n{}",
            self.number,
            self.config.to_toml()
        );
        Failure { problem, description }
    }
}

/// A configuration whose traces are in `folder`.
fn config(draw: &mut Draw, folder: &Path) -> Config {
    let geometry = geometry(draw);
    let mapping = mapping(draw, &geometry);
    let gc = gc(draw, &geometry, mapping);
    let ftl = ftl(draw, &geometry, &gc, mapping);
    let timing = timing(draw, &geometry);
    let buffer = buffer(draw, &geometry);
    let wear = Wear { static_threshold: draw.within(0, 5) as u32, ..Wear::default() };
    let commands = commands(draw, &geometry, &gc);
    let endurance = Endurance { rated_cycles: Some(3000), ..Endurance::default() };
    let (faults, power) = (FlashFaults::default(), Power::default());
    let slc_cache = SlcCache::default();
    let ssd = Ssd {
        geometry,
        timing,
        commands,
        ftl,
        gc,
        wear,
        buffer,
        endurance,
        faults,
        power,
        slc_cache,
        controller: Controller::default(),
        refresh: Refresh::default(),
    };
    let host = host(draw);
    let workload = workload::draw(draw, &ssd, &|index| folder.join(format!("{index}.blkreplay")));
    Config {
        seed: draw.within(0, u64::MAX >> 1),
        audit: true,
        ssd,
        array: Array::default(),
        host,
        workload,
        precondition: precondition(draw),
        metrics: Metrics {
            interval: draw.chance(0.5).then(|| draw.time(500_000, 1_000_000_000)),
            requests: true,
            worst_window: draw.time(500_000, 1_000_000_000),
            excess_bound: draw.chance(0.5).then(|| draw.time(1, 20_000_000)),
            idle_time: draw.chance(0.5),
            ..Metrics::default()
        },
        stop: Stop::None,
    }
}

fn commands(draw: &mut Draw, geometry: &Geometry, gc: &Gc) -> Commands {
    let planes = geometry.planes_per_die;
    let least = if gc.width == Width::Serial { 1 } else { 2 };
    let group = (least..=planes).filter(|group| planes.is_multiple_of(*group)).collect::<Vec<_>>();
    Commands {
        multi_plane: gc.width != Width::Serial || draw.chance(0.5),
        planes_per_command: draw.chance(0.3).then(|| draw.of(&group)),
        suspend: match draw.chance(0.3) {
            true => Suspend::ProgramErase {
                suspend: draw.time(1, 50_000),
                resume: draw.time(1, 50_000),
                most: draw.small_within(1, 20) as u32,
                program_pulse: None,
                erase_pulse: None,
            },
            false => Suspend::None,
        },
    }
}

fn mapping(draw: &mut Draw, geometry: &Geometry) -> Mapping {
    let data_blocks = draw.within(1, 4) as u32;
    let update_blocks = draw.small_within(1, 8) as u32;
    let superblock = Mapping::Superblock { data_blocks, update_blocks };
    let buffered = Mapping::BufferedLogBlock {
        buffer: FreeBlocks::Blocks { blocks: draw.small_within(1, 6) as u32 },
    };
    let demand_paged = demand_paged(draw, geometry);
    draw.of(&[Mapping::Page, Mapping::Page, Mapping::LogBlock, buffered, superblock, demand_paged])
}

/// A table in flash, of so few pages that a collection gives back more than it takes to update the table
/// for what it has moved. Else collections would call for one another without end.
fn demand_paged(draw: &mut Draw, geometry: &Geometry) -> Mapping {
    let planes = u64::from(geometry.channels * geometry.chips_per_channel)
        * u64::from(geometry.dies_per_chip * geometry.planes_per_die);
    let blocks = planes * u64::from(geometry.blocks_per_plane);
    let pages = blocks * u64::from(geometry.pages_per_block);
    let most = u64::from(geometry.pages_per_block / 8).max(1);
    let entry = (geometry.page_size.0 * draw.within(1, most) / pages).max(1);
    let cached_entry = Size(draw.within(1, 16));
    let cache = Size(cached_entry.0 * draw.small_within(1, 4_000));
    match pages.div_ceil(geometry.page_size.0 / entry) <= 2 * most {
        true => Mapping::DemandPaged {
            cache,
            cached_entry,
            entry: Size(entry),
            unit: copyback::config::CachedUnit::Entry,
            unwritten: Size(0),
        },
        false => Mapping::Page,
    }
}

fn preemption(draw: &mut Draw) -> Preemption {
    if draw.chance(0.4) {
        return Preemption::None;
    }
    if draw.chance(0.3) {
        return Preemption::Partial { steps: draw.small_within(1, 8) as u32 };
    }
    let merge = draw.chance(0.5);
    Preemption::SemiPreemptive {
        poll: draw.time(1, 2000),
        merge,
        reorder: merge && draw.chance(0.5),
        pipeline: draw.chance(0.5),
        pipeline_order: PipelineOrder::CollectionFollows,
        reorder_writes: false,
        high_priority_writes: draw.chance(0.5),
        priority_flows: Vec::new(),
    }
}

/// A merge of a logical block copies pages in the order of their places.
fn in_order_for(mapping: Mapping, mut preemption: Preemption) -> Preemption {
    if let Preemption::SemiPreemptive { reorder, .. } = &mut preemption {
        *reorder &= !mapping.has_log_blocks();
    }
    preemption
}

fn idle(draw: &mut Draw, mapping: Mapping) -> Idle {
    if matches!(mapping, Mapping::BufferedLogBlock { .. }) {
        return Idle::None;
    }
    let entries = draw.small_within(1, 64) as u32;
    let (a, b) = (draw.time(1, 20_000_000), draw.time(1, 20_000_000));
    let short_idle = draw.of(&[Time::default(), a.min(b)]);
    let (long_idle, margin) = (a.max(b), FreeBlocks::Blocks { blocks: draw.within(0, 4) as u32 });
    let advance = InAdvance { entries, short_idle, long_idle, margin: Margin::Free(margin) };
    draw.of(&[
        Idle::None,
        Idle::None,
        Idle::None,
        Idle::Advanced(advance),
        Idle::Delayed { short_idle },
        Idle::AdvancedDelayed(advance),
    ])
}

fn width(draw: &mut Draw, geometry: &Geometry, mapping: Mapping) -> Width {
    if geometry.planes_per_die == 1 {
        return Width::Serial;
    }
    let cache = Size(geometry.page_size.0 * draw.of(&[0, 0, 1, 3, 100]));
    let margin = FreeBlocks::Blocks { blocks: draw.within(0, 5) as u32 };
    let width = draw.of(&[
        Width::Serial,
        Width::Blind { cache },
        Width::Threshold { margin: Margin::Free(margin), cache },
        Width::Threshold { margin: Margin::Free(margin), cache },
        Width::Superblock,
    ]);
    let stripe = geometry.page_size.0 * u64::from(geometry.planes_per_die);
    // Merges are serial.
    let width =
        if !mapping.is_page_mapping() && width.is_parallel() { Width::Serial } else { width };
    if width == Width::Superblock && stripe > 32 << 10 { Width::Serial } else { width }
}

fn geometry(draw: &mut Draw) -> Geometry {
    let page_size = 512 << draw.within(0, 5);
    let fewest = draw.of(&[1, 4, 4, 4, 4, 4]);
    Geometry {
        channels: draw.small_within(1, 3) as u32,
        chips_per_channel: draw.small_within(1, 2) as u32,
        dies_per_chip: draw.small_within(1, 2) as u32,
        planes_per_die: draw.small_within(1, 4) as u32,
        blocks_per_plane: draw.small_within(6, 40) as u32,
        pages_per_block: draw.small_within(fewest, 64) as u32,
        page_size: Size(page_size),
        spare_size: Size(draw.of(&[0, 1, page_size / 32, page_size])),
    }
}

fn gc(draw: &mut Draw, geometry: &Geometry, mapping: Mapping) -> Gc {
    let blocks = geometry.blocks_per_plane;
    let preemption = in_order_for(mapping, preemption(draw));
    let width = width(draw, geometry, mapping);
    // A block that is kept for collections is one more than the host may open.
    let idle = idle(draw, mapping);
    let undisturbed = preemption == Preemption::None && idle == Idle::None;
    let keeps_none = undisturbed && !width.is_parallel() && mapping == Mapping::Page;
    let delays_collections = idle.delays() && mapping.is_page_mapping();
    let soft = match delays_collections {
        true => draw.of(&[3, 3, 4, 5]),
        false => draw.of(&[if keeps_none { 1 } else { 3 }, 2, 2, 2, 3, 3, 4]),
    };
    let soft_threshold = match draw.chance(0.3) {
        true => FreeBlocks::Share(Share(f64::from(soft) / f64::from(blocks))),
        false => FreeBlocks::Blocks { blocks: soft },
    };
    // Collections that may be put off leave the host blocks that it may open meanwhile.
    let most_hard = u64::from(soft) - u64::from(delays_collections);
    let d = draw.small_within(1, 12) as u32;
    let starts = match preemption {
        Preemption::None => &[GcStart::AtOnce, GcStart::BeforeOperation][..],
        Preemption::Partial { .. } => &[GcStart::AtOnce, GcStart::BeforeOperation],
        Preemption::SemiPreemptive { .. }
        | Preemption::Paced { .. }
        | Preemption::Python { .. } => &[GcStart::AtOnce],
    };
    Gc {
        victim: draw.of(&[
            VictimPolicy::Greedy,
            VictimPolicy::Rga { d, within: Within::All },
            VictimPolicy::Random,
            match mapping.is_page_mapping() {
                true => VictimPolicy::RandomPlus,
                false => VictimPolicy::Greedy,
            },
            VictimPolicy::FIFO,
            VictimPolicy::COST_BENEFIT,
        ]),
        preemption,
        unit: copyback::config::GcUnit::Block,
        rotating: false,
        line_erase: Default::default(),
        width,
        idle,
        soft_threshold,
        hard_threshold: FreeBlocks::Blocks { blocks: draw.within(1, most_hard) as u32 },
        threshold_scope: ThresholdScope::Plane,
        threshold_unit: ThresholdUnit::FreeBlocks,
        invalid_threshold: None,
        least_invalid: Share(0.0),
        move_order: copyback::config::MoveOrder::AsWritten,
        start: draw.of(starts),
        end: GcEnd::Enough,
        hysteresis_blocks: draw.of(&[0, 0, 1, 2]),
        copyback: draw.chance(0.5),
        zero_cost: idle == Idle::None && draw.chance(0.25),
    }
}

fn ftl(draw: &mut Draw, geometry: &Geometry, gc: &Gc, mapping: Mapping) -> Ftl {
    let order = draw.of(&AllocationOrder::ALL);
    let plane = draw.of(&[PlaneChoice::MostFree, PlaneChoice::RoundRobin]);
    let transfer = Size(draw.of(&[0, 1, geometry.page_size.0]));
    let placement = draw.of(&[Placement::HostAndGcApart, Placement::OneClass]);
    let summary_page = draw.of(&[SummaryPage::None, SummaryPage::LastPage { transfer }]);
    let allocation = match mapping {
        mapping if mapping.is_page_mapping() => draw.of(&[
            Allocation::Order(order),
            Allocation::Choice(AllocationChoice::Dynamic),
            Allocation::Mixed { order, plane },
        ]),
        _ => Allocation::Order(order),
    };
    Ftl {
        mapping,
        logical_blocks: LogicalBlocks::Striped,
        allocation,
        over_provisioning: over_provisioning(
            draw,
            geometry,
            gc,
            mapping,
            (placement.classes(), summary_page),
        ),
        placement,
        free_blocks: draw.of(&[FreeBlockOrder::Fifo, FreeBlockOrder::LeastWorn]),
        summary_page,
        mapping_unit: None,
        rain: false,
        reads_around_gc: false,
    }
}

/// From hardly enough to plenty.
fn over_provisioning(
    draw: &mut Draw,
    geometry: &Geometry,
    gc: &Gc,
    mapping: Mapping,
    (open, summary_page): (u32, SummaryPage),
) -> Share {
    let blocks = geometry.blocks_per_plane;
    let pages_the_table = matches!(mapping, Mapping::DemandPaged { .. });
    let open = open + u32::from(gc.width.is_parallel()) + u32::from(pages_the_table);
    let soft_threshold = match gc.soft_threshold {
        FreeBlocks::Share(share) => ((share.0 * f64::from(blocks)).ceil() as u32).max(2),
        FreeBlocks::Blocks { blocks } => blocks,
    };
    let buffer = match mapping {
        Mapping::BufferedLogBlock { buffer: FreeBlocks::Blocks { blocks } } => blocks,
        _ => 0,
    };
    let kept = soft_threshold + gc.hysteresis_blocks + open + buffer;
    let usable = f64::from(blocks.saturating_sub(kept)) / f64::from(blocks);
    let pages = f64::from(geometry.pages_per_block);
    let data = if summary_page == SummaryPage::None { pages } else { pages - 1.0 };
    let entries = match mapping {
        Mapping::DemandPaged { entry, .. } => (geometry.page_size.0 / entry.0) as f64,
        _ => f64::INFINITY,
    };
    let least = 1.0 - usable * data / pages / (1.0 + 1.0 / entries);
    let some = draw.share();
    let spare = match pages_the_table {
        // With hardly enough, collections and the updates of the table that they call for leave little
        // time for anything else.
        true => draw.of(&[0.2, 0.2 + 0.5 * some]),
        false => draw.of(&[0.0, 0.001, 0.1 * some, 0.5 * some, -0.01]),
    };
    Share((least + (1.0 - least) * spare).clamp(0.001, 0.999))
}

fn rate(draw: &mut Draw) -> Rate {
    Rate::BytesPerSecond(draw.of(&[1_000_000, 20_000_000, 333_000_000, 333_333_333, 1_200_000_000]))
}

fn timing(draw: &mut Draw, geometry: &Geometry) -> Timing {
    Timing {
        read: latency(draw, geometry, 1_000, 100_000),
        program: latency(draw, geometry, 1_000, 1_000_000),
        erase: draw.time(1_000, 5_000_000),
        command: Time::from_ns(draw.of(&[0, 0, 1, 200, 1_001])),
        transfer_rate: if draw.chance(0.2) { Rate::None } else { rate(draw) },
        register: draw.of(&[Register::Single, Register::Double]),
        bus_arbitration: draw.of(&[
            BusArbitration::CommandFirst,
            BusArbitration::DataFirst,
            BusArbitration::InOrder,
        ]),
    }
}

fn latency(draw: &mut Draw, geometry: &Geometry, least: u64, most: u64) -> PageLatency {
    let types = draw.within(1, u64::from(geometry.pages_per_block.min(4)));
    if draw.chance(0.5) {
        // Round times make events coincide.
        return PageLatency::Uniform(Time::from_us(draw.within(1, most / 1000)));
    }
    PageLatency::ByPageType((0..types).map(|_| draw.time(least, most)).collect())
}

fn buffer(draw: &mut Draw, geometry: &Geometry) -> Buffer {
    let pages = if draw.chance(0.4) { draw.small_within(1, 40) } else { 0 };
    let high = 0.05 + 0.95 * draw.share();
    Buffer {
        capacity: Size(
            pages * geometry.page_size.0 + if pages > 0 { draw.within(0, 511) } else { 0 },
        ),
        eviction: draw.of(&[Eviction::Lru, Eviction::Fifo]),
        high_watermark: Share(if draw.chance(0.2) { 1.0 } else { high }),
        low_watermark: Share(if draw.chance(0.2) { 0.0 } else { high * draw.share() }),
        latency: Time::from_ns(draw.of(&[0, 1, 1_000])),
        throttle: Throttle::None,
    }
}

fn host(draw: &mut Draw) -> Host {
    let interface = draw.of(&[Interface::Ncq, Interface::Tcq, Interface::Nvme]);
    let most = if interface == Interface::Nvme { 4 } else { 1 };
    Host {
        interface,
        queue_depth: draw.chance(0.7).then(|| draw.small_within(1, 32) as u32),
        command_slots: None,
        low_watermark: Share::ALL,
        queues: draw.within(1, most) as u32,
        scheduling: draw.of(&[Scheduling::ReadFirst, Scheduling::InOrder]),
        command_overhead: Time::from_ns(draw.of(&[0, 0, 1, 2_000, 7_001])),
        link_rate: if draw.chance(0.5) { Rate::None } else { rate(draw) },
        link_duplex: draw.of(&[Duplex::Half, Duplex::Full]),
        link_overhead: Time::default(),
    }
}

fn precondition(draw: &mut Draw) -> Precondition {
    let (fill, overwrites) = (draw.share(), 3.0 * draw.share());
    Precondition {
        fill: Share(draw.of(&[1.0, 1.0, 1.0, 0.0, fill])),
        overwrites: draw.of(&[
            Overwrites::Fixed(0.0),
            Overwrites::Fixed(0.5),
            Overwrites::Fixed(1.0),
            Overwrites::Fixed(overwrites),
            Overwrites::UntilSteady {
                round: 0.05 + 0.1 * overwrites,
                window: 2,
                excursion: Limit::Share(Share(0.1)),
                slope: Limit::Share(Share(0.1)),
                deviation: Limit::None,
                most_rounds: 6,
            },
        ]),
        addresses: Overwritten::Uniform,
        valid_pages: ValidPages::AsWritten,
    }
}
