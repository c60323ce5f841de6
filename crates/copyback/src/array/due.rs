//! When something happens in each drive next, and in which first. Kept in order as drives change: of many drives mostly
//! one has, the first, and soon is the first again.

use crate::checkpoint::Checkpointed;
use crate::units::Instant;

/// The drives in which something will happen, in order of time; those of one instant by number.
#[derive(Debug, Default, Checkpointed)]
pub struct Due(Vec<DueKey>);

/// Time of a drive's next event, and below it the index of the drive, in one number. To compare one number
/// takes no branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Checkpointed)]
struct DueKey(u128);

impl DueKey {
    const fn new(at: Instant, drive: usize) -> Self {
        Self((at.as_ns() as u128) << u64::BITS | drive as u128)
    }

    const fn at(self) -> Instant {
        Instant::from_ns((self.0 >> u64::BITS) as u64)
    }

    const fn drive(self) -> usize {
        self.0 as u64 as usize
    }
}

impl Due {
    /// Notes when something happens next in `drive`.
    #[inline]
    pub fn set(&mut self, drive: usize, time: Option<Instant>) {
        if let ([first, others @ ..], Some(at)) = (&mut self.0[..], time)
            && first.drive() == drive
            && others.first().is_none_or(|second| DueKey::new(at, drive) < *second)
        {
            *first = DueKey::new(at, drive);
        } else {
            self.reorder(drive, time);
        }
    }

    // Apart, as it is long, and a drive alone is always the first.
    #[inline(never)]
    fn reorder(&mut self, drive: usize, time: Option<Instant>) {
        let place = self.0.iter().position(|visit| visit.drive() == drive);
        match (place, time) {
            (Some(place), Some(at)) => self.put(place, DueKey::new(at, drive)),
            _ => self.add_or_remove(drive, place, time),
        }
    }

    // Apart, as hardly ever a drive has nothing to do.
    #[cold]
    fn add_or_remove(&mut self, drive: usize, place: Option<usize>, time: Option<Instant>) {
        if let Some(place) = place {
            self.0.remove(place);
        }
        if let Some(at) = time {
            let visit = DueKey::new(at, drive);
            self.0.insert(self.0.partition_point(|other| *other < visit), visit);
        }
    }

    /// Puts `visit` where it belongs, in place of the one that its drive had at `place`.
    #[inline]
    fn put(&mut self, mut place: usize, visit: DueKey) {
        let order = &mut self.0[..];
        while let Some(next) = order.get(place + 1)
            && *next < visit
        {
            order[place] = *next;
            place += 1;
        }
        while place > 0 && visit < order[place - 1] {
            order[place] = order[place - 1];
            place -= 1;
        }
        order[place] = visit;
    }

    /// When something happens in the first drive.
    #[inline]
    pub fn first(&self) -> Option<Instant> {
        self.0.first().map(|visit| visit.at())
    }

    /// The first drive in which something happens, if it is alone with that at its instant, and when that is.
    #[inline]
    pub fn first_alone(&self) -> Option<(usize, Instant)> {
        let first = self.0.first()?;
        let is_alone = self.0.get(1).is_none_or(|second| first.at() < second.at());
        is_alone.then_some((first.drive(), first.at()))
    }

    /// The drives in which something happens at `now`, before which nothing does, by number.
    pub fn at(&self, now: Instant) -> impl Iterator<Item = usize> {
        self.0.iter().take_while(move |visit| visit.at() == now).map(|visit| visit.drive())
    }

    /// When something happens first in another drive than this one.
    #[inline]
    pub fn of_others(&self, drive: usize) -> Option<Instant> {
        let mut first = self.0.iter().take(2);
        first.find(|visit| visit.drive() != drive).map(|visit| visit.at())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_first_of_the_others_are_known_however_times_change() {
        let mut due = Due::default();
        let mut times = [None; 5];
        // Times of a linear congruence, now and then none.
        let mut random = 7_u64;
        for _ in 0..3_000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (drive, time) = ((random >> 60) as usize % 5, random >> 33 & 15);
            times[drive] = (time > 1).then(|| Instant::from_ns(time));
            due.set(drive, times[drive]);
            let first = times.iter().flatten().min().copied();
            assert_eq!(due.first(), first);
            let at_first: Vec<_> = (0..5).filter(|one| times[*one] == first).collect();
            if let Some(first) = first {
                assert_eq!(due.at(first).collect::<Vec<_>>(), at_first);
                let alone = (at_first.len() == 1).then(|| (at_first[0], first));
                assert_eq!(due.first_alone(), alone);
            }
            for one in 0..5 {
                let others = times.iter().enumerate().filter(|(other, _)| *other != one);
                assert_eq!(due.of_others(one), others.filter_map(|(_, time)| *time).min());
            }
        }
    }
}
