//! Reads around collections: a read that would wait behind a collection is reconstructed from the other drives of its
//! stripes and their parity (Li et al., IODA, SOSP 2021; Yan et al., TTFLASH, FAST 2017).
//!
//! | policy | the array learns that a drive collects | if several drives of a stripe do |
//! | --- | --- | --- |
//! | [at once](at_once) | at no cost | waits |
//! | [fail fast](fail_fast) | when the read fails, a round trip later | goes around one, waits for the others |
//! | [windows](windows) | never: goes around the drive whose window it is | waits |

mod at_once;
mod fail_fast;
mod windows;

use std::ops::{Deref, DerefMut, Range};

use smallvec::SmallVec;

use super::members::Places;
use crate::checkpoint::Checkpointed;
use crate::config::{ReadsAroundGc, Resolved};
use crate::engine::EventQueue;
use crate::ids::{SsdId, TaskId};
use crate::layout::{Layout, Missing, Piece, Plan};
use crate::one_of::one_of;
use crate::units::{Duration, Instant};
use crate::workload::Operation;

use at_once::AtOnce;
use fail_fast::FailFast;
use windows::Windows;

/// Drives, each with the time for which it will still collect where a read goes.
type BusyDrives = SmallVec<[(SsdId, Duration); 4]>;

/// Policy of what a read goes around.
pub trait Around {
    /// Decides on a `read`, whose `plan` is that of an array without collections. Puts another in its place to go around;
    /// `other` is there to make one in.
    fn decide(&mut self, read: &Read<'_>, plan: &mut Plan, other: &mut Plan) -> Decision;
}

/// Decision of a policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decision {
    /// Whether the plan is another now.
    goes_around: bool,
    /// Time that passes before the plan is carried out.
    delay: Duration,
}

impl Decision {
    /// The read is served as if nothing collected.
    const PLAIN: Self = Self { goes_around: false, delay: Duration::ZERO };
}

one_of! { $
    /// The policy of an array.
    #[derive(Debug, Checkpointed)]
    pub enum Policy {
        /// See [`at_once`].
        AtOnce(AtOnce),
        /// See [`fail_fast`].
        FailFast(FailFast),
        /// See [`windows`].
        Windows(Windows),
    }
}

impl Deref for Policy {
    type Target = dyn Around;

    fn deref(&self) -> &Self::Target {
        each!(self, policy => policy)
    }
}

impl DerefMut for Policy {
    fn deref_mut(&mut self) -> &mut Self::Target {
        each!(self, policy => policy)
    }
}

/// Read that is to be planned, and the array that it finds.
pub struct Read<'a> {
    bytes: Range<u64>,
    layout: &'a Layout,
    missing: &'a Missing,
    drives: Places<'a>,
    now: Instant,
}

impl Read<'_> {
    /// Whether `piece` would wait behind a collection.
    fn waits(&self, piece: &Piece) -> bool {
        self.drives.at(piece.device).is_behind_collection(piece.offset, piece.length)
    }

    /// Drives on which pieces of `plan` would wait behind a collection, in the order of the plan.
    fn busy_drives(&self, plan: &Plan) -> BusyDrives {
        let mut busy = BusyDrives::new();
        for piece in plan.first.iter() {
            let time = self.drives.at(piece.device).busy_time(piece.offset, piece.length);
            let Some(time) = time else { continue };
            match busy.iter_mut().find(|(drive, _)| *drive == piece.device) {
                Some((_, longest)) => *longest = time.max(*longest),
                None => busy.push((piece.device, time)),
            }
        }
        busy
    }

    /// Plans to read nothing from the drives in `avoid`. False if that can't be done.
    fn plan_around(&self, avoid: &[SsdId], plan: &mut Plan) -> bool {
        self.layout.reads_around(self.bytes.clone(), avoid, self.missing, plan)
    }
}

/// Plans the reads of an array with parity, and holds those that have failed until the controller has learned of it.
#[derive(Debug, Checkpointed)]
pub(super) struct ReadsAround {
    policy: Policy,
    count: u64,
    /// Kept to reuse its memory.
    other: Plan,
    /// Tasks of reads that have failed, by the time at which they go on.
    failed: EventQueue<TaskId>,
}

impl ReadsAround {
    /// Policy of a checked configuration; none if no read goes around anything.
    pub(super) fn new(config: &Resolved) -> Option<Self> {
        let policy = match config.array.reads_around_gc {
            ReadsAroundGc::Fixed(false) => return None,
            ReadsAroundGc::Fixed(true) => Policy::AtOnce(AtOnce),
            ReadsAroundGc::FailFast { round_trip, several } => {
                Policy::FailFast(FailFast::new(round_trip.0, several, config.seed))
            }
            ReadsAroundGc::Windows => Policy::Windows(Windows::new(config)),
        };
        Some(Self { policy, count: 0, other: Plan::default(), failed: EventQueue::default() })
    }

    /// Plans the read of `bytes`. Returns the time that passes before the plan is carried out.
    pub(super) fn plan(
        &mut self,
        bytes: Range<u64>,
        (layout, missing): (&Layout, &Missing),
        drives: Places<'_>,
        now: Instant,
        plan: &mut Plan,
    ) -> Duration {
        layout.plan(Operation::Read, bytes.clone(), missing, plan);
        let read = Read { bytes, layout, missing, drives, now };
        let Decision { goes_around, delay } = self.policy.decide(&read, plan, &mut self.other);
        self.count += u64::from(goes_around);
        delay
    }

    /// Reads that went around a drive.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// Holds the task of a read that has failed until it goes on at `at`.
    pub(super) fn hold(&mut self, task: TaskId, at: Instant) {
        self.failed.schedule(at, 0, task);
    }

    /// When the next read goes on that has failed.
    pub(super) fn next_time(&self) -> Option<Instant> {
        self.failed.next_time()
    }

    /// The next task that goes on at `now`.
    pub(super) fn next_to_go_on(&mut self, now: Instant) -> Option<TaskId> {
        self.failed.pop_at(now)
    }
}
