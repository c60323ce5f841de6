//! The oracle: what dies at the same time lies together. It knows from a pass over the workload when each page dies,
//! and bounds what any placement can reach (FK in the simulator of Wang et al., FAST 2022; NoDaP of the authors of DOGI
//! is another way).
//!
//! A page whose life has `width` blocks or less left is of class 0; each further class is `growth` times as wide as the
//! one before, and the last takes all others. Pages that are moved are sorted anew, together with the host's.
//! While the drive is prepared, nothing is known yet.
//!
//! If victims are chosen by the future, too, it knows how long the pages of each block still live.

use crate::checkpoint::Checkpointed;
use crate::ids::{BlockId, Lpn};

use super::future::Future;
use super::lives::Lives;
use super::{Class, Classes, Drive, Event, Needs, Origin, Placement};

/// Placement by the future: the lives of pages, and where the classes begin.
#[derive(Debug, Checkpointed)]
pub struct Oracle {
    /// Of each class but the last, the longest life that is left, in pages of the host.
    bounds: Vec<u64>,
    future: Option<Future>,
    /// Pages that the workload has written, once it has begun.
    written: Option<u64>,
    /// Remaining life of the pages of each block, if victims are chosen by that.
    lives: Option<Lives>,
    /// Logical pages.
    pages: u64,
}

impl Oracle {
    /// Of so many classes, the first of `width` blocks of each plane of `drive`. `of_victims` says whether victims are
    /// chosen by the future, too.
    pub(super) fn new(
        classes: u32,
        (width, growth): (f64, f64),
        of_victims: bool,
        drive: Drive,
    ) -> Self {
        let first = width * f64::from(drive.pages_per_block) * drive.planes as f64;
        let widths = std::iter::successors(Some(first), |width| Some(width * growth));
        let mut end = 0.0;
        let bounds = widths.take(classes as usize - 1).map(|width| {
            end += width;
            end as u64
        });
        Self {
            bounds: bounds.collect(),
            future: None,
            written: None,
            lives: of_victims.then(|| Lives::new(drive)),
            pages: drive.pages as u64,
        }
    }

    /// When what `lpn` holds dies. What the workload does not end lives until the drive has been written once more.
    fn death(&self, lpn: Lpn) -> u64 {
        let of_future =
            |future: &Future| future.death(lpn).unwrap_or_else(|| future.written() + self.pages);
        self.future.as_ref().map_or(0, of_future)
    }

    /// Records that the data of `lpn` die now.
    fn dies(&mut self, lpn: Lpn) {
        let death = self.death(lpn);
        if let (Some(_), Some(future)) = (self.written, &mut self.future) {
            if let Some(lives) = &mut self.lives {
                lives.leaves(lpn, death);
            }
            future.has_died(lpn);
        }
    }

    fn class_of_death(&self, death: Option<u64>) -> Class {
        let left = death.zip(self.written).map(|(death, now)| death.saturating_sub(now));
        let class = left
            .map_or(self.bounds.len(), |left| self.bounds.partition_point(|bound| *bound < left));
        Class::new(class)
    }

    fn wrote(&mut self, lpn: Lpn) {
        if let Some(written) = &mut self.written {
            *written += 1;
            self.dies(lpn);
        }
    }

    fn lies_in(&mut self, lpn: Lpn, block: BlockId) {
        if self.written.is_none() || self.lives.is_none() {
            return;
        }
        let death = self.death(lpn);
        if let Some(lives) = &mut self.lives {
            lives.lies_in(lpn, block, death);
        }
    }

    /// Takes what the run will do, once it begins.
    pub(super) fn foresee(&mut self, future: Future) {
        self.future = Some(future);
    }
}

impl Placement for Oracle {
    fn classes(&self) -> Classes {
        Classes::shared(self.bounds.len() + 1)
    }

    fn class_of(&self, lpn: Lpn, origin: Origin, _: u64) -> Class {
        let Some(future) = self.future.as_ref().filter(|_| self.written.is_some()) else {
            return self.class_of_death(None);
        };
        self.class_of_death(match origin {
            Origin::Host { .. } => future.death_of_next(lpn),
            Origin::Moved { .. } => future.death(lpn),
        })
    }

    fn needs(&self) -> Needs {
        Needs { places: self.lives.is_some(), ..Needs::default() }
    }

    #[inline(always)]
    fn learn(&mut self, event: Event, _: u64) {
        match event {
            Event::Wrote { lpn, origin: Origin::Host { .. } } => self.wrote(lpn),
            Event::LiesIn { lpn, block } => self.lies_in(lpn, block),
            Event::Trimmed(lpn) => self.dies(lpn),
            Event::RunBegins => self.written = Some(0),
            _ => {}
        }
    }

    fn hotness(&self, block: BlockId, _: u64) -> Option<f64> {
        let left = self.lives.as_ref()?.left(block, self.written?)?;
        Some(1.0 / left.max(1.0))
    }

    fn bytes(&self) -> usize {
        let future = self.future.as_ref().map_or(0, Future::bytes);
        future + self.lives.as_ref().map_or(0, Lives::bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Foreseen;
    use super::*;

    const HOST: Origin = Origin::Host { hint: None };
    const MOVED: Origin = Origin::Moved { class: None };

    /// Of a drive with one plane of blocks of two pages, which will write these pages.
    fn oracle(classes: u32, growth: f64, writes: &[u32]) -> Oracle {
        let drive = Drive { pages: 8, pages_per_block: 2, planes: 1, blocks: 8 };
        let mut oracle = Oracle::new(classes, (1.0, growth), false, drive);
        let mut foreseen = Foreseen::new(8);
        writes.iter().for_each(|page| _ = foreseen.writes(Lpn(*page)));
        oracle.foresee(foreseen.into_future());
        oracle
    }

    fn class_of(oracle: &Oracle, page: u32, origin: Origin) -> usize {
        oracle.class_of(Lpn(page), origin, 0).index()
    }

    #[test]
    fn a_page_goes_with_those_that_die_when_it_does() {
        let mut oracle = oracle(3, 1.0, &[0, 1, 2, 0, 3, 1, 4]);
        assert_eq!(class_of(&oracle, 0, HOST), 2, "nothing is known before the run begins");
        oracle.learn(Event::RunBegins, 0);
        // Page 0 is written again at 3, page 1 at 5; page 2 never is.
        assert_eq!([0, 1, 2].map(|page| class_of(&oracle, page, HOST)), [1, 2, 2]);
        [0, 1, 2]
            .iter()
            .for_each(|page| oracle.learn(Event::Wrote { lpn: Lpn(*page), origin: HOST }, 0));
        // By now, 0 of 3 and 2 of 5 are left; what was there before page 4 is written at 6.
        assert_eq!([0, 1, 2, 4].map(|page| class_of(&oracle, page, MOVED)), [0, 0, 2, 1]);
        oracle.learn(Event::Wrote { lpn: Lpn(0), origin: MOVED }, 0);
        assert_eq!(class_of(&oracle, 0, MOVED), 0, "to be moved is not to die");
        oracle.learn(Event::Trimmed(Lpn(4)), 0);
        assert_eq!(class_of(&oracle, 4, MOVED), 2);
    }

    #[test]
    fn it_knows_how_long_the_pages_of_a_block_still_live() {
        let drive = Drive { pages: 8, pages_per_block: 2, planes: 1, blocks: 8 };
        let mut oracle = Oracle::new(3, (1.0, 1.0), true, drive);
        let mut foreseen = Foreseen::new(8);
        [0, 1, 2, 0, 3, 1, 4].iter().for_each(|page| _ = foreseen.writes(Lpn(*page)));
        oracle.foresee(foreseen.into_future());
        oracle.learn(Event::RunBegins, 0);
        // What lay there before: page 0 is written at once, page 5 never, as if at 7 + 8.
        [0, 5]
            .iter()
            .for_each(|page| oracle.learn(Event::LiesIn { lpn: Lpn(*page), block: BlockId(6) }, 0));
        let left = |oracle: &Oracle, block| {
            oracle.hotness(BlockId(block), 0).map(|hotness| (1.0 / hotness).round())
        };
        assert_eq!(left(&oracle, 6), Some(8.0), "half of 0 and 15");
        for (page, block) in [(0, 1), (1, 1), (2, 2)] {
            oracle.learn(Event::Wrote { lpn: Lpn(page), origin: HOST }, 0);
            oracle.learn(Event::LiesIn { lpn: Lpn(page), block: BlockId(block) }, 0);
        }
        // At 3, page 0 has none left, page 1 two, page 2 and page 5 twelve.
        assert_eq!(
            [1, 2, 6, 3].map(|block| left(&oracle, block)),
            [Some(1.0), Some(12.0), Some(12.0), None]
        );
        oracle.learn(Event::Wrote { lpn: Lpn(1), origin: MOVED }, 0);
        oracle.learn(Event::LiesIn { lpn: Lpn(1), block: BlockId(2) }, 0);
        assert_eq!([1, 2].map(|block| left(&oracle, block)), [Some(1.0), Some(7.0)]);
        oracle.learn(Event::Trimmed(Lpn(2)), 0);
        assert_eq!(left(&oracle, 2), Some(2.0));
        assert!(oracle.bytes() > 4 * 8 + 12 * 7);
    }

    #[test]
    fn each_class_is_wider_than_the_one_before_by_the_growth() {
        let drive = Drive { pages: 8, pages_per_block: 10, planes: 2, blocks: 8 };
        assert_eq!(Oracle::new(4, (0.5, 3.0), false, drive).bounds, [10, 40, 130]);
        assert_eq!(Oracle::new(4, (1.0, 1.0), false, drive).bounds, [20, 40, 60]);
    }
}
