//! What a request waited for, and what those that it waited for had waited for themselves.

use std::cmp::Reverse;

use crate::checkpoint::Checkpointed;
use crate::ids::{DieId, RequestNumber, SsdId};
use crate::ssd::{For, Waited};
use crate::units::Duration;

use super::recent::{Collecting, Place};

/// How far a story is followed: the wait of a request, of one that it waited for, and so on.
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
    /// What for, and how long.
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
    /// Which it was.
    pub collecting: Collecting,
}

/// Somebody who was waited for. Who waits in a row of many, each for the one before, wants to know what the first
/// of them waited for.
#[derive(Debug, Clone, Checkpointed)]
pub struct Behind {
    /// Who it was.
    pub who: Who,
    /// Others before them that waited for the same, each for the one before.
    pub others: u32,
    /// The first of those, if there are any.
    pub first: Option<Who>,
    /// What the first, or they themselves, had waited for: the longest waits.
    pub waits: Vec<RecordedWait>,
}

/// Somebody who may be waited for.
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

    /// How long it took.
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

    /// As it is recorded by somebody who follows so many `links` of the story yet.
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
    /// Somebody who has waited so, and is waited for: for what they may have waited for themselves.
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

fn longest(waits: &[RecordedWait], links: usize) -> Vec<RecordedWait> {
    let mut longest: Vec<&RecordedWait> =
        waits.iter().filter(|recorded| !recorded.time().is_zero()).collect();
    longest.sort_by_key(|recorded| Reverse(recorded.time()));
    longest.truncate(MOST_RETOLD);
    longest.into_iter().map(|recorded| recorded.retold(links)).collect()
}
