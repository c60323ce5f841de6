//! The floor with time: a drive, or RAID-0 of several, that does only what no simulator of time can leave out.
//!
//! A closed loop of requests of 4 KiB; dies, planes, channels, registers; a page map with greedy victims; exact sums of
//! latencies and of waits by cause, a histogram. No configuration, no policies, no choice that is made at run time: what a
//! drive does is written down for it. Requests are drawn ahead, so that the entries of the map that they need are in the
//! cache when they come.

mod double;
mod events;
mod pages;
mod requests;
mod single;
mod statistics;

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub use double::DoubleRegister;
use events::Events;
use pages::Pages;
use requests::{Id, Kind, NOBODY, Parts, Requests};
pub use single::SingleRegister;
use statistics::Statistics;

/// Requests that are under way.
const IODEPTH: u16 = 32;
/// Units of 4 KiB in a chunk of an array.
const UNITS_OF_CHUNK: u32 = 16;
/// Requests that are drawn ahead, and those of them whose old pages are not fetched yet.
const AHEAD: usize = 16;
const MAP_ONLY: usize = 8;

/// How drives are prepared: filled in order, then overwritten at random.
#[derive(Clone, Copy)]
pub struct Prepared {
    pub blocks_per_plane: u32,
    pub pages_per_block: u32,
    /// Share of the logical pages that are overwritten.
    pub overwrites: f64,
}

impl Prepared {
    /// Logical pages of a drive of so many planes: 85%, as many for each plane.
    fn logical_pages(self, planes: u32) -> u32 {
        let pages = planes * self.blocks_per_plane * self.pages_per_block;
        let used = (f64::from(pages) * 0.85) as u32;
        used - used % planes
    }

    /// Fills and overwrites. `plane_of` gives the plane for the n-th write, of a page.
    fn fill(self, pages: &mut Pages, plane_of: impl Fn(u32, u32) -> u32) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let logical = pages.logical_pages();
        let more = (f64::from(logical) * self.overwrites) as u32;
        for written in 0..logical + more {
            let lpn = if written < logical { written } else { below(&mut random, logical) };
            let plane = plane_of(written, lpn);
            pages.write(plane, lpn);
            while pages.is_short(plane) {
                pages.collect(plane);
            }
        }
        pages.moved = 0;
    }
}

/// A drive of the floor.
pub trait Drive {
    /// Sources of its events.
    const SOURCES: usize;
    /// Units of 4 KiB in a page.
    const UNITS_PER_PAGE: u32;

    /// A prepared drive, the sources of whose events begin at `first_source`.
    fn new(prepared: Prepared, first_source: usize) -> Self;
    fn pages(&self) -> &Pages;
    /// Takes a request, which arrives now.
    fn submit(&mut self, id: Id, world: &mut World);
    /// Does what the event of one of its sources ends.
    fn happen(&mut self, source: usize, world: &mut World);
    /// Begins what can begin, once all events of an instant have happened.
    fn settle(&mut self, world: &mut World);
}

/// State that the drives share: clock, requests, events.
pub struct World {
    now: u64,
    requests: Requests,
    events: Events,
    /// Requests that end at this instant.
    finished: Vec<Id>,
}

impl World {
    #[inline]
    fn finish(&mut self, id: Id) {
        self.finished.push(id);
    }

    #[inline]
    fn finish_all(&mut self, mut chain: Id) {
        while chain != NOBODY {
            self.finish(chain);
            chain = self.requests[chain].next;
        }
    }
}

/// A request that is drawn.
#[derive(Clone, Copy)]
struct Drawn {
    lpn: u32,
    drive: u16,
    kind: Kind,
}

/// Requests at random, some of them drawn ahead.
struct Draws {
    random: Xoshiro256PlusPlus,
    units: u32,
    drives: u32,
    /// Of 2^32 draws, those that are reads.
    reads: u64,
    ring: [Drawn; AHEAD],
    taken: usize,
}

impl Draws {
    fn new<D: Drive>(drives: &[D], read_share: f64) -> Self {
        let units = drives[0].pages().logical_pages() * D::UNITS_PER_PAGE * drives.len() as u32;
        let reads = (read_share * (1_u64 << 32) as f64) as u64;
        let random = Xoshiro256PlusPlus::seed_from_u64(2);
        let nothing = Drawn { lpn: 0, drive: 0, kind: Kind::Read };
        let count = drives.len() as u32;
        let mut draws =
            Self { random, units, drives: count, reads, ring: [nothing; AHEAD], taken: 0 };
        for slot in 0..AHEAD {
            draws.ring[slot] = draws.draw(drives);
        }
        draws
    }

    /// Takes the next request and draws another one.
    #[inline]
    fn next<D: Drive>(&mut self, drives: &[D]) -> Drawn {
        let slot = self.taken % AHEAD;
        let next = self.ring[slot];
        self.ring[slot] = self.draw(drives);
        let soon = self.ring[(slot + MAP_ONLY) % AHEAD];
        if soon.kind == Kind::Write {
            drives[usize::from(soon.drive)].pages().fetch_old(soon.lpn);
        }
        self.taken += 1;
        next
    }

    #[inline]
    fn draw<D: Drive>(&mut self, drives: &[D]) -> Drawn {
        let mut unit = below(&mut self.random, self.units);
        let mut drive = 0;
        if self.drives > 1 {
            let chunk = unit / UNITS_OF_CHUNK;
            drive = chunk % self.drives;
            unit = chunk / self.drives * UNITS_OF_CHUNK + unit % UNITS_OF_CHUNK;
        }
        let lpn = unit / D::UNITS_PER_PAGE;
        let is_read = u64::from(self.random.next_u32()) < self.reads;
        drives[drive as usize].pages().fetch(lpn);
        let kind = if is_read { Kind::Read } else { Kind::Write };
        Drawn { lpn, drive: drive as u16, kind }
    }
}

/// Draws a number below `limit`: by a product of 32 bits, not to the last bit alike.
#[inline]
fn below(random: &mut Xoshiro256PlusPlus, limit: u32) -> u32 {
    ((u64::from(random.next_u32()) * u64::from(limit)) >> 32) as u32
}

/// The positions of the bits that are set in `mask`.
#[inline]
fn bits(mut mask: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let bit = mask.trailing_zeros();
            mask &= mask - 1;
            bit
        })
    })
}

/// The closed loop over drives of one kind.
pub struct TimedFloor<D> {
    drives: Vec<D>,
    world: World,
    draws: Draws,
    /// Of reads, and of writes.
    statistics: [Statistics; 2],
    /// Drives to which something has happened at this instant, a bit each.
    touched: u64,
}

impl<D: Drive> TimedFloor<D> {
    /// Creates `count` drives that are prepared alike, with their first requests under way.
    pub fn new(count: u32, prepared: Prepared, read_share: f64) -> Self {
        assert!(count <= u64::BITS, "a mask holds no more drives");
        let create = |index| D::new(prepared, index as usize * D::SOURCES);
        let drives: Vec<D> = (0..count).map(create).collect();
        let world = World {
            now: 0,
            requests: Requests::new(),
            events: Events::new(count as usize * D::SOURCES),
            finished: Vec::with_capacity(usize::from(IODEPTH)),
        };
        let draws = Draws::new(&drives, read_share);
        let statistics = [Statistics::new(), Statistics::new()];
        let mut floor = Self { drives, world, draws, statistics, touched: 0 };
        Requests::ids(IODEPTH).for_each(|id| floor.submit(id));
        floor.settle();
        floor
    }

    /// Requests that have ended.
    pub fn ended(&self) -> u64 {
        self.statistics.iter().map(|of_kind| of_kind.count).sum()
    }

    /// Their mean latency in microseconds.
    pub fn mean_us(&self) -> f64 {
        let sum: u64 = self.statistics.iter().map(|of_kind| of_kind.sum).sum();
        sum as f64 / self.ended() as f64 / 1e3
    }

    /// Pages that collections have moved.
    pub fn moved(&self) -> u64 {
        self.drives.iter().map(|drive| drive.pages().moved).sum()
    }

    /// Physical pages of all drives.
    pub fn physical_pages(&self) -> usize {
        self.drives.iter().map(|drive| drive.pages().physical_pages()).sum()
    }

    /// Goes on until so many more requests have ended.
    pub fn go_on(&mut self, requests: u64) {
        let goal = self.ended() + requests;
        while self.ended() < goal {
            let mut event = self.world.events.first();
            self.world.now = event.at;
            while event.at == self.world.now {
                let (drive, source) = (event.source / D::SOURCES, event.source % D::SOURCES);
                self.drives[drive].happen(source, &mut self.world);
                self.touched |= 1 << drive;
                self.end_and_submit();
                event = self.world.events.first();
            }
            self.settle();
        }
    }

    /// Counts the requests that have ended, and submits another one in the place of each.
    #[inline]
    fn end_and_submit(&mut self) {
        while let Some(id) = self.world.finished.pop() {
            let request = &self.world.requests[id];
            let statistics = &mut self.statistics[request.kind as usize];
            statistics.record(self.world.now - request.arrived, request.parts);
            self.submit(id);
        }
    }

    #[inline]
    fn submit(&mut self, id: Id) {
        let Drawn { lpn, drive, kind } = self.draws.next(&self.drives);
        let request = &mut self.world.requests[id];
        (request.arrived, request.parts) = (self.world.now, Parts::default());
        (request.lpn, request.kind) = (lpn, kind);
        self.drives[usize::from(drive)].submit(id, &mut self.world);
        self.touched |= 1 << drive;
    }

    #[inline]
    fn settle(&mut self) {
        for drive in bits(std::mem::take(&mut self.touched)) {
            self.drives[drive as usize].settle(&mut self.world);
        }
    }
}
