//! How fast the simulator is, against a bare loop that does only what no page-mapped simulator can
//! leave out.
//!
//! `cargo bench --bench simulator` prints the table; `-- NAME` picks rows and `-- --quick` makes the
//! work ten times shorter. Everything is measured in one run on one thread, in CPU time, so that
//! the ratios hold even on a noisy machine.
//!
//! The device is that of Lee et al. (ISPASS 2011): 32 GiB, 8 channels of one die of 8 planes,
//! 64-page blocks of 4 KiB pages, 85% utilised, bus on. `x8` has eight times the blocks. `array` is
//! RAID-0 of eight such devices, to be held against `heavy-gc`, what one does alone.

mod floor;

use std::time::Duration;

use copyback::config::quantity::{Rate, Share, Size};
use copyback::config::{
    Array, Config, FreeBlocks, Layout, Overwrites, SyntheticWorkload, Workload,
};
use copyback::ids::SsdId;
use copyback::precondition::Preconditioner;
use copyback::{Phase, Simulation, Status};
use cpu_time::ProcessTime;
use peak_alloc::PeakAlloc;

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Instants or writes between looks at the state of the work.
const BUDGET: u64 = 1 << 16;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let divisor = if arguments.iter().any(|argument| argument == "--quick") { 10 } else { 1 };
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    println!(
        "{:<20} {:>12} {:>13} {:>13} {:>9} {:>8}",
        "work", "page ops", "page ops/CPU s", "ns/host page", "vs floor", "B/page"
    );
    for scale in [1, 8] {
        let floor = floor_loop(scale, divisor);
        let floor_ns = floor.ns_per_host_page();
        print_row("floor", scale, &floor, floor_ns);
        for (name, work) in WORKS {
            // Eight devices of eight times the size would only fill the memory.
            let fits = name != "array" || scale == 1;
            if fits && filter.is_none_or(|filter| name.contains(filter.as_str())) {
                print_row(name, scale, &work(scale, divisor), floor_ns);
            }
        }
    }
}

/// Takes the scale of the device and a divisor of the work.
type Work = fn(u32, u64) -> Measured;

const WORKS: [(&str, Work); 4] = [
    ("precondition", preconditioning),
    ("heavy-gc", heavy_gc),
    ("read-mostly", read_mostly),
    ("array", array),
];

/// What a piece of work took.
struct Measured {
    page_operations: u64,
    host_pages: u64,
    cpu: Duration,
    bytes_per_page: f64,
}

impl Measured {
    fn ns_per_host_page(&self) -> f64 {
        self.cpu.as_nanos() as f64 / self.host_pages as f64
    }
}

fn print_row(name: &str, scale: u32, measured: &Measured, floor_ns: f64) {
    let scale = if scale == 1 { String::new() } else { format!(" x{scale}") };
    let per_second = measured.page_operations as f64 / measured.cpu.as_secs_f64();
    let ns = measured.ns_per_host_page();
    println!(
        "{:<20} {:>12} {per_second:>13.0} {ns:>13.1} {:>8.2}x {:>8.2}",
        format!("{name}{scale}"),
        measured.page_operations,
        ns / floor_ns,
        measured.bytes_per_page,
    );
}

fn config(scale: u32, workload: SyntheticWorkload) -> Config {
    let mut config = Config::default();
    let geometry = &mut config.ssd.geometry;
    geometry.channels = 8;
    geometry.chips_per_channel = 1;
    geometry.dies_per_chip = 1;
    geometry.planes_per_die = 8;
    geometry.blocks_per_plane = 2048 * scale;
    config.ssd.timing.transfer_rate = Rate::BytesPerSecond(40_000_000);
    config.ssd.ftl.over_provisioning = Share(0.15);
    config.ssd.gc.soft_threshold = FreeBlocks::Blocks { blocks: 3 };
    config.precondition.fill = Share(1.0);
    config.precondition.overwrites = Overwrites::Fixed(1.0);
    config.workload = Workload::Synthetic(workload);
    config
}

fn random_4k(requests: u64, read_share: f64) -> SyntheticWorkload {
    SyntheticWorkload {
        requests: requests.into(),
        request_size: copyback::config::RequestSize::Fixed(Size(4096)),
        read_share: Share(read_share),
        sequential_share: Share(0.0),
        inter_arrival: None,
        iodepth: Some(32),
        ..SyntheticWorkload::default()
    }
}

fn pages(config: &Config) -> f64 {
    let drives = f64::from(config.array.devices);
    drives
        * f64::from(64 * config.ssd.geometry.blocks_per_plane * config.ssd.geometry.pages_per_block)
}

fn floor_loop(scale: u32, divisor: u64) -> Measured {
    let mut device = floor::Device::new(64 * 2048 * scale, 0.85);
    device.fill_and_age();
    let writes = 8_000_000 / divisor;
    let before = device.moved;
    let start = ProcessTime::now();
    device.overwrite(writes);
    let cpu = start.elapsed();
    let page_operations = writes + 2 * (device.moved - before);
    let bytes_per_page = device.bytes_per_page();
    Measured { page_operations, host_pages: writes, cpu, bytes_per_page }
}

/// Random overwrites after the device has been filled and overwritten once.
fn preconditioning(scale: u32, divisor: u64) -> Measured {
    let mut config = config(scale, random_4k(1, 0.0));
    config.precondition.overwrites = Overwrites::Fixed(3.0);
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let mut device = Preconditioner::new(&config, SsdId(0));
    device.advance(2 * config.logical_pages());
    let moved = device.tally().pages_moved;
    let writes = 8_000_000 / divisor;
    let start = ProcessTime::now();
    device.advance(writes);
    let cpu = start.elapsed();
    Measured {
        page_operations: writes + 2 * (device.tally().pages_moved - moved),
        host_pages: writes,
        cpu,
        bytes_per_page: (MEMORY.peak_usage() - before) as f64 / pages(&config),
    }
}

fn heavy_gc(scale: u32, divisor: u64) -> Measured {
    run(&config(scale, random_4k(4_000_000 / divisor, 0.0)))
}

fn read_mostly(scale: u32, divisor: u64) -> Measured {
    run(&config(scale, random_4k(8_000_000 / divisor, 0.95)))
}

fn array(scale: u32, divisor: u64) -> Measured {
    let requests = SyntheticWorkload { iodepth: Some(256), ..random_4k(4_000_000 / divisor, 0.0) };
    let array = Array { layout: Layout::Raid0, devices: 8, stripe: Size(4096), ..Array::default() };
    run(&Config { array, ..config(scale, requests) })
}

/// Times the measured part of a simulation.
fn run(config: &Config) -> Measured {
    MEMORY.reset_peak_usage();
    let before = MEMORY.current_usage();
    let mut simulation = Simulation::new(config, None).expect("a synthetic workload opens");
    while simulation.progress().phase == Phase::Precondition {
        simulation.advance(BUDGET).expect("the configuration is sound");
    }
    let start = ProcessTime::now();
    while simulation.advance(BUDGET).expect("the configuration is sound") == Status::Running {}
    let cpu = start.elapsed();
    let progress = simulation.progress();
    Measured {
        page_operations: progress.page_operations,
        host_pages: progress.requests,
        cpu,
        bytes_per_page: (MEMORY.peak_usage() - before) as f64 / pages(config),
    }
}
