//! Remaining life of the valid pages of each block, for victims that are chosen by the future.

use std::num::NonZeroU32;

use copyback_memory::table;

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, Lpn};

use super::Drive;

/// Times of death, added up by blocks.
#[derive(Debug, Checkpointed)]
pub struct Lives {
    /// Of each page that lies somewhere, the number of its block and one.
    places: Vec<Option<NonZeroU32>>,
    blocks: Vec<LifeSum>,
}

/// The pages that lie in a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
struct LifeSum {
    pages: u32,
    /// When they die.
    deaths: u64,
}

impl Lives {
    /// Of an erased drive.
    pub fn new(drive: Drive) -> Self {
        Self { places: table(drive.pages, None), blocks: vec![LifeSum::default(); drive.blocks] }
    }

    /// `lpn`, which dies at `death`, lies in `block` now, and no longer where it lay.
    pub fn lies_in(&mut self, lpn: Lpn, block: BlockId, death: u64) {
        self.leaves(lpn, death);
        self.places[lpn.index()] = NonZeroU32::new(block.0 + 1);
        let sum = &mut self.blocks[block.index()];
        sum.pages += 1;
        sum.deaths += death;
    }

    /// `lpn`, which was to die at `death`, lies nowhere any more.
    pub fn leaves(&mut self, lpn: Lpn, death: u64) {
        if let Some(place) = self.places[lpn.index()].take() {
            let sum = &mut self.blocks[place.get() as usize - 1];
            sum.pages -= 1;
            sum.deaths -= death;
        }
    }

    /// Mean remaining life of the pages of `block` at `now`, if it has any.
    pub fn left(&self, block: BlockId, now: u64) -> Option<f64> {
        let LifeSum { pages, deaths } = self.blocks[block.index()];
        let left = deaths as f64 - f64::from(pages) * now as f64;
        (pages > 0).then(|| left / f64::from(pages))
    }

    /// Bytes in RAM, for the pages.
    pub const fn bytes(&self) -> usize {
        size_of_val(self.places.as_slice())
    }
}
