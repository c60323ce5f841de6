//! Hot pages: those that die within about as long as a block of hot pages lives. Each page has a counter of two bits: up
//! when the host rewrites it soon, down when it does so late, or when a collection finds it valid. A page at three
//! is hot.

use serde::{Deserialize, Serialize};

use copyback_memory::table;

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

use super::super::Life;

/// The counter of a hot page.
const HOT: u8 = 3;

/// Averages of blocks of hot pages over a while.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, Checkpointed)]
pub struct HotTraffic {
    /// Share of what the host writes that is hot.
    pub share: f64,
    /// Share of the pages of a victim that are valid.
    pub valid: f64,
    /// Full blocks of hot pages on a plane.
    pub blocks: f64,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, Checkpointed)]
struct Tally {
    writes: u64,
    hot_writes: u64,
    victims: u64,
    valid_pages: u64,
    /// Sum of the times for which victims had been full.
    ages: u64,
}

/// Counters of all pages.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct HotPages {
    counters: Vec<u8>,
    /// Longest update interval of a young page, in pages of the host.
    young: f64,
    /// Pages that the host is yet to write before what was hot is summed up.
    left: i64,
    /// Pages that are yet to be seen before any is counted.
    skip: u64,
    tally: Tally,
    /// Sums of late, the newest at the end.
    recent: Vec<HotTraffic>,
    pages_per_block: u32,
}

/// Sums that are kept.
const MOST_RECENT: usize = 10;

impl HotPages {
    /// Of a drive with so many pages. Counting begins when `skip` have been written.
    pub fn new(pages: usize, pages_per_block: u32, skip: u64) -> Self {
        Self {
            counters: table(pages, 0),
            young: pages as f64,
            left: pages as i64,
            skip,
            tally: Tally::default(),
            recent: Vec::new(),
            pages_per_block,
        }
    }

    /// Whether `lpn` is hot.
    #[inline(always)]
    pub fn is_hot(&self, lpn: Lpn) -> bool {
        self.counters[lpn.index()] >= HOT
    }

    /// The host has written `lpn` again, which lay in a block of this life, unless that is still open. `group` is that of
    /// the block, 0 for hot pages; `blocks` are full ones of hot pages on a plane.
    pub fn rewrote(
        &mut self,
        lpn: Lpn,
        (group, full): (usize, Option<Life>),
        now: u64,
        blocks: f64,
    ) {
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        if self.left <= 0 && self.tally.victims > 0 {
            self.sum_up(blocks);
        }
        self.left -= 1;
        let age = full.map_or(0, |life| now.saturating_sub(life.sealed));
        let counter = &mut self.counters[lpn.index()];
        match group {
            0 => *counter = (*counter + 1).min(HOT),
            1 if age as f64 <= self.young => *counter = (*counter + 1).min(HOT),
            1 => *counter = counter.saturating_sub(1),
            _ => {}
        }
    }

    /// The host has written a page, which was hot or not.
    pub fn wrote(&mut self, is_hot: bool) {
        self.tally.writes += 1;
        self.tally.hot_writes += u64::from(is_hot);
    }

    /// A collection has found `lpn` valid in a block of `group`, 0 for hot pages.
    pub fn moved(&mut self, lpn: Lpn, group: usize) {
        if group > 1 {
            return;
        }
        if self.skip > 0 {
            self.skip -= 1;
            return;
        }
        let down = if group == 0 { 2 } else { 1 };
        let counter = &mut self.counters[lpn.index()];
        *counter = counter.saturating_sub(down);
    }

    /// A block of hot pages is collected.
    pub fn chosen(&mut self, block: Life, now: u64) {
        self.tally.victims += 1;
        self.tally.valid_pages += u64::from(block.valid);
        self.tally.ages += now.saturating_sub(block.sealed);
    }

    fn sum_up(&mut self, blocks: f64) {
        let Tally { writes, hot_writes, victims, valid_pages, ages } =
            std::mem::take(&mut self.tally);
        let victims = victims as f64;
        if hot_writes > 0 {
            self.recent.push(HotTraffic {
                share: hot_writes as f64 / writes as f64,
                valid: valid_pages as f64 / victims / f64::from(self.pages_per_block),
                blocks,
            });
            if self.recent.len() > MOST_RECENT {
                self.recent.remove(0);
            }
        }
        // Half way to the new one, and not much more than the old one.
        let age = ages as f64 / victims;
        self.young =
            if age >= 2.0 * self.young { 1.5 * self.young } else { (age + self.young) / 2.0 };
        self.left = self.young as i64 - 1;
    }

    /// The mean of the sums since this was last asked, if there are any.
    pub fn take_recent(&mut self) -> Option<HotTraffic> {
        let recent = std::mem::take(&mut self.recent);
        let mean =
            |of: fn(&HotTraffic) -> f64| recent.iter().map(of).sum::<f64>() / recent.len() as f64;
        (!recent.is_empty()).then(|| HotTraffic {
            share: mean(|one| one.share),
            valid: mean(|one| one.valid),
            blocks: mean(|one| one.blocks),
        })
    }

    /// Bytes in RAM.
    pub const fn bytes(&self) -> usize {
        size_of_val(self.counters.as_slice())
    }

    /// Whether this can be what has become of `new`.
    pub fn is_sound(&self, new: &Self) -> bool {
        self.counters.len() == new.counters.len()
            && self.pages_per_block == new.pages_per_block
            && self.recent.len() <= MOST_RECENT
            && self.young >= 0.0
            && self.young < 1e18
            && self.counters.iter().all(|counter| *counter <= HOT)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Class;
    use super::*;
    use crate::ids::BlockId;

    fn full(sealed: u64) -> Option<Life> {
        Some(Life { block: BlockId(0), class: Class::new(1), opened: 0, sealed, valid: 1 })
    }

    #[test]
    fn a_page_that_is_rewritten_soon_three_times_is_hot_until_a_collection_finds_it() {
        let mut hot = HotPages::new(8, 4, 0);
        for now in 10..13 {
            assert!(!hot.is_hot(Lpn(0)));
            hot.rewrote(Lpn(0), (1, full(5)), now, 0.0);
        }
        assert!(hot.is_hot(Lpn(0)));
        hot.moved(Lpn(0), 2);
        assert!(hot.is_hot(Lpn(0)), "there are no hot pages");
        hot.moved(Lpn(0), 0);
        assert_eq!(hot.counters[0], 1);
        hot.rewrote(Lpn(0), (1, full(0)), 20, 0.0);
        assert_eq!(hot.counters[0], 0, "the block had been full for longer than 8");
    }

    #[test]
    fn how_soon_is_soon_follows_the_age_of_blocks_of_hot_pages() {
        let mut hot = HotPages::new(8, 4, 0);
        hot.chosen(
            Life { block: BlockId(0), class: Class::new(0), opened: 0, sealed: 10, valid: 1 },
            14,
        );
        (0..10).for_each(|page| hot.wrote(page < 5));
        (0..9).for_each(|now| hot.rewrote(Lpn(1), (2, None), now, 3.0));
        assert_eq!(hot.young, 6.0, "half way from 8 to 4");
        assert_eq!(hot.take_recent(), Some(HotTraffic { share: 0.5, valid: 0.25, blocks: 3.0 }));
        assert_eq!(hot.take_recent(), None);
    }

    #[test]
    fn how_soon_is_soon_grows_by_half_at_most() {
        for (age, young) in [(12, 10.0), (15, 11.5), (16, 12.0), (1000, 12.0)] {
            let mut hot = HotPages::new(8, 4, 0);
            let life =
                Life { block: BlockId(0), class: Class::new(0), opened: 0, sealed: 10, valid: 1 };
            hot.chosen(life, 10 + age);
            (0..9).for_each(|now| hot.rewrote(Lpn(1), (2, None), now, 3.0));
            assert_eq!(hot.young, young, "from 8, with an age of {age}");
        }
    }
}
