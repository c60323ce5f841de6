//! The slowest requests, each with what the dies that it used did from its arrival to its end.
//!
//! The last operations of each die are kept, and copied when a request ends that is among the slowest
//! so far.

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value, json};
use smallvec::SmallVec;

use crate::config::Config;
use crate::host::Completion;
use crate::ids::{DieId, RequestNumber, SsdId};
use crate::nand::Geometry;
use crate::ssd::{Activity, Collected, Entry, Part, Parts, Work};
use crate::units::{Duration, Instant};
use crate::workload::Operation;

/// Operations and collections of a die that are kept for requests to come.
const MOST_KEPT: usize = 512;

/// The slowest requests of a run.
#[derive(Debug)]
pub struct Slowest {
    most: usize,
    /// The slowest first.
    requests: Vec<Slow>,
    geometry: Geometry,
    /// All dies of the first drive, then those of the next.
    dies: Vec<Recent>,
    /// Collections that have begun.
    begun: u64,
    /// What each request in the array has waited for, and the dies that it has used.
    in_array: BTreeMap<RequestNumber, Trail>,
}

/// Where a request has been.
#[derive(Debug, Clone, Default)]
struct Trail {
    dies: SmallVec<[Place; 2]>,
    waits: SmallVec<[Wait; 2]>,
}

/// A die of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    device: SsdId,
    die: DieId,
}

/// A page operation of a request has waited.
#[derive(Debug, Clone, Copy)]
struct Wait {
    device: SsdId,
    die: Option<DieId>,
    since: Instant,
    until: Instant,
    parts: Parts,
}

/// What a die has done lately.
#[derive(Debug, Clone, Default)]
struct Recent {
    operations: History<Done>,
    collections: History<Collecting>,
    /// The collection that has begun and not ended, and since when it has the die, if it does.
    collecting: Option<(Collecting, Option<Instant>)>,
}

/// What lasted for a while, in order of its begin or its end.
#[derive(Debug, Clone)]
struct History<T> {
    spans: VecDeque<Span<T>>,
    /// When the last of those ended that have been forgotten.
    forgotten: Instant,
}

#[derive(Debug, Clone)]
struct Span<T> {
    begin: Instant,
    end: Instant,
    what: T,
}

/// A flash operation, in the array or on the channel.
#[derive(Debug, Clone)]
struct Done {
    work: Work,
    requests: SmallVec<[RequestNumber; 2]>,
    on_channel: bool,
    suspended: bool,
}

/// A collection: which of the run, and of what.
#[derive(Debug, Clone)]
struct Collecting {
    number: u64,
    collected: Collected,
}

/// A request that is among the slowest so far.
#[derive(Debug)]
struct Slow {
    completion: Completion,
    waits: SmallVec<[Wait; 2]>,
    dies: Vec<(Place, Recent)>,
}

impl<T> Default for History<T> {
    fn default() -> Self {
        Self { spans: VecDeque::new(), forgotten: Instant::START }
    }
}

impl<T: Clone> History<T> {
    fn push(&mut self, begin: Instant, end: Instant, what: T) {
        if self.spans.len() == MOST_KEPT
            && let Some(oldest) = self.spans.pop_front()
        {
            self.forgotten = self.forgotten.max(oldest.end);
        }
        self.spans.push_back(Span { begin, end, what });
    }

    /// What lasted into the time from `begin` on.
    fn since(&self, begin: Instant) -> Self {
        let spans = self.spans.iter().filter(|span| span.end > begin).cloned().collect();
        Self { spans, forgotten: self.forgotten }
    }
}

impl Slowest {
    /// So many, of drives of a checked configuration.
    pub fn new(most: u32, config: &Config) -> Self {
        let geometry = Geometry::new(&config.ssd);
        let dies = config.array.devices as usize * geometry.dies();
        Self {
            most: most as usize,
            requests: Vec::new(),
            geometry,
            dies: vec![Recent::default(); dies],
            begun: 0,
            in_array: BTreeMap::new(),
        }
    }

    fn index(&self, place: Place) -> usize {
        place.device.index() * self.geometry.dies() + place.die.index()
    }

    fn recent(&mut self, place: Place) -> &mut Recent {
        let index = self.index(place);
        &mut self.dies[index]
    }

    /// A drive did something, for these requests.
    pub fn observe(&mut self, device: SsdId, entry: &Entry, requests: &[RequestNumber]) {
        match entry {
            Entry::Array { die, at, time, work } => {
                self.note((device, *die), (*at, *time), work, requests, false);
            }
            Entry::Transfer { die, at, time, work, .. } => {
                self.note((device, *die), (*at, *time), work, requests, true);
            }
            Entry::Cut { die, at } => {
                let spans = &mut self.recent(Place { device, die: *die }).operations.spans;
                let cut = spans.iter_mut().rev().find(|span| !span.what.on_channel);
                if let Some(cut) = cut {
                    cut.end = *at;
                    cut.what.suspended = true;
                }
            }
            Entry::Waited { die, since, at, parts, .. } => {
                let wait = Wait { device, die: *die, since: *since, until: *at, parts: *parts };
                for number in requests {
                    self.in_array.entry(*number).or_default().waits.push(wait);
                }
            }
            Entry::Begins { die, collected, .. } => {
                let (number, collected) = (self.begun, collected.clone());
                self.begun += 1;
                let collecting = Some((Collecting { number, collected }, None));
                self.recent(Place { device, die: *die }).collecting = collecting;
            }
            Entry::Runs { die, at } => {
                if let Some((_, since)) = &mut self.recent(Place { device, die: *die }).collecting {
                    *since = Some(*at);
                }
            }
            Entry::Rests { die, at } => self.recent(Place { device, die: *die }).rest(*at),
            Entry::Ends { die, .. } => self.recent(Place { device, die: *die }).collecting = None,
        }
    }

    fn note(
        &mut self,
        (device, die): (SsdId, DieId),
        (begin, time): (Instant, Duration),
        work: &Work,
        requests: &[RequestNumber],
        on_channel: bool,
    ) {
        let place = Place { device, die };
        for number in requests {
            let dies = &mut self.in_array.entry(*number).or_default().dies;
            if !dies.contains(&place) {
                dies.push(place);
            }
        }
        let (work, requests) = (work.clone(), SmallVec::from_slice(requests));
        let done = Done { work, requests, on_channel, suspended: false };
        self.recent(place).operations.push(begin, begin + time, done);
    }

    /// A request has been completed at `now`.
    pub fn completed(&mut self, completion: &Completion, now: Instant) {
        let Some(trail) = self.in_array.remove(&completion.number) else { return };
        let moves_data = matches!(completion.request.operation, Operation::Read | Operation::Write);
        let is_slow = self.requests.len() < self.most
            || self
                .requests
                .last()
                .is_some_and(|last| completion.response > last.completion.response);
        if !moves_data || !is_slow || completion.is_of_ramp() {
            return;
        }
        let arrival = completion.request.arrival;
        let recent = |place: &Place| self.dies[self.index(*place)].since(arrival, now);
        let dies = trail.dies.iter().map(|place| (*place, recent(place))).collect();
        self.requests.truncate(self.most - 1);
        let place =
            self.requests.partition_point(|kept| kept.completion.response >= completion.response);
        let slow = Slow { completion: completion.clone(), waits: trail.waits, dies };
        self.requests.insert(place, slow);
    }

    /// The requests, the slowest first, as in `slowest.json`. Times are in microseconds of simulated
    /// time.
    pub fn to_json(&self) -> Value {
        self.requests.iter().map(|slow| slow.to_json(&self.geometry)).collect()
    }
}

impl Recent {
    /// The collection has the die no longer.
    fn rest(&mut self, at: Instant) {
        if let Some((collecting, since)) = &mut self.collecting
            && let Some(since) = since.take()
        {
            self.collections.push(since, at, collecting.clone());
        }
    }

    /// What was done from `begin` until `now`.
    fn since(&self, begin: Instant, now: Instant) -> Self {
        let mut recent = Self {
            operations: self.operations.since(begin),
            collections: self.collections.since(begin),
            collecting: self.collecting.clone(),
        };
        recent.rest(now);
        recent
    }
}

impl Slow {
    fn to_json(&self, geometry: &Geometry) -> Value {
        let Completion { number, request, flow, device, response, parts, .. } = &self.completion;
        let dies = self.dies.iter().map(|(place, recent)| {
            let since = recent.operations.forgotten.max(recent.collections.forgotten);
            let operations = &recent.operations.spans;
            let collections = &recent.collections.spans;
            json!({
                "device": place.device.0,
                "die": place.die.0,
                "known_since_us": us(since.max(request.arrival)),
                "operations": operations.iter().map(|s| operation(s, geometry)).collect::<Value>(),
                "collections": collections.iter().map(collection).collect::<Value>(),
            })
        });
        json!({
            "request": number.0,
            "operation": request.operation.name(),
            "offset": request.offset,
            "bytes": request.length,
            "flow": flow.0,
            "device": device.0,
            "arrival_us": us(request.arrival),
            "response_us": response.as_us_f64(),
            "breakdown_us": breakdown(parts),
            "waits": self.waits.iter().map(wait).collect::<Value>(),
            "dies": dies.collect::<Value>(),
        })
    }
}

fn operation(span: &Span<Done>, geometry: &Geometry) -> Value {
    let Done { work, requests, on_channel, suspended } = &span.what;
    let blocks = work.pages.iter().map(|page| geometry.block_of(*page).0);
    json!({
        "begin_us": us(span.begin),
        "end_us": us(span.end),
        "on": if *on_channel { "channel" } else { "array" },
        "class": work.class.name(),
        "command": work.command.name(),
        "blocks": blocks.collect::<Value>(),
        "requests": requests.iter().map(|number| number.0).collect::<Value>(),
        "suspended": suspended,
    })
}

fn collection(span: &Span<Collecting>) -> Value {
    let Collected { reason, kind, victims } = &span.what.collected;
    json!({
        "collection": span.what.number,
        "begin_us": us(span.begin),
        "end_us": us(span.end),
        "reason": Activity::from(*reason).name(),
        "kind": kind.name(),
        "blocks": victims.iter().map(|(block, _)| block.0).collect::<Value>(),
        "valid_pages": victims.iter().map(|(_, valid)| *valid).collect::<Value>(),
    })
}

fn wait(wait: &Wait) -> Value {
    json!({
        "device": wait.device.0,
        "die": wait.die.map(|die| die.0),
        "begin_us": us(wait.since),
        "end_us": us(wait.until),
        "breakdown_us": breakdown(&wait.parts),
    })
}

/// The parts that are not zero.
pub(super) fn breakdown(parts: &Parts) -> Map<String, Value> {
    let spent = Part::ALL.iter().filter(|part| !parts[**part].is_zero());
    spent.map(|part| (part.name().to_owned(), json!(parts[*part].as_us_f64()))).collect()
}

fn us(at: Instant) -> f64 {
    (at - Instant::START).as_us_f64()
}
