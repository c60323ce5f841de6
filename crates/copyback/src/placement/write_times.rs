//! When the host last wrote each page, for placements that sort by how old a page is. A drive has this in the spare
//! area of every page; here it is a table in RAM.

use std::num::NonZeroU64;

use copyback_memory::{prefetch, table};
use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

/// Of each page, the time of its last write and one.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
#[serde(transparent)]
pub struct WriteTimes(Vec<Option<NonZeroU64>>);

impl WriteTimes {
    /// No page has been written.
    pub fn new(pages: usize) -> Self {
        Self(table(pages, None))
    }

    /// Age of the data of `lpn`, in pages that the host has written to the drive since, if the host wrote it.
    #[inline(always)]
    pub fn age(&self, lpn: Lpn, now: u64) -> Option<u64> {
        self.0[lpn.index()].map(|after| now + 1 - after.get())
    }

    /// When the host last wrote `lpn`, if it has.
    #[inline(always)]
    pub fn last(&self, lpn: Lpn) -> Option<u64> {
        self.0[lpn.index()].map(|after| after.get() - 1)
    }

    /// The host has written `lpn`. Returns when it had last, and one, if it had.
    #[inline(always)]
    pub fn wrote(&mut self, lpn: Lpn, now: u64) -> Option<NonZeroU64> {
        std::mem::replace(&mut self.0[lpn.index()], NonZeroU64::new(now + 1))
    }

    /// `lpn` holds nothing any more. Returns when the host had written it, and one, if it had.
    pub fn forget(&mut self, lpn: Lpn) -> Option<NonZeroU64> {
        self.0[lpn.index()].take()
    }

    /// Pages that have been written and not been trimmed.
    pub fn written(&self) -> u64 {
        self.0.iter().flatten().count() as u64
    }

    /// Brings the time of `lpn` into the cache, without waiting for it.
    #[inline(always)]
    pub fn fetch(&self, lpn: Lpn) {
        prefetch(&self.0, lpn.index());
    }

    /// Pages of the table.
    pub const fn pages(&self) -> usize {
        self.0.len()
    }

    /// Bytes in RAM.
    pub const fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice())
    }

    /// Of each page, when it was last written, and one, if it has been.
    pub fn all(&self) -> impl Iterator<Item = Option<NonZeroU64>> {
        self.0.iter().copied()
    }

    /// Whether this can be the times of so many pages, at `now`.
    pub fn is_sound(&self, pages: usize, now: u64) -> bool {
        self.0.len() == pages && self.0.iter().flatten().all(|after| after.get() <= now + 1)
    }
}

/// Of each page, when it was last written, and one, if it has been.
impl FromIterator<Option<NonZeroU64>> for WriteTimes {
    fn from_iter<I: IntoIterator<Item = Option<NonZeroU64>>>(times: I) -> Self {
        Self(times.into_iter().collect())
    }
}
