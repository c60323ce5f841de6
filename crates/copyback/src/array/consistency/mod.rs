//! Cuts of power of an array (`ssd.power.cuts`), and its care for stripes that they leave half written
//! (`array.consistency_policy`).
//!
//! ```text
//!  cut ──► commands leave the drives ──► requests are planned again, and wait for the power
//!   │
//!   └────► writes that a drive had begun are torn ──► resync, or writes from the log ──► they agree
//!                        │
//!                        └──► a drive is missing: what was not being written is reconstructed wrongly
//! ```
//!
//! Controller and drives lose their power at once. Whoever waits for a request hands it in anew, as with one drive.

mod ahead;
mod bitmap;
mod journal;
mod resync;
mod torn;

use std::ops::Range;

use schemars::JsonSchema;
use serde::Serialize;

use super::tasks::TaskPurpose;
use crate::checkpoint::Checkpointed;
use crate::config::{ConsistencyPolicy, Cuts, Resolved};
use crate::ids::TaskId;
use crate::layout::{Layout, Missing, Piece, Plan};
use crate::units::{Duration, Instant, earlier};
use crate::workload::Operation;
use ahead::PartialParityLogs;
use bitmap::Bitmap;
use journal::Journal;
pub use resync::ResyncStep;
use resync::Resyncer;
use torn::Torn;

/// Time without writes after which an array is marked clean, so that a cut asks for no resync (`safe_mode_delay` of Linux
/// md).
const SAFE_MODE_DELAY: Duration = Duration::from_us(200_000);

/// Cuts of power of an array, and what came of them.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema, Checkpointed)]
pub struct ConsistencySummary {
    /// Number of writes of a stripe that a cut left half done. Of mirrors: of writes.
    pub torn_writes: u64,
    /// Number of those whose parity and data, or copies, may still disagree.
    pub torn_left: u64,
    /// Bytes of data on missing drives that nobody was writing and that are reconstructed wrongly, as parity and data disagree:
    /// the write hole.
    pub write_hole_bytes: u64,
    /// Number of resyncs that came to their end.
    pub resyncs: u64,
    /// Bytes that resyncs read of all drives together.
    pub resync_read_bytes: u64,
    /// Time from the cut to the end of the longest resync, in microseconds.
    pub longest_resync_us: f64,
    /// Bytes of bitmaps, partial parity or a journal that were written to all drives together.
    pub log_bytes: u64,
}

/// The care of an array for the day its power fails.
#[derive(Debug, Checkpointed)]
pub(super) struct Consistency {
    policy: Policy,
    torn: Torn,
    resyncer: Resyncer,
    /// Number of cuts so far.
    cuts: u64,
    /// When the last write ended.
    last_write: Option<Instant>,
    /// Parts of torn writes that writes under way make agree.
    mending: Vec<(TaskId, Range<u64>)>,
    tally: ConsistencySummary,
}

/// Policy, with what it keeps on the drives.
#[derive(Debug, Checkpointed)]
enum Policy {
    None,
    Resync,
    Bitmap(Bitmap),
    PartialParity(PartialParityLogs),
    Journal(Journal),
}

impl Policy {
    /// Whether a log on the drives tells what a cut has interrupted.
    const fn is_log(&self) -> bool {
        matches!(self, Self::PartialParity(_) | Self::Journal(_))
    }
}

impl Consistency {
    /// The care that a checked configuration asks for, if power may fail or something is written for that day.
    pub(super) fn new(config: &Resolved, layout: &Layout) -> Option<Box<Self>> {
        let asked = config.array.consistency_policy;
        let may_fail = config.ssd.power.cuts != Cuts::None;
        if !layout.is_redundant() || !(may_fail || asked.writes_ahead()) {
            return None;
        }
        let metadata = config.array.data_bytes(config.drive.capacity.bytes);
        let policy = match asked {
            ConsistencyPolicy::None => Policy::None,
            ConsistencyPolicy::Resync { .. } => Policy::Resync,
            ConsistencyPolicy::Bitmap { chunk, delay, .. } => {
                Policy::Bitmap(Bitmap::new(chunk.0, delay.0, metadata))
            }
            ConsistencyPolicy::Ppl { space } => {
                Policy::PartialParity(PartialParityLogs::new(metadata, space.0, layout.devices()))
            }
            ConsistencyPolicy::Journal => Policy::Journal(Journal::new(config, layout)),
        };
        let (torn, mending, tally) = Default::default();
        let resyncer = Resyncer::new(asked);
        Some(Box::new(Self { policy, torn, resyncer, cuts: 0, last_write: None, mending, tally }))
    }

    /// Effects of cuts so far.
    pub(super) fn summary(&self) -> ConsistencySummary {
        ConsistencySummary { torn_left: self.torn.len() as u64, ..self.tally }
    }

    /// Counts the cuts of the drives. Returns whether there is another one.
    pub(super) const fn note_cuts(&mut self, cuts: u64) -> bool {
        let is_another = cuts > self.cuts;
        self.cuts = cuts;
        is_another
    }

    /// A cut has come at `now`, while the writes of `half_done` bytes of the array had begun.
    pub(super) fn cut(
        &mut self,
        half_done: &[Range<u64>],
        (layout, missing): (&Layout, &Missing),
        now: Instant,
    ) {
        self.mending.clear();
        let parts = half_done.iter().flat_map(|bytes| layout.by_stripe(bytes.clone()));
        for part in parts {
            self.torn.add(part);
            self.tally.torn_writes += 1;
        }
        let is_clean = half_done.is_empty()
            && self.last_write.is_none_or(|last| now - last >= SAFE_MODE_DELAY);
        let whole = 0..layout.resync_bytes();
        let regions = match &mut self.policy {
            Policy::None => Vec::new(),
            Policy::Resync if is_clean => Vec::new(),
            Policy::Resync => vec![whole],
            Policy::Bitmap(bitmap) => bitmap.set_chunks(whole.end),
            // The log tells what to do, even without the drive whose data it has not.
            Policy::PartialParity(_) | Policy::Journal(_) => {
                self.torn.iter().map(|part| layout.resync_range(part.clone())).collect()
            }
        };
        if let Policy::Journal(journal) = &mut self.policy {
            journal.cut(half_done);
        }
        if self.policy.is_log() && !layout.may_disagree(missing) {
            self.torn.clear();
        }
        self.lose(layout, missing);
        self.resyncer.start(regions, now);
    }

    /// Counts what is reconstructed wrongly with what is `missing`.
    pub(super) fn lose(&mut self, layout: &Layout, missing: &Missing) {
        if missing.is_empty() || self.policy.is_log() {
            return;
        }
        self.tally.write_hole_bytes += self.torn.lose(layout, missing);
    }

    /// When something is to be done next.
    pub(super) fn next_time(&self) -> Option<Instant> {
        let clears = match &self.policy {
            Policy::Bitmap(bitmap) => bitmap.next_time(),
            Policy::None | Policy::Resync | Policy::PartialParity(_) | Policy::Journal(_) => None,
        };
        earlier(clears, self.resyncer.next_time())
    }

    /// Begins no further step.
    pub(super) fn stop(&mut self) {
        self.resyncer.give_up();
        if let Policy::Bitmap(bitmap) = &mut self.policy {
            bitmap.stop();
        }
    }

    /// Notes that a request has come.
    pub(super) const fn note_request(&mut self) {
        self.resyncer.note_request();
    }

    /// Begins what is due at `now`: a step of a resync if something may disagree, or a write of the bitmap.
    pub(super) fn begin(&mut self, now: Instant, may_disagree: bool) -> Option<TaskPurpose> {
        if !may_disagree {
            self.resyncer.give_up();
        }
        let step = self.resyncer.begin(now).map(TaskPurpose::Resync);
        step.or_else(|| self.clear_bits(now).map(TaskPurpose::ClearBits))
    }

    fn clear_bits(&mut self, now: Instant) -> Option<u64> {
        let Policy::Bitmap(bitmap) = &mut self.policy else { return None };
        bitmap.clear(now, |chunk| self.resyncer.is_left(&chunk))
    }

    /// A step of a rebuild has written `rows` of a replacement.
    pub(super) fn rebuilt(&mut self, rows: Range<u64>, layout: &Layout) {
        if layout.rebuild_agrees() {
            self.torn.rebuilt(&rows, layout);
        }
    }

    /// Plans a step of a resync.
    pub(super) fn plan_resync(
        &mut self,
        ResyncStep { offset, length }: ResyncStep,
        (layout, missing): (&Layout, &Missing),
        plan: &mut Plan,
    ) {
        let range = offset..offset + length;
        let torn: Vec<_> = self.torn.iter().collect();
        match &self.policy {
            Policy::Journal(journal) => {
                layout.replay(range, &torn, missing, journal.interrupted(), plan);
            }
            _ => layout.resync(range, &torn, missing, plan),
        }
        self.resyncer.reads(plan.first.iter().map(|piece| piece.length).sum());
    }

    /// A step of a resync has ended; requests are in the array if `is_loaded`.
    pub(super) fn resynced(
        &mut self,
        ResyncStep { offset, length }: ResyncStep,
        layout: &Layout,
        now: Instant,
        is_loaded: bool,
    ) {
        let range = offset..offset + length;
        self.torn.resynced(&range, layout);
        if let Policy::Journal(journal) = &mut self.policy {
            journal.note_read();
        }
        self.tally.resync_read_bytes += self.resyncer.take_read();
        if let Some(took) = self.resyncer.ended(&range, now, is_loaded) {
            self.tally.resyncs += 1;
            self.tally.longest_resync_us = self.tally.longest_resync_us.max(took.as_us_f64());
        }
    }

    /// Plans the write that `task` is, of the array's `bytes`: parities that may be wrong are made anew.
    pub(super) fn plan_write(
        &mut self,
        task: TaskId,
        bytes: Range<u64>,
        (layout, missing): (&Layout, &Missing),
        plan: &mut Plan,
    ) {
        let is_in_doubt = self.resyncer.is_not_past(&layout.resync_range(bytes.clone()));
        match is_in_doubt && missing.is_empty() {
            true => layout.write_anew(bytes.clone(), plan),
            false => layout.plan(Operation::Write, bytes.clone(), missing, plan),
        }
        if self.torn.is_empty() {
            return;
        }
        self.mending.retain(|(other, _)| *other != task);
        let mended = layout.by_stripe(bytes).filter(|part| layout.makes_agree(part, plan));
        self.mending.extend(mended.map(|part| (task, part)));
    }

    /// Writes that come before `writes`, which are one of the array's `bytes`, on the drives that are there.
    pub(super) fn ahead_of(
        &mut self,
        bytes: Range<u64>,
        (layout, missing): (&Layout, &Missing),
        writes: &[Piece],
    ) -> Vec<Piece> {
        match &mut self.policy {
            Policy::None | Policy::Resync => Vec::new(),
            Policy::Bitmap(bitmap) => {
                let blocks = bitmap.begin_write(&layout.resync_range(bytes));
                let on_all = |block| bitmap.pieces(block, layout.devices(), missing);
                blocks.into_iter().flat_map(on_all).collect()
            }
            Policy::PartialParity(logs) => {
                let parities = layout.partial_parities(bytes, missing);
                parities.iter().map(|parity| logs.append(*parity)).collect()
            }
            Policy::Journal(journal) => journal.append(bytes, writes),
        }
    }

    /// Counts `pieces` of a log or a bitmap that go to the drives.
    pub(super) fn count_log(&mut self, pieces: &[Piece]) {
        self.tally.log_bytes += pieces.iter().map(|piece| piece.length).sum::<u64>();
    }

    /// Plans to write `block` of the bitmap.
    pub(super) fn plan_block(
        &mut self,
        block: u64,
        (layout, missing): (&Layout, &Missing),
        plan: &mut Plan,
    ) {
        let Policy::Bitmap(bitmap) = &self.policy else { return plan.write_alone([]) };
        plan.write_alone(bitmap.pieces(block, layout.devices(), missing));
        self.tally.log_bytes += plan.then.iter().map(|piece| piece.length).sum::<u64>();
    }

    /// Notes that what came [before](Self::ahead_of) the pieces of a write is on the drives.
    pub(super) fn note_logged(&mut self, bytes: Range<u64>, layout: &Layout) {
        if let Policy::Bitmap(bitmap) = &mut self.policy {
            bitmap.note_set(&layout.resync_range(bytes));
        }
    }

    /// The write of `task` has ended, or is to be planned again if `is_done` is false.
    pub(super) fn write_ended(
        &mut self,
        task: TaskId,
        bytes: Range<u64>,
        (layout, is_done): (&Layout, bool),
        now: Instant,
    ) {
        if let Policy::Bitmap(bitmap) = &mut self.policy {
            bitmap.end_write(&layout.resync_range(bytes), now);
        } else if let Policy::Journal(journal) = &mut self.policy {
            journal.end_write(&bytes);
        }
        if is_done {
            self.last_write = Some(now);
            let torn = &mut self.torn;
            let mended = self.mending.extract_if(.., |(other, _)| *other == task);
            mended.for_each(|(_, part)| torn.rewritten(&part));
        }
    }
}
