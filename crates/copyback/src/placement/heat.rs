//! Hotness of pages, and of the blocks in which they lie: the times that a page has been written over the time
//! since it was last, as SFS has it (Min et al., FAST 2012). The hotness of a block is that of its valid pages
//! together: their writes over the sum of their ages.

use std::num::NonZeroU32;

use copyback_memory::{prefetch, table};
use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, Lpn};

use super::Drive;
use super::write_times::WriteTimes;

/// Writes and times of pages, added up by blocks.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Heat {
    times: WriteTimes,
    /// Of each page, how often the host has written it.
    writes: Vec<u32>,
    /// Of each page, the number of its block and one, if both it and its block are known.
    places: Vec<Option<NonZeroU32>>,
    /// A file does not tell these: they follow from the pages.
    #[serde(skip)]
    blocks: Vec<HeatSum>,
}

/// Sums over the pages that lie in a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Checkpointed)]
struct HeatSum {
    pages: u32,
    writes: u64,
    /// The times of their last writes, modulo 2^64: only the sum of their ages has to fit.
    times: u64,
}

impl Heat {
    pub fn new(drive: Drive) -> Self {
        Self {
            times: WriteTimes::new(drive.pages),
            writes: table(drive.pages, 0),
            places: table(drive.pages, None),
            blocks: vec![HeatSum::default(); drive.blocks],
        }
    }

    /// Hotness of `lpn`, in writes for each page that the host writes to the drive, if the host has written it.
    #[inline(always)]
    pub fn of_page(&self, lpn: Lpn, now: u64) -> Option<f64> {
        let age = self.times.age(lpn, now)?;
        Some(f64::from(self.writes[lpn.index()]) / age.max(1) as f64)
    }

    /// Hotness of the valid pages of `block` together, if that of any of them is known.
    pub fn of_block(&self, block: BlockId, now: u64) -> Option<f64> {
        let HeatSum { pages, writes, times } = self.blocks[block.index()];
        let ages = u64::from(pages).wrapping_mul(now).wrapping_sub(times);
        (pages > 0).then(|| writes as f64 / ages.max(1) as f64)
    }

    /// The host has written `lpn`. Where to, [`lies_in`](Self::lies_in) says.
    pub fn wrote(&mut self, lpn: Lpn, now: u64) {
        self.leave(lpn);
        self.times.wrote(lpn, now);
        let writes = &mut self.writes[lpn.index()];
        *writes = writes.saturating_add(1);
    }

    /// `lpn` lies in `block` now.
    pub fn lies_in(&mut self, lpn: Lpn, block: BlockId) {
        self.leave(lpn);
        if self.times.last(lpn).is_some() {
            self.places[lpn.index()] = NonZeroU32::new(block.0 + 1);
            self.count(lpn);
        }
    }

    /// `lpn` holds nothing any more.
    pub fn forget(&mut self, lpn: Lpn) {
        self.leave(lpn);
        self.times.forget(lpn);
        self.writes[lpn.index()] = 0;
    }

    fn leave(&mut self, lpn: Lpn) {
        if let (Some(place), Some(time)) = (self.places[lpn.index()].take(), self.times.last(lpn)) {
            let sum = &mut self.blocks[place.get() as usize - 1];
            sum.pages -= 1;
            sum.writes -= u64::from(self.writes[lpn.index()]);
            sum.times = sum.times.wrapping_sub(time);
        }
    }

    fn count(&mut self, lpn: Lpn) {
        if let (Some(place), Some(time)) = (self.places[lpn.index()], self.times.last(lpn)) {
            let sum = &mut self.blocks[place.get() as usize - 1];
            sum.pages += 1;
            sum.writes += u64::from(self.writes[lpn.index()]);
            sum.times = sum.times.wrapping_add(time);
        }
    }

    /// Brings what is known of `lpn` into the cache, without waiting for it.
    pub fn fetch(&self, lpn: Lpn) {
        self.times.fetch(lpn);
        prefetch(&self.writes, lpn.index());
        prefetch(&self.places, lpn.index());
    }

    /// Bytes in RAM, for the pages.
    pub const fn bytes(&self) -> usize {
        self.times.bytes()
            + size_of_val(self.writes.as_slice())
            + size_of_val(self.places.as_slice())
    }

    /// Whether this, out of a file, can be what is known on a drive like that of `new`, at `now`.
    pub fn is_sound(&self, new: &Self, now: u64) -> bool {
        let is_block = |place: &NonZeroU32| (place.get() as usize) <= new.blocks.len();
        self.times.is_sound(new.times.pages(), now)
            && self.writes.len() == new.writes.len()
            && self.places.len() == new.places.len()
            && self.places.iter().flatten().all(is_block)
    }

    /// Adds up the pages of a file by blocks.
    pub fn add_up(&mut self, blocks: usize) {
        self.blocks = vec![HeatSum::default(); blocks];
        (0..self.places.len()).map(Lpn::from_index).for_each(|lpn| self.count(lpn));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRIVE: Drive = Drive { pages: 4, pages_per_block: 2, planes: 1, blocks: 3 };
    const A: BlockId = BlockId(0);
    const B: BlockId = BlockId(2);

    /// Pages 0 and 1 in A, written once and twice, and page 2 that is not known.
    fn two() -> Heat {
        let mut heat = Heat::new(DRIVE);
        for (lpn, now) in [(0, 0), (1, 1), (1, 2)] {
            heat.wrote(Lpn(lpn), now);
            heat.lies_in(Lpn(lpn), A);
        }
        heat.lies_in(Lpn(2), A);
        heat
    }

    #[test]
    fn a_block_is_as_hot_as_the_writes_of_its_pages_over_their_ages() {
        let mut heat = two();
        assert_eq!([0, 1, 2].map(|lpn| heat.of_page(Lpn(lpn), 10)), [Some(0.1), Some(0.25), None]);
        assert_eq!(heat.of_block(A, 10), Some(3.0 / 18.0));
        assert_eq!(heat.of_block(B, 10), None);
        heat.lies_in(Lpn(1), B);
        assert_eq!(heat.of_block(A, 10), Some(0.1));
        assert_eq!(heat.of_block(B, 10), Some(0.25));
        heat.forget(Lpn(0));
        assert_eq!(heat.of_block(A, 10), None);
        heat.wrote(Lpn(0), 10);
        assert_eq!(heat.of_page(Lpn(0), 12), Some(0.5), "it begins anew");
        assert_eq!(heat.bytes(), 4 * 16);
    }

    #[test]
    fn the_blocks_follow_from_the_pages() {
        let mut heat = two();
        heat.lies_in(Lpn(0), B);
        let before = heat.blocks.clone();
        heat.add_up(DRIVE.blocks);
        assert_eq!(heat.blocks, before);
        assert!(heat.is_sound(&Heat::new(DRIVE), 10));
        assert!(!heat.is_sound(&Heat::new(Drive { blocks: 2, ..DRIVE }), 10), "there is no B");
        assert!(!heat.is_sound(&Heat::new(Drive { pages: 5, ..DRIVE }), 10));
        assert!(!heat.is_sound(&Heat::new(DRIVE), 1), "of the future");
    }
}
