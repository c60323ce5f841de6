//! FADaC, the fading average data classifier: writes of a page are counted, moves are taken off, and the count is
//! compared with what pages have on average (Kremer, Brinkmann, SYSTOR 2019). Class 0, the coldest, holds counts up to
//! the average; each class behind it ten times as many as the one before.
//!
//! The average fades: each page that is written adds its share, and each run of writes takes one share of it away, so
//! that it is the mean length of runs: so SepBIT's authors, whose simulator defines it here, have it for requests. The
//! `mean` of the counts that pages have now is the alternative.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use copyback_memory::{prefetch, table};

use crate::checkpoint::Checkpointed;
use crate::config::Average;
use crate::ids::Lpn;

use super::runs::Runs;
use super::{Class, Classes, Drive, Event, Origin, Placement};

/// Counts of pages, and their average.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Fadac {
    classes: usize,
    /// Of each page that holds data, its count and one.
    counts: Vec<Option<NonZeroU32>>,
    /// Pages that hold data.
    pages: u64,
    /// Sum of their counts.
    sum: u64,
    fading: f64,
    is_fading: bool,
    runs: Runs,
}

impl Fadac {
    pub(super) fn new(classes: u32, average: Average, drive: Drive) -> Self {
        Self {
            classes: classes as usize,
            counts: table(drive.pages, None),
            pages: 0,
            sum: 0,
            fading: 0.0,
            is_fading: average == Average::Fading,
            runs: Runs::default(),
        }
    }

    fn count(&self, lpn: Lpn) -> Option<u32> {
        self.counts[lpn.index()].map(|after| after.get() - 1)
    }

    /// The count of `lpn` once it is written.
    fn next_count(&self, lpn: Lpn, origin: Origin) -> Option<u32> {
        match (origin, self.count(lpn)) {
            (Origin::Host { .. }, count) => Some((count.unwrap_or(0) + 1).min(u32::MAX - 1)),
            (Origin::Moved { .. }, count) => count.map(|count| count.saturating_sub(1)),
        }
    }

    /// The fading average once `lpn` is written.
    fn next_fading(&self, lpn: Lpn, origin: Origin) -> f64 {
        match origin {
            Origin::Host { .. } if self.pages > 0 => {
                let faded = if self.runs.follows(lpn) { 0.0 } else { self.fading };
                self.fading + (1.0 - faded) / self.pages as f64
            }
            _ => self.fading,
        }
    }

    fn class_of_count(&self, count: u32, average: f64) -> Class {
        let (mut most, mut class) = (average, 0);
        while f64::from(count) > most && most > 0.0 && class + 1 < self.classes {
            most *= 10.0;
            class += 1;
        }
        Class::new(class)
    }

    fn set(&mut self, lpn: Lpn, count: Option<u32>) {
        let before = self.count(lpn);
        self.counts[lpn.index()] = count.map(|count| NonZeroU32::MIN.saturating_add(count));
        self.pages = self.pages + u64::from(count.is_some()) - u64::from(before.is_some());
        self.sum = self.sum + u64::from(count.unwrap_or(0)) - u64::from(before.unwrap_or(0));
    }

    #[inline(always)]
    fn wrote(&mut self, lpn: Lpn, origin: Origin) {
        self.fading = self.next_fading(lpn, origin);
        self.set(lpn, self.next_count(lpn, origin));
        if let Origin::Host { .. } = origin {
            self.runs.wrote(lpn);
        }
    }
}

impl Placement for Fadac {
    fn classes(&self) -> Classes {
        Classes::shared(self.classes)
    }

    #[inline(always)]
    fn class_of(&self, lpn: Lpn, origin: Origin, _: u64) -> Class {
        let Some(count) = self.next_count(lpn, origin) else { return Class::new(0) };
        let average = match self.is_fading {
            true => self.next_fading(lpn, origin),
            false => self.sum as f64 / self.pages.max(1) as f64,
        };
        self.class_of_count(count, average)
    }

    #[inline(always)]
    fn learn(&mut self, event: Event, _: u64) {
        match event {
            Event::Wrote { lpn, origin } => self.wrote(lpn, origin),
            Event::Trimmed(lpn) => self.set(lpn, None),
            _ => {}
        }
    }

    fn fetch(&self, lpn: Lpn) {
        prefetch(&self.counts, lpn.index());
    }

    fn bytes(&self) -> usize {
        size_of_val(self.counts.as_slice())
    }

    fn memory(&self) -> Vec<u8> {
        super::to_bytes(self)
    }

    fn remember(&mut self, memory: &[u8], now: u64) -> bool {
        super::recall(self, memory, |saved, new| {
            let counts = || saved.counts.iter().flatten().map(|after| u64::from(after.get() - 1));
            (saved.classes, saved.is_fading) == (new.classes, new.is_fading)
                && saved.counts.len() == new.counts.len()
                && (saved.pages, saved.sum) == (counts().count() as u64, counts().sum())
                && saved.sum <= now
                && (0.0..=now as f64).contains(&saved.fading)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: Origin = Origin::Host { hint: None };
    const MOVED: Origin = Origin::Moved { class: None };

    fn fadac(classes: u32, average: Average) -> Fadac {
        Fadac::new(classes, average, Drive { pages: 4, pages_per_block: 2, planes: 1, blocks: 8 })
    }

    fn write(fadac: &mut Fadac, page: u32, origin: Origin) -> usize {
        let class = fadac.class_of(Lpn(page), origin, 0);
        assert_eq!(fadac.class_of(Lpn(page), origin, 0), class, "to ask changes nothing");
        fadac.learn(Event::Wrote { lpn: Lpn(page), origin }, 0);
        class.index()
    }

    fn repeat(fadac: &mut Fadac, writes: usize, origin: Origin) -> Vec<usize> {
        (0..writes).map(|_| write(fadac, 0, origin)).collect()
    }

    #[test]
    fn counts_are_sorted_by_powers_of_ten_of_the_fading_average() {
        let mut fadac = fadac(3, Average::Fading);
        // Before anything is known of the average, and while it is 1, which one page at a time makes it.
        assert_eq!(repeat(&mut fadac, 2, HOST), [0, 1]);
        assert_eq!(fadac.fading, 1.0);
        assert_eq!(repeat(&mut fadac, 10, HOST), [[1; 8].as_slice(), &[2; 2]].concat());
        assert_eq!(repeat(&mut fadac, 3, MOVED), [2, 1, 1]);
        assert_eq!(repeat(&mut fadac, 9, MOVED), [[1; 7].as_slice(), &[0; 2]].concat());
        assert_eq!((fadac.count(Lpn(0)), write(&mut fadac, 0, MOVED)), (Some(0), 0));
    }

    #[test]
    fn pages_written_in_a_row_raise_the_average_and_fade_it_once() {
        let mut fadac = fadac(3, Average::Fading);
        repeat(&mut fadac, 2, HOST);
        assert_eq!([1, 2].map(|page| write(&mut fadac, page, HOST)), [0, 0]);
        // Three pages in a row, of which the first came twice: 1, and then 1 more of one page, 1 more of two.
        assert_eq!((fadac.fading, fadac.pages), (2.5, 3));
        assert_eq!(write(&mut fadac, 0, HOST), 1);
        assert_eq!(fadac.fading, 2.5 + (1.0 - 2.5) / 3.0);
    }

    #[test]
    fn the_mean_is_that_of_the_counts_of_now() {
        let mut fadac = fadac(3, Average::Mean);
        assert_eq!([0, 1, 2, 0].map(|page| write(&mut fadac, page, HOST)), [0, 0, 0, 1]);
        assert_eq!((fadac.sum, fadac.pages), (4, 3));
        assert_eq!([1, 2].map(|page| write(&mut fadac, page, MOVED)), [0, 0]);
        assert_eq!((fadac.sum, fadac.pages), (2, 3));
        fadac.learn(Event::Trimmed(Lpn(0)), 0);
        assert_eq!((fadac.sum, fadac.pages), (0, 2));
    }

    #[test]
    fn what_is_remembered_is_what_was_known_and_of_a_placement_like_this() {
        let mut kept = fadac(3, Average::Fading);
        repeat(&mut kept, 5, HOST);
        let memory = kept.memory();
        let mut again = fadac(3, Average::Fading);
        assert!(again.remember(&memory, 5));
        assert_eq!(again.count(Lpn(0)), Some(5));
        assert!(!fadac(4, Average::Fading).remember(&memory, 5), "of other classes");
        assert!(!fadac(3, Average::Mean).remember(&memory, 5), "of another average");
        assert!(!fadac(3, Average::Fading).remember(&memory, 4), "of more writes");
    }
}
