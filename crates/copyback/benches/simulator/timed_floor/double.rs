//! A drive whose planes have two registers, two dies to a channel: commands, data and the array are events of their own.
//!
//! Writes cover a quarter of a page and read it first. Collections move pages, and take no time.

use std::collections::VecDeque;

use super::pages::{Pages, Shape};
use super::requests::{Id, Kind, NOBODY, Queue, Request};
use super::{Drive, Prepared, World, bits};

const CHANNELS: u32 = 8;
const DIES_OF_CHANNEL: u32 = 2;
const DIES: u32 = CHANNELS * DIES_OF_CHANNEL;
const PLANES: u32 = 4;
/// By the offset of a page in its block: a lower, a middle and an upper page of a word line follow one another.
const READ: [u64; 3] = [45_000, 55_000, 65_000];
const PROGRAM: [u64; 3] = [400_000, 550_000, 900_000];
const COMMAND: u64 = 300;
/// A page with its spare bytes over the channel.
const TRANSFER: u64 = 15_360;
/// The controller's part of a request, and 4 KiB over the link.
const CONTROLLER: u64 = 3_000;
const LINK: u64 = 1_171;

/// Sources of a drive's events behind those of its dies and channels.
const CONTROLLER_SOURCE: usize = (DIES + CHANNELS) as usize;
const LINK_SOURCE: usize = CONTROLLER_SOURCE + 1;

/// State of the array of a die.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Array {
    Free,
    /// Waits for its command, or takes it.
    Commanded,
    Reads,
    /// Data that were read wait in the page registers.
    Sensed,
    Programs,
}

/// State of the cache registers of a die.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cache {
    Free,
    /// Wait for the data of a program, or take them.
    Loads,
    Loaded,
    WaitsToSend,
    Sends,
}

/// Registers of a plane that a transfer is from or to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Register {
    Page,
    Cache,
}

#[derive(Clone, Copy)]
struct Die {
    array: Array,
    cache: Cache,
    /// Chain of requests that the array serves, if any.
    in_array: Id,
    /// Chain of requests whose pages are in the cache registers, if any.
    in_cache: Id,
    reads: Queue,
    /// Plane that is written next.
    turn: u32,
}

impl Die {
    /// Whether the data of a program can be loaded.
    fn takes_writes(&self) -> bool {
        self.cache == Cache::Free && matches!(self.array, Array::Free | Array::Programs)
    }
}

/// A use of the channel that a die asks for.
#[derive(Clone, Copy)]
struct Asked {
    die: u32,
    register: Register,
}

#[derive(Clone)]
struct Channel {
    /// Commands and data to the dies, which go first.
    inward: VecDeque<Asked>,
    /// Data from the dies.
    outward: VecDeque<Asked>,
    serves: Option<Asked>,
}

/// Requests in the order of instants.
type Timed = VecDeque<(u64, Id)>;

/// The drive of today.
pub struct DoubleRegister {
    first_source: usize,
    pages: Pages,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    writes: Queue,
    /// Die that takes the next write.
    turn: u32,
    /// Requests in the controller.
    controller: Timed,
    /// Requests on the way to the host.
    leaving: Timed,
    /// Instant at which the link to the drive is free.
    inward_free: u64,
    /// Instant at which the link to the host is free.
    outward_free: u64,
    /// Dies that may begin something, a bit each.
    awake: u64,
    /// Channels that may begin something, a bit each.
    stirred: u64,
}

impl Drive for DoubleRegister {
    const SOURCES: usize = LINK_SOURCE + 1;
    const UNITS_PER_PAGE: u32 = 4;

    fn new(prepared: Prepared, first_source: usize) -> Self {
        let Prepared { blocks_per_plane, pages_per_block, .. } = prepared;
        let shape =
            Shape { planes: DIES * PLANES, blocks_per_plane, pages_per_block, least_free: 2 };
        let mut pages = Pages::new(shape, prepared.logical_pages(DIES * PLANES));
        prepared.fill(&mut pages, |written, _| written % DIES * PLANES + written / DIES % PLANES);
        let die = Die {
            array: Array::Free,
            cache: Cache::Free,
            in_array: NOBODY,
            in_cache: NOBODY,
            reads: Queue::EMPTY,
            turn: 0,
        };
        let channel = Channel { inward: VecDeque::new(), outward: VecDeque::new(), serves: None };
        Self {
            first_source,
            pages,
            dies: vec![die; DIES as usize],
            channels: vec![channel; CHANNELS as usize],
            writes: Queue::EMPTY,
            turn: 0,
            controller: VecDeque::new(),
            leaving: VecDeque::new(),
            inward_free: 0,
            outward_free: 0,
            awake: 0,
            stirred: 0,
        }
    }

    fn pages(&self) -> &Pages {
        &self.pages
    }

    fn submit(&mut self, id: Id, world: &mut World) {
        let request = &mut world.requests[id];
        request.reads_first = request.kind == Kind::Write;
        let mut at = world.now;
        if request.kind == Kind::Write {
            let begins = self.inward_free.max(at);
            request.parts.channel += begins - at;
            request.parts.service += LINK;
            at = begins + LINK;
            self.inward_free = at;
        }
        request.parts.service += CONTROLLER;
        at += CONTROLLER;
        let earlier = self.controller.iter().rev().skip_while(|(other, _)| *other > at).count();
        self.controller.insert(earlier, (at, id));
        world.events.set(self.first_source + CONTROLLER_SOURCE, self.controller[0].0);
    }

    fn happen(&mut self, source: usize, world: &mut World) {
        world.events.clear(self.first_source + source);
        match source {
            CONTROLLER_SOURCE => {
                if let Some((_, id)) = self.controller.pop_front() {
                    self.enqueue_read(id, world);
                }
                if let Some((at, _)) = self.controller.front() {
                    world.events.set(self.first_source + source, *at);
                }
            }
            LINK_SOURCE => {
                if let Some((_, id)) = self.leaving.pop_front() {
                    world.finish(id);
                }
                if let Some((at, _)) = self.leaving.front() {
                    world.events.set(self.first_source + source, *at);
                }
            }
            source if source < DIES as usize => self.array_ends(source, world),
            source => self.transfer_ends(source - DIES as usize, world),
        }
    }

    fn settle(&mut self, world: &mut World) {
        for die in bits(std::mem::take(&mut self.awake)) {
            self.begin(die, world);
        }
        for _ in 0..DIES {
            if self.writes.is_empty() {
                break;
            }
            let die = self.turn;
            self.turn = (die + 1) % DIES;
            let known = &self.dies[die as usize];
            if known.takes_writes() && known.reads.is_empty() {
                self.load(die, world);
            }
        }
        for channel in bits(std::mem::take(&mut self.stirred)) {
            self.grant(channel, world);
        }
    }
}

impl DoubleRegister {
    fn enqueue_read(&mut self, id: Id, world: &mut World) {
        let request = &mut world.requests[id];
        let plane = self.pages.plane(request.lpn);
        request.plane = (plane % PLANES) as u8;
        request.waits_since = world.now;
        self.dies[(plane / PLANES) as usize].reads.push(&mut world.requests, id);
        self.awake |= 1 << (plane / PLANES);
    }

    /// Begins all that a die can begin, but for taking writes.
    fn begin(&mut self, die: u32, world: &mut World) {
        loop {
            let known = &mut self.dies[die as usize];
            if known.array == Array::Sensed && known.cache == Cache::Free {
                known.in_cache = std::mem::replace(&mut known.in_array, NOBODY);
                (known.array, known.cache) = (Array::Free, Cache::WaitsToSend);
                let now = world.now;
                world.requests.each(known.in_cache, |request| ends_waiting_at_die(request, now));
                self.ask(Asked { die, register: Register::Cache }, Way::Outward);
            } else if known.cache == Cache::Loaded && known.array == Array::Free {
                known.in_array = std::mem::replace(&mut known.in_cache, NOBODY);
                known.cache = Cache::Free;
                self.work(die, Array::Programs, world);
            } else if known.array == Array::Free
                && matches!(known.cache, Cache::Free | Cache::WaitsToSend | Cache::Sends)
                && !known.reads.is_empty()
            {
                self.command_read(die, world);
            } else {
                return;
            }
        }
    }

    fn command_read(&mut self, die: u32, world: &mut World) {
        let (known, pages) = (&mut self.dies[die as usize], &self.pages);
        let offset = pages.offset(world.requests[known.reads.first].lpn);
        let joins = |request: &Request| pages.offset(request.lpn) == offset;
        let (first, _) = known.reads.pop_across_planes(&mut world.requests, joins);
        (known.in_array, known.array) = (first, Array::Commanded);
        let now = world.now;
        world.requests.each(first, |request| ends_waiting_at_die(request, now));
        self.ask(Asked { die, register: Register::Page }, Way::Inward);
    }

    /// Takes writes for the planes of a die at one offset, and asks for the channel to load their data.
    fn load(&mut self, die: u32, world: &mut World) {
        let turn = self.dies[die as usize].turn;
        let first = turn % PLANES;
        let offset = self.pages.next_offset(die * PLANES + first);
        let mut chain = Queue::EMPTY;
        for plane in (0..PLANES).map(|step| die * PLANES + (turn + step) % PLANES) {
            if self.writes.is_empty() {
                break;
            }
            if self.pages.next_offset(plane) == offset {
                let id = self.writes.pop(&mut world.requests);
                self.pages.write(plane, world.requests[id].lpn);
                while self.pages.is_short(plane) {
                    self.pages.collect(plane);
                }
                chain.push(&mut world.requests, id);
            }
        }
        let known = &mut self.dies[die as usize];
        known.turn = (first + 1) % PLANES;
        (known.in_cache, known.cache) = (chain.first, Cache::Loads);
        let now = world.now;
        world.requests.each(chain.first, |request| ends_waiting_at_die(request, now));
        self.ask(Asked { die, register: Register::Cache }, Way::Inward);
    }

    fn ask(&mut self, asked: Asked, way: Way) {
        let index = asked.die / DIES_OF_CHANNEL;
        let channel = &mut self.channels[index as usize];
        match way {
            Way::Inward => channel.inward.push_back(asked),
            Way::Outward => channel.outward.push_back(asked),
        }
        self.stirred |= 1 << index;
    }

    /// Gives the channel to who asked first, if it is free.
    fn grant(&mut self, index: u32, world: &mut World) {
        let channel = &mut self.channels[index as usize];
        if channel.serves.is_some() {
            return;
        }
        let (asked, way) = match channel.inward.pop_front() {
            Some(asked) => (asked, Way::Inward),
            None => match channel.outward.pop_front() {
                Some(asked) => (asked, Way::Outward),
                None => return,
            },
        };
        channel.serves = Some(asked);
        let die = &mut self.dies[asked.die as usize];
        let chain = match asked.register {
            Register::Page => die.in_array,
            Register::Cache => die.in_cache,
        };
        let mut pages = 0;
        world.requests.each(chain, |_| pages += 1);
        let lasts = match (way, asked.register) {
            (Way::Outward, _) => {
                die.cache = Cache::Sends;
                pages * TRANSFER
            }
            (Way::Inward, Register::Cache) => COMMAND + pages * TRANSFER,
            (Way::Inward, Register::Page) => COMMAND,
        };
        let now = world.now;
        world.requests.each(chain, |request| {
            request.parts.channel += now - request.waits_since;
            request.parts.service += lasts;
            request.waits_since = now + lasts;
        });
        world.events.set(self.first_source + (DIES + index) as usize, now + lasts);
    }

    /// Has the array of a die read or program.
    fn work(&mut self, die: u32, array: Array, world: &mut World) {
        let known = &mut self.dies[die as usize];
        known.array = array;
        let offset = self.pages.offset(world.requests[known.in_array].lpn) as usize;
        let times = if array == Array::Programs { PROGRAM } else { READ };
        let (now, lasts) = (world.now, times[offset % 3]);
        world.requests.each(known.in_array, |request| {
            request.parts.service += lasts;
            request.parts.die += now - request.waits_since;
        });
        world.events.set(self.first_source + die as usize, now + lasts);
    }

    fn array_ends(&mut self, die: usize, world: &mut World) {
        let known = &mut self.dies[die];
        self.awake |= 1 << die;
        if known.array == Array::Programs {
            known.array = Array::Free;
            world.finish_all(std::mem::replace(&mut known.in_array, NOBODY));
        } else {
            known.array = Array::Sensed;
            let now = world.now;
            world.requests.each(known.in_array, |request| request.waits_since = now);
        }
    }

    fn transfer_ends(&mut self, index: usize, world: &mut World) {
        let Some(Asked { die, register }) = self.channels[index].serves.take() else { return };
        self.stirred |= 1 << index;
        self.awake |= 1 << die;
        let known = &mut self.dies[die as usize];
        match (register, known.cache) {
            (Register::Page, _) => self.work(die, Array::Reads, world),
            (Register::Cache, Cache::Loads) => known.cache = Cache::Loaded,
            (Register::Cache, _) => {
                known.cache = Cache::Free;
                let mut chain = std::mem::replace(&mut known.in_cache, NOBODY);
                while chain != NOBODY {
                    let next = world.requests[chain].next;
                    self.read_ends(chain, world);
                    chain = next;
                }
            }
        }
    }

    /// Sends a page to the host, or lets the write that has read its page wait for a die.
    fn read_ends(&mut self, id: Id, world: &mut World) {
        let now = world.now;
        let request = &mut world.requests[id];
        if std::mem::take(&mut request.reads_first) {
            request.waits_since = now;
            return self.writes.push(&mut world.requests, id);
        }
        let begins = self.outward_free.max(now);
        request.parts.channel += begins - now;
        request.parts.service += LINK;
        self.outward_free = begins + LINK;
        self.leaving.push_back((self.outward_free, id));
        world.events.set(self.first_source + LINK_SOURCE, self.leaving[0].0);
    }
}

/// Direction on a channel.
#[derive(Clone, Copy)]
enum Way {
    Inward,
    Outward,
}

/// Ends a wait at the die, and begins one for the channel.
#[inline]
fn ends_waiting_at_die(request: &mut Request, now: u64) {
    request.parts.die += now - request.waits_since;
    request.waits_since = now;
}
