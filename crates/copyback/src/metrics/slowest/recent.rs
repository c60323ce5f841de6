//! Recent work of dies: kept, and copied when a request ends that is among the slowest so far.

use std::collections::VecDeque;

use smallvec::SmallVec;

use crate::checkpoint::Checkpointed;
use crate::ids::{DieId, RequestNumber, SsdId};
use crate::ssd::{Collected, Work};
use crate::units::{Duration, Instant};

use super::story::Met;

/// Operations and collections of a die that are kept for requests to come.
const MOST_KEPT: usize = 512;

/// A die of a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct Place {
    /// Index of the drive.
    pub device: SsdId,
    /// Die of the drive.
    pub die: DieId,
}

/// Recent work of a die.
#[derive(Debug, Clone, Default, Checkpointed)]
pub struct Recent {
    /// Flash operations, in the array and on the channel.
    pub operations: History<Done>,
    /// Collections, as long as they had the die.
    pub collections: History<Collecting>,
    /// The collection that has begun and not ended, and since when it has the die, if it does.
    pub collecting: Option<(Collecting, Option<Instant>)>,
}

/// Spans of time, in order of their begin or their end.
#[derive(Debug, Clone, Checkpointed)]
pub struct History<T> {
    /// Each of them.
    pub spans: VecDeque<Span<T>>,
    /// When the last of those ended that have been forgotten.
    pub forgotten: Instant,
}

/// From when until when what was done.
#[derive(Debug, Clone, Checkpointed)]
pub struct Span<T> {
    /// From when.
    pub begin: Instant,
    /// Until when.
    pub end: Instant,
    /// Content of the span.
    pub what: T,
}

/// A flash operation, in the array or on the channel.
#[derive(Debug, Clone, Checkpointed)]
pub struct Done {
    /// Work that was done.
    pub work: Work,
    /// For which requests.
    pub requests: SmallVec<[RequestNumber; 2]>,
    /// Whether it was on the channel.
    pub on_channel: bool,
    /// Whether it was suspended.
    pub suspended: bool,
}

/// A collection: which of the run, and of what.
#[derive(Debug, Clone, Checkpointed)]
pub struct Collecting {
    /// Number of the collection.
    pub number: u64,
    /// Of what.
    pub collected: Collected,
}

impl<T> Default for History<T> {
    fn default() -> Self {
        Self { spans: VecDeque::new(), forgotten: Instant::START }
    }
}

impl<T: Clone> History<T> {
    /// Adds what lasted from `begin` to `end`.
    pub fn push(&mut self, begin: Instant, end: Instant, what: T) {
        if self.spans.len() == MOST_KEPT
            && let Some(oldest) = self.spans.pop_front()
        {
            self.forgotten = self.forgotten.max(oldest.end);
        }
        self.spans.push_back(Span { begin, end, what });
    }

    /// Spans that lasted into the time from `begin` on.
    fn since(&self, begin: Instant) -> Self {
        let spans = self.spans.iter().filter(|span| span.end > begin).cloned().collect();
        Self { spans, forgotten: self.forgotten }
    }
}

impl Recent {
    /// The collection has the die no longer.
    pub fn rest(&mut self, at: Instant) {
        if let Some((collecting, since)) = &mut self.collecting
            && let Some(since) = since.take()
        {
            self.collections.push(since, at, collecting.clone());
        }
    }

    /// Work from `begin` until `now`.
    pub fn since(&self, begin: Instant, now: Instant) -> Self {
        let mut recent = Self {
            operations: self.operations.since(begin),
            collections: self.collections.since(begin),
            collecting: self.collecting.clone(),
        };
        recent.rest(now);
        recent
    }

    /// The collections that had the die between two instants, of which the latter is now: those that did so
    /// for longest first.
    pub fn collections_between(&self, since: Instant, now: Instant) -> Vec<Met> {
        let running =
            self.collecting.iter().filter_map(|(what, begin)| Some((what, (*begin)?, now)));
        let rested = self.collections.spans.iter().rev().take_while(|span| span.end > since);
        let mut met: Vec<Met> = Vec::new();
        for (what, begin, end) in
            running.chain(rested.map(|span| (&span.what, span.begin, span.end)))
        {
            let time = end.min(now).saturating_since(begin.max(since));
            match met.iter_mut().find(|met| met.collecting.number == what.number) {
                _ if time == Duration::ZERO => {}
                Some(met) => met.time += time,
                None => met.push(Met { time, collecting: what.clone() }),
            }
        }
        met.sort_by_key(|met| (std::cmp::Reverse(met.time), met.collecting.number));
        met
    }
}
