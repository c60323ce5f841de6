//! MultiLog: pages that are written about as often are in one log, a class (Stoica, Ailamaki, PVLDB 2013). A page that a
//! collection has to move goes on to the next colder log. One that the host writes again sooner than pages of its log
//! are expected to be goes to the next hotter one, by chance: the sooner, the likelier. Class 0 is the hottest.
//!
//! What is expected, and that chance decides, is as in the simulator of SepBIT's authors. Pages of a log come back, in
//! the mean, after half as many writes of the host as pages are valid in the log, less what of its blocks is already
//! invalid when they are collected. A log more is begun once the coldest holds a block on each plane.
//!
//! Its own victims, if it is to choose them, are the oldest blocks of the log in which room saves least, so that room goes
//! to where it saves most.
//!
//! The clock is pages that the host has written to the drive.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use copyback_memory::{prefetch, table};

use crate::checkpoint::Checkpointed;
use crate::config::{LogVictims, Promotion};
use crate::ids::Lpn;
use crate::rng::Stream;

use super::log_space::{LogSpace, where_space_saves_least};
use super::write_times::WriteTimes;
use super::{
    Class, Classes, Drive, Event, FullBlocks, Grouping, Life, Order, Origin, Placement, Wanted,
};

/// The logs of pages.
#[derive(Debug, Serialize, Deserialize, Checkpointed)]
pub struct MultiLog {
    /// Whether all that comes early goes to the hotter log, without a draw.
    is_sure: bool,
    /// Whether it says where victims come from.
    chooses_victims: bool,
    times: WriteTimes,
    /// Of each page that is known.
    levels: Vec<Option<Class>>,
    logs: Vec<Log>,
    /// The coldest log that has been begun.
    coldest: usize,
    pages_per_block: u32,
    /// Pages that the coldest log must hold for another to begin.
    enough: u64,
    random: Stream,
    /// Random number for the next page that is written again, 0 to 1. Drawn before, as to ask must change
    /// nothing.
    drawn: f64,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, Checkpointed)]
struct Log {
    /// Pages in it.
    valid: u64,
    /// Pages of its blocks that have been collected, and how many of them were invalid.
    collected: u64,
    invalid: u64,
    /// Pages that the host has written to it.
    written: u64,
}

impl MultiLog {
    pub(super) fn new(
        classes: u32,
        (promotion, victims): (Promotion, LogVictims),
        drive: Drive,
        mut random: Stream,
    ) -> Self {
        let drawn = random.random();
        Self {
            is_sure: promotion == Promotion::Sure,
            chooses_victims: victims == LogVictims::Own,
            times: WriteTimes::new(drive.pages),
            levels: table(drive.pages, None),
            logs: vec![Log::default(); classes as usize],
            coldest: 0,
            pages_per_block: drive.pages_per_block,
            enough: u64::from(drive.pages_per_block) * drive.planes as u64,
            random,
            drawn,
        }
    }

    fn level(&self, lpn: Lpn) -> Option<usize> {
        self.levels[lpn.index()].map(Class::index)
    }

    /// By which part of the time expected of `level` a page of it comes early that is written again so old; none before
    /// anything of that log has been collected. Below 0 if it comes late.
    fn earliness(&self, level: usize, age: u64) -> Option<f64> {
        let Log { valid, collected, invalid, .. } = self.logs[level];
        let share = 1.0 - invalid as f64 / collected as f64;
        // The page itself is out of date.
        let expected = valid.saturating_sub(1) as f64 * share / 2.0;
        (collected > 0 && expected > 0.0).then(|| 1.0 - age as f64 / expected)
    }

    fn rewritten(&self, lpn: Lpn, level: usize, now: u64) -> usize {
        let age = self.times.age(lpn, now);
        let early = age.and_then(|age| self.earliness(level, age)).unwrap_or(0.0);
        let needed = if self.is_sure { 0.0 } else { self.drawn };
        if early > needed { level.saturating_sub(1) } else { level }
    }

    fn moved(&self, level: usize) -> usize {
        let begins = level + 1 < self.logs.len() && self.logs[level].valid >= self.enough;
        if level < self.coldest || begins { level + 1 } else { level }
    }

    fn leave(&mut self, lpn: Lpn) {
        if let Some(level) = self.levels[lpn.index()].take() {
            self.logs[level.index()].valid -= 1;
        }
    }

    fn wrote(&mut self, lpn: Lpn, origin: Origin, now: u64) {
        let class = self.class_of(lpn, origin, now);
        self.leave(lpn);
        self.levels[lpn.index()] = Some(class);
        self.logs[class.index()].valid += 1;
        self.coldest = self.coldest.max(class.index());
        if let Origin::Host { .. } = origin {
            self.logs[class.index()].written += 1;
            self.drawn = self.random.random();
            self.times.wrote(lpn, now);
        }
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.leave(lpn);
        self.times.forget(lpn);
    }

    fn chosen(&mut self, block: Life) {
        let log = &mut self.logs[block.class.index()];
        log.collected += u64::from(self.pages_per_block);
        log.invalid += u64::from(self.pages_per_block - u32::from(block.valid));
    }
}

impl Placement for MultiLog {
    fn classes(&self) -> Classes {
        Classes::shared(self.logs.len())
    }

    /// A page of which nothing is known is as one of the hottest log.
    #[inline(always)]
    fn class_of(&self, lpn: Lpn, origin: Origin, now: u64) -> Class {
        let level = self.level(lpn);
        Class::new(match origin {
            Origin::Host { .. } => level.map_or(0, |level| self.rewritten(lpn, level, now)),
            Origin::Moved { .. } => self.moved(level.unwrap_or(0)),
        })
    }

    #[inline(always)]
    fn learn(&mut self, event: Event, now: u64) {
        match event {
            Event::Wrote { lpn, origin } => self.wrote(lpn, origin, now),
            Event::Trimmed(lpn) => self.trimmed(lpn),
            Event::Chosen(block) => self.chosen(block),
            _ => {}
        }
    }

    fn grouping(&mut self) -> Option<&mut dyn Grouping> {
        if self.chooses_victims { Some(self) } else { None }
    }

    fn fetch(&self, lpn: Lpn) {
        self.times.fetch(lpn);
        prefetch(&self.levels, lpn.index());
    }

    fn bytes(&self) -> usize {
        self.times.bytes() + size_of_val(self.levels.as_slice())
    }

    fn memory(&self) -> Vec<u8> {
        super::to_bytes(self)
    }

    fn remember(&mut self, memory: &[u8], now: u64) -> bool {
        super::recall(self, memory, |saved, new| {
            let mut valid = vec![0; saved.logs.len()];
            let levels = saved.levels.iter().flatten().map(|level| level.index());
            let all_are = levels.fold(true, |all, level| {
                let log = valid.get_mut(level).map(|valid| *valid += 1);
                all && log.is_some()
            });
            let logs = saved.logs.iter().zip(valid);
            (saved.is_sure, saved.chooses_victims) == (new.is_sure, new.chooses_victims)
                && saved.times.is_sound(new.times.pages(), now)
                && saved.levels.len() == new.levels.len()
                && saved.logs.len() == new.logs.len()
                && all_are
                && logs.into_iter().all(|(log, valid)| {
                    log.valid == valid
                        && log.invalid <= log.collected
                        && log.collected.max(log.written) < NEVER
                })
                && saved.coldest < new.logs.len()
                && (saved.pages_per_block, saved.enough) == (new.pages_per_block, new.enough)
                && (0.0..1.0).contains(&saved.drawn)
        })
    }
}

impl Grouping for MultiLog {
    /// Each log is a group.
    fn groups(&self) -> Vec<usize> {
        (0..self.logs.len()).collect()
    }

    fn wanted(&self, full: &[FullBlocks]) -> Wanted {
        let written: u64 = self.logs.iter().map(|log| log.written).sum();
        let space = |(log, full): (&Log, &FullBlocks)| LogSpace {
            pages: f64::from(full.blocks) * f64::from(self.pages_per_block),
            valid: full.valid_pages as f64,
            writes: log.written as f64 / written.max(1) as f64,
        };
        let logs: Vec<_> = self.logs.iter().zip(full).map(space).collect();
        let group = where_space_saves_least(&logs).unwrap_or(0);
        Wanted { group, order: Order::OldestFirst }
    }
}

/// Pages that no drive has gone through.
const NEVER: u64 = 1 << 60;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::BlockId;
    use crate::rng::stream;

    const HOST: Origin = Origin::Host { hint: None };
    const MOVED: Origin = Origin::Moved { class: None };
    const DRIVE: Drive = Drive { pages: 16, pages_per_block: 4, planes: 1, blocks: 8 };

    fn multi_log(promotion: Promotion) -> MultiLog {
        MultiLog::new(3, (promotion, LogVictims::Policy), DRIVE, stream(1, "placement"))
    }

    fn write(placement: &mut MultiLog, lpn: u32, origin: Origin, now: u64) -> usize {
        let class = placement.class_of(Lpn(lpn), origin, now);
        assert_eq!(placement.class_of(Lpn(lpn), origin, now), class, "to ask changes nothing");
        placement.learn(Event::Wrote { lpn: Lpn(lpn), origin }, now);
        class.index()
    }

    /// Eight pages, of which a collection has moved the last six on to log 1: a block of log 1 of which half was invalid
    /// has been collected as well.
    fn two_logs(promotion: Promotion) -> MultiLog {
        let mut placement = multi_log(promotion);
        (0..8).for_each(|lpn| assert_eq!(write(&mut placement, lpn, HOST, lpn.into()), 0));
        (2..8).for_each(|lpn| assert_eq!(write(&mut placement, lpn, MOVED, 8), 1));
        let class = Class::new(1);
        let life = Life { block: BlockId(0), class, opened: 0, sealed: 8, valid: 2 };
        placement.learn(Event::Chosen(life), 8);
        placement
    }

    #[test]
    fn a_move_goes_on_to_the_next_log_where_that_may_begin() {
        let mut placement = multi_log(Promotion::Random);
        (0..3).for_each(|lpn| assert_eq!(write(&mut placement, lpn, HOST, lpn.into()), 0));
        assert_eq!(write(&mut placement, 0, MOVED, 3), 0, "log 0 holds less than a block");
        assert_eq!(write(&mut placement, 3, HOST, 3), 0);
        assert_eq!(write(&mut placement, 0, MOVED, 4), 1);
        assert_eq!(write(&mut placement, 0, MOVED, 4), 1, "log 1 holds less than a block");
        assert_eq!(write(&mut placement, 1, MOVED, 4), 1, "it has begun");
        assert_eq!(write(&mut placement, 9, MOVED, 4), 1, "as one of log 0, if nothing is known");
        placement.learn(Event::Trimmed(Lpn(0)), 0);
        assert_eq!(write(&mut placement, 0, HOST, 4), 0);
    }

    /// Six pages are in log 1, five without the one that is written, and half of them were valid in the end: 1.25 writes
    /// are expected between two of a page.
    #[test]
    fn what_is_rewritten_sooner_than_expected_goes_back_if_chance_has_it() {
        let mut placement = two_logs(Promotion::Sure);
        assert_eq!(write(&mut placement, 7, HOST, 8), 0, "after 1");
        assert_eq!(write(&mut placement, 6, HOST, 8), 1, "after 2");
        let mut placement = two_logs(Promotion::Random);
        placement.drawn = 0.21;
        assert_eq!(write(&mut placement, 7, HOST, 8), 1, "early by a fifth");
        let mut placement = two_logs(Promotion::Random);
        placement.drawn = 0.19;
        assert_eq!(write(&mut placement, 7, HOST, 8), 0);
        assert!((0.0..1.0).contains(&placement.drawn) && placement.drawn != 0.19);
        assert_eq!(write(&mut placement, 0, HOST, 9), 0, "there is no hotter one");
        assert_eq!(placement.bytes(), 16 * 9);
    }

    /// The host has written eight pages to log 0, of which two are there, and one to log 1.
    #[test]
    fn its_own_victims_are_the_oldest_of_the_log_in_which_room_saves_least() {
        let mut placement = two_logs(Promotion::Sure);
        assert!(placement.grouping().is_none());
        placement.chooses_victims = true;
        assert_eq!(placement.grouping().map(|groups| groups.groups()), Some(vec![0, 1, 2]));
        assert_eq!(write(&mut placement, 6, HOST, 10), 1);
        let wanted = |valid: [u64; 3]| {
            let full = valid.map(|valid_pages| FullBlocks { blocks: 1, valid_pages });
            let Wanted { group, order } = placement.wanted(&full);
            assert_eq!(order, Order::OldestFirst);
            group
        };
        assert_eq!(wanted([2, 2, 2]), 2, "nobody writes there");
        assert_eq!(wanted([2, 2, 4]), 1, "there is nothing to free in log 2");
        assert_eq!(wanted([1, 3, 4]), 0, "it has room to spare");
        assert_eq!(wanted([2, 0, 2]), 1, "that costs nothing");
    }

    #[test]
    fn what_is_remembered_is_what_was_known_and_of_a_placement_like_this() {
        let kept = two_logs(Promotion::Random);
        let memory = kept.memory();
        let mut again = multi_log(Promotion::Random);
        assert!(again.remember(&memory, 8));
        assert_eq!(again.memory(), memory);
        assert!(!multi_log(Promotion::Sure).remember(&memory, 8), "of another promotion");
        let other = |classes, victims| {
            MultiLog::new(classes, (Promotion::Random, victims), DRIVE, stream(1, "placement"))
        };
        assert!(!other(2, LogVictims::Policy).remember(&memory, 8), "of other classes");
        assert!(!other(3, LogVictims::Own).remember(&memory, 8), "of other victims");
        let mut wrong = two_logs(Promotion::Random);
        wrong.logs[0].valid += 1;
        assert!(!multi_log(Promotion::Random).remember(&wrong.memory(), 8), "it holds fewer");
        assert!(!multi_log(Promotion::Random).remember(&memory, 6), "of the future");
        assert!(!multi_log(Promotion::Random).remember(&memory[1..], 8), "cut");
    }
}
