//! Cost-age-times: least u / (1 - u) x 1 / age x erases, where u is the share of valid pages (Chiang and Chang 1999).
//! A block that is worn is spared, so that wear is levelled on the way.
//!
//! A block that has never been erased counts as erased once: its product would be zero however full it is.
//!
//! Of blocks with equally many valid pages the oldest need not be the best, as a younger one may be less worn. Blocks
//! of a number are gone through while one as old as the last could still be the best if it were worn as little as any
//! of the plane: O(pages a block) and those blocks, all closed ones of the plane at worst.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::checkpoint::Checkpointed;
use crate::config::Age;
use crate::ids::{BlockId, PlaneId};

use super::by_age::ByAge;
use super::{BlockView, Memory, Shape, Victims};

/// Closed blocks of each plane by valid pages, and by wear.
#[derive(Debug, Checkpointed)]
pub struct CostAgeTimes {
    by_age: ByAge,
    /// Of each plane, the erases of its closed blocks.
    by_erases: Vec<BTreeSet<(u32, BlockId)>>,
    erases: Vec<u32>,
    pages_per_block: u16,
}

impl CostAgeTimes {
    pub(super) fn new(age: Age, shape: Shape) -> Self {
        Self {
            by_age: ByAge::new(age, shape),
            by_erases: vec![BTreeSet::new(); shape.planes],
            erases: vec![0; shape.blocks],
            pages_per_block: shape.pages_per_block,
        }
    }

    /// The reciprocal of what is to be least.
    fn benefit(&self, valid: u16, age: u64, erases: u32) -> f64 {
        let free = f64::from(self.pages_per_block - valid);
        free / f64::from(valid) * age as f64 / f64::from(erases.max(1))
    }
}

impl Victims for CostAgeTimes {
    fn closed(&mut self, plane: PlaneId, block: BlockId, valid: u16, blocks: &impl BlockView) {
        self.by_age.closed(plane, block, valid, blocks);
        let erases = blocks.erase_count(block);
        self.erases[block.index()] = erases;
        self.by_erases[plane.index()].insert((erases, block));
    }

    fn changed(&mut self, plane: PlaneId, block: BlockId, from: u16, to: u16) {
        self.by_age.changed(plane, block, from, to);
    }

    fn removed(&mut self, plane: PlaneId, block: BlockId, valid: u16) {
        self.by_age.removed(plane, block, valid);
        self.by_erases[plane.index()].remove(&(self.erases[block.index()], block));
    }

    fn choose(&mut self, plane: PlaneId, blocks: &impl BlockView) -> Option<BlockId> {
        if let Some(empty) = self.by_age.oldest(plane, 0) {
            return Some(BlockId::from_index(empty));
        }
        let (least, _) = self.by_erases[plane.index()].first()?;
        let mut best = None;
        let mut most = -1.0;
        for valid in 1..self.pages_per_block {
            self.by_age.visit(plane, valid, |block| {
                let age = self.by_age.age(plane, block, blocks);
                let benefit = self.benefit(valid, age, self.erases[block]);
                let seniority = (Reverse(valid), Reverse(self.by_age.seniority(block)));
                let is_senior = || best.is_none_or(|(_, best)| seniority > best);
                if benefit > most || benefit == most && is_senior() {
                    (most, best) = (benefit, Some((block, seniority)));
                }
                self.benefit(valid, age, *least) >= most
            });
        }
        best.map(|(block, _)| BlockId::from_index(block))
    }

    fn fetch(&self, block: BlockId) {
        self.by_age.fetch(block);
    }

    fn closed_in_order(&self) -> Vec<BlockId> {
        self.by_age.closed_in_order()
    }

    fn memory(&self) -> Memory {
        self.by_age.memory()
    }

    fn remember(&mut self, memory: Memory, closed: &[(PlaneId, BlockId)]) -> bool {
        self.by_age.remember(memory, closed)
    }
}
