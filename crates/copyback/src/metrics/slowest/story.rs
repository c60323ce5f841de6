//! Story of a request: its waits, and the waits of those that it waited for.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::checkpoint::Checkpointed;
use crate::ids::{DieId, RequestNumber, SsdId};
use crate::ssd::{For, Waited};
use crate::units::Duration;

use super::recent::{Collecting, Place};

/// Largest number of links that a story is followed: the wait of a request, of one that it waited for, and so
/// on.
const MOST_LINKS: usize = 4;

/// Waits that are kept of somebody who was waited for, the longest.
const MOST_RETOLD: usize = 3;

/// Collections that are kept of those that a wait met.
pub const MOST_MET: usize = 8;

/// A wait, and why it took so long.
#[derive(Debug, Clone, Checkpointed)]
pub struct RecordedWait {
    /// The drive, if it was in one.
    pub device: Option<SsdId>,
    /// Object and duration of the wait.
    pub wait: Waited,
    /// Collections that had the die meanwhile, if it was for a die: those that had it for longest.
    pub collections: Vec<Met>,
    /// Whom for, if that is known.
    pub behind: Option<Box<Behind>>,
}

/// A collection that somebody met.
#[derive(Debug, Clone, Checkpointed)]
pub struct Met {
    /// For how long it had the die meanwhile.
    pub time: Duration,
    /// Collection that was met.
    pub collecting: Collecting,
}

/// Party that was waited for. Who waits in a row of many, each for the one before, wants to know what the first
/// of them waited for.
#[derive(Debug, Clone, Checkpointed)]
pub struct Behind {
    /// Identity of the party.
    pub who: Who,
    /// Others before them that waited for the same, each for the one before.
    pub others: u32,
    /// The first of those, if there are any.
    pub first: Option<Who>,
    /// Longest waits of the first, or of the party itself.
    pub waits: Vec<RecordedWait>,
}

/// Party that may be waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Who {
    /// A request.
    Request(RequestNumber),
    /// A page on its way from the write buffer to flash.
    Destage,
    /// A page of the mapping that is read or written.
    Mapping,
    /// The rebuild of a lost die.
    Rebuild,
}

impl RecordedWait {
    /// The die that it was for.
    pub const fn die(&self) -> Option<DieId> {
        match self.wait.what {
            For::Die(die) => Some(die),
            _ => None,
        }
    }

    /// Duration of the wait.
    pub fn time(&self) -> Duration {
        self.wait.until - self.wait.since
    }

    /// The dies that it was for, or that those were held up at that it was for.
    pub fn places(&self, into: &mut Vec<Place>) {
        let place = self.device.zip(self.die()).map(|(device, die)| Place { device, die });
        into.extend(place.filter(|place| !into.contains(place)));
        let waits = self.behind.iter().flat_map(|behind| &behind.waits);
        waits.for_each(|recorded| recorded.places(into));
    }

    /// Adds how long it met each collection, by number, and how long those did that it was for.
    fn add_collections(&self, times: &mut BTreeMap<u64, Duration>) {
        for met in &self.collections {
            *times.entry(met.collecting.number).or_default() += met.time;
        }
        let waits = self.behind.iter().flat_map(|behind| &behind.waits);
        waits.for_each(|recorded| recorded.add_collections(times));
    }

    /// Copies the wait for a party that follows the story for this number of `links` yet.
    fn retold(&self, links: usize) -> Self {
        let behind = self.behind.as_ref().filter(|_| links > 0).map(|behind| {
            let waits = longest(&behind.waits, links - 1);
            Box::new(Behind { waits, ..**behind })
        });
        Self { behind, collections: self.collections.clone(), ..*self }
    }
}

impl Who {
    /// The name in outputs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Request(_) => "request",
            Self::Destage => "destage",
            Self::Mapping => "mapping",
            Self::Rebuild => "rebuild",
        }
    }

    /// The number of a request.
    pub const fn request(self) -> Option<u64> {
        match self {
            Self::Request(number) => Some(number.0),
            Self::Destage | Self::Mapping | Self::Rebuild => None,
        }
    }
}

impl Behind {
    /// Describes a party that has had these `waits` and is waited for: for what it may have waited for itself.
    pub fn new(who: Who, waits: &[RecordedWait], what: For) -> Self {
        let longest_wait = waits.iter().max_by_key(|recorded| recorded.time());
        let row = longest_wait.filter(|recorded| recorded.wait.what == what);
        match row.and_then(|recorded| recorded.behind.as_deref()) {
            Some(before) => Self {
                who,
                others: before.others + 1,
                first: before.first.or(Some(before.who)),
                waits: before.waits.clone(),
            },
            None => {
                let waits = longest(waits, MOST_LINKS - 1);
                Self { who, others: 0, first: None, waits }
            }
        }
    }
}

/// Number of the collection that these waits met for longest in all, the first of those that they met for as long.
pub fn met_for_longest(waits: &[RecordedWait]) -> Option<u64> {
    let mut times = BTreeMap::new();
    waits.iter().for_each(|recorded| recorded.add_collections(&mut times));
    times
        .into_iter()
        .max_by_key(|(number, time)| (*time, Reverse(*number)))
        .map(|(number, _)| number)
}

fn longest(waits: &[RecordedWait], links: usize) -> Vec<RecordedWait> {
    let mut longest: Vec<&RecordedWait> =
        waits.iter().filter(|recorded| !recorded.time().is_zero()).collect();
    longest.sort_by_key(|recorded| Reverse(recorded.time()));
    longest.truncate(MOST_RETOLD);
    longest.into_iter().map(|recorded| recorded.retold(links)).collect()
}
