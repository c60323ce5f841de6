//! Scrubs (`array.scrub`): every drive is read from its first byte to its last now and then. Pages which cannot be read
//! any more are found, and written anew, while the other drives still make up for them. Linux md does that for `check` in
//! `sync_action` (`man 4 md`).

use schemars::JsonSchema;
use serde::Serialize;

use crate::checkpoint::Checkpointed;
use crate::config::{self, Scrub};
use crate::units::{Duration, Instant};

use super::pacer::Pacer;

/// Passes over all drives of an array, to find pages that cannot be read.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema, Checkpointed)]
pub struct ScrubsSummary {
    /// Number of passes that came to the end of the drives.
    pub completed: u64,
    /// Number of passes that ended before, or did not begin, as a drive was missing.
    pub cut_short: u64,
    /// Bytes that were read, of all drives together.
    pub read_bytes: u64,
}

/// Range of each drive that is read in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct ScrubStep {
    /// First byte of each drive.
    pub offset: u64,
    /// Bytes of each drive.
    pub length: u64,
}

/// Passes that come, and how far the one under way is.
#[derive(Debug, Checkpointed)]
pub(super) struct Scrubber {
    /// Time from the start of a pass to that of the next, at least.
    every: Duration,
    /// Start of the pass under way, or of the one that comes.
    pass: Instant,
    /// First byte of each drive that is left to read in this pass.
    offset: u64,
    /// Bytes of each drive that are read in a pass.
    device_bytes: u64,
    unit: u64,
    /// Bytes that the step under way reads, of all drives together.
    reading: u64,
    pacer: Pacer,
    tally: ScrubsSummary,
}

impl Scrubber {
    /// The scrubs that a checked configuration asks for, of the first `device_bytes` of each drive.
    pub(super) fn new(config: &config::Array, device_bytes: u64) -> Option<Self> {
        let Scrub::Throttled { every, least, most, unit } = config.scrub else { return None };
        let first = Instant::START + every.0;
        let mut pacer = Pacer::new(unit.0, most, least);
        pacer.wait_until(first);
        let (every, unit, tally) = (every.0, unit.0, ScrubsSummary::default());
        Some(Self { every, pass: first, offset: 0, device_bytes, unit, reading: 0, pacer, tally })
    }

    /// Passes so far.
    pub(super) const fn summary(&self) -> ScrubsSummary {
        self.tally
    }

    /// Notes that a request has come.
    pub(super) const fn note_request(&mut self) {
        self.pacer.note_request();
    }

    /// When the next step starts, if none is under way.
    pub(super) const fn next_time(&self) -> Option<Instant> {
        self.pacer.next_time()
    }

    /// The step that starts at `now`, if one does. Where a drive is missing none does, and the pass has ended: md
    /// compares nothing then, and a rebuild reads all anyway.
    pub(super) fn begin(&mut self, now: Instant, is_whole: bool) -> Option<ScrubStep> {
        self.next_time().filter(|due| *due <= now)?;
        if !is_whole {
            self.tally.cut_short += 1;
            self.end_pass(now);
            return None;
        }
        if self.offset == 0 {
            self.pacer.forget_requests();
        }
        self.pacer.begin(now);
        let length = self.unit.min(self.device_bytes - self.offset);
        Some(ScrubStep { offset: self.offset, length })
    }

    /// The step under way reads so many bytes, of all drives together.
    pub(super) const fn reads(&mut self, bytes: u64) {
        self.reading = bytes;
    }

    /// The step under way has ended; requests are in the array if `is_loaded`.
    pub(super) fn ended(&mut self, step: ScrubStep, now: Instant, is_loaded: bool) {
        self.pacer.ended(now, is_loaded);
        self.tally.read_bytes += std::mem::take(&mut self.reading);
        self.offset = step.offset + step.length;
        if self.offset >= self.device_bytes {
            self.tally.completed += 1;
            self.end_pass(now);
        }
    }

    /// The next pass begins a whole number of times `every` after this one, and not before `now`.
    fn end_pass(&mut self, now: Instant) {
        self.offset = 0;
        let since = now.saturating_since(self.pass).as_ns();
        let periods = since / self.every.as_ns() + 1;
        self.pass += Duration::from_wide_ns(u128::from(self.every.as_ns()) * u128::from(periods));
        self.pacer.wait_until(self.pass);
    }
}
