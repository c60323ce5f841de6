//! Choice of the copy that a read of mirrors is served from (`array.mirror_reads`).
//!
//! A queue is as long as its drive has commands, those of the chunks before of the same request included: Linux md
//! splits a request at chunks, too, and counts each before it chooses for the next (`read_balance` in
//! `drivers/md/raid10.c`).

use std::ops::Range;

use rand::RngExt;

use super::members::Places;
use crate::checkpoint::Checkpointed;
use crate::config::{self, Resolved};
use crate::layout::{ChooseCopy, Layout, Missing, Piece, Plan};
use crate::rng::{self, Stream};

/// Plans the reads of mirrors.
#[derive(Debug, Checkpointed)]
pub(super) struct MirrorReads {
    policy: Policy,
    /// By drive, chunks of the request that is planned.
    planned: Vec<u32>,
    around_gc: u64,
}

#[derive(Debug, Checkpointed)]
enum Policy {
    First,
    /// By the drive of the first copy that is there, how often one was chosen.
    RoundRobin(Vec<u32>),
    Random(Stream),
    ShortestQueue,
    AroundCollections,
}

impl MirrorReads {
    /// The choice of a checked configuration, if its drives are mirrors.
    pub(super) fn new(config: &Resolved) -> Option<Self> {
        let devices = config.array.devices as usize;
        let policy = match config.array.mirror_reads()? {
            config::MirrorReads::First => Policy::First,
            config::MirrorReads::RoundRobin => Policy::RoundRobin(vec![0; devices]),
            config::MirrorReads::Random => {
                Policy::Random(rng::stream(config.seed, "array/mirror_reads"))
            }
            config::MirrorReads::ShortestQueue => Policy::ShortestQueue,
            config::MirrorReads::AroundCollections => Policy::AroundCollections,
        };
        Some(Self { policy, planned: vec![0; devices], around_gc: 0 })
    }

    /// Plans a read of the array's `bytes`.
    pub(super) fn plan(
        &mut self,
        bytes: Range<u64>,
        (layout, missing): (&Layout, &Missing),
        drives: Places<'_>,
        plan: &mut Plan,
    ) {
        self.planned.fill(0);
        let Self { policy, planned, .. } = self;
        let mut choice = Choice { policy, planned, drives, goes_around: false };
        layout.read_copies(bytes, missing, &mut choice, plan);
        self.around_gc += u64::from(choice.goes_around);
    }

    /// Reads that went to another drive because one collected.
    pub(super) const fn around_gc(&self) -> u64 {
        self.around_gc
    }
}

/// The choices of one request.
struct Choice<'a> {
    policy: &'a mut Policy,
    planned: &'a mut [u32],
    drives: Places<'a>,
    /// Whether a drive was passed over as it collects.
    goes_around: bool,
}

impl ChooseCopy for Choice<'_> {
    fn choose(&mut self, copies: &[Piece]) -> usize {
        let chosen = match self.policy {
            Policy::First => 0,
            Policy::RoundRobin(turns) => {
                let turn = &mut turns[copies[0].device.index()];
                *turn = turn.wrapping_add(1);
                turn.wrapping_sub(1) as usize % copies.len()
            }
            Policy::Random(random) => random.random_range(0..copies.len()),
            Policy::ShortestQueue => self.shortest(copies),
            Policy::AroundCollections => self.around_collections(copies),
        };
        self.planned[copies[chosen].device.index()] += 1;
        chosen
    }
}

impl Choice<'_> {
    /// Commands of the drive of `copy`, of this request included.
    fn queue(&self, copy: Piece) -> usize {
        self.drives.at(copy.device).outstanding() + self.planned[copy.device.index()] as usize
    }

    fn shortest(&self, copies: &[Piece]) -> usize {
        first_least(copies, |copy| self.queue(copy))
    }

    fn around_collections(&mut self, copies: &[Piece]) -> usize {
        let waits = |copy: Piece| {
            self.drives.at(copy.device).is_behind_collection(copy.offset, copy.length)
        };
        let chosen = first_least(copies, |copy| (waits(copy), self.queue(copy)));
        self.goes_around |= chosen != self.shortest(copies);
        chosen
    }
}

/// The index of the first of `copies` with the least key.
fn first_least<K: Ord>(copies: &[Piece], key: impl Fn(Piece) -> K) -> usize {
    let least = copies.iter().enumerate().min_by_key(|(_, copy)| key(**copy));
    least.map_or(0, |(index, _)| index)
}
