//! Lifetimes of pages: a histogram of update intervals, over windows of several times the size of the drive. It
//! samples one page in a fixed number; intervals are counted in units of a quarter of a segment, a segment
//! being a block of each plane. Intervals are told of one page in so many; they are counted in units of a
//! quarter of a segment, a segment being a block of each plane. How many pages are written twice within a unit
//! is seen from all pages, but in few units.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

/// Units of a window in which all pages are looked at.
const LOOKS: u64 = 10;

/// Of a sampled page, when it was last written within the window.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, Checkpointed)]
struct Seen {
    at: Option<u64>,
    /// Whether that was the first time.
    is_first: bool,
}

/// Update intervals of the window under way.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Histogram {
    /// One page in so many is sampled.
    sample: u64,
    /// Pages of a unit.
    unit: u64,
    /// Units of a window, and of the longest.
    window: u64,
    longest: u64,
    /// Pages that the host is yet to write before the first window.
    skip: u64,
    /// Pages written in the window.
    time: u64,
    counts: Vec<u64>,
    seen: Vec<Seen>,
    /// Pages written in the unit under way, if all are looked at.
    in_unit: BTreeSet<u32>,
    /// Writes of pages that had been written in the same unit.
    repeats: u64,
}

impl Histogram {
    /// Of a drive with so many pages. The first window begins when `skip` pages have been written.
    pub fn new(pages: usize, sample: u32, unit: u64, window: u64, skip: u64) -> Self {
        let sampled = pages.div_ceil(sample as usize);
        Self {
            sample: sample.into(),
            unit,
            window,
            longest: 16 * window,
            skip,
            time: 0,
            counts: vec![0; window as usize],
            seen: vec![Seen::default(); sampled],
            in_unit: BTreeSet::new(),
            repeats: 0,
        }
    }

    /// The host writes `lpn`. Returns whether this ends the window.
    pub fn wrote(&mut self, lpn: Lpn) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        self.look(lpn);
        let time = self.time;
        if let Some(seen) = self.seen_of(lpn) {
            let before = *seen;
            *seen = Seen { at: Some(time), is_first: before.at.is_none() };
            before.at.into_iter().for_each(|at| self.count(at));
        }
        self.time += 1;
        self.time == self.window * self.unit
    }

    /// The host trims `lpn`: it has lived until now.
    pub fn trimmed(&mut self, lpn: Lpn) {
        if let Some(at) = self.seen_of(lpn).and_then(|seen| std::mem::take(seen).at) {
            self.count(at);
        }
    }

    fn seen_of(&mut self, lpn: Lpn) -> Option<&mut Seen> {
        let is_sampled = (lpn.index() as u64).is_multiple_of(self.sample);
        is_sampled.then(|| &mut self.seen[lpn.index() / self.sample as usize])
    }

    fn count(&mut self, since: u64) {
        let units = (self.time - since) / self.unit;
        self.counts[units.min(self.window - 1) as usize] += 1;
    }

    fn look(&mut self, lpn: Lpn) {
        let apart = (self.window / (LOOKS + 1)).max(1);
        let (unit, in_unit) = (self.time / self.unit, self.time % self.unit);
        if !unit.is_multiple_of(apart) || !(1..=LOOKS).contains(&(unit / apart)) {
            return;
        }
        if in_unit == 0 {
            self.in_unit.clear();
        }
        self.repeats += u64::from(!self.in_unit.insert(lpn.0));
    }

    /// The counts by units, as they would be in an endless window: long intervals do not fit in often.
    pub fn corrected(&self) -> Vec<f64> {
        let window = self.window;
        let mut counts: Vec<f64> = self.counts.iter().map(|count| *count as f64).collect();
        let once = self.seen.iter().filter(|seen| seen.is_first).count();
        counts[window as usize - 1] += once as f64;
        counts[0] = (self.repeats * window / LOOKS / self.sample) as f64;
        for units in 1..window {
            let left = (window % units * 2 + units) as f64 / 2.0;
            let count = &mut counts[units as usize];
            *count += (left * *count / window as f64).floor();
        }
        counts
    }

    /// Units of a window.
    pub const fn window(&self) -> u64 {
        self.window
    }

    /// A new window begins, of so many units, but no more than sixteen times those of the first.
    pub fn begin(&mut self, window: u64) {
        self.window = window.min(self.longest);
        self.time = 0;
        self.counts = vec![0; self.window as usize];
        self.seen.fill(Seen::default());
        self.in_unit.clear();
        self.repeats = 0;
    }

    /// Bytes in RAM.
    pub fn bytes(&self) -> usize {
        size_of_val(self.counts.as_slice()) + size_of_val(self.seen.as_slice())
    }

    /// Whether this can be what has become of `new`.
    pub fn is_sound(&self, new: &Self) -> bool {
        (self.sample, self.unit, self.seen.len()) == (new.sample, new.unit, new.seen.len())
            && self.longest == new.longest
            && (new.window..=new.longest).contains(&self.window)
            && self.counts.len() as u64 == self.window
            && self.time < self.window * self.unit
            && self.seen.iter().all(|seen| seen.at.is_none_or(|at| at <= self.time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_sampled_pages_are_counted_in_units() {
        let mut histogram = Histogram::new(8, 2, 4, 22, 3);
        let pages = [0, 0, 0, 0, 1, 2, 1, 3, 0, 1, 1, 0, 2];
        assert!(!pages.into_iter().any(|page| histogram.wrote(Lpn(page))), "three are left out");
        // Page 0 after 5 and 3 writes, page 2 after 7; odd pages are not sampled.
        assert_eq!(histogram.counts[..3], [1, 2, 0]);
        histogram.trimmed(Lpn(2));
        assert_eq!(histogram.counts[0], 2);
    }

    #[test]
    fn what_is_written_once_lives_as_long_as_the_window_and_few_units_tell_of_repeats() {
        let mut histogram = Histogram::new(8, 2, 4, 22, 0);
        let ends: Vec<bool> = (0..88).map(|_| histogram.wrote(Lpn(1))).collect();
        assert_eq!(ends.iter().position(|ends| *ends), Some(87));
        // Ten units of four writes, each with three repeats: 30 of 22 units for each ten, and one page in two.
        let corrected = histogram.corrected();
        assert_eq!((corrected[0], corrected[21]), (33.0, 0.0));
        histogram.begin(44);
        assert_eq!(histogram.corrected().iter().sum::<f64>(), 0.0);
    }
}
