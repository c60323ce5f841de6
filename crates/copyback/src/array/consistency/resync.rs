//! Resyncs: after a cut, copies and parities are made to agree, range by range.

use std::ops::Range;

use crate::checkpoint::Checkpointed;
use crate::config::ConsistencyPolicy;
use crate::config::quantity::Rate;
use crate::units::{Duration, Instant};

use crate::array::pacer::Pacer;

/// Bytes of a step where nothing else limits it.
const STEP: u64 = 512 << 10;

/// Range that is looked at in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct ResyncStep {
    /// First byte: of each drive, or of the array if it has mirrors.
    pub offset: u64,
    /// Bytes.
    pub length: u64,
}

/// A resync, as far as it is left.
#[derive(Debug, Checkpointed)]
pub(in crate::array) struct Resyncer {
    /// Ranges that are left, in order.
    left: Vec<Range<u64>>,
    unit: u64,
    pacer: Pacer,
    /// When the cut came that it is for.
    since: Instant,
    /// Bytes that the step under way reads.
    reading: u64,
}

impl Resyncer {
    /// No resync, with the pace of `policy`.
    pub(super) fn new(policy: ConsistencyPolicy) -> Self {
        let (least, most, unit) = match policy {
            ConsistencyPolicy::Resync { least, most, unit }
            | ConsistencyPolicy::Bitmap { least, most, unit, .. } => (least, most, unit.0),
            ConsistencyPolicy::None
            | ConsistencyPolicy::Ppl { .. }
            | ConsistencyPolicy::Journal => (Rate::None, Rate::None, STEP),
        };
        let pacer = Pacer::new(unit, most, least);
        Self { left: Vec::new(), unit, pacer, since: Instant::START, reading: 0 }
    }

    /// Goes over `regions`, and over what is left of the last resync, from `now` on.
    pub(super) fn start(&mut self, regions: Vec<Range<u64>>, now: Instant) {
        self.left = joined(std::mem::take(&mut self.left).into_iter().chain(regions).collect());
        self.since = now;
        self.pacer.wait_until(now);
    }

    /// Begins no further step.
    pub(super) fn give_up(&mut self) {
        self.left.clear();
    }

    /// Whether some of `range` is left.
    pub(super) fn is_left(&self, range: &Range<u64>) -> bool {
        self.left.iter().any(|left| left.start < range.end && range.start < left.end)
    }

    /// Whether it has not gone past `range`, be it that it will pass over it.
    pub(super) fn is_not_past(&self, range: &Range<u64>) -> bool {
        self.left.first().is_some_and(|left| left.start < range.end)
    }

    /// When the next step starts, if none is under way.
    pub(super) fn next_time(&self) -> Option<Instant> {
        self.pacer.next_time().filter(|_| !self.left.is_empty())
    }

    /// Notes that a request has come.
    pub(super) const fn note_request(&mut self) {
        self.pacer.note_request();
    }

    /// The step that starts at `now`, if one does.
    pub(super) fn begin(&mut self, now: Instant) -> Option<ResyncStep> {
        self.next_time().filter(|due| *due <= now)?;
        let first = self.left.first()?.clone();
        self.pacer.begin(now);
        Some(ResyncStep { offset: first.start, length: self.unit.min(first.end - first.start) })
    }

    /// The step under way reads so many bytes.
    pub(super) const fn reads(&mut self, bytes: u64) {
        self.reading = bytes;
    }

    /// Bytes that the step that ends has read.
    pub(super) const fn take_read(&mut self) -> u64 {
        std::mem::replace(&mut self.reading, 0)
    }

    /// The step of `range` has ended; requests are in the array if `is_loaded`. Returns the time since the cut if nothing
    /// is left.
    pub(super) fn ended(
        &mut self,
        range: &Range<u64>,
        now: Instant,
        is_loaded: bool,
    ) -> Option<Duration> {
        self.pacer.ended(now, is_loaded);
        let had_any = !self.left.is_empty();
        let rests = |left: Range<u64>| {
            [left.start..left.end.min(range.start), left.start.max(range.end)..left.end]
        };
        let rests = std::mem::take(&mut self.left).into_iter().flat_map(rests);
        self.left = rests.filter(|rest| rest.start < rest.end).collect();
        (had_any && self.left.is_empty()).then(|| now - self.since)
    }
}

/// `ranges` in order, those that meet as one.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resync_ends_when_all_ranges_are_gone_over() {
        let us = |us: u64| Instant::START + Duration::from_us(us);
        let mut resyncer = Resyncer::new(ConsistencyPolicy::None);
        assert_eq!(resyncer.next_time(), None);
        resyncer.start(vec![STEP..3 * STEP, 10 * STEP..10 * STEP + 7, 2 * STEP..3 * STEP], us(5));
        let mut steps = Vec::new();
        while let Some(step) = resyncer.begin(us(5 + steps.len() as u64)) {
            let range = step.offset..step.offset + step.length;
            assert!(resyncer.is_left(&range));
            let end = resyncer.ended(&range, us(6 + steps.len() as u64), false);
            steps.push((step.offset / STEP, step.length, end.map(Duration::as_us_f64)));
        }
        assert_eq!(steps, [(1, STEP, None), (2, STEP, None), (10, 7, Some(3.0))]);
    }

    #[test]
    fn a_cut_in_a_resync_adds_to_what_is_left() {
        let mut resyncer = Resyncer::new(ConsistencyPolicy::None);
        let all = 0..4 * STEP;
        resyncer.start(vec![all.clone()], Instant::START);
        resyncer.ended(&(0..2 * STEP), Instant::START, false);
        assert!(!resyncer.is_not_past(&(STEP..2 * STEP)));
        assert!(resyncer.is_not_past(&(9 * STEP..10 * STEP)));
        resyncer.start(vec![0..STEP, STEP..2 * STEP], Instant::START);
        assert_eq!(resyncer.left, [all]);
    }
}
