//! Reads around collections: a read that would wait behind a collection is made up from the other
//! drives of its stripes and their parity (Li et al., IODA, SOSP 2021; Yan et al., TTFLASH, FAST 2017).
//!
//! A drive is taken to fail such a read fast: it answers at once that it collects there.

use std::ops::Range;

use smallvec::SmallVec;

use crate::checkpoint::Checkpointed;
use crate::config;
use crate::ids::SsdId;

use super::members::Places;
use crate::layout::{Layout, Missing, Piece, Plan};
use crate::workload::Operation;

/// Plans reads anew whose drives collect.
#[derive(Debug, Default, Checkpointed)]
pub struct ReadAround {
    count: u64,
    plain: Plan,
}

impl ReadAround {
    /// If the array does so.
    pub fn new(config: &config::Array) -> Option<Self> {
        config.reads_around_gc.then(Self::default)
    }

    /// Plans the read of `bytes`, around the drives that collect where it reads if the others can do without them and
    /// don't collect there themselves.
    pub fn plan(
        &mut self,
        bytes: Range<u64>,
        (layout, missing): (&Layout, &Missing),
        drives: Places<'_>,
        plan: &mut Plan,
    ) {
        layout.plan(Operation::Read, bytes.clone(), missing, plan);
        let waits = |piece: &&Piece| {
            drives.at(piece.device).is_behind_collection(piece.offset, piece.length)
        };
        let waiting = plan.first.iter().filter(waits).map(|piece| piece.device);
        let avoid: SmallVec<[SsdId; 4]> = waiting.collect();
        if avoid.is_empty() {
            return;
        }
        std::mem::swap(plan, &mut self.plain);
        let possible = layout.reads_around(bytes, &avoid, missing, plan);
        if possible && !plan.first.iter().any(|piece| waits(&piece)) {
            self.count += 1;
        } else {
            std::mem::swap(plan, &mut self.plain);
        }
    }

    /// Reads that were made up.
    pub const fn count(&self) -> u64 {
        self.count
    }
}
