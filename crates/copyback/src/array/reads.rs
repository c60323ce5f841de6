//! Reads that may be served from one place or another.

use std::ops::Range;

use crate::checkpoint::Checkpointed;
use crate::config::Resolved;

use super::members::Places;
use super::mirror_reads::MirrorReads;
use super::read_around::ReadAround;
use crate::layout::{Layout, Missing, Plan};

/// A choice that the array makes for each read.
#[derive(Debug, Checkpointed)]
pub(super) enum Reads {
    /// Under parity, whether to go around drives that collect.
    Around(Box<ReadAround>),
    /// Of mirrors, which copy to read.
    Mirrored(MirrorReads),
}

impl Reads {
    /// The choice of a checked configuration; none if there is nothing to choose.
    pub(super) fn new(config: &Resolved) -> Option<Self> {
        let around = ReadAround::new(&config.array).map(Box::new).map(Self::Around);
        around.or_else(|| MirrorReads::new(config).map(Self::Mirrored))
    }

    /// Plans a read of the array's `bytes`.
    pub(super) fn plan(
        &mut self,
        bytes: Range<u64>,
        layout: (&Layout, &Missing),
        drives: Places<'_>,
        plan: &mut Plan,
    ) {
        match self {
            Self::Around(reads) => reads.plan(bytes, layout, drives, plan),
            Self::Mirrored(reads) => reads.plan(bytes, layout, drives, plan),
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
