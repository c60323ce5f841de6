//! A drive whose dies have a channel each and planes with one register: an operation is one event.

use super::pages::{Pages, Shape};
use super::requests::{Id, Kind, NOBODY, Queue, Request};
use super::{Drive, Prepared, World, bits};

const DIES: u32 = 8;
const PLANES: u32 = 8;
const READ: u64 = 25_000;
const PROGRAM: u64 = 200_000;
const ERASE: u64 = 1_500_000;
/// A page over the channel.
const TRANSFER: u64 = 102_400;

/// Time that a die has spent on collections.
#[derive(Clone, Copy)]
struct Collections {
    ended: u64,
    since: Option<u64>,
}

impl Collections {
    #[inline]
    fn until(self, now: u64) -> u64 {
        self.ended + self.since.map_or(0, |since| now - since)
    }

    #[inline]
    fn end(&mut self, now: u64) {
        (self.ended, self.since) = (self.until(now), None);
    }
}

#[derive(Clone, Copy)]
struct Die {
    is_busy: bool,
    /// The chain that it serves, if it serves one.
    serves: Id,
    reads: Queue,
    collections: Collections,
    /// Planes of the die for which writes wait, a bit each.
    waiting: u64,
    /// Planes of the die that must collect, a bit each.
    short: u64,
    /// The plane whose turn it is to collect.
    turn: u32,
}

/// The drive of Lee et al.
pub struct SingleRegister {
    first_source: usize,
    pages: Pages,
    dies: Vec<Die>,
    /// Writes of each plane.
    writes: Vec<Queue>,
    /// Dies that may begin something, a bit each.
    awake: u64,
}

impl Drive for SingleRegister {
    const SOURCES: usize = DIES as usize;
    const UNITS_PER_PAGE: u32 = 1;

    fn new(prepared: Prepared, first_source: usize) -> Self {
        let Prepared { blocks_per_plane, pages_per_block, .. } = prepared;
        let shape =
            Shape { planes: DIES * PLANES, blocks_per_plane, pages_per_block, least_free: 3 };
        let mut pages = Pages::new(shape, prepared.logical_pages(DIES * PLANES));
        prepared.fill(&mut pages, |_, lpn| home(lpn));
        let die = Die {
            is_busy: false,
            serves: NOBODY,
            reads: Queue::EMPTY,
            collections: Collections { ended: 0, since: None },
            waiting: 0,
            short: 0,
            turn: 0,
        };
        let writes = vec![Queue::EMPTY; (DIES * PLANES) as usize];
        Self { first_source, pages, dies: vec![die; DIES as usize], writes, awake: 0 }
    }

    fn pages(&self) -> &Pages {
        &self.pages
    }

    fn submit(&mut self, id: Id, world: &mut World) {
        let request = &mut world.requests[id];
        let plane = match request.kind {
            Kind::Read => self.pages.plane(request.lpn),
            Kind::Write => home(request.lpn),
        };
        let die = &mut self.dies[(plane / PLANES) as usize];
        request.plane = (plane % PLANES) as u8;
        request.waits_since = world.now;
        request.collected_before = die.collections.until(world.now);
        match request.kind {
            Kind::Read => die.reads.push(&mut world.requests, id),
            Kind::Write => {
                self.writes[plane as usize].push(&mut world.requests, id);
                die.waiting |= 1 << (plane % PLANES);
            }
        }
        self.awake |= 1 << (plane / PLANES);
    }

    fn happen(&mut self, source: usize, world: &mut World) {
        world.events.clear(self.first_source + source);
        let die = &mut self.dies[source];
        die.is_busy = false;
        world.finish_all(std::mem::replace(&mut die.serves, NOBODY));
        self.awake |= 1 << source;
    }

    fn settle(&mut self, world: &mut World) {
        for die in bits(std::mem::take(&mut self.awake)) {
            if let Some(lasts) = self.begin(die, world) {
                self.dies[die as usize].is_busy = true;
                world.events.set(self.first_source + die as usize, world.now + lasts);
            }
        }
    }
}

impl SingleRegister {
    /// Begins what comes next at a die. Returns how long it takes.
    #[inline]
    fn begin(&mut self, die: u32, world: &mut World) -> Option<u64> {
        let known = &mut self.dies[die as usize];
        if known.is_busy {
            return None;
        }
        if known.short != 0 {
            return Some(self.collect(die, world.now));
        }
        known.collections.end(world.now);
        if !known.reads.is_empty() {
            return Some(self.read(die, world));
        }
        self.oldest_write(die, world).map(|plane| self.program(die, plane, world))
    }

    fn collect(&mut self, die: u32, now: u64) -> u64 {
        let known = &mut self.dies[die as usize];
        let from_turn = known.short >> known.turn;
        let plane = match from_turn {
            0 => known.short.trailing_zeros(),
            _ => known.turn + from_turn.trailing_zeros(),
        };
        known.turn = (plane + 1) % PLANES;
        known.collections.since.get_or_insert(now);
        let moved = self.pages.collect(die * PLANES + plane);
        if !self.pages.is_short(die * PLANES + plane) {
            self.dies[die as usize].short &= !(1 << plane);
        }
        moved * (READ + PROGRAM) + ERASE
    }

    fn read(&mut self, die: u32, world: &mut World) -> u64 {
        let (known, pages) = (&mut self.dies[die as usize], &self.pages);
        let offset = pages.offset(world.requests[known.reads.first].lpn);
        let joins = |request: &Request| pages.offset(request.lpn) == offset;
        let (first, count) = known.reads.pop_across_planes(&mut world.requests, joins);
        known.serves = first;
        let lasts = READ + count * TRANSFER;
        let collected = known.collections.until(world.now);
        world.requests.each(first, |request| serve(request, lasts, collected, world.now));
        lasts
    }

    /// The plane with room whose first write has waited longest.
    fn oldest_write(&self, die: u32, world: &World) -> Option<u32> {
        bits(self.dies[die as usize].waiting)
            .filter(|plane| self.pages.has_room(die * PLANES + plane))
            .min_by_key(|plane| {
                let first = self.writes[(die * PLANES + plane) as usize].first;
                world.requests[first].waits_since
            })
    }

    /// Programs the first write of `oldest`, and with it one of each other plane at the same offset.
    fn program(&mut self, die: u32, oldest: u32, world: &mut World) -> u64 {
        let offset = self.pages.next_offset(die * PLANES + oldest);
        let others = self.dies[die as usize].waiting & !(1 << oldest);
        let collected = self.dies[die as usize].collections.until(world.now);
        let mut chain = Queue::EMPTY;
        let mut count = 0;
        for bit in std::iter::once(oldest).chain(bits(others)) {
            let plane = die * PLANES + bit;
            if self.pages.has_room(plane) && self.pages.next_offset(plane) == offset {
                let queue = &mut self.writes[plane as usize];
                let id = queue.pop(&mut world.requests);
                self.pages.write(plane, world.requests[id].lpn);
                let (is_empty, is_short) = (queue.is_empty(), self.pages.is_short(plane));
                let known = &mut self.dies[die as usize];
                known.waiting &= !(u64::from(is_empty) << bit);
                known.short |= u64::from(is_short) << bit;
                chain.push(&mut world.requests, id);
                count += 1;
            }
        }
        self.dies[die as usize].serves = chain.first;
        let lasts = PROGRAM + count * TRANSFER;
        world.requests.each(chain.first, |request| serve(request, lasts, collected, world.now));
        lasts
    }
}

/// The plane that a page belongs to: channel first, as static allocation has it.
#[inline]
fn home(lpn: u32) -> u32 {
    lpn % DIES * PLANES + lpn / DIES % PLANES
}

/// Ends a request's wait, and has it served for `lasts`.
#[inline]
fn serve(request: &mut Request, lasts: u64, collected: u64, now: u64) {
    let waited = now - request.waits_since;
    let by_collections = (collected - request.collected_before).min(waited);
    request.parts.collections += by_collections;
    request.parts.die += waited - by_collections;
    request.parts.service += lasts;
}
