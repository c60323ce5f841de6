//! Waits for queue slots: what collections add to them.
//!
//! A request that finds all slots taken waits until another one leaves. The one that leaves first is seldom the
//! one to blame: requests that a collection blocks keep their slots. A second queue is followed beside the real
//! one. In it a request keeps its slot only for the time that is not due to collections, and the next one takes
//! the slot that is free first (the recursion of Kiefer and Wolfowitz, 1955, for several servers). The part of
//! the real wait beyond the second queue's is due to collections.

mod crowd;

use std::collections::{BTreeMap, BTreeSet};

use crate::checkpoint::Checkpointed;
use crate::units::{Duration, Instant, TotalTime};

use crowd::{Crowd, FirstOfCrowd};

/// The places of a queue. `K` names who holds one.
#[derive(Debug, Checkpointed)]
pub struct Places<K> {
    places: usize,
    /// When places have come free in the second queue, of those who have left the real one; with the number of who
    /// held it. Empty while the queue is not followed, as the next two.
    left: BTreeSet<(Instant, u64)>,
    /// When others are expected to come free, of those who are still in the real queue, and who that is.
    expected: BTreeMap<(Instant, u64), K>,
    holders: BTreeMap<K, Holder>,
    /// Holders that have joined by number, whether the queue is followed or not.
    crowd: Crowd,
    /// The number that the next holder gets.
    entered: u64,
    is_followed: bool,
    usual: Usual,
}

/// Holder of a slot in the real queue.
#[derive(Debug, Clone, Copy, Checkpointed)]
struct Holder {
    /// When they took it.
    entered: Instant,
    /// When they took a place in the second queue.
    since: Instant,
    /// Key in `expected`, if the slot has not been taken there yet.
    expected: (Instant, u64),
}

/// For how long places are kept.
#[derive(Debug, Default, Checkpointed)]
struct Usual {
    count: u64,
    /// In all.
    kept: TotalTime,
    /// Of that, the time that is due to collections.
    late: TotalTime,
    /// The longest time that was due to them.
    most_late: Duration,
}

/// The place of the second queue that is free first.
enum First {
    /// Of somebody who has left the real queue.
    Left(Instant),
    /// Of somebody who is still there.
    Expected(Instant),
    /// Of a member of the crowd, who is still there.
    OfCrowd(Instant, FirstOfCrowd),
}

impl<K: Ord + Copy> Places<K> {
    /// Creates this number of slots, followed from the next call of [`follow`](Self::follow) on.
    pub fn new(places: usize) -> Self {
        Self {
            places,
            left: BTreeSet::new(),
            expected: BTreeMap::new(),
            holders: BTreeMap::new(),
            crowd: Crowd::default(),
            entered: 0,
            is_followed: false,
            usual: Usual::default(),
        }
    }

    /// Whether the queue is followed.
    pub const fn is_followed(&self) -> bool {
        self.is_followed
    }

    /// Begins to follow the queue, whose places are all taken: by whom, and since when.
    pub fn follow(&mut self, holders: impl IntoIterator<Item = (K, Instant)>) {
        self.is_followed = true;
        holders.into_iter().for_each(|(who, since)| self.hold(who, since, since));
    }

    /// Follows the queue no longer: most places are free, or all have been taken away.
    pub fn forget(&mut self) {
        if self.is_followed {
            self.is_followed = false;
            self.left.clear();
            self.expected.clear();
            self.holders.clear();
            self.crowd.forget();
        }
    }

    /// Gives a slot at `now` to `who`, which has waited since `since`. Returns how much of the wait is due to
    /// collections, `most` of it at most.
    #[inline]
    pub fn enter(&mut self, who: K, since: Instant, now: Instant, most: Duration) -> Duration {
        if !self.is_followed {
            return Duration::ZERO;
        }
        self.enter_both(who, since, now, most)
    }

    fn enter_both(&mut self, who: K, since: Instant, now: Instant, most: Duration) -> Duration {
        if since == now && self.holders.len() * 2 < self.places {
            // Nobody has waited for long enough.
            self.forget();
            return Duration::ZERO;
        }
        let late = match self.left.len() + self.expected.len() < self.places {
            true => now - since,
            false => self.take_first(since, now),
        };
        let late = late.min(most);
        self.hold(who, now.before(late), now);
        late
    }

    /// Part of a wait from `since` to `now` for the first slot that is due to collections.
    pub fn late(&self, since: Instant, now: Instant) -> Duration {
        match self.first(now) {
            Some(First::Left(free) | First::Expected(free) | First::OfCrowd(free, _)) => {
                now - free.max(since).min(now)
            }
            None => Duration::ZERO,
        }
    }

    /// Takes the first place away, which somebody gets at `now` who has come at `since`. Returns how much of the
    /// wait is due to collections.
    pub fn take_first(&mut self, since: Instant, now: Instant) -> Duration {
        let late = self.late(since, now);
        match self.first(now) {
            Some(First::Left(_)) => {
                self.left.pop_first();
            }
            Some(First::Expected(_)) => {
                self.expected.pop_first();
            }
            Some(First::OfCrowd(_, first)) => self.crowd.take(first),
            None => {}
        }
        late
    }

    /// Holder of a slot that would have been the first to come free without collections, and is still taken, unless
    /// it is of the crowd.
    pub fn blocker(&self, now: Instant) -> Option<K> {
        match self.first(now)? {
            First::Left(_) | First::OfCrowd(..) => None,
            First::Expected(_) => self.expected.first_key_value().map(|(_, who)| *who),
        }
    }

    fn first(&self, now: Instant) -> Option<First> {
        let left = self.left.first().map(|(free, _)| *free);
        match (left, self.first_expected(now)) {
            (Some(left), Some((end, first))) if end < left => Some(first),
            (Some(left), _) => Some(First::Left(left)),
            (None, expected) => expected.map(|(_, first)| first),
        }
    }

    /// The place that is expected to come free first, of those who are still there, and when that is, as seen at `now`.
    fn first_expected(&self, now: Instant) -> Option<(Instant, First)> {
        let expected = self.expected.first_key_value();
        let crowd = self.crowd.first().filter(|first| {
            expected.is_none_or(|(expected, _)| (first.free, first.number) < *expected)
        });
        if let Some(first) = crowd {
            let end = self.expected_end(first.free, (first.since, first.since), now);
            return Some((end, First::OfCrowd(end, first)));
        }
        let ((free, _), who) = expected?;
        let end = self.expected_end(*free, self.held_since(who), now);
        Some((end, First::Expected(end)))
    }

    /// When a holder took its place, and when that in the second queue.
    fn held_since(&self, who: &K) -> (Instant, Instant) {
        let Holder { entered, since, .. } = self.holders[who];
        (entered, since)
    }

    /// Expected end of a holder that was expected to end at `free`, as seen at `now`.
    fn expected_end(
        &self,
        free: Instant,
        (entered, since): (Instant, Instant),
        now: Instant,
    ) -> Instant {
        // Who is late may just take longer than usual.
        let elapsed = now - entered;
        (since + (elapsed - self.usual.late_of(elapsed))).max(free)
    }

    /// Time by which this number of places would have been free earlier than `now` without collections.
    pub fn late_for(&self, places: usize, now: Instant) -> Duration {
        let ends = self.expected.iter();
        let ends = ends.map(|((free, _), who)| self.expected_end(*free, self.held_since(who), now));
        let mut free: Vec<Instant> = self.left.iter().map(|(free, _)| *free).chain(ends).collect();
        free.sort_unstable();
        free.get(places - 1).map_or(Duration::ZERO, |last| now - (*last).min(now))
    }

    /// Takes a slot from `entered` on, and in the second queue from `since` on, for as long as is usual.
    pub fn hold(&mut self, who: K, since: Instant, entered: Instant) {
        let expected = (since + self.usual.undelayed_mean(), self.entered);
        self.entered += 1;
        self.expected.insert(expected, who);
        self.holders.insert(who, Holder { entered, since, expected });
    }

    /// Frees a slot that was held for `kept`, of which `late` is due to collections.
    #[inline]
    pub fn leave(&mut self, who: K, kept: Duration, late: Duration) {
        let undelayed = self.usual.add(kept, late);
        if self.is_followed {
            self.correct(who, undelayed);
        }
    }

    /// Replaces the expected end by the known one.
    fn correct(&mut self, who: K, undelayed: Duration) {
        let Some(Holder { since, expected, .. }) = self.holders.remove(&who) else { return };
        if self.expected.remove(&expected).is_some() {
            self.left.insert((since + undelayed, expected.1));
        }
    }
}

/// A queue that many hold places of, and that is followed for short times only. Holders have numbers for names.
impl Places<u64> {
    /// Takes a place at `now`. Returns the number of the holder. While the queue is followed, it is to
    /// [hold](Self::hold) one in the second queue as well.
    #[inline]
    pub fn join(&mut self, now: Instant) -> u64 {
        let number = self.entered;
        self.entered += 1;
        self.crowd.join(number, now);
        number
    }

    /// Begins to follow the queue, whose places are all taken: by those who have joined.
    pub fn follow_crowd(&mut self) {
        self.is_followed = true;
        self.crowd.follow(self.entered, self.usual.undelayed_mean());
    }

    /// Frees the place of a holder who has joined, as [`leave`](Self::leave).
    #[inline]
    pub fn leave_crowd(&mut self, number: u64, kept: Duration, late: Duration) {
        let undelayed = self.usual.add(kept, late);
        let of_crowd = self.crowd.leave(number);
        if !self.is_followed {
            return;
        }
        match of_crowd {
            Some(since) => _ = self.left.insert((since + undelayed, number)),
            None => self.correct(number, undelayed),
        }
    }

    /// Takes a holder who has joined off, of whom no time is to be learnt.
    pub fn drop_out(&mut self, number: u64) {
        self.crowd.leave(number);
    }

    /// Takes every holder off.
    pub fn clear(&mut self) {
        self.forget();
        self.crowd.clear();
    }
}

impl Usual {
    /// Adds a place that was kept for so long, `late` of it due to collections. Returns the rest.
    fn add(&mut self, kept: Duration, late: Duration) -> Duration {
        let late = late.min(kept);
        self.count += 1;
        self.kept += kept;
        self.late += late;
        self.most_late = self.most_late.max(late);
        kept - late
    }

    /// For how long a place is kept, without the time due to collections.
    fn undelayed_mean(&self) -> Duration {
        let undelayed = (self.kept - self.late).as_ns();
        Duration::from_wide_ns(undelayed.checked_div(self.count.into()).unwrap_or_default())
    }

    /// Part of so long a time that is usually due to collections. Never more than they have held anybody up:
    /// who takes longer still, does so for another reason.
    fn late_of(&self, kept: Duration) -> Duration {
        if self.late.is_zero() {
            return Duration::ZERO;
        }
        let product = u128::from(kept.as_ns()).saturating_mul(self.late.as_ns());
        Duration::from_wide_ns(product / self.kept.as_ns()).min(self.most_late)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::LONGEST;

    fn at(us: u64) -> Instant {
        Instant::from_ns(us * 1_000)
    }

    fn us(us: u64) -> Duration {
        Duration::from_us(us)
    }

    #[test]
    fn who_waits_for_a_place_that_a_collection_keeps_waits_for_the_collection() {
        let mut places = Places::new(1);
        places.follow([('a', at(0))]);
        // Without collections `a` would have left at 10, and `b`, which came at 20, had not waited.
        places.leave('a', us(100), us(90));
        assert_eq!(places.enter('b', at(20), at(100), LONG), us(80));
        // `b` takes 10 of its own; `c` came at 25, and would have waited from then until 30.
        places.leave('b', us(10), us(0));
        assert_eq!(places.enter('c', at(25), at(110), LONG), us(80));
    }

    #[test]
    fn who_leaves_first_need_not_be_who_is_in_the_way() {
        let mut places = Places::new(2);
        // What is usual: 10, and 990 more for collections.
        places.leave('z', us(1_000), us(990));
        places.follow([('a', at(0)), ('b', at(95))]);
        // `b` leaves in time; but `a`, which a collection holds up, should have left long ago.
        places.leave('b', us(10), us(0));
        assert_eq!(places.blocker(at(105)), Some('a'));
        assert_eq!(places.enter('c', at(50), at(105), LONG), us(55));
    }

    #[test]
    fn who_takes_longer_than_usual_is_not_held_up_by_collections_that_there_are_none_of() {
        let mut places = Places::new(2);
        places.leave('z', us(10), us(0));
        places.follow([('a', at(0)), ('b', at(95))]);
        places.leave('b', us(10), us(0));
        assert_eq!(places.enter('c', at(50), at(105), LONG), us(0));
        places.leave('a', us(200), us(0));
        assert_eq!(places.enter('d', at(60), at(200), LONG), us(0));
    }

    #[test]
    fn without_collections_nothing_is_due_to_them() {
        let mut places = Places::new(1);
        places.follow([('a', at(0))]);
        places.leave('a', us(100), us(0));
        assert_eq!(places.enter('b', at(20), at(100), LONG), us(0));
    }

    /// Numbers of a linear congruence.
    fn random(state: &mut u64, below: u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (*state >> 33) % below
    }

    /// Holder of a place of a queue with a crowd, and of one that is told who holds its places when somebody waits.
    struct Both {
        of_crowd: u64,
        name: u32,
        since: Instant,
        late: Duration,
    }

    #[test]
    fn a_crowd_gives_what_those_give_who_are_told_when_somebody_waits() {
        let (mut of_crowd, mut told) = (Places::<u64>::new(40), Places::<u32>::new(40));
        let (mut inside, mut state) = (Vec::<Both>::new(), 11);
        let (mut now, mut is_followed) = (at(0), false);
        let mut waits = Duration::ZERO;
        for name in 0..30_000 {
            now += us(random(&mut state, 20));
            if inside.len() < 40 {
                let since = now.before(us(random(&mut state, 5)));
                let number = of_crowd.join(now);
                if is_followed {
                    of_crowd.hold(number, since, now);
                    told.hold(name, since, now);
                }
                let late = us(random(&mut state, 30));
                inside.push(Both { of_crowd: number, name, since: now, late });
            } else if !is_followed {
                of_crowd.follow_crowd();
                told.follow(inside.iter().map(|holder| (holder.name, holder.since)));
                is_followed = true;
            }
            if is_followed && random(&mut state, 3) == 0 {
                let since = now.before(us(random(&mut state, 90)));
                let late = of_crowd.take_first(since, now);
                assert_eq!(late, told.take_first(since, now));
                waits += late;
            }
            if is_followed && random(&mut state, 7) == 0 {
                of_crowd.forget();
                told.forget();
                is_followed = false;
            }
            for _ in 0..random(&mut state, 3).min(inside.len() as u64) {
                let place = random(&mut state, inside.len() as u64) as usize;
                let holder = inside.remove(place);
                of_crowd.leave_crowd(holder.of_crowd, now - holder.since, holder.late);
                told.leave(holder.name, now - holder.since, holder.late);
            }
        }
        assert!(waits > us(1_000), "hardly anybody has waited: {waits:?}");
    }
}
