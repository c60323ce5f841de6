//! When something happens in each drive next, and in which first. Kept as drives change: of many drives mostly one
//! has, and to look through them at each instant takes longer than what happens.

use crate::checkpoint::Checkpointed;
use crate::units::{Instant, earlier};

/// When something happens in each drive next.
#[derive(Debug, Checkpointed)]
pub struct Due {
    times: Vec<Option<Instant>>,
    /// The first of the times, and whose it is.
    first: Option<(Instant, usize)>,
    /// The first of the others.
    others: Option<Instant>,
    /// Whether these two are to be found anew.
    is_stale: bool,
}

impl Due {
    /// Nothing will happen in any of so many drives.
    pub fn new(drives: usize) -> Self {
        Self { times: vec![None; drives], first: None, others: None, is_stale: false }
    }

    /// Notes when something happens next in `drive`.
    #[inline]
    pub fn set(&mut self, drive: usize, time: Option<Instant>) {
        self.times[drive] = time;
        match (self.first, time) {
            (Some((_, first)), Some(time))
                if first == drive && self.others.is_none_or(|others| time <= others) =>
            {
                self.first = Some((time, drive));
            }
            _ => self.is_stale = true,
        }
    }

    /// After times were set: finds which comes first, if another may.
    #[inline]
    pub fn find_first(&mut self) {
        if self.is_stale {
            self.look_through();
        }
    }

    fn look_through(&mut self) {
        self.is_stale = false;
        (self.first, self.others) = (None, None);
        for (drive, time) in self.times.iter().enumerate() {
            let Some(time) = *time else { continue };
            match self.first {
                Some((first, _)) if first <= time => self.others = earlier(self.others, Some(time)),
                earliest => {
                    self.others = earliest.map(|(first, _)| first);
                    self.first = Some((time, drive));
                }
            }
        }
    }

    /// When something happens in the first drive.
    #[inline]
    pub fn first(&self) -> Option<Instant> {
        self.first.map(|(time, _)| time)
    }

    /// The drive in which something happens at `now`, if that is the first time and it is alone with it.
    #[inline]
    pub fn alone_at(&self, now: Instant) -> Option<usize> {
        let (_, drive) = self.first.filter(|(time, _)| *time == now)?;
        self.others.is_none_or(|others| others > now).then_some(drive)
    }

    /// When something happens first in another drive than this one.
    #[inline]
    pub fn of_others(&self, drive: usize) -> Option<Instant> {
        match self.first {
            Some((_, first)) if first == drive => self.others,
            first => first.map(|(time, _)| time),
        }
    }

    /// When something happens in each, in order.
    pub fn times(&self) -> &[Option<Instant>] {
        &self.times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_first_of_the_others_are_known_however_times_change() {
        let mut due = Due::new(5);
        // Times of a linear congruence, now and then none.
        let mut random = 7_u64;
        for _ in 0..3_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (drive, time) = ((random >> 60) as usize % 5, random >> 33 & 15);
            due.set(drive, (time > 1).then(|| Instant::from_ns(time)));
            if random >> 40 & 3 > 0 {
                due.find_first();
                let first = due.times().iter().copied().fold(None, earlier);
                assert_eq!(due.first(), first);
                for one in 0..5 {
                    let others = due.times().iter().enumerate().filter(|(other, _)| *other != one);
                    let others = others.fold(None, |first, (_, time)| earlier(first, *time));
                    assert_eq!(due.of_others(one), others);
                    let is_alone = others.is_none_or(|others| Some(others) > first);
                    if let Some(now) = first.filter(|_| is_alone && due.times()[one] == first) {
                        assert_eq!(due.alone_at(now), Some(one));
                    }
                }
            }
        }
    }
}
