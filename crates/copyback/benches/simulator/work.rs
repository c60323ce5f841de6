//! The pieces of work that are measured, each done a slice at a time.

use copyback::config::quantity::{Rate, Share, Size};
use copyback::config::{
    Array, Config, FreeBlocks, Layout, Loader, Overwrites, Register, RequestSize,
    SyntheticWorkload, Workload,
};
use copyback::ids::SsdId;
use copyback::precondition::Preconditioner;
use copyback::{Phase, Simulation, Status};

use crate::MEMORY;
use crate::floor;
use crate::timed_floor::{self, DoubleRegister, Drive, Prepared, SingleRegister};

/// Blocks of a plane of the device of Lee et al.
const BLOCKS_PER_PLANE: u32 = 2048;
/// With fewer, a plane of some drives has no room beside its open blocks.
const FEWEST_BLOCKS_PER_PLANE: u32 = 60;
/// The drive of today, as it was when the rows were fixed.
const TLC_NVME_64GB: &str = include_str!("tlc-nvme-64gb.toml");
/// Instants or writes in a slice: some tens of milliseconds.
const SLICE: u64 = 1 << 16;
/// Writes of the bare loop in a slice, which are shorter: after each the tables are fetched into the caches anew.
const SLICE_OF_FLOOR: u64 = 4 * SLICE;

/// A piece of work.
pub trait Work {
    /// Does another slice of it. Returns whether there is more.
    fn go_on(&mut self) -> bool;
    /// What has been done so far, some of it perhaps before the first slice.
    fn done(&self) -> Done;
    /// Mean response time of the requests so far, in microseconds, where there is time.
    fn mean_us(&self) -> Option<f64> {
        None
    }
    /// The most memory that it has taken, in bytes a physical page.
    fn bytes_per_page(&self) -> f64;
}

/// Counts of what has been done.
#[derive(Clone, Copy)]
pub struct Done {
    pub page_operations: u64,
    pub host_pages: u64,
}

impl Done {
    /// Writes for which so many pages were moved, each read and programmed.
    const fn writes(host_pages: u64, moved: u64) -> Self {
        Self { page_operations: host_pages + 2 * moved, host_pages }
    }
}

/// How large the devices are and how long the work, against what the rows are made for.
#[derive(Debug, Clone, Copy)]
pub struct Extent {
    pub times_blocks: u32,
    pub blocks_divided_by: u32,
    /// Of the drives with large blocks, which would be filled for long before they collect.
    pub pages_divided_by: u32,
    pub work_divided_by: u64,
    pub work_times: u64,
}

impl Extent {
    fn blocks(self, blocks: u32) -> u32 {
        (blocks / self.blocks_divided_by).max(FEWEST_BLOCKS_PER_PLANE) * self.times_blocks
    }

    fn work(self, requests: u64) -> u64 {
        requests * self.work_times / self.work_divided_by
    }
}

/// Prepares a piece of work.
type Begin = fn(Extent) -> Box<dyn Work>;

/// A piece of work that is held against the floor.
pub struct Row {
    pub name: &'static str,
    pub begin: Begin,
    /// The floor with time that does the same, for those that have one.
    pub timed_floor: Option<Begin>,
}

impl Row {
    const fn new(name: &'static str, begin: Begin) -> Self {
        Self { name, begin, timed_floor: None }
    }

    const fn beside(self, timed_floor: Begin) -> Self {
        Self { timed_floor: Some(timed_floor), ..self }
    }
}

/// The pieces of work.
pub const ROWS: [Row; 18] = [
    Row::new("floor", |extent| Box::new(Floor::of_length(extent, 8_000_000))),
    Row::new("precondition", |extent| Box::new(Overwriting::new(extent))),
    Row::new("heavy-gc", |extent| Box::new(Simulating::new(&config(extent, 4_000_000, 0.0))))
        .beside(|extent| lee_floor(extent, 0.0)),
    Row::new("reads", |extent| Box::new(Simulating::new(&config(extent, 4_000_000, 1.0))))
        .beside(|extent| lee_floor(extent, 1.0)),
    Row::new("read-mostly", |extent| Box::new(Simulating::new(&config(extent, 8_000_000, 0.95))))
        .beside(|extent| lee_floor(extent, 0.95)),
    Row::new("mixed", |extent| Box::new(Simulating::new(&config(extent, 4_000_000, 0.5))))
        .beside(|extent| lee_floor(extent, 0.5)),
    Row::new("array", |extent| Box::new(Simulating::new(&array(extent, 4_000_000, 0.0)))),
    Row::new("tlc-writes", |extent| named("", extent, 2_000_000, 0.0)),
    Row::new("tlc-reads", |extent| named("", extent, 4_000_000, 1.0))
        .beside(|extent| tlc_floor(extent, 1, 1.0)),
    Row::new("over-channel", |extent| Box::new(Simulating::new(&over_channel(extent, 2_000_000)))),
    Row::new("two-registers", |extent| {
        Box::new(Simulating::new(&two_registers(extent, 2_000_000)))
    }),
    Row::new("semi-preemptive", |extent| named(SEMI_PREEMPTIVE, extent, 2_000_000, 0.5)),
    Row::new("raid-5", |extent| named(RAID_5, extent, 500_000, 0.5)),
    Row::new("raid-0", |extent| named(RAID_0, extent, 1_000_000, 0.5))
        .beside(|extent| tlc_floor(extent, 8, 0.5)),
    Row::new("one-for-eight", |extent| named(ONE_FOR_EIGHT, extent, 1_000_000, 0.5)),
    Row::new("demand-paged", |extent| named(DEMAND_PAGED, extent, 1_000_000, 0.5)),
    Row::new("buffered", |extent| measured(extent, 1_000_000, 0.0)),
    // Random writes have it move a thousand pages for each.
    Row::new("log-block", |extent| named(LOG_BLOCK, extent, 20_000, 0.5)),
];

/// What users run on that drive, each beyond the shortcuts that serve the rows above. An array is held against one
/// drive of its capacity.
const SEMI_PREEMPTIVE: &str = r#"ssd.gc.preemption = { type = "semi_preemptive" }"#;
const RAID_5: &str = r#"array = { layout = "raid5", devices = 8, stripe = "64KiB" }"#;
const RAID_0: &str = r#"array = { layout = "raid0", devices = 8, stripe = "64KiB" }"#;
const ONE_FOR_EIGHT: &str = "ssd.geometry.blocks_per_plane = 480";
const DEMAND_PAGED: &str = r#"ssd.ftl.mapping = "demand_paged""#;
const LOG_BLOCK: &str = r#"
ssd.ftl.mapping = "log_block"
ssd.ftl.allocation = "CWDP"
"#;

/// A measured drive: it has a write buffer, maps 4 KiB, suspends programs, and collects lines at a pace.
const MEASURED: &str = r#"preset = "intel-s4500""#;

/// The bare loop.
pub struct Floor {
    device: floor::Device,
    writes: u64,
    /// As long as others need it, if it has none.
    length: Option<u64>,
}

impl Floor {
    /// A device that has been filled and overwritten once.
    pub fn new(extent: Extent) -> Self {
        let mut device = floor::Device::new(64 * extent.blocks(BLOCKS_PER_PLANE), 0.85);
        device.fill_and_age();
        Self { device, writes: 0, length: None }
    }

    fn of_length(extent: Extent, writes: u64) -> Self {
        Self { length: Some(extent.work(writes)), ..Self::new(extent) }
    }
}

impl Work for Floor {
    fn go_on(&mut self) -> bool {
        let left = self.length.map_or(SLICE_OF_FLOOR, |length| length - self.writes);
        self.device.overwrite(left.min(SLICE_OF_FLOOR));
        self.writes += left.min(SLICE_OF_FLOOR);
        self.length.is_none_or(|length| self.writes < length)
    }

    fn done(&self) -> Done {
        Done::writes(self.writes, self.device.moved)
    }

    fn bytes_per_page(&self) -> f64 {
        self.device.bytes_per_page()
    }
}

/// The floor with time, as long as others need it.
struct TimedFloor<D> {
    drives: timed_floor::TimedFloor<D>,
    bytes_per_page: f64,
}

/// Requests of it in a slice.
const SLICE_OF_TIMED_FLOOR: u64 = 2 * SLICE;

impl<D: Drive + 'static> TimedFloor<D> {
    fn boxed(drives: u32, prepared: Prepared, read_share: f64) -> Box<dyn Work> {
        let before = MEMORY.current_usage();
        let made = timed_floor::TimedFloor::new(drives, prepared, read_share);
        let bytes = MEMORY.current_usage() - before;
        Box::new(Self { bytes_per_page: bytes as f64 / made.physical_pages() as f64, drives: made })
    }
}

impl<D: Drive> Work for TimedFloor<D> {
    fn go_on(&mut self) -> bool {
        self.drives.go_on(SLICE_OF_TIMED_FLOOR);
        true
    }

    fn done(&self) -> Done {
        Done::writes(self.drives.ended(), self.drives.moved())
    }

    fn mean_us(&self) -> Option<f64> {
        Some(self.drives.mean_us())
    }

    fn bytes_per_page(&self) -> f64 {
        self.bytes_per_page
    }
}

fn lee_floor(extent: Extent, read_share: f64) -> Box<dyn Work> {
    let blocks_per_plane = extent.blocks(BLOCKS_PER_PLANE);
    let prepared = Prepared { blocks_per_plane, pages_per_block: 64, overwrites: 1.0 };
    TimedFloor::<SingleRegister>::boxed(1, prepared, read_share)
}

fn tlc_floor(extent: Extent, drives: u32, read_share: f64) -> Box<dyn Work> {
    let blocks_per_plane = extent.blocks(60);
    let pages_per_block = 1152 / extent.pages_divided_by;
    let prepared = Prepared { blocks_per_plane, pages_per_block, overwrites: 0.3 };
    TimedFloor::<DoubleRegister>::boxed(drives, prepared, read_share)
}

/// Memory from some moment on.
struct Peak {
    before: usize,
    pages: f64,
}

impl Peak {
    fn of(config: &Config) -> Self {
        MEMORY.reset_peak_usage();
        let geometry = &config.ssd.geometry;
        let dies = geometry.channels * geometry.chips_per_channel * geometry.dies_per_chip;
        let pages =
            dies * geometry.planes_per_die * geometry.blocks_per_plane * geometry.pages_per_block;
        let before = MEMORY.current_usage();
        Self { before, pages: f64::from(config.array.devices) * f64::from(pages) }
    }

    fn bytes_per_page(&self) -> f64 {
        (MEMORY.peak_usage() - self.before) as f64 / self.pages
    }
}

/// Random overwrites without time, after the device has been filled and overwritten once.
struct Overwriting {
    device: Preconditioner,
    writes: u64,
    goal: u64,
    peak: Peak,
}

impl Overwriting {
    fn new(extent: Extent) -> Self {
        let mut config = config(extent, 1, 0.0);
        config.precondition.overwrites = Overwrites::Fixed(3.0);
        let peak = Peak::of(&config);
        let config = config.resolve();
        let mut device = Preconditioner::new(&config, SsdId(0));
        device.advance(2 * config.drive.capacity.logical_pages);
        Self { device, writes: 0, goal: extent.work(8_000_000), peak }
    }
}

impl Work for Overwriting {
    fn go_on(&mut self) -> bool {
        let writes = SLICE.min(self.goal - self.writes);
        self.device.advance(writes);
        self.writes += writes;
        self.writes < self.goal
    }

    fn done(&self) -> Done {
        Done::writes(self.writes, self.device.tally().pages_moved)
    }

    fn bytes_per_page(&self) -> f64 {
        self.peak.bytes_per_page()
    }
}

/// The measured part of a simulation.
struct Simulating {
    simulation: Simulation,
    peak: Peak,
}

impl Simulating {
    /// A simulation that has been prepared.
    fn new(config: &Config) -> Self {
        let peak = Peak::of(config);
        let mut simulation = Simulation::new(config, None).expect("a synthetic workload opens");
        while simulation.progress().phase == Phase::Precondition {
            simulation.advance(SLICE).expect("the configuration is sound");
        }
        Self { simulation, peak }
    }
}

impl Work for Simulating {
    fn go_on(&mut self) -> bool {
        let status = self.simulation.advance(SLICE).expect("the configuration is sound");
        status == Status::Running
    }

    fn done(&self) -> Done {
        let progress = self.simulation.progress();
        Done { page_operations: progress.page_operations, host_pages: progress.requests }
    }

    fn mean_us(&self) -> Option<f64> {
        let summary = serde_json::to_value(self.simulation.summary()?).ok()?;
        summary["response_us"]["all"]["mean"].as_f64()
    }

    fn bytes_per_page(&self) -> f64 {
        self.peak.bytes_per_page()
    }
}

fn config(extent: Extent, requests: u64, read_share: f64) -> Config {
    let mut config = Config::default();
    let geometry = &mut config.ssd.geometry;
    geometry.channels = 8;
    geometry.chips_per_channel = 1;
    geometry.dies_per_chip = 1;
    geometry.planes_per_die = 8;
    geometry.blocks_per_plane = extent.blocks(BLOCKS_PER_PLANE);
    config.ssd.timing.transfer_rate = Rate::BytesPerSecond(40_000_000);
    config.ssd.ftl.over_provisioning = Share(0.15);
    config.ssd.gc.soft_threshold = FreeBlocks::Blocks { blocks: 3 };
    config.precondition.fill = Share(1.0);
    config.precondition.overwrites = Overwrites::Fixed(1.0);
    config.workload = random_4k(requests, read_share, extent, 32);
    config
}

/// The measured part of a simulation of the drive of today, with what `toml` changes of it.
fn named(toml: &str, extent: Extent, requests: u64, read_share: f64) -> Box<dyn Work> {
    let loader = Loader::new().toml(TLC_NVME_64GB, "tlc-nvme-64gb.toml", None);
    let mut config = loader.toml(toml, "bench", None).load().expect("the drive is sound");
    let geometry = &mut config.ssd.geometry;
    geometry.pages_per_block /= extent.pages_divided_by;
    geometry.blocks_per_plane = extent.blocks(geometry.blocks_per_plane);
    config.precondition.overwrites = Overwrites::Fixed(0.3);
    config.workload = random_4k(requests, read_share, extent, 32);
    Box::new(Simulating::new(&config))
}

/// The measured part of a simulation of the measured drive.
fn measured(extent: Extent, requests: u64, read_share: f64) -> Box<dyn Work> {
    let mut config = Loader::new().toml(MEASURED, "bench", None).load().expect("it is sound");
    let geometry = &mut config.ssd.geometry;
    geometry.blocks_per_plane = extent.blocks(geometry.blocks_per_plane);
    config.workload = random_4k(requests, read_share, extent, 32);
    Box::new(Simulating::new(&config))
}

/// The device of Lee et al., whose collections move pages out over the channel and back.
fn over_channel(extent: Extent, requests: u64) -> Config {
    let mut config = config(extent, requests, 0.0);
    config.ssd.gc.copyback = false;
    config
}

/// As many planes, four dies to a channel that have two registers each, and requests enough that all of them
/// collect.
fn two_registers(extent: Extent, requests: u64) -> Config {
    let mut config = over_channel(extent, requests);
    config.ssd.geometry.chips_per_channel = 4;
    config.ssd.geometry.planes_per_die = 2;
    config.ssd.timing.register = Register::Double;
    config.workload = random_4k(requests, 0.0, extent, 128);
    config
}

fn array(extent: Extent, requests: u64, read_share: f64) -> Config {
    let array = Array { layout: Layout::Raid0, devices: 8, stripe: Size(4096), ..Array::default() };
    let workload = random_4k(requests, read_share, extent, 256);
    Config { array, workload, ..config(extent, requests, read_share) }
}

fn random_4k(requests: u64, read_share: f64, extent: Extent, iodepth: u32) -> Workload {
    // A piece of work that is prepared without time wants no request.
    let requests = extent.work(requests).max(1);
    Workload::Synthetic(SyntheticWorkload {
        requests: requests.into(),
        request_size: RequestSize::Fixed(Size(4096)),
        read_share: Share(read_share),
        sequential_share: Share(0.0),
        inter_arrival: None,
        iodepth: Some(iodepth),
        ..SyntheticWorkload::default()
    })
}
