//! Extents with small counters that cover all pages between them. A run of writes that covers a part of one cuts it out
//! and counts there, page by page: the piece grows with the run. While all extents are taken, only a run that covers a
//! whole one counts.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

/// The most that a counter of four bits holds.
pub const MOST: u8 = 15;

/// Pages from `first` on, up to the next extent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, Checkpointed)]
struct Extent {
    first: Lpn,
    count: u8,
}

/// The extents, in order; the first begins at page 0.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Extents {
    list: Vec<Extent>,
    /// Largest number of extents that may be cut; a cut in the middle of one may make one more.
    most: usize,
    pages: u32,
    /// Whether the run under way has cut its last page off the extent that its next one is in.
    cuts: bool,
}

impl Extents {
    /// One of all pages.
    pub fn new(most: usize, pages: usize) -> Self {
        let list = vec![Extent { first: Lpn(0), count: 0 }];
        Self { list, most, pages: pages as u32, cuts: false }
    }

    /// Index in the list of the extent with `lpn`.
    fn place_of(&self, lpn: Lpn) -> usize {
        self.list.partition_point(|extent| extent.first <= lpn) - 1
    }

    fn is_last(&self, place: usize, lpn: Lpn) -> bool {
        lpn.0 + 1 == self.list.get(place + 1).map_or(self.pages, |next| next.first.0)
    }

    /// Whether a run from `begun` to `lpn` covers the whole extent.
    fn is_whole(&self, place: usize, begun: Lpn, lpn: Lpn) -> bool {
        begun <= self.list[place].first && self.is_last(place, lpn)
    }

    /// The count of `lpn` once it is written in a run that has begun with `begun`.
    pub fn next_count(&self, begun: Lpn, lpn: Lpn) -> u8 {
        let place = self.place_of(lpn);
        let grows = begun < lpn && self.cuts;
        let rises = grows || self.list.len() < self.most || self.is_whole(place, begun, lpn);
        (self.list[place].count + u8::from(rises)).min(MOST)
    }

    /// `lpn` is written in a run that has begun with `begun`.
    pub fn wrote(&mut self, begun: Lpn, lpn: Lpn) {
        let place = self.place_of(lpn);
        let Extent { first, count } = self.list[place];
        let (is_last, grows) = (self.is_last(place, lpn), begun < lpn && self.cuts);
        let cuts = !grows && count < MOST && !self.is_whole(place, begun, lpn);
        let cuts = cuts && self.list.len() < self.most;
        if grows && is_last {
            self.list.remove(place);
        } else if grows {
            self.list[place].first.0 += 1;
        } else if cuts {
            let rest = (!is_last).then(|| Extent { first: Lpn(lpn.0 + 1), count });
            let pieces = [Extent { first: lpn, count: count + 1 }].into_iter().chain(rest);
            self.list.splice(place + usize::from(first < lpn)..place + 1, pieces);
        } else if count < MOST && self.is_whole(place, begun, lpn) {
            self.list[place].count += 1;
        }
        self.cuts = (grows || cuts) && !is_last;
    }

    /// Halves all counters, and joins neighbours that have equally many, or both fewer than `hot`.
    pub fn halve(&mut self, hot: u8) {
        self.list.iter_mut().for_each(|extent| extent.count /= 2);
        self.list.dedup_by(|next, before| {
            next.count == before.count || next.count.max(before.count) < hot
        });
        self.cuts = false;
    }

    /// Bytes in RAM.
    pub const fn bytes(&self) -> usize {
        (self.most + 1) * size_of::<Extent>()
    }

    /// Whether these can be extents like `new`, the next page of whose run is `next`.
    pub fn is_sound(&self, new: &Self, next: Option<Lpn>) -> bool {
        let begins = |lpn| self.list.iter().any(|extent| extent.first == lpn);
        (self.most, self.pages) == (new.most, new.pages)
            && self.list.first().is_some_and(|extent| extent.first == Lpn(0))
            && self.list.last().is_some_and(|extent| extent.first.0 < self.pages)
            && self.list.is_sorted_by(|one, next| one.first < next.first)
            && self.list.len() <= self.most + 1
            && self.list.iter().all(|extent| extent.count <= MOST)
            && (!self.cuts || next.is_some_and(|next| next > Lpn(0) && begins(next)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(extents: &Extents) -> Vec<(u32, u8)> {
        extents.list.iter().map(|extent| (extent.first.0, extent.count)).collect()
    }

    /// The counts that the pages of a run have as they are written.
    fn write(extents: &mut Extents, first: u32, pages: u32) -> Vec<u8> {
        let mut one = |page| {
            let count = extents.next_count(Lpn(first), Lpn(page));
            extents.wrote(Lpn(first), Lpn(page));
            let place = extents.place_of(Lpn(page));
            assert_eq!(extents.list[place].count, count, "page {page} of {extents:?}");
            count
        };
        (first..first + pages).map(&mut one).collect()
    }

    #[test]
    fn a_run_cuts_out_what_it_covers() {
        let mut extents = Extents::new(9, 100);
        assert_eq!(write(&mut extents, 0, 10), [1; 10]);
        assert_eq!(list(&extents), [(0, 1), (10, 0)], "the left part");
        write(&mut extents, 90, 10);
        assert_eq!(list(&extents), [(0, 1), (10, 0), (90, 1)], "the right part");
        write(&mut extents, 20, 10);
        assert_eq!(list(&extents), [(0, 1), (10, 0), (20, 1), (30, 0), (90, 1)], "the middle");
        assert_eq!(write(&mut extents, 20, 10), [2; 10]);
        assert_eq!(list(&extents), [(0, 1), (10, 0), (20, 2), (30, 0), (90, 1)], "a whole one");
        assert_eq!(write(&mut extents, 5, 20), [[2; 5].as_slice(), &[1; 10], &[3; 5]].concat());
        let across = [(0, 1), (5, 2), (10, 1), (20, 3), (25, 2), (30, 0), (90, 1)];
        assert_eq!(list(&extents), across, "a part, a whole one and a part");
    }

    #[test]
    fn while_all_are_taken_only_a_run_over_a_whole_one_counts() {
        let mut extents = Extents::new(3, 100);
        write(&mut extents, 40, 10);
        assert_eq!(list(&extents), [(0, 0), (40, 1), (50, 0)]);
        assert_eq!(write(&mut extents, 10, 5), [0; 5]);
        assert_eq!(write(&mut extents, 39, 11), [[0].as_slice(), &[1; 9], &[2]].concat()[..11]);
        assert_eq!(list(&extents), [(0, 0), (40, 2), (50, 0)]);
    }

    #[test]
    fn a_counter_has_four_bits() {
        let mut extents = Extents::new(9, 100);
        for _ in 0..20 {
            write(&mut extents, 0, 2);
        }
        write(&mut extents, 0, 1);
        assert_eq!(list(&extents), [(0, 15), (2, 0)]);
    }

    #[test]
    fn halving_joins_the_cold_and_the_equal_and_keeps_the_first_ones_count() {
        let counts = [(0, 2), (1, 6), (2, 15), (3, 14), (4, 8), (5, 9), (6, 1)];
        let mut extents = Extents::new(9, 7);
        extents.list = counts.map(|(first, count)| Extent { first: Lpn(first), count }).to_vec();
        extents.halve(4);
        assert_eq!(list(&extents), [(0, 1), (2, 7), (4, 4), (6, 0)]);
    }

    #[test]
    fn all_its_bytes_are_in_use_when_the_last_cut_is_in_the_middle() {
        let mut extents = Extents::new(2, 100);
        write(&mut extents, 40, 10);
        assert_eq!(extents.bytes(), list(&extents).len() * size_of::<Extent>());
    }
}
