//! MAY I: which planes somebody outside has asked a device to collect although they are not short
//! of space. The device collects them as it does those that are: with its victim policy, when its
//! schedule lets it, as wide as it collects anything.
//!
//! What is asked is fixed when it is asked: a plane is done when it has reached its goal once, or
//! when there is nothing to gain.

use crate::checkpoint::Checkpointed;
use crate::ids::{DieId, PlaneId};

use crate::purpose::Reason;

/// Goal up to which planes are collected on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub enum Until {
    /// Until each has so many free blocks.
    Target(u32),
    /// Until nothing invalid is left in closed blocks, all of the plane's reserve is free, or a
    /// request of the host comes. Then what has begun is finished, and nothing else begun.
    ReserveFull,
    /// Until each has so many free blocks, as far as its reserve goes, or a request of the host comes:
    /// what a drive asks of itself in a long idle period.
    LongIdle(u32),
}

/// Request to a device to collect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Checkpointed)]
pub struct Asked {
    /// Goal of the collection.
    pub until: Until,
    /// Whether each plane collects at least one block, whether it needs to or not.
    pub regardless: bool,
    /// Blocks of a plane that are collected, at most; as many as it takes if none.
    pub at_most: Option<u32>,
}

impl Asked {
    /// Planes that are not there yet go so far, by as many blocks as it takes.
    pub const fn until(until: Until) -> Self {
        Self { until, regardless: false, at_most: None }
    }
}

/// The planes that are to be collected because somebody asks.
#[derive(Debug, Checkpointed)]
pub struct Permits {
    /// A bit for each plane of a die that is to be collected.
    asked: Vec<u32>,
    /// Bits in all of them.
    planes: u32,
    /// Free blocks at which a plane is done; one that has more is so after its next collection.
    goal: usize,
    reason: Reason,
    /// Of each plane, blocks that are still collected at most, where that is limited.
    left: Option<Vec<u32>>,
    planes_per_die: u32,
    /// Planes whose free blocks are counted together.
    together: usize,
    /// Free blocks of a plane whose reserve is free.
    reserve: u32,
}

impl Permits {
    /// Creates permits without a request, for a device whose planes have `reserve` free blocks at most when
    /// they are full of data, and count so many `together` when somebody outside asks.
    pub fn new(dies: usize, planes_per_die: u32, together: usize, reserve: u32) -> Self {
        Self {
            asked: vec![0; dies],
            planes: 0,
            goal: 0,
            reason: Reason::Forced,
            left: None,
            planes_per_die,
            together,
            reserve,
        }
    }

    /// Asks for what `asked` says in place of what was asked before. `free` has the free blocks of
    /// every plane.
    pub fn ask(&mut self, asked: Asked, free: impl Iterator<Item = usize>) {
        self.withdraw();
        (self.goal, self.reason) = match asked.until {
            Until::Target(blocks) => (blocks as usize, Reason::Forced),
            Until::ReserveFull => (self.reserve as usize, Reason::Idle),
            Until::LongIdle(blocks) => (blocks.min(self.reserve) as usize, Reason::Compaction),
        };
        let planes = self.asked.len() * self.planes_per_die as usize;
        self.left = asked.at_most.map(|blocks| vec![blocks; planes]);
        if self.counts_together() {
            return self.ask_together(asked.regardless, &free.collect::<Vec<_>>());
        }
        for (plane, free) in free.enumerate() {
            if asked.regardless || free < self.goal {
                self.ask_plane(PlaneId::from_index(plane));
            }
        }
    }

    /// Of planes that are counted together, asks as many as they lack blocks of their goal, those with the fewest
    /// free blocks, and at least one of them if they are to collect `regardless`.
    fn ask_together(&mut self, regardless: bool, free: &[usize]) {
        for (scope, free) in free.chunks(self.together).enumerate() {
            let lacking = (self.goal * free.len()).saturating_sub(free.iter().sum());
            let mut planes: Vec<_> = (0..free.len()).collect();
            planes.sort_by_key(|plane| free[*plane]);
            for plane in planes.into_iter().take(lacking.max(regardless.into())) {
                self.ask_plane(PlaneId::from_index(scope * self.together + plane));
            }
        }
    }

    fn ask_plane(&mut self, plane: PlaneId) {
        let (die, bit) = self.place(plane);
        self.asked[die] |= bit;
        self.planes += 1;
    }

    /// Whether somebody outside asks, whose goal is one of planes together.
    fn counts_together(&self) -> bool {
        self.together > 1 && self.reason == Reason::Forced
    }

    /// Withdraws the request.
    pub fn withdraw(&mut self) {
        if self.planes > 0 {
            self.asked.fill(0);
            self.planes = 0;
        }
    }

    /// A request of the host has come: the device is not idle any more.
    pub fn request_came(&mut self) {
        if self.planes > 0 && self.reason != Reason::Forced {
            self.withdraw();
        }
    }

    /// Whether any plane is left to be collected.
    pub const fn any(&self) -> bool {
        self.planes > 0
    }

    /// A bit for each plane of `die` that is left to be collected.
    pub fn planes_of(&self, die: DieId) -> u32 {
        if self.planes > 0 { self.asked[die.index()] } else { 0 }
    }

    /// Reason why a block of a plane that is left is collected.
    pub const fn reason(&self) -> Reason {
        self.reason
    }

    /// A block of `plane` has been collected, which now has so many `free` ones, and those that are counted with it,
    /// itself included, have `free_together`.
    pub fn block_collected(&mut self, plane: PlaneId, free: usize, free_together: usize) {
        if self.planes == 0 {
            return;
        }
        if self.counts_together() && free_together >= self.goal * self.together {
            let first = plane.index() - plane.index() % self.together;
            let all = (first..first + self.together).map(PlaneId::from_index);
            all.for_each(|plane| self.give_up(plane));
        } else if free >= self.goal || self.was_last(plane) {
            self.give_up(plane);
        }
    }

    /// Counts a block of `plane`. Returns whether it collects no more of them.
    fn was_last(&mut self, plane: PlaneId) -> bool {
        let Some(left) = &mut self.left else { return false };
        let left = &mut left[plane.index()];
        *left = left.saturating_sub(1);
        *left == 0
    }

    /// Leaves `plane` alone: its goal is reached, or there is nothing to gain.
    pub fn give_up(&mut self, plane: PlaneId) {
        let (die, bit) = self.place(plane);
        if self.asked[die] & bit != 0 {
            self.asked[die] &= !bit;
            self.planes -= 1;
        }
    }

    /// The die of `plane`, and its bit in the masks of that die.
    const fn place(&self, plane: PlaneId) -> (usize, u32) {
        let (die, place) = (plane.0 / self.planes_per_die, plane.0 % self.planes_per_die);
        (die as usize, 1 << place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIE: DieId = DieId(1);
    /// Free blocks of two dies of two planes each.
    const FREE: [usize; 4] = [1, 5, 2, 3];

    fn asked(until: Until, regardless: bool) -> Permits {
        let mut permits = Permits::new(2, 2, 1, 6);
        permits.ask(Asked { regardless, ..Asked::until(until) }, FREE.into_iter());
        permits
    }

    #[test]
    fn planes_below_the_target_are_collected_until_they_reach_it() {
        let mut permits = asked(Until::Target(3), false);
        assert_eq!([permits.planes_of(DieId(0)), permits.planes_of(DIE)], [0b01, 0b01]);
        permits.block_collected(PlaneId(2), 2, 2);
        assert_eq!(permits.planes_of(DIE), 0b01);
        permits.block_collected(PlaneId(2), 3, 3);
        assert_eq!((permits.planes_of(DIE), permits.any()), (0, true));
        permits.give_up(PlaneId(0));
        permits.give_up(PlaneId(0));
        assert!(!permits.any());
    }

    #[test]
    fn regardless_means_one_block_of_every_plane() {
        let mut permits = asked(Until::Target(3), true);
        assert_eq!([permits.planes_of(DieId(0)), permits.planes_of(DIE)], [0b11, 0b11]);
        permits.block_collected(PlaneId(1), 6, 6);
        permits.block_collected(PlaneId(0), 2, 2);
        assert_eq!(permits.planes_of(DieId(0)), 0b01);
    }

    #[test]
    fn a_plane_is_done_when_it_has_collected_what_is_asked_at_most() {
        let mut permits = Permits::new(2, 2, 1, 6);
        let two = Asked { at_most: Some(2), ..Asked::until(Until::Target(5)) };
        permits.ask(two, FREE.into_iter());
        permits.block_collected(PlaneId(0), 2, 2);
        permits.block_collected(PlaneId(3), 5, 5);
        assert_eq!([permits.planes_of(DieId(0)), permits.planes_of(DIE)], [0b01, 0b01]);
        permits.block_collected(PlaneId(0), 3, 3);
        assert_eq!(permits.planes_of(DieId(0)), 0, "though it has not five");
        permits.ask(two, FREE.into_iter());
        assert_eq!(permits.planes_of(DieId(0)), 0b01, "the next round counts anew");
    }

    #[test]
    fn only_what_is_asked_for_idle_time_ends_with_a_request() {
        let mut forced = asked(Until::Target(3), false);
        forced.request_came();
        assert!(forced.any());
        let mut idle = asked(Until::ReserveFull, false);
        assert_eq!((idle.planes_of(DieId(0)), idle.reason()), (0b11, Reason::Idle));
        idle.request_came();
        assert!(!idle.any());
    }

    #[test]
    fn long_idle_time_aims_no_higher_than_the_reserve() {
        let mut permits = asked(Until::LongIdle(4), false);
        assert_eq!([permits.planes_of(DieId(0)), permits.planes_of(DIE)], [0b01, 0b11]);
        assert_eq!(permits.reason(), Reason::Compaction);
        permits.request_came();
        assert!(!permits.any());
        let mut permits = asked(Until::LongIdle(40), false);
        permits.block_collected(PlaneId(1), 6, 6);
        assert_eq!(permits.planes_of(DieId(0)), 0b01);
    }

    #[test]
    fn the_latest_question_counts() {
        let mut permits = asked(Until::ReserveFull, false);
        permits.ask(Asked::until(Until::Target(2)), FREE.into_iter());
        assert_eq!([permits.planes_of(DieId(0)), permits.planes_of(DIE)], [0b01, 0]);
    }

    #[test]
    fn planes_that_are_counted_together_give_what_they_lack_together() {
        let ask = |target, regardless| {
            let mut permits = Permits::new(2, 2, 4, 6);
            permits
                .ask(Asked { regardless, ..Asked::until(Until::Target(target)) }, FREE.into_iter());
            permits
        };
        // Eleven blocks are free; twelve are wanted.
        let mut permits = ask(3, false);
        assert_eq!([permits.planes_of(DieId(0)), permits.planes_of(DIE)], [0b01, 0]);
        permits.block_collected(PlaneId(0), 2, 12);
        assert!(!permits.any());
        assert!(!ask(2, false).any());
        assert_eq!(ask(2, true).planes_of(DieId(0)), 0b01, "one block of the drive");
        let mut permits = ask(4, false);
        assert_eq!([permits.planes_of(DieId(0)), permits.planes_of(DIE)], [0b11, 0b11]);
        permits.block_collected(PlaneId(1), 6, 12);
        assert_eq!(permits.planes_of(DieId(0)), 0b01);
    }
}
