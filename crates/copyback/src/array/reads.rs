//! Reads that may be served from one place or another.

use std::ops::Range;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;

use super::members::Places;
use super::mirror_reads::MirrorReads;
use super::reads_around::ReadsAround;
use crate::ids::TaskId;
use crate::layout::{Layout, Missing, Plan};
use crate::units::{Duration, Instant};

/// A choice that the array makes for each read.
#[derive(Debug, Checkpointed)]
pub(super) enum Reads {
    /// Under parity, whether to go around drives that collect.
    Around(Box<ReadsAround>),
    /// Of mirrors, which copy to read.
    Mirrored(MirrorReads),
}

impl Reads {
    /// The choice of a checked configuration; none if there is nothing to choose.
    pub(super) fn new(config: &Resolved) -> Option<Self> {
        let around = ReadsAround::new(config).map(Box::new).map(Self::Around);
        around.or_else(|| MirrorReads::new(config).map(Self::Mirrored))
    }

    /// Plans a read of the array's `bytes`. Returns the time that passes before the plan is carried out.
    pub(super) fn plan(
        &mut self,
        bytes: Range<u64>,
        layout: (&Layout, &Missing),
        drives: Places<'_>,
        now: Instant,
        plan: &mut Plan,
    ) -> Duration {
        match self {
            Self::Around(reads) => reads.plan(bytes, layout, drives, now, plan),
            Self::Mirrored(reads) => {
                reads.plan(bytes, layout, drives, plan);
                Duration::ZERO
            }
        }
    }

    /// Holds the task of a read that has failed until it goes on at `at`.
    pub(super) fn hold(&mut self, task: TaskId, at: Instant) {
        match self {
            Self::Around(reads) => reads.hold(task, at),
            Self::Mirrored(_) => unreachable!("reads of mirrors do not fail fast"),
        }
    }

    /// When the next read goes on that has failed.
    pub(super) fn next_time(&self) -> Option<Instant> {
        match self {
            Self::Around(reads) => reads.next_time(),
            Self::Mirrored(_) => None,
        }
    }

    /// The next task of a failed read that goes on at `now`.
    pub(super) fn next_to_go_on(&mut self, now: Instant) -> Option<TaskId> {
        match self {
            Self::Around(reads) => reads.next_to_go_on(now),
            Self::Mirrored(_) => None,
        }
    }

    /// Reads that went around a collection.
    pub(super) const fn around_gc(&self) -> u64 {
        match self {
            Self::Around(reads) => reads.count(),
            Self::Mirrored(reads) => reads.around_gc(),
        }
    }
}
