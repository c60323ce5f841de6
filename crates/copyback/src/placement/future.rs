//! When each page that a workload writes dies, for a placement that knows the future.

use std::num::NonZeroU32;

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

/// End of the life of a page's data: it is written anew, or trimmed. Counted from 1, so that its `Option` takes
/// four bytes.
type End = NonZeroU32;

/// Index of the end in tables.
const fn index(end: End) -> usize {
    end.get() as usize - 1
}

/// The ends that a workload brings to each page of a drive, in order.
#[derive(Debug, Checkpointed)]
pub struct Future {
    /// When each end comes, in pages that the workload has written before.
    times: Vec<u64>,
    /// Of each end, the next one of the same page.
    following: Vec<Option<End>>,
    /// Of each page, the next end.
    next: Vec<Option<End>>,
    /// Pages that the workload writes in all.
    written: u64,
}

/// A future that is being told in order.
#[derive(Debug)]
pub struct Foreseen {
    future: Future,
    /// Of each page, the last end so far.
    last: Vec<Option<End>>,
    written: u64,
}

/// Most ends that a future may have.
pub const MOST_ENDS: usize = 1 << 30;

impl Foreseen {
    /// Creates an empty record, of a drive with this number of logical pages.
    pub fn new(pages: usize) -> Self {
        let future = Future {
            times: Vec::new(),
            following: Vec::new(),
            next: vec![None; pages],
            written: 0,
        };
        Self { future, last: vec![None; pages], written: 0 }
    }

    /// The host writes `lpn`. False if that is one end too many.
    pub fn writes(&mut self, lpn: Lpn) -> bool {
        let has_room = self.ends(lpn);
        self.written += 1;
        has_room
    }

    /// The host trims `lpn`. False if that is one end too many.
    pub fn trims(&mut self, lpn: Lpn) -> bool {
        self.ends(lpn)
    }

    fn ends(&mut self, lpn: Lpn) -> bool {
        let Future { times, following, next, .. } = &mut self.future;
        let end = NonZeroU32::MIN.saturating_add(times.len() as u32);
        times.push(self.written);
        following.push(None);
        match self.last[lpn.index()].replace(end) {
            Some(before) => following[index(before)] = Some(end),
            None => next[lpn.index()] = Some(end),
        }
        times.len() <= MOST_ENDS
    }

    /// All that will happen.
    pub fn into_future(self) -> Future {
        Future { written: self.written, ..self.future }
    }
}

impl Future {
    /// When what `lpn` holds dies, if it does.
    #[inline(always)]
    pub fn death(&self, lpn: Lpn) -> Option<u64> {
        let end = self.next.get(lpn.index()).copied().flatten()?;
        Some(self.times[index(end)])
    }

    /// Pages that the workload writes in all.
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// When what is written to `lpn` next will die, if it does.
    #[inline(always)]
    pub fn death_of_next(&self, lpn: Lpn) -> Option<u64> {
        let end = self.next.get(lpn.index()).copied().flatten()?;
        self.following[index(end)].map(|end| self.times[index(end)])
    }

    /// Bytes in RAM.
    pub const fn bytes(&self) -> usize {
        let ends = size_of_val(self.times.as_slice()) + size_of_val(self.following.as_slice());
        ends + size_of_val(self.next.as_slice())
    }

    /// Records that the data of `lpn` have died.
    #[inline(always)]
    pub fn has_died(&mut self, lpn: Lpn) {
        if let Some(end) = self.next.get(lpn.index()).copied().flatten() {
            self.next[lpn.index()] = self.following[index(end)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_dies_when_it_is_written_or_trimmed_next() {
        let mut foreseen = Foreseen::new(3);
        for page in [0, 1, 0, 1] {
            assert!(foreseen.writes(Lpn(page)));
        }
        foreseen.trims(Lpn(0));
        foreseen.writes(Lpn(0));
        let mut future = foreseen.into_future();
        // What was there before the workload dies at the first write.
        assert_eq!([0, 1, 2].map(|page| future.death(Lpn(page))), [Some(0), Some(1), None]);
        assert_eq!(future.death_of_next(Lpn(0)), Some(2));
        let mut deaths = Vec::new();
        while let Some(death) = future.death(Lpn(0)) {
            deaths.push(death);
            future.has_died(Lpn(0));
        }
        assert_eq!(deaths, [0, 2, 4, 4]);
        assert_eq!(future.death_of_next(Lpn(0)), None);
    }
}
