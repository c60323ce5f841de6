//! DAC, dynamic data clustering: a page climbs a level each time that the host rewrites it, and comes down one each time
//! that a collection has to move it (Chiang, Lee, Chang, Software: Practice and Experience, 1999). Its level is its
//! class, 0 the coldest.
//!
//! With an age from which on pages are old, only those that are rewritten young climb, and only old ones come down, as
//! the regions of the paper have it. Without, every rewrite and every move counts.

use serde::{Deserialize, Serialize};

use copyback_memory::{prefetch, table};

use crate::checkpoint::Checkpointed;
use crate::ids::Lpn;

use super::write_times::WriteTimes;
use super::{Class, Classes, Drive, Event, Origin, Placement};

/// Levels of pages.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct Dac {
    classes: usize,
    /// Of each page that the host has written.
    levels: Vec<Option<Class>>,
    young: Option<Young>,
}

/// Pages that are young.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
struct Young {
    times: WriteTimes,
    /// The age at which they no longer are, in pages that the host has written to the drive.
    until: u64,
}

impl Young {
    fn is_young(&self, lpn: Lpn, now: u64) -> bool {
        self.times.age(lpn, now).is_some_and(|age| age < self.until)
    }
}

impl Dac {
    pub(super) fn new(classes: u32, young: Option<u64>, drive: Drive) -> Self {
        let young = young.map(|until| Young { times: WriteTimes::new(drive.pages), until });
        Self { classes: classes as usize, levels: table(drive.pages, None), young }
    }

    fn climbs(&self, lpn: Lpn, now: u64) -> bool {
        self.young.as_ref().is_none_or(|young| young.is_young(lpn, now))
    }

    fn comes_down(&self, lpn: Lpn, now: u64) -> bool {
        self.young.as_ref().is_none_or(|young| !young.is_young(lpn, now))
    }

    #[inline(always)]
    fn wrote(&mut self, lpn: Lpn, origin: Origin, now: u64) {
        self.levels[lpn.index()] = Some(self.class_of(lpn, origin, now));
        if let (Some(young), Origin::Host { .. }) = (&mut self.young, origin) {
            young.times.wrote(lpn, now);
        }
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.levels[lpn.index()] = None;
        if let Some(young) = &mut self.young {
            young.times.forget(lpn);
        }
    }
}

impl Placement for Dac {
    fn classes(&self) -> Classes {
        Classes::shared(self.classes)
    }

    #[inline(always)]
    fn class_of(&self, lpn: Lpn, origin: Origin, now: u64) -> Class {
        let Some(level) = self.levels[lpn.index()].map(Class::index) else { return Class::new(0) };
        match origin {
            Origin::Host { .. } if self.climbs(lpn, now) => {
                Class::new((level + 1).min(self.classes - 1))
            }
            Origin::Moved { .. } if self.comes_down(lpn, now) => {
                Class::new(level.saturating_sub(1))
            }
            _ => Class::new(level),
        }
    }

    #[inline(always)]
    fn learn(&mut self, event: Event, now: u64) {
        match event {
            Event::Wrote { lpn, origin } => self.wrote(lpn, origin, now),
            Event::Trimmed(lpn) => self.trimmed(lpn),
            _ => {}
        }
    }

    fn fetch(&self, lpn: Lpn) {
        prefetch(&self.levels, lpn.index());
        if let Some(young) = &self.young {
            young.times.fetch(lpn);
        }
    }

    fn bytes(&self) -> usize {
        let times = self.young.as_ref().map_or(0, |young| young.times.bytes());
        size_of_val(self.levels.as_slice()) + times
    }

    fn memory(&self) -> Vec<u8> {
        super::to_bytes(self)
    }

    fn remember(&mut self, memory: &[u8], now: u64) -> bool {
        super::recall(self, memory, |saved, new| {
            saved.classes == new.classes
                && saved.levels.len() == new.levels.len()
                && saved.levels.iter().flatten().all(|level| level.index() < new.classes)
                && match (&saved.young, &new.young) {
                    (None, None) => true,
                    (Some(saved), Some(new)) => {
                        saved.until == new.until && saved.times.is_sound(new.times.pages(), now)
                    }
                    _ => false,
                }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: Origin = Origin::Host { hint: None };
    const MOVED: Origin = Origin::Moved { class: None };

    fn dac(classes: u32, young: Option<u64>) -> Dac {
        Dac::new(classes, young, Drive { pages: 4, pages_per_block: 2, planes: 1, blocks: 8 })
    }

    /// The class of each of these writes of page 0, and when it comes.
    fn classes(mut dac: Dac, writes: &[(Origin, u64)]) -> Vec<usize> {
        let mut write = |&(origin, now)| {
            let class = dac.class_of(Lpn(0), origin, now);
            assert_eq!(dac.class_of(Lpn(0), origin, now), class, "to ask changes nothing");
            dac.learn(Event::Wrote { lpn: Lpn(0), origin }, now);
            class.index()
        };
        writes.iter().map(&mut write).collect()
    }

    #[test]
    fn a_rewrite_climbs_a_level_and_a_move_comes_down_one() {
        let writes = [HOST, HOST, HOST, HOST, MOVED, MOVED, HOST, MOVED, MOVED, MOVED, HOST];
        let writes: Vec<_> = writes.into_iter().zip(0..).collect();
        assert_eq!(classes(dac(3, None), &writes), [0, 1, 2, 2, 1, 0, 1, 0, 0, 0, 1]);
    }

    #[test]
    fn only_the_young_climb_and_only_the_old_come_down() {
        let writes =
            [(HOST, 0), (HOST, 9), (HOST, 19), (MOVED, 28), (HOST, 28), (MOVED, 38), (MOVED, 39)];
        assert_eq!(classes(dac(4, Some(10)), &writes), [0, 1, 1, 1, 2, 1, 0]);
    }

    #[test]
    fn a_page_that_is_trimmed_begins_anew() {
        let mut dac = dac(3, None);
        for now in 0..2 {
            dac.learn(Event::Wrote { lpn: Lpn(0), origin: HOST }, now);
        }
        dac.learn(Event::Trimmed(Lpn(0)), 0);
        assert_eq!(dac.class_of(Lpn(0), HOST, 2).index(), 0);
        assert_eq!(dac.bytes(), 4);
    }

    #[test]
    fn what_is_remembered_is_what_was_known_and_of_a_placement_like_this() {
        let mut kept = dac(3, Some(10));
        (0..2).for_each(|now| kept.learn(Event::Wrote { lpn: Lpn(1), origin: HOST }, now));
        let memory = kept.memory();
        let mut again = dac(3, Some(10));
        assert!(again.remember(&memory, 2));
        assert_eq!(again.class_of(Lpn(1), HOST, 2).index(), 2);
        assert!(!dac(4, Some(10)).remember(&memory, 2), "of other classes");
        assert!(!dac(3, Some(11)).remember(&memory, 2), "of another age");
        assert!(!dac(3, None).remember(&memory, 2), "of no age");
        assert!(!dac(3, Some(10)).remember(&memory[1..], 2), "cut");
    }
}
