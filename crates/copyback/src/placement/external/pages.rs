//! State of each page of the drive, side by side, so that a look-up of a page waits for memory once.

use std::num::NonZeroU64;

use copyback_memory::{prefetch, table};

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;
use crate::placement::write_times::WriteTimes;

use super::answers::Known;
use super::awaited::AwaitCount;

/// The pages of the drive.
#[derive(Debug, Checkpointed)]
pub struct Pages(Vec<Page>);

/// A page. It lies in one line of the cache.
#[derive(Debug, Clone, Copy, Checkpointed)]
#[repr(align(32))]
pub struct Page {
    /// The last answer about it.
    pub known: Known,
    /// When the host last wrote it, and one, if it has.
    written: Option<NonZeroU64>,
    /// Whether it is about to be written.
    pub to_write: AwaitCount,
    /// Whether it is about to be moved.
    pub to_move: AwaitCount,
}

impl Pages {
    /// Creates the state of `pages` pages of which nothing is known.
    pub fn new(pages: usize) -> Self {
        let page = Page {
            known: Known::NOTHING,
            written: None,
            to_write: AwaitCount::NOT,
            to_move: AwaitCount::NOT,
        };
        Self(table(pages, page))
    }

    /// State of `lpn`.
    #[inline(always)]
    pub fn of(&self, lpn: Lpn) -> &Page {
        &self.0[lpn.index()]
    }

    /// State of `lpn`, to be changed.
    #[inline(always)]
    pub fn of_mut(&mut self, lpn: Lpn) -> &mut Page {
        &mut self.0[lpn.index()]
    }

    /// State of each page, to be changed.
    pub fn all_mut(&mut self) -> impl Iterator<Item = &mut Page> {
        self.0.iter_mut()
    }

    /// Brings what is kept of `lpn` into the cache, without waiting for it.
    #[inline(always)]
    pub fn fetch(&self, lpn: Lpn) {
        prefetch(&self.0, lpn.index());
    }

    /// Number of pages.
    pub const fn count(&self) -> usize {
        self.0.len()
    }

    /// When the host last wrote each of them.
    pub fn times(&self) -> WriteTimes {
        self.0.iter().map(|page| page.written).collect()
    }

    /// The host has last written each of them at these times.
    pub fn set_times(&mut self, times: &WriteTimes) {
        for (page, written) in self.0.iter_mut().zip(times.all()) {
            page.written = written;
        }
    }

    /// Bytes of what a real drive would have to keep, too: when each page was written.
    pub const fn bytes_of_times(&self) -> usize {
        self.0.len() * size_of::<Option<NonZeroU64>>()
    }
}

impl Page {
    /// Age of its data, in pages that the host has written to the drive since, if the host wrote it.
    #[inline(always)]
    pub fn age(&self, now: u64) -> Option<u64> {
        self.written.map(|after| now + 1 - after.get())
    }

    /// The host has written it.
    #[inline(always)]
    pub const fn wrote(&mut self, now: u64) {
        self.written = NonZeroU64::new(now + 1);
    }

    /// Marks the page as holding no data any more.
    pub const fn trimmed(&mut self) {
        self.written = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_lies_in_one_line_of_the_cache() {
        assert_eq!((size_of::<Page>(), align_of::<Page>()), (32, 32));
    }

    #[test]
    fn times_are_those_that_were_set() {
        let mut pages = Pages::new(3);
        pages.of_mut(Lpn(1)).wrote(5);
        assert_eq!([0, 1].map(|page| pages.of(Lpn(page)).age(7)), [None, Some(2)]);
        let mut others = Pages::new(3);
        others.set_times(&pages.times());
        assert_eq!(others.of(Lpn(1)).age(7), Some(2));
        others.of_mut(Lpn(1)).trimmed();
        assert_eq!(others.of(Lpn(1)).age(7), None);
    }
}
