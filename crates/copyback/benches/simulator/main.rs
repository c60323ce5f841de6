//! How fast the simulator is, against a bare loop that does only what no page-mapped simulator can
//! leave out, and for some rows against a drive that does only what no simulator of time can.
//!
//! `cargo bench --bench simulator` prints the table; `-- NAME` picks rows, `-- =NAME` one, `-- --list` names them, and
//! `-- --base` leaves the larger devices out. `-- --quick` makes the work ten times shorter, and `-- --small` makes devices 32
//! times smaller (blocks with many pages shorter, too) and the work 40 times shorter, for who counts instructions; `--times=8`
//! beside it has these drives grow by blocks, and `--length=4` the work. Everything is measured on one thread, in CPU time.
//! Each piece of work takes turns with the floors, some tens of milliseconds each, so that the ratio holds even on a machine
//! whose speed changes from one second to the next; `-- --alone` leaves the floors out, and the ratios.
//!
//! The device is that of Lee et al. (ISPASS 2011): 32 GiB, 8 channels of one die of 8 planes,
//! 64-page blocks of 4 KiB pages, 85% utilised, bus on. `x8` has eight times the blocks. `array` is RAID-0 of eight such
//! devices, to be held against `heavy-gc`, what one does alone. `floor` is the loop itself. `over-channel` is the device without
//! copyback, and `two-registers` has its planes on four dies a channel with two registers each. The others are of the
//! drive `tlc-nvme-64gb`, filled and overwritten by 0.3 of its size; `one-for-eight` has eight times its blocks, to be held
//! against the arrays of eight. `buffered` is the preset `intel-s4500`.

mod callgrind;
mod floor;
mod timed_floor;
mod work;

use std::time::Duration;

use cpu_time::ProcessTime;
use peak_alloc::PeakAlloc;

use work::{Done, Extent, Floor, ROWS, Row, Work};

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The works that are done on larger devices, too. Eight devices of eight times the size would only fill the
/// memory.
const SCALED: [&str; 3] = ["precondition", "heavy-gc", "read-mostly"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let number = |flag: &str| {
        let given = arguments.iter().find_map(|argument| argument.strip_prefix(flag));
        given.map_or(1, |given| given.parse().expect("a whole number"))
    };
    let extents = match (has("--small"), has("--quick")) {
        (true, _) => vec![small(number("--times="), number("--length="))],
        (_, quick) if has("--base") => vec![whole(1, quick)],
        (_, quick) => [1, 8].map(|times| whole(times, quick)).to_vec(),
    };
    if has("--list") {
        return ROWS.iter().for_each(|row| println!("{}", row.name));
    }
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    let is_meant = |name: &str| {
        filter.is_none_or(|filter| match filter.strip_prefix('=') {
            Some(whole) => name == whole,
            None => name.contains(filter.as_str()),
        })
    };
    println!(
        "{:<16} {:>11} {:>14} {:>12} {:>11} {:>8} {:>11} {:>8} {:>9} {:>9} {:>7}",
        "work",
        "page ops",
        "page ops/CPU s",
        "ns/host page",
        "floor's ns",
        "ratio",
        "timed floor",
        "ratio",
        "mean us",
        "its us",
        "B/page"
    );
    for extent in extents {
        let mut floor = (!has("--alone")).then(|| Floor::new(extent));
        for row in &ROWS {
            let fits = extent.times_blocks == 1 || has("--small") || SCALED.contains(&row.name);
            if fits && is_meant(row.name) {
                let timed_floor = row.timed_floor.filter(|_| floor.is_some());
                let mut timed_floor = timed_floor.map(|begin| begin(extent));
                let mut work = (row.begin)(extent);
                callgrind::start();
                let mut work = Timed::new(&mut *work);
                let mut floor = floor.as_mut().map(|floor| Timed::new(floor));
                let mut timed_floor = timed_floor.as_mut().map(|floor| Timed::new(&mut **floor));
                let mut is_running = true;
                while is_running {
                    is_running = work.go_on();
                    floor.as_mut().map(Timed::go_on);
                    timed_floor.as_mut().map(Timed::go_on);
                }
                print_row(row, extent.times_blocks, &work, [floor.as_ref(), timed_floor.as_ref()]);
            }
        }
    }
}

/// Small drives, so many times as large as the smallest, and work so many times as long as the shortest.
fn small(times_blocks: u32, length: u32) -> Extent {
    let work_divided_by = 40;
    let work_times = length.into();
    Extent { times_blocks, blocks_divided_by: 32, pages_divided_by: 8, work_divided_by, work_times }
}

fn whole(times_blocks: u32, quick: bool) -> Extent {
    let work_divided_by = if quick { 10 } else { 1 };
    Extent {
        times_blocks,
        blocks_divided_by: 1,
        pages_divided_by: 1,
        work_divided_by,
        work_times: 1,
    }
}

/// Work and the CPU time that it has taken.
struct Timed<'a> {
    work: &'a mut dyn Work,
    cpu: Duration,
    before: Done,
}

impl<'a> Timed<'a> {
    fn new(work: &'a mut dyn Work) -> Self {
        Self { before: work.done(), work, cpu: Duration::ZERO }
    }

    fn go_on(&mut self) -> bool {
        let start = ProcessTime::now();
        let is_running = self.work.go_on();
        self.cpu += start.elapsed();
        is_running
    }

    fn page_operations(&self) -> u64 {
        self.work.done().page_operations - self.before.page_operations
    }

    fn ns_per_host_page(&self) -> f64 {
        let pages = self.work.done().host_pages - self.before.host_pages;
        self.cpu.as_nanos() as f64 / pages as f64
    }
}

/// Prints a row, and beside it each of the floors that it was held against.
fn print_row(row: &Row, scale: u32, work: &Timed<'_>, floors: [Option<&Timed<'_>>; 2]) {
    let scale = if scale == 1 { String::new() } else { format!(" x{scale}") };
    let ns = work.ns_per_host_page();
    let beside = floors.map(|floor| match floor.map(Timed::ns_per_host_page) {
        Some(floor_ns) => format!("{floor_ns:>11.1} {:>8}", format!("{:.2}x", ns / floor_ns)),
        None => format!("{:>11} {:>8}", "-", "-"),
    });
    println!(
        "{:<16} {:>11} {:>14.0} {ns:>12.1} {} {} {} {} {:>7.2}",
        format!("{}{scale}", row.name),
        work.page_operations(),
        work.page_operations() as f64 / work.cpu.as_secs_f64(),
        beside[0],
        beside[1],
        mean(Some(work)),
        mean(floors[1]),
        work.work.bytes_per_page(),
    );
}

/// The mean response time of what is measured, or a dash.
fn mean(of: Option<&Timed<'_>>) -> String {
    match of.and_then(|timed| timed.work.mean_us()) {
        Some(mean) => format!("{mean:>9.1}"),
        None => format!("{:>9}", "-"),
    }
}
