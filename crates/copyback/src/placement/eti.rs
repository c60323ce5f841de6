//! ETI, extent-based temperature identification: few extents with small counters cover all pages. A run of writes counts
//! for the extents that it covers, and cuts out what it covers in part; now and then counters are halved, and neighbours
//! that are alike are joined again (Shafaei, Desnoyers, Fitzpatrick, HotStorage 2016). Pages of extents with high counts
//! are hot, class 0; others are cold, 1; what collections move is apart, 2.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

use super::extents::Extents;
use super::runs::Runs;
use super::{Class, Classes, Drive, Event, Origin, Placement};

const HOT: Class = Class::new(0);
const COLD: Class = Class::new(1);
const MOVED: Class = Class::new(2);

/// Temperatures of all pages.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Eti {
    extents: Extents,
    runs: Runs,
    /// First page of the run that is under way.
    begun: Lpn,
    /// Runs since counters were halved.
    since: u64,
    /// Runs after which they are.
    period: u64,
    /// From which count on pages are hot.
    hot: u8,
}

impl Eti {
    pub(super) fn new(extents: u32, period: u32, hot: u8, drive: Drive) -> Self {
        let extents = Extents::new(extents as usize, drive.pages);
        let (runs, begun, period) = (Runs::default(), Lpn(0), u64::from(period));
        Self { extents, runs, begun, since: 0, period, hot }
    }

    fn wrote(&mut self, lpn: Lpn) {
        if !self.runs.follows(lpn) {
            self.begun = lpn;
            self.since += 1;
        }
        self.extents.wrote(self.begun, lpn);
        self.runs.wrote(lpn);
        if self.since == self.period {
            self.extents.halve(self.hot);
            self.since = 0;
        }
    }
}

impl Placement for Eti {
    fn classes(&self) -> Classes {
        Classes::apart(0..2, 2..3)
    }

    fn class_of(&self, lpn: Lpn, origin: Origin, _: u64) -> Class {
        let begun = if self.runs.follows(lpn) { self.begun } else { lpn };
        match origin {
            Origin::Moved { .. } => MOVED,
            Origin::Host { .. } if self.extents.next_count(begun, lpn) >= self.hot => HOT,
            Origin::Host { .. } => COLD,
        }
    }

    #[inline(always)]
    fn learn(&mut self, event: Event, _: u64) {
        if let Event::Wrote { lpn, origin: Origin::Host { .. } } = event {
            self.wrote(lpn);
        }
    }

    fn bytes(&self) -> usize {
        self.extents.bytes()
    }

    fn memory(&self) -> Vec<u8> {
        super::to_bytes(self)
    }

    fn remember(&mut self, memory: &[u8], now: u64) -> bool {
        super::recall(self, memory, |saved, new| {
            (saved.period, saved.hot) == (new.period, new.hot)
                && saved.since < saved.period
                && saved.since <= now
                && saved.extents.is_sound(&new.extents, saved.runs.next())
                && saved.runs.next().is_none_or(|next| saved.begun < next)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: Origin = Origin::Host { hint: None };

    fn eti(period: u32, hot: u8) -> Eti {
        Eti::new(8, period, hot, Drive { pages: 100, pages_per_block: 2, planes: 1, blocks: 8 })
    }

    fn write(eti: &mut Eti, page: u32) -> usize {
        let class = eti.class_of(Lpn(page), HOST, 0);
        assert_eq!(eti.class_of(Lpn(page), HOST, 0), class, "to ask changes nothing");
        eti.learn(Event::Wrote { lpn: Lpn(page), origin: HOST }, 0);
        class.index()
    }

    #[test]
    fn an_extent_is_hot_from_a_count_on_and_cold_again_when_counters_are_halved() {
        let mut eti = eti(8, 4);
        let pages = [7, 50, 7, 50, 7, 60, 7, 7, 7, 7];
        // The eighth is the last before counters are halved: all are cold then, and one extent.
        assert_eq!(pages.map(|page| write(&mut eti, page)), [1, 1, 1, 1, 1, 1, 0, 0, 1, 1]);
    }

    #[test]
    fn a_run_counts_once_and_all_of_it_is_hot() {
        let mut eti = eti(100, 2);
        let pages = [7, 8, 9, 7, 8, 9, 10, 8];
        assert_eq!(pages.map(|page| write(&mut eti, page)), [1, 1, 1, 0, 0, 0, 1, 0]);
    }

    #[test]
    fn what_is_moved_is_apart_and_counts_for_nothing() {
        let mut eti = eti(8, 2);
        let moved = Origin::Moved { class: Some(HOT) };
        for _ in 0..3 {
            assert_eq!(eti.class_of(Lpn(7), moved, 0), MOVED);
            eti.learn(Event::Wrote { lpn: Lpn(7), origin: moved }, 0);
        }
        assert_eq!(write(&mut eti, 7), 1);
    }

    #[test]
    fn what_is_remembered_is_what_was_known_and_of_a_placement_like_this() {
        let mut kept = eti(8, 3);
        let _ = [7, 7, 8].map(|page| write(&mut kept, page));
        let memory = kept.memory();
        let mut again = eti(8, 3);
        assert!(again.remember(&memory, 3));
        assert_eq!((write(&mut again, 9), write(&mut again, 7)), (1, 0));
        assert!(!eti(9, 3).remember(&memory, 3), "of another period");
        assert!(!eti(8, 2).remember(&memory, 3), "of another temperature");
        assert!(!eti(8, 3).remember(&memory, 1), "of more runs");
    }
}
