//! The slowest requests, each with what the dies that it used did from its arrival to its end.
//!
//! The last operations of each die are kept, and copied when a request ends that is among the slowest
//! so far. One long collection makes many requests late that tell the same story, so of those that waited for it longest
//! two are kept.

mod recent;
mod story;

use std::collections::{BTreeMap, VecDeque};

use serde_json::{Map, Value, json};
use smallvec::SmallVec;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;
use crate::host::Completion;
use crate::ids::{DieId, RequestNumber, SsdId};
use crate::nand::Geometry;
use crate::ssd::{
    Activity, Blocked, Blocker, Collected, Entry, For, Owner, Part, Parts, Party, Waited, Work,
};
use crate::units::{Duration, Instant};
use crate::workload::Operation;

use recent::{Collecting, Done, Place, Recent, Span};
use story::{Behind, MOST_MET, Met, RecordedWait, Who};

/// Waits of the drives' own page operations that are kept for requests to come.
const MOST_OWN_WAITS: usize = 4_096;

/// Requests that are kept of all that waited longest for the same collection.
const MOST_OF_ONE: usize = 2;

/// Requests that have left and are kept for those that come in their place.
const MOST_LEFT: usize = 64;

/// The slowest requests of a run.
#[derive(Debug, Checkpointed)]
pub struct Slowest {
    most: usize,
    /// The slowest first.
    requests: Vec<Slow>,
    geometry: Geometry,
    /// All dies of the first drive, then those of the next.
    dies: Vec<Recent>,
    /// Collections that have begun.
    begun: u64,
    /// Waits of each request in the array, and the dies that it has used.
    in_array: BTreeMap<RequestNumber, Trail>,
    /// Requests that have left the array lately.
    left: VecDeque<(RequestNumber, Trail)>,
    /// Recent waits of the drives' own page operations.
    own_waits: VecDeque<OwnWait>,
}

/// Trail of a request: its waits and dies.
#[derive(Debug, Clone, Default, Checkpointed)]
struct Trail {
    dies: SmallVec<[Place; 2]>,
    waits: Vec<RecordedWait>,
}

/// A page operation of a drive's own has waited.
#[derive(Debug, Checkpointed)]
struct OwnWait {
    device: SsdId,
    party: Party,
    recorded: RecordedWait,
}

/// A request that is among the slowest so far.
#[derive(Debug, Checkpointed)]
struct Slow {
    completion: Completion,
    waits: Vec<RecordedWait>,
    /// Number of the collection that it waited for longest.
    collection: Option<u64>,
    dies: Vec<(Place, Recent)>,
}

impl Slowest {
    /// Keeps the `most` slowest requests, of drives of a checked configuration.
    pub fn new(most: u32, config: &Resolved) -> Self {
        let geometry = Geometry::new(config);
        let dies = config.array.drives() as usize * geometry.dies();
        Self {
            most: most as usize,
            requests: Vec::new(),
            geometry,
            dies: vec![Recent::default(); dies],
            begun: 0,
            in_array: BTreeMap::new(),
            left: VecDeque::new(),
            own_waits: VecDeque::new(),
        }
    }

    fn index(&self, place: Place) -> usize {
        place.device.index() * self.geometry.dies() + place.die.index()
    }

    fn recent(&mut self, place: Place) -> &mut Recent {
        let index = self.index(place);
        &mut self.dies[index]
    }

    /// A drive did something, for these requests, or they waited in it: behind that one, if it is a request.
    pub fn observe(
        &mut self,
        device: SsdId,
        entry: &Entry,
        requests: &[RequestNumber],
        behind: Option<RequestNumber>,
    ) {
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
            Entry::Waited(blocked) => self.waited_in_drive(device, blocked, requests, behind),
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

    /// Records a wait in a drive.
    fn waited_in_drive(
        &mut self,
        device: SsdId,
        blocked: &Blocked<Party, Party>,
        requests: &[RequestNumber],
        behind: Option<RequestNumber>,
    ) {
        let Blocked { who, wait, behind: party } = *blocked;
        let behind = match behind {
            Some(request) => Some(self.behind_request(request, wait.what)),
            None => party.and_then(|party| self.behind_own(device, party, wait.what)),
        };
        let collections = match wait.what {
            For::Die(die) if !wait.parts.late().is_zero() => {
                let recent = &self.dies[self.index(Place { device, die })];
                let mut met = recent.collections_between(wait.since, wait.until);
                met.truncate(MOST_MET);
                met
            }
            _ => Vec::new(),
        };
        let behind = behind.map(Box::new);
        let recorded = RecordedWait { device: Some(device), wait, collections, behind };
        for number in requests {
            self.in_array.entry(*number).or_default().waits.push(recorded.clone());
        }
        if requests.is_empty() {
            if self.own_waits.len() == MOST_OWN_WAITS {
                self.own_waits.pop_front();
            }
            self.own_waits.push_back(OwnWait { device, party: who, recorded });
        }
    }

    /// A request has waited for others, outside the flash of `device`, or outside all drives.
    pub fn blocked(
        &mut self,
        device: Option<SsdId>,
        blocked: &Blocked<RequestNumber, Blocker<RequestNumber>>,
    ) {
        let Blocked { who, wait, behind } = *blocked;
        let behind = behind.and_then(|behind| match behind {
            Blocker::Other(request) => Some(self.behind_request(request, wait.what)),
            Blocker::Own(party) => self.behind_own(device?, party, wait.what),
        });
        let (collections, behind) = (Vec::new(), behind.map(Box::new));
        let recorded = RecordedWait { device, wait, collections, behind };
        self.in_array.entry(who).or_default().waits.push(recorded);
    }

    fn behind_request(&self, number: RequestNumber, what: For) -> Behind {
        let left =
            || self.left.iter().rev().find(|(left, _)| *left == number).map(|(_, trail)| trail);
        let trail = self.in_array.get(&number).or_else(left);
        Behind::new(Who::Request(number), trail.map_or(&[], |trail| &trail.waits), what)
    }

    /// A page operation of the drive's own that was waited for; `None` if it is a request's.
    fn behind_own(&self, device: SsdId, party: Party, what: For) -> Option<Behind> {
        let who = match party.owner {
            Owner::Host(_) => return None,
            Owner::Destage => Who::Destage,
            Owner::Translation => Who::Mapping,
            Owner::Rebuild => Who::Rebuild,
        };
        let is_it = |own: &&OwnWait| own.device == device && own.party == party;
        let own = self.own_waits.iter().rev().find(is_it);
        let waits = own.map_or(&[][..], |own| std::slice::from_ref(&own.recorded));
        Some(Behind::new(who, waits, what))
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
        let trail = self.in_array.remove(&completion.number).unwrap_or_default();
        if self.left.len() == MOST_LEFT {
            self.left.pop_front();
        }
        self.left.push_back((completion.number, trail.clone()));
        let moves_data = matches!(completion.request.operation, Operation::Read | Operation::Write);
        if !moves_data || completion.is_of_ramp() || !self.has_place_for(completion.response) {
            return;
        }
        let collection = story::met_for_longest(&trail.waits);
        let slower = self.requests.iter().take_while(|kept| kept.is_as_slow_as(completion));
        if slower.filter(|kept| kept.is_about(collection)).count() == MOST_OF_ONE {
            return;
        }
        let arrival = completion.request.arrival;
        let recent = |place: &Place| self.dies[self.index(*place)].since(arrival, now);
        let mut places = trail.dies.to_vec();
        trail.waits.iter().for_each(|recorded| recorded.places(&mut places));
        let dies = places.iter().map(|place| (*place, recent(place))).collect();
        self.keep(Slow { completion: completion.clone(), waits: trail.waits, collection, dies });
    }

    /// Whether a request that took `response` may be among the slowest so far.
    fn has_place_for(&self, response: Duration) -> bool {
        self.requests.len() < self.most
            || self.requests.last().is_some_and(|last| response > last.completion.response)
    }

    /// Keeps a request in place of the fastest that waited longest for the same collection, or of the fastest of all.
    fn keep(&mut self, slow: Slow) {
        let place = self.requests.partition_point(|kept| kept.is_as_slow_as(&slow.completion));
        let alike = self.requests.iter().enumerate().filter(|(_, it)| it.is_about(slow.collection));
        if let Some((last, _)) = alike.skip(MOST_OF_ONE - 1).last() {
            self.requests.remove(last);
        }
        self.requests.truncate(self.most - 1);
        self.requests.insert(place, slow);
    }

    /// The requests, the slowest first, as in `slowest.json`. Times are in microseconds of simulated
    /// time.
    pub fn to_json(&self) -> Value {
        self.requests.iter().map(|slow| slow.to_json(&self.geometry)).collect()
    }
}

impl Slow {
    fn is_as_slow_as(&self, completion: &Completion) -> bool {
        self.completion.response >= completion.response
    }

    /// Whether `collection` is what it waited for longest.
    fn is_about(&self, collection: Option<u64>) -> bool {
        collection.is_some() && self.collection == collection
    }

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
    let mut value = collecting(&span.what);
    value.insert("begin_us".to_owned(), json!(us(span.begin)));
    value.insert("end_us".to_owned(), json!(us(span.end)));
    Value::Object(value)
}

/// Describes a collection: its number and its object.
fn collecting(collecting: &Collecting) -> Map<String, Value> {
    let Collected { reason, kind, victims } = &collecting.collected;
    let facts = [
        ("collection", json!(collecting.number)),
        ("reason", json!(Activity::from(*reason).name())),
        ("kind", json!(kind.name())),
        ("blocks", victims.iter().map(|(block, _)| block.0).collect()),
        ("valid_pages", victims.iter().map(|(_, valid)| *valid).collect()),
    ];
    facts.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn wait(recorded: &RecordedWait) -> Value {
    let Waited { what, since, until, parts } = &recorded.wait;
    json!({
        "for": what.name(),
        "device": recorded.device.map(|device| device.0),
        "die": recorded.die().map(|die| die.0),
        "begin_us": us(*since),
        "end_us": us(*until),
        "breakdown_us": breakdown(parts),
        "collections": recorded.collections.iter().map(met).collect::<Value>(),
        "behind": recorded.behind.as_deref().map(behind),
    })
}

fn met(met: &Met) -> Value {
    let mut value = collecting(&met.collecting);
    value.insert("time_us".to_owned(), json!(met.time.as_us_f64()));
    Value::Object(value)
}

fn behind(behind: &Behind) -> Value {
    json!({
        "who": behind.who.name(),
        "request": behind.who.request(),
        "others": behind.others,
        "first": behind.first.and_then(Who::request),
        "waits": behind.waits.iter().map(wait).collect::<Value>(),
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
